"""Finding the browser: the named one, one on the path, or an error that says what to do."""

import pytest

from helpers import paths
from helpers.errors import BadInput
from press import chromium


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """An empty path, and a way to put programs on it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("BOOK_CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "MAC", ())

    def put(name):
        file = tmp_path / name
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)
        return file

    return put


@pytest.mark.parametrize("name", chromium.NAMES)
def test_a_browser_on_the_path_is_found(programs, name):
    file = programs(name)
    assert chromium.find() == file


def test_the_named_one_comes_first_and_is_missed_even_if_there_is_another(programs, monkeypatch):
    programs("chromium")
    other = programs("my-own")
    monkeypatch.setenv("BOOK_CHROMIUM", str(other))
    assert chromium.find() == other
    monkeypatch.setenv("BOOK_CHROMIUM", "/no/such/program")
    with pytest.raises(BadInput, match="/no/such/program"):
        chromium.find()


@pytest.mark.parametrize("there", [False, True])
def test_without_a_program_that_can_run_the_error_says_what_to_do(programs, there):
    if there:
        programs("chromium").chmod(0o644)
    with pytest.raises(BadInput, match="no Chromium.*make browser.*BOOK_CHROMIUM"):
        chromium.find()


def test_the_makefile_looks_for_the_same_names():
    script = (paths.ROOT / ".ci" / "chromium.sh").read_text()
    assert f" {' '.join(chromium.NAMES)}; do" in script
