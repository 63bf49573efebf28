"""The repository's address: one place, overridden by GitHub's own variable and by the reader's."""

import pytest

from helpers import paths
from helpers.errors import BadInput
from press import repository
from press.repository import Repository


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    for name in ("BOOK_REPOSITORY", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)


def test_the_address_comes_from_the_configuration(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "BOOK", tmp_path)
    (tmp_path / "_config.yml").write_text("repository:\n  url: https://github.com/me/my-book\n  branch: trunk\n")
    assert repository.repository() == Repository("me", "my-book", "trunk")


def test_github_s_own_repository_takes_its_place_and_keeps_the_branch(monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "fork/other")
    assert repository.repository() == Repository("fork", "other", repository.configured().branch)


def test_the_reader_s_address_comes_before_both(monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "fork/other")
    monkeypatch.setenv("BOOK_REPOSITORY", "https://github.com/mine/book.git")
    assert repository.repository().url == "https://github.com/mine/book"


@pytest.mark.parametrize("url", ["https://github.com/a/b", "https://github.com/a/b/", "https://github.com/a/b.git", " https://github.com/a/b\n"])
def test_ways_to_write_one_address(url):
    assert repository.parsed(url, "main", "here").url == "https://github.com/a/b"


@pytest.mark.parametrize("url", ["", "github.com/a/b", "https://gitlab.com/a/b", "https://github.com/a", "https://github.com/a/b/c",
                                 "https://github.com/a/b;rm -rf", "https://github.com/a b/c", "https://github.com/-a/b",
                                 'https://github.com/a/b"><script>', "https://github.com/a/b\nx: y"])
def test_what_is_no_repository_is_an_error_that_names_its_place(url):
    with pytest.raises(BadInput, match="BOOK_REPOSITORY"):
        repository.parsed(url, "main", "BOOK_REPOSITORY")
