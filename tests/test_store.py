"""The step store: a crash can lose work, never corrupt it; digests are of the content always, taken once for each state."""

import gzip
import json
import os
import shutil
import stat
import time

import pytest

from helpers.data.lines import open_bytes
from helpers.steps import digests
from helpers.steps.recipe import sha256
from helpers.steps.store import MANIFEST, Store, read_entry

KEY = "k" * 64


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def write(store, text="hello", numerics="exact", key=KEY):
    def fill(folder):
        (folder / "value.txt").write_text(text)
        (folder / "inner").mkdir()
        (folder / "inner" / "more.bin").write_bytes(b"\x00\x01")
    return store.write("a_step", key, {"step": "a_step", "numerics": numerics}, fill)


def test_what_was_written_is_found(store):
    entry = write(store)
    assert store.find("a_step", KEY, "exact") == entry
    assert (entry.folder / "inner" / "more.bin").read_bytes() == b"\x00\x01"
    assert store.find("a_step", "j" * 64, "exact") is store.find("another_step", KEY, "exact") is None
    manifest = json.loads((entry.folder / MANIFEST).read_text())
    assert (manifest["key"], manifest["step"], set(manifest["files"])) == (KEY, "a_step", {"value.txt", "inner/more.bin"})
    assert manifest["files"]["inner/more.bin"]["size"] == 2 and len(manifest["files"]["value.txt"]["sha256"]) == 64


def test_a_flipped_bit_anywhere_in_the_manifest_stops_nothing(store):
    manifest = write(store).folder / MANIFEST
    sound = manifest.read_bytes()
    for place in range(len(sound)):
        manifest.write_bytes(sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1:])
        store.find("a_step", KEY, "exact")  # found or not, as long as the damage does not stop the reader


@pytest.mark.parametrize("damage", [
    lambda folder: (folder / MANIFEST).rename(folder / f"{MANIFEST}.part"),
    lambda folder: (folder / "value.txt").write_text("hel"),
    lambda folder: (folder / "inner" / "more.bin").write_bytes(b"\x00\x03")])
def test_an_unfinished_cut_or_changed_entry_is_not_found_and_written_again(store, damage):
    damage(write(store).folder)
    assert store.find("a_step", KEY, "exact") is None
    write(store, "mended")
    assert (store.find("a_step", KEY, "exact").folder / "value.txt").read_text() == "mended"


def test_the_own_class_comes_first_and_gives_way_to_another_if_it_is_damaged(store):
    entries = {numerics: write(store, numerics, numerics) for numerics in ("a-class", "own", "z-class")}
    assert store.find("a_step", KEY, "own") == entries["own"]
    (entries["own"].folder / "value.txt").write_text("damaged")
    assert store.find("a_step", KEY, "own") == entries["a-class"]


def test_an_exception_while_filling_keeps_the_older_entry(store):
    write(store, "older")
    def fill(folder):
        raise RuntimeError("stop")
    with pytest.raises(RuntimeError, match="stop"):
        store.write("a_step", KEY, {"numerics": "exact"}, fill)
    assert (store.find("a_step", KEY, "exact").folder / "value.txt").read_text() == "older"


def told(folder, **changes):
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps({**manifest, **changes}))


def moved(folder):
    shutil.copytree(folder, folder.with_name("b-class"))
    shutil.rmtree(folder)


@pytest.mark.parametrize("forge", [
    lambda folder: told(folder, files={}), lambda folder: told(folder, numerics=None), lambda folder: told(folder, step="other"),
    lambda folder: told(folder, files={"value.txt": {"size": 5}, "inner/more.bin": {"size": 2}}),
    lambda folder: (folder / "_9.si").write_bytes(b"a stray segment"), moved,
    lambda folder: ((folder / "value.txt").unlink(), os.mkfifo(folder / "value.txt")),
    lambda folder: ((folder / "manifest.json").unlink(), os.mkfifo(folder / "manifest.json")),
    lambda folder: ((folder / "value.txt").rename(folder.parent / "v"), (folder / "value.txt").symlink_to(folder.parent / "v"))])
def test_an_entry_is_closed(store, forge):
    """It has exactly the files that its manifest names, each a file of its own with its SHA-256, and lies where that says."""
    folder = write(store).folder
    assert read_entry(folder) is not None
    forge(folder)
    assert store.find("a_step", KEY, "exact") is None


def test_rights_follow_the_umask_so_that_others_may_read_and_write(store):
    before = os.umask(0o002)
    try:
        folder = write(store).folder
        with store.lock("a_step", KEY):
            pass
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / MANIFEST, store.lock_file("a_step", KEY))]
    assert modes == [0o775, 0o664, 0o664]


@pytest.fixture
def settled(tmp_path, monkeypatch):
    """A file that nobody has touched for a while; its digest is remembered."""
    monkeypatch.setattr(digests, "SETTLED", 0)
    monkeypatch.setattr(digests, "KNOWN", {})
    file = tmp_path / "file"
    file.write_bytes(b"weights")
    time.sleep(0.02)
    return file


def test_it_is_taken_once_and_a_change_is_seen_even_if_size_and_time_are_put_back(settled, monkeypatch):
    before = settled.stat()
    assert digests.sha256(settled) == sha256(b"weights")
    with monkeypatch.context() as patch:
        patch.setattr(type(settled), "open", lambda *_: pytest.fail("it was read again"))
        assert digests.sha256(settled) == sha256(b"weights")
    settled.write_bytes(b"changed")
    os.utime(settled, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert digests.sha256(settled) == sha256(b"changed")


def test_packed_and_unpacked_are_kept_apart(settled):
    settled = settled.rename(settled.with_suffix(".gz"))
    settled.write_bytes(gzip.compress(b"text"))
    assert digests.sha256(settled, open_bytes) == sha256(b"text") != digests.sha256(settled)


def test_a_file_is_read_every_time_until_a_tick_has_passed(settled, monkeypatch):
    monkeypatch.setattr(digests, "SETTLED", 10**9)
    changed = settled.stat().st_ctime_ns
    for later, remembered in ((10**9 - 1, 0), (10**9, 1)):
        monkeypatch.setattr(digests.time, "time_ns", lambda later=later: changed + later)
        assert digests.sha256(settled) == sha256(b"weights") and len(digests.KNOWN) == remembered
