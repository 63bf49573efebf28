"""The repository: its address in one place, overridden by the reader's; its size."""

import re
import subprocess

import pytest

from helpers import paths
from press import repository
from press.repository import Repository


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    monkeypatch.delenv("BOOK_REPOSITORY", raising=False)
    monkeypatch.setattr(repository, "REMOTE", re.compile("no remote"))


def test_the_address_is_the_reader_s_else_the_configured_one(places, monkeypatch):
    (places("BOOK") / "book" / "_config.yml").write_text("repository: {url: https://github.com/me/my-book, branch: trunk}")
    assert repository.here() == Repository("me", "my-book", "trunk")
    monkeypatch.setenv("BOOK_REPOSITORY", "https://github.com/mine/book.git")
    assert repository.here() == Repository("mine", "book", "trunk")


@pytest.mark.parametrize("url", ["https://github.com/a/b", "https://github.com/a/b/", "https://github.com/a/b.git", " https://github.com/a/b\n"])
def test_ways_to_write_one_address(url):
    assert repository.parsed(url, "main", "here").url == "https://github.com/a/b"


def test_a_clone_converts_no_line_ends():
    """Recorded runs are known by their bytes; with `core.autocrlf=true`, Git for Windows' default, all of them were void."""
    asked = ["git", "-C", str(paths.PACKAGE.parents[1]), "check-attr", "text", "results/notes.json", "notebooks/seeds.ipynb"]
    told = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.rpartition(": ")[2] for line in told] == ["unset", "unset"]


# What the tree may hold, in lines of Python and in MiB of all files: today's values, rounded up. A cut brings them down with it.
CEILINGS = {"src": 22_292, "tests": 16_973, "MiB": 44.0}


def test_the_house_stays_small():
    root = paths.PACKAGE.parents[1]
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    files = [root / name for name in listed.split("\0") if (root / name).is_file()]
    sizes = {folder: sum(file.read_bytes().count(b"\n") for file in files
                         if file.suffix == ".py" and file.is_relative_to(root / folder)) for folder in ("src", "tests")}
    sizes["MiB"] = sum(file.stat().st_size for file in files) / 2**20
    assert {name: size for name, size in sizes.items() if size > CEILINGS[name]} == {}
