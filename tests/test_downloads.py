"""Fetching a file: resumed, checked, in place only when it is whole. The server is a thread of this process."""

import hashlib
import socket
from types import SimpleNamespace
from unittest.mock import MagicMock, patch

import pytest

from helpers.data import downloads
from helpers.data.downloads import fetch
from helpers.errors import BadInput, NetworkNeeded
from local_server import serving

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
