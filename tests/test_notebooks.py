"""The templates: small cells, no outputs, no program logic; and no result typed into any prose."""

import ast
import json
import re
import subprocess
import sys

import pytest

from helpers import paths
from helpers.pages import page

NOTEBOOKS = sorted(paths.NOTEBOOKS.glob("*.ipynb"))
PROSE = [*NOTEBOOKS, paths.BOOK / "index.md", paths.BOOK / "reading.md"]
IMPORTED = {"helpers", "collections", "dataclasses", "functools", "itertools", "math", "numpy", "pandas", "pathlib",
            "scipy", "typing"}

ALLOWED = re.compile("|".join((
    r"^(`{3,}|~{3,}).*?^\1",  # code blocks
    r"\$\$.+?\$\$",  # a displayed formula
    r"\{cite[^}]*\}`[^`]*`",
    r"(?P<ticks>`+)(?:(?!\n\n).)+?(?P=ticks)",  # code
    r"(?-i:^make .*?$)",
    r"!?\[[^\]]*\]\([^)]*\)|<https?:[^>]*>",  # links
    r"\((?:[^()]*\s)?(?:19|20)\d\d[a-z]?\)",  # a year at the end of a parenthesis
    r"\b(?:table|figure|section|experiment|chapter|equation|appendix)s?\s+[A-Z]?\d+(?:\.\d+)*",
    r"\bDL (?:19|20)\d\d\b",
    r"\b[A-Za-z][A-Za-z-]*@\d+\b",  # RR@10
    r"\b[A-Za-z][A-Za-z-]*\d+\b(?!\.\d)",  # BM25
    r"\bdoc2query\b",
)), re.MULTILINE | re.DOTALL | re.IGNORECASE)


def bare_numbers(text):
    """The numbers in Markdown prose that are no label, year, name, link or code."""
    return re.findall(r"\d[\d.,]*", ALLOWED.sub(" ", text))


def cells_of(file, kind):
    cells = json.loads(file.read_text())["cells"]
    return [cell | {"source": "".join(cell["source"])} for cell in cells if cell["cell_type"] == kind]


def tags_of(cell):
    return cell["metadata"].get("tags", [])


def trees_of(file):
    """The code, without the setup cell, which must run before the book is installed (test_launch.py checks it)."""
    return [ast.parse(cell["source"]) for cell in cells_of(file, "code") if "setup" not in tags_of(cell)]


@pytest.mark.slow
def test_cells_are_type_checked_like_any_source(tmp_path):
    """A name, an argument or an attribute that the package no longer has, in the cells of any chapter.

    With the settings and so the cache of `make lint`, which checks nothing of the package a second time.
    """
    cells = tmp_path / "cells"
    cells.mkdir()
    for file in NOTEBOOKS:
        code = [cell["source"] for cell in cells_of(file, "code") if "setup" not in tags_of(cell)]
        (cells / f"{file.stem}.py").write_text("\n\n".join(code) + "\n")
    (cells / "__init__.py").touch()
    done = subprocess.run([sys.executable, "-m", "mypy", "src", "bench", cells], cwd=paths.ROOT, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout


every_notebook = pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)


@every_notebook
def test_a_template_is_small_cells_without_outputs_one_of_them_its_parameters_below_its_title(file):
    title, code = json.loads(file.read_text())["cells"][0], cells_of(file, "code")
    assert title["cell_type"] == "markdown" and "".join(title["source"]).startswith("# ")
    tags = [tag for cell in code for tag in tags_of(cell)]
    assert tags.count("parameters") == 1 and "injected-parameters" not in tags
    for cell in code:
        assert (cell["outputs"], cell["execution_count"]) == ([], None)
        assert len(cell["source"].splitlines()) <= 15, cell["source"]


@every_notebook
def test_only_the_helpers_and_what_arranges_numbers_are_imported(file):
    for node in (node for tree in trees_of(file) for node in ast.walk(tree)):
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= IMPORTED
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert node.module.split(".")[0] in IMPORTED


def test_cells_are_linted_like_any_source():
    done = subprocess.run([sys.executable, "-m", "ruff", "check", str(paths.NOTEBOOKS)], cwd=paths.ROOT, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("file", PROSE, ids=lambda file: file.name)
def test_prose_holds_no_bare_number(file):
    prose = file.read_text() if file.suffix == ".md" else "\n\n".join(cell["source"] for cell in cells_of(file, "markdown"))
    assert bare_numbers(prose) == [], f"{file.name}: let the page compute it, or spell it out"


@pytest.mark.parametrize(("text", "numbers"), [
    ("BERT reached 0.571", ["0.571"]), ("It gained 12 % over BM25.", ["12"]), ("p < 0.05", ["0.05"]),
    ("MRR@10 = .57", ["57"]), ("a stray ` tick\n\n3 and `code`", ["3"]), ("table 5.1, 0.571", ["0.571"]),
    ("in 2019", ["2019"]), ("(0.571)", ["0.571"]), ("(n = 400)", ["400"]), ("table 5.1: 0.571", ["0.571"]),
    ("BM25 0.4", ["0.4"]), ("| BERT | 0.571 |", ["0.571"]), ("**0.571**", ["0.571"]), ("# 3 findings", ["3"]),
    ("200,000 queries", ["200,000"]), ("RR@10 was0.571", ["0.571"]), ("we make 3 of them", ["3"]),
    ("`code` 7 `code`", ["7"]), ("```\n1\n```\n2\n```\n3\n```", ["2"]), ("DL 2019 has 43 queries", ["43"])])
def test_the_checker_finds_bare_results(text, numbers):
    assert [number.rstrip(".,") for number in bare_numbers(text)] == numbers


@every_notebook
def test_the_method_is_in_view_as_the_packages_own_source(file):
    """The functions that a chapter's cell `method` names: a few lines of what the chapter is about."""
    cell, = (cell["source"] for cell in cells_of(file, "code") if "method" in tags_of(cell))
    names: dict = {"page": page}
    head, call, shown = cell.rpartition("page.source")
    exec(head, names)
    lines = [line for line in eval(call + shown, names).markdown.splitlines() if line and not line.startswith("```")]
    assert 2 <= len(lines) <= 20
