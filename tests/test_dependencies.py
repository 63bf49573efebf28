"""What a chapter depends on: the modules that it imports, directly or not, and the data beside them; nothing else."""

import shutil

import nbformat
import pytest

from helpers import paths
from helpers.errors import BadInput
from press import dependencies, execute


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A small `src`, and a template that imports from it."""
    empty = ("helpers/__init__.py", "helpers/other/__init__.py", "helpers/unused.py", "press/__init__.py", "press/x.py",
             "press/unused.py", "helpers/floor/words/list.txt", "helpers/other/list.txt")
    files = {**dict.fromkeys(empty, ""), "helpers/a.py": "from helpers.floor import b",
             "helpers/floor/__init__.py": "import press",
             "helpers/floor/b.py": "def f():\n    import helpers.floor.c as c\n    return c",
             "helpers/floor/c.py": "import helpers.a", "press/page_header.py": "import json\nfrom press import x"}
    for name, text in files.items():
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).write_text(text)
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("import helpers.unused"),
                                           nbformat.v4.new_code_cell("from helpers.a import f")])
    nbformat.write(made, tmp_path / "one.ipynb")
    monkeypatch.setattr(dependencies, "SOURCES", tmp_path / "src")
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    return tmp_path / "src"


def test_imports_are_followed_into_functions_and_round_circles_and_packages_count(sources):
    before = dependencies.of_chapter("one")
    assert list(before) == [
        "helpers/__init__.py", "helpers/a.py", "helpers/floor/__init__.py", "helpers/floor/b.py", "helpers/floor/c.py",
        "helpers/floor/words/list.txt", "press/__init__.py", "press/page_header.py", "press/x.py"]
    for file in before:
        (sources / file).write_text(f"{(sources / file).read_text()}\n")
        assert dependencies.of_chapter("one")[file] != before[file]


@pytest.fixture
def marked(sources, tmp_path, monkeypatch):
    """Whether a page is out of date once something was done."""
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    for name in ("own/docs.tsv", "own/qrels.tsv", "own/queries.tsv", "a.trec", "results/step-0123456789abcdef.zip",
                 "results/verified.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("first")
    values = {"collection": str(tmp_path / "own"), "run": str(tmp_path / "a.trec"), "backbones": ["packaged"], "other": "x" * 999}

    def differs(change):
        before = execute.fingerprint("one", values, "mini")
        change()
        return execute.fingerprint("one", values, "mini") != before
    return differs


@pytest.mark.parametrize(("name", "matters"), [("own/qrels.tsv", True), ("own/new.tsv", True), ("a.trec", True),
                                               ("results/step-0123456789abcdef.zip", True), ("results/verified.json", False)])
def test_a_page_is_out_of_date_when_its_data_is(marked, tmp_path, name, matters):
    assert marked(lambda: (tmp_path / name).write_text("other")) is matters


def test_a_narrower_backbone_is_known_by_the_files_of_the_one_that_it_is_made_from():
    assert execute.contents("packaged/256") == execute.contents("packaged")
    assert execute.contents("packaged:0,1/96") == execute.contents("packaged:0,1") != execute.contents("packaged")


def test_a_template_that_is_no_python_is_told(sources):
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import (")])
    nbformat.write(made, paths.NOTEBOOKS / "one.ipynb")
    with pytest.raises(BadInput, match=r"one\.ipynb: 'import \(' is no Python"):
        dependencies.of_chapter("one")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return shutil.copytree(paths.PACKAGE.parent, tmp_path_factory.mktemp("copy") / "src",
                           ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))


@pytest.mark.parametrize(("edited", "out_of_date"), [
    ("press/cite.py", set()), ("helpers/evaluation/variance.py", {"seeds"}),
    ("helpers/pretraining/heads.py", {"seeds", "condenser"}),
    ("helpers/retrieval/bm25.py", {"seeds", "condenser", "collection"})])
def test_an_edit_makes_the_chapters_out_of_date_that_use_it(copy, monkeypatch, edited, out_of_date):
    monkeypatch.setattr(dependencies, "SOURCES", copy)
    before = {name: dependencies.of_chapter(name) for name in ("seeds", "condenser", "collection")}
    with (copy / edited).open("a") as file:
        file.write("\n# another line\n")
    assert {name for name, mark in before.items() if dependencies.of_chapter(name) != mark} == out_of_date
