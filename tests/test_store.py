"""The step store: a crash can lose work, never corrupt it; digests are of the content always, taken once for each state. `book
store`: what is there, what would go, what goes, and what stays because somebody computes it."""

import gzip
import json
import os
import shutil
import stat
import subprocess
import sys
import time

import pytest

from helpers import paths
from helpers.data.lines import open_bytes
from helpers.errors import BadInput
from helpers.steps import digests
from helpers.steps.recipe import sha256
from helpers.steps.store import MANIFEST, Store, read_entry
from press import cli, kept

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


def test_an_entry_of_another_store_is_taken_with_its_files(store, tmp_path):
    taken = store.take(write(Store(tmp_path / "other")))
    assert store.find("a_step", KEY, "exact") == taken
    assert [(taken.folder / name).read_bytes() for name in ("value.txt", "inner/more.bin")] == [b"hello", b"\x00\x01"]


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


KEYS = [digit * 64 for digit in "abc"]
DAY = 86_400


@pytest.fixture
def place(places):
    """A store with three keys of two steps, 40, 10 and 0 days old."""
    places()
    store = Store(paths.store())
    for name, key, days in zip(("index", "index", "model"), KEYS, (40, 10, 0), strict=True):
        entry = store.write(name, key, {"step": name, "numerics": "exact"},
                            lambda folder: (folder / "value").write_bytes(b"x" * 5000))
        for file in entry.folder.iterdir():
            os.utime(file, (time.time() - days * DAY,) * 2)
    (paths.downloads() / "x").mkdir(parents=True)
    return store


def left(store):
    return {(folder.parent.name, folder.name[0]) for folder in store.root.glob("*/*") if folder.is_dir() and folder.name != "x"}


def test_the_list_has_keys_size_and_age(place, capsys):
    assert cli.main(["store"]) == 0
    head, index, model, total = capsys.readouterr().out.splitlines()
    assert index.split()[:2] == ["index", "2"] and index.split()[-2:] == ["40.0", "10.0"]
    assert model.split()[:2] == ["model", "1"] and model.split()[-2:] == ["0.0", "0.0"]
    assert total.split()[:2] == ["all", "3"]
    assert len(left(place)) == 3


@pytest.mark.parametrize("options, gone", [
    (["--older", "30d"], {("index", "a")}), (["--older", "200h"], {("index", "a"), ("index", "b")}),
    (["--step", "model"], {("model", "c")}), (["--older", "30d", "--step", "model"], set()), (["--older", "0d"], None)])
def test_what_is_chosen_goes_and_only_on_request(place, options, gone, capsys):
    before = left(place)
    assert cli.main(["store", *options]) == 0
    assert left(place) == before
    assert cli.main(["store", *options, "--no-dry-run"]) == 0
    assert left(place) == before - (before if gone is None else gone)
    assert f"removed {len(before if gone is None else gone)} of" in capsys.readouterr().out


def test_nothing_goes_unless_something_says_what(place):
    with pytest.raises(BadInput, match="--older 30d"):
        list(kept.store(None, "", dry_run=False))
    assert len(left(place)) == 3


def test_what_another_process_holds_stays_with_its_checkpoints(place, capsys):
    place.checkpoints("index", KEYS[0], "exact").joinpath("step").touch()
    code = ("import sys; from pathlib import Path; from helpers.steps.store import Store\n"
            "with Store(Path(sys.argv[1])).lock('index', sys.argv[2]): print('held', flush=True); sys.stdin.read()")
    with subprocess.Popen([sys.executable, "-c", code, str(place.root), KEYS[0]], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        cli.main(["store", "--step", "index", "--no-dry-run"])
        assert left(place) == {("index", "a"), ("model", "c")}
        assert (place.place("index", KEYS[0]) / ".checkpoints-exact" / "step").exists()
        holder.stdin.close()
    assert "removed 1 of 2" in (said := capsys.readouterr().out) and "index aaaaaaaaaa: a process holds it" in said
    assert place.find("index", KEYS[0], "exact") is not None
