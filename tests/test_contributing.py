"""CONTRIBUTING.md sends nobody to a file or a package that is not there."""

import re

import pytest

from helpers import paths

TEXT = (paths.ROOT / "CONTRIBUTING.md").read_text()
NAME = re.compile(r"`([\w./-]+(?:\.(?:py|yaml|yml|js|css|cff)|/))`")
ROWS = [line for line in TEXT.splitlines() if line.startswith("| ") and NAME.search(line)]


def missing(row: str) -> list[str]:
    """The files that a row names and that are neither in the project, nor in the package, nor beside the one before."""
    lost, beside = [], paths.ROOT
    for name in NAME.findall(row):
        places = [folder / name for folder in (paths.ROOT, paths.PACKAGE.parent, paths.PACKAGE,
                                               beside) if (folder / name).exists()]
        if places:
            beside = places[0].parent
        else:
            lost.append(name)
    return lost


def test_packages_are_all_named():
    table = TEXT[:TEXT.index("| to change |")]
    named = set(re.findall(r"`([a-z]+)`", "".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))))
    assert named == {init.parent.name for init in paths.PACKAGE.glob("*/__init__.py")}


def test_a_file_that_is_not_there_is_found_missing():
    assert missing("| a loss | `reranking/losses.py`, `lost.py`; `paths.py` |") == ["lost.py"]
    assert len(ROWS) > 10


@pytest.mark.parametrize("row", ROWS)
def test_files_are_there(row):
    assert missing(row) == []
