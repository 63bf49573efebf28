"""Words and turns that the book's English does without, in all that a reader reads: notebooks, data, pages, messages."""

import ast
import re

import pytest
import yaml

from helpers import paths
from press.edited import notebook_of

ROOT = paths.PACKAGE.parents[1]
TICS = {  # what to write instead
    "a number, or clearly": r"\bsurely\b|\bno sure\b",
    "on average": r"\bin the mean\b",
    "training runs": r"(?<!deviation over )\btrainings\b",  # the net of numbers knows that phrase by its words
    "continues from": r"\bgo(?:es)? on from\b",
    "because": r", for (?:no|the|it|they|this|that) \w+ (?:is|was|are|were|has|have|does|do|can|did)\b",
    "little, or few": r"\bhardly\b",
    "again": r"\banew\b",
    "the passive, or who it is": r"\bnobody\b|\bwhoever\b",
    "shows, reports": r"\btells? (?:which|whether|how|nothing)\b|\bis told\b|\bmakes? of\b",
    "shows, measures, contains": r"\b(?:page|table|picture|figure|window|chapter)s? (?:says?|tells?|asks?|knows?|wants?)\b",
    "not tested, disagrees": r"\bcontradicted in\b",
    "a plain subject": r"\bas far as\b[^.]*\bgoes\b"}


def tics(text: str) -> list[str]:
    """What to mend in a text, code left out."""
    prose = re.sub(r"\s+", " ", re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL))
    return [f"{found[0]!r} in {prose[max(0, found.start() - 40):found.end() + 30]!r}: write {better}"
            for better, pattern in TICS.items() for found in re.finditer(pattern, prose, re.IGNORECASE)]


def texts_in(value):
    """The texts of nested lists and mappings."""
    if isinstance(value, str):
        return [value]
    return [text for one in (value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
            for text in texts_in(one)]


def of_python(source: str) -> list[str]:
    """The texts of a module that may reach a reader: all but its docstrings and single words."""
    nodes = list(ast.walk(ast.parse(source)))
    docstrings = {id(node.body[0].value) for node in nodes if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
                  and node.body and isinstance(node.body[0], ast.Expr)}
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
            and id(node) not in docstrings]


def read(file):
    if file.suffix == ".ipynb":
        return [cell["source"] for cell in notebook_of(file)["cells"] if cell["cell_type"] == "markdown"]
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".yaml":
        return texts_in(yaml.load(text, yaml.CSafeLoader))  # noqa: S506 - a safe loader
    return of_python(text) if file.suffix == ".py" else [text]


@pytest.mark.parametrize("place", ["notebooks/*.ipynb", "published/*.yaml", "*.md", "book/*.md", "book/templates/*",
                                   "src/**/*.py"])
def test_readers_meet_no_tic(place):
    files = sorted(ROOT.glob(place))
    assert files
    found = [f"{file.relative_to(ROOT)}: {tic}" for file in files for text in read(file) for tic in tics(text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("text", "number"), [
    ("It surely falls.", 1), ("Higher in the\nmean.", 1), ("`anew` and ```\nhardly\n```", 0),
    ("All trainings, and the page says", 2), ("Runs for the page. It is for the best.", 0),
    ("It falls, for the rate is high.", 1), ("A training run goes on.", 0)])
def test_the_linter_finds_tics_and_leaves_code_and_plain_words(text, number):
    assert len(tics(text)) == number
    assert of_python(f'"""{text}"""\ndef f():\n    return {text!r}') == [text]
