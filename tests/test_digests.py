"""Digests: of the content always, taken once for each state of a file."""

import gzip
import hashlib
import os
import time

import pytest

from helpers.data.lines import open_bytes
from helpers.steps import digests


@pytest.fixture
def settled(tmp_path, monkeypatch):
    """A file that nobody has touched for a while; its digest is remembered."""
    monkeypatch.setattr(digests, "SETTLED", 0)
    monkeypatch.setattr(digests, "KNOWN", {})
    monkeypatch.setenv("BOOK_STORE", str(tmp_path / "store"))
    file = tmp_path / "file"
    file.write_bytes(b"weights")
    time.sleep(0.02)
    return file


def sha(content):
    return hashlib.sha256(content).hexdigest()


def test_it_is_taken_once(settled, monkeypatch):
    assert digests.sha256(settled) == sha(b"weights")
    monkeypatch.setattr(digests, "taken", lambda *_: pytest.fail("it was read again"))
    assert digests.sha256(settled) == sha(b"weights")


@pytest.mark.parametrize("large", [2**28, 3])
def test_a_change_is_seen_even_if_size_and_time_are_put_back(settled, monkeypatch, large):
    monkeypatch.setattr(digests, "LARGE", large)
    before = settled.stat()
    assert digests.sha256(settled) == sha(b"weights")
    settled.write_bytes(b"changed")
    os.utime(settled, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert digests.sha256(settled) == sha(b"changed")


def test_that_of_a_large_file_outlives_the_process(settled, monkeypatch):
    monkeypatch.setattr(digests, "LARGE", 3)
    digests.sha256(settled)
    monkeypatch.setattr(digests, "KNOWN", {})
    monkeypatch.setattr(digests, "taken", lambda *_: pytest.fail("it was read again"))
    assert digests.sha256(settled) == sha(b"weights")


def test_packed_and_unpacked_are_kept_apart(settled):
    settled = settled.rename(settled.with_suffix(".gz"))
    settled.write_bytes(gzip.compress(b"text"))
    assert digests.sha256(settled, open_bytes) == sha(b"text") != digests.sha256(settled)


def test_a_file_is_read_every_time_until_a_tick_has_passed(settled, monkeypatch):
    monkeypatch.setattr(digests, "SETTLED", 10**9)
    changed = settled.stat().st_ctime_ns
    for later, remembered in ((10**9 - 1, 0), (10**9, 1)):
        monkeypatch.setattr(digests.time, "time_ns", lambda later=later: changed + later)
        assert digests.sha256(settled) == sha(b"weights") and len(digests.KNOWN) == remembered
