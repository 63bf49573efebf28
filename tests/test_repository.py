"""The repository: its address in one place, overridden by the reader's; its size. CONTRIBUTING.md sends nobody to a file or a
package that is not there. GitHub's workflows: what they run exists, they have no more rights than they need, and nothing
blocks that must not."""

import re
import subprocess

import pytest
import yaml

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
CEILINGS = {"src": 22_182, "tests": 16_892, "MiB": 44.0}


def test_the_house_stays_small():
    root = paths.PACKAGE.parents[1]
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    files = [root / name for name in listed.split("\0") if (root / name).is_file()]
    sizes = {folder: sum(file.read_bytes().count(b"\n") for file in files
                         if file.suffix == ".py" and file.is_relative_to(root / folder)) for folder in ("src", "tests")}
    sizes["MiB"] = sum(file.stat().st_size for file in files) / 2**20
    assert {name: size for name, size in sizes.items() if size > CEILINGS[name]} == {}


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


FILES = sorted((paths.ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (paths.ROOT / "Makefile").read_text(), re.M))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_run_exists_is_pinned_and_has_no_more_rights_than_it_needs(file):
    content = yaml.safe_load(file.read_text())
    steps = [step for job in content["jobs"].values() for step in job["steps"]]
    for command in (step["run"] for step in steps if "run" in step):
        assert set(re.findall(r"\bmake ([a-z-]+)", command)) <= TARGETS
        assert all((paths.ROOT / script).exists() for script in re.findall(r"\b(?:ba)?sh (\S+)", command))
        assert "${{" not in command, "an expression in a command can run what a pull request's title says"
    used = re.findall(r"uses: (.+)", file.read_text())
    assert len(used) == sum("uses" in step for step in steps) > 0
    assert [action for action in used if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}  # v\d+(\.\d+)*", action)] == []
    assert content["permissions"] == {"contents": "read"}
    own = {name: job["permissions"] for name, job in content["jobs"].items() if "permissions" in job}
    assert own == ({"deploy": {"pages": "write", "id-token": "write"}} if file.stem == "book" else {})
    assert all("timeout-minutes" in job or name == "deploy" for name, job in content["jobs"].items())
    assert "pull_request_target" not in str(content)  # it would run a stranger's code with rights


def test_pages_are_linked_by_one_address_alone():
    """A repository's address stands in _config.yml and in the templates' setup cells, which a command keeps alike."""
    address = r"github\.(com|io)/[A-Za-z]+/neural-ranking-reproduced"
    command = ["git", "grep", "-lE", address, "--", ".", ":!notebooks"]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["book/_config.yml"]
