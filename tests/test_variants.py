"""Variant pages: their names, their place in the contents, and that cleaning removes them and nothing else."""

import json

import pytest
import yaml

from helpers import paths
from press import build, chapters, cli, commands

KEPT = ("candidates.ipynb", "candidates.stamp", "candidates.failed.ipynb", "seeds.ipynb")
GONE = ("candidates--1c472a.ipynb", "candidates--1c472a.stamp", "candidates--1c472a--compared.md", "seeds--abcdef.stamp")
TITLE = chapters.chapter("candidates").title


@pytest.fixture
def book(places):
    """A book with executed and rendered pages of variants and baselines."""
    root = places("HTML", "CHAPTERS", "GENERATED") / "book"
    files = [f"chapters/{name}" for name in KEPT + GONE]
    for stem in ("candidates", "candidates--1c472a", "candidates--1c472a--compared"):
        files += [f"_build/html/chapters/{stem}.html", f"_build/html/_sources/chapters/{stem}.ipynb",
                  f"_build/jupyter_execute/chapters/{stem}.ipynb"]
    run = {"changed": {"depths": [10, 50], "unit": "document"}}
    for file in (*files, "_build/html/index.html", "_build/.doctrees/x"):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(json.dumps({"name": file, "metadata": {"neural_ranking": [{"run": run}]}}))
    return root


def files_of(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_cleaning_removes_variants_comparisons_and_their_rendered_pages_alone(book):
    before = files_of(book)
    (told,) = commands.clean_variants(no_render=True)
    after = files_of(book)
    assert set(before) - set(after) == {name for name in before if "--" in name} | {"_build/.doctrees/x"}
    assert all(after[name] == before[name] for name in after)
    assert told == f"removed {len(GONE) + 6} files"


def test_the_contents_end_with_the_variants_as_long_as_there_are_any_each_with_its_comparison_below_it(book):
    assert yaml.safe_load(build.write_toc().read_text())["parts"][-1] == {"caption": "Variants", "chapters": [{
        "file": "chapters/candidates--1c472a", "title": f'{TITLE}: depths = [10, 50], unit = "document"',
        "sections": [{"file": "chapters/candidates--1c472a--compared", "title": "Compared with the baseline"}]}]}
    list(commands.clean_variants(no_render=True))
    assert yaml.safe_load(build.write_toc().read_text()) == yaml.safe_load((paths.BOOK / "_toc.yml").read_text())


@pytest.mark.parametrize(("options", "rendered"), [([], 1), (["--no-render"], 0)])
def test_the_command_renders_the_contents_anew(book, monkeypatch, capsys, options, rendered):
    calls = []
    monkeypatch.setattr(build, "render", lambda: calls.append(1))
    assert cli.main(["clean-variants", *options]) == 0
    assert len(calls) == rendered
    assert cli.main(["clean-variants", *options]) == 0
    assert len(calls) == rendered  # nothing was removed
    assert "removed 0 files" in capsys.readouterr().out
