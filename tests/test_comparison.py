"""A variant beside its baseline: paired systems, their tests, and the page that shows them. Variant pages: their names, their
place in the contents, and that cleaning removes them and nothing else."""

import json
from dataclasses import replace

import pandas as pd
import pytest
import yaml
from markdown_it import MarkdownIt

from dry_steps import write_page
from helpers import paths
from helpers.evaluation.significance import paired
from helpers.pages.carried import System, packed
from helpers.pages.claims import load
from helpers.pages.fragments import Fragment, escape, p_value
from press import build, chapters, cli, commands, comparison, page_header, variants
from press.comparison import Page
from tables import cells

RUN = {"profile": "almanac", "commit": "abc", "date": "2026-01-02T03:04:05Z", "seconds": 9.0,
       "parameters": {"queries": 400, "depths": [10, 20]}}


def system(label, values, key="k", first=1, **more):
    queries = [f"q{n}" for n in range(first, first + len(values))]
    return System(label, key, pd.DataFrame({"RR@10": values, **more}, index=pd.Index(queries, name="query_id"), dtype=float))


def page(name, *systems, **run):
    return Page(name, {**RUN, **run}, {system.label: system for system in systems})


def test_systems_are_paired_by_label_on_the_queries_that_both_have():
    before = system("BM25", [0.1, 0.2, 0.3], "1")
    baseline = page("a", replace(before, values=before.values[::-1]), system("gone", [1, 1]))  # whatever their order
    variant = page("a--b", system("new", [1, 1]), system("BM25", [0.5, 0.6, 0.7], "2", first=2))
    ((label, (before, after)),) = comparison.pairs(baseline, variant).items()
    assert label == "BM25" and list(before.index) == list(after.index) == ["q2", "q3"]
    assert list(before["RR@10"]) == [0.2, 0.3] and list(after["RR@10"]) == [0.5, 0.6]


def test_only_measures_that_both_pages_have_are_compared():
    before = page("a", System("s", "1", pd.DataFrame({"RR@10": [1.0, 0], "AP": [1.0, 0]}, index=["q1", "q2"])))
    after = page("a--b", System("s", "2", pd.DataFrame({"nDCG@10": [1.0, 0], "AP": [1.0, 0]}, index=["q1", "q2"])))
    assert list(comparison.pairs(before, after)["s"][1]) == ["AP"]


@pytest.mark.parametrize(("key", "values", "unchanged"), [
    ("1", [0.5, 1.0], True), ("2", [0.5, 1.0], False), ("1", [0.5, 0.0], False)])
def test_the_same_step_with_the_same_values_is_unchanged(key, values, unchanged):
    shown = comparison.systems(page("a", system("s", [0.5, 1.0], "1")), page("a--b", system("s", values, key)))
    assert (shown[-1].startswith("The same step") and len(shown) == 2) is unchanged


def test_tests_are_the_projects_own():
    before, after = [0.3, 0.1, 0.3, 0.1, 0.3, 0.1], [0.1, 0.3, 0.1, 0.4, 0.3, 0.0]
    test = paired(after, before)
    moved = comparison.pairs(page("a", system("s", before, "1")), page("a--b", system("s", after, "2")))
    row = cells(Fragment(comparison.measure_table(moved, "RR@10")))[1]
    assert row[:3] + row[4:] == ["s", "0.200", "0.200", p_value(test.p_permutation), "2 / 1 / 3", "6"]
    assert row[3].startswith("+0.000 [")


shown = comparison.text


def test_systems_that_did_not_change_or_that_one_page_has_alone_are_named_and_not_tested():
    same = system("BM25", [0, 1], "1")
    text = shown(page("candidates", same, system("both", [0, 1], "1"), system("R = 30", [0, 1]), system("apart", [0, 1])),
                 page("candidates--x", same, system("both", [1, 0], "2"), system("R = 50", [0, 1]),
                      system("apart", [0, 1], first=9)))
    assert "not tested: BM25." in text
    assert "BM25" not in [row[0] for row in cells(Fragment(text))]
    assert "Only on the baseline page: R = 30." in text
    assert "Only on the variant: R = 50." in text
    assert "On both pages, without two queries in common: apart." in text


def test_no_text_of_the_data_is_read_as_markdown():
    end = "x\r\r```{include} /etc/passwd\r```\r\r# heading\r"
    made = System(end, "1", pd.DataFrame({"RR@10": [0.0, 1, 1]}, index=["q1", end, "q3"]))
    text = shown(page("candidates", made, system(f"{end}1", [0, 1]), system("s", [0, 1], "9"), parameters={end: end}),
                 page("candidates--x", System(end, "2", 1 - made.values), system("s", [0, 1], "9"), system(f"{end}2", [0, 1])))
    tokens = MarkdownIt().parse(text)
    assert {token.type for token in tokens} <= {"html_block", "heading_open", "inline", "heading_close", "paragraph_open",
                                                "paragraph_close"}
    headings = [token.content for before, token in zip(tokens, tokens[1:], strict=False) if before.type == "heading_open"]
    assert headings[1:] == ["What was changed", "Systems"]
    assert not any(child.type == "code_inline" for token in tokens for child in token.children or [])


@pytest.mark.parametrize("baseline", [None, page("candidates")])
def test_without_a_baseline_the_page_says_how_to_get_one(baseline):
    text = shown(baseline, page("candidates--x", system("s", [0, 1]), profile="mini"))
    assert "make chapter NAME=candidates PROFILE=mini" in text
    assert "<table" not in text


@pytest.fixture
def written(places):
    """Writes an executed page with this system to a book of its own."""
    places("CHAPTERS")
    return lambda name, own: write_page(name, {"run": RUN}, {"ledger": [], "evaluations": packed([own])})


def test_comparisons_are_written_and_again_when_a_page_changes(written):
    written("candidates", system("s", [0, 1], "1"))
    written("candidates--abc", system("s", [1, 0], "2"))
    (target,) = comparison.write_all()
    assert target == paths.CHAPTERS / "candidates--abc--compared.md"
    assert "0.500" in target.read_text()
    written("candidates", system("s", [1, 1], "1"))
    assert comparison.write_all() == [target]
    assert "1.000" in target.read_text()


def test_baselines_failed_pages_and_variants_of_lost_chapters_have_none(written):
    for name in ("candidates", "candidates--abc.failed", "lost--abc"):
        written(name, system("s", [0, 1]))
    assert comparison.write_all() == []
    assert [page.stem for page in variants.pages()] == []


def test_a_page_whose_model_did_not_learn_says_so_at_its_top():
    lines = [{"claim": "bert-max-beats-bm25", "verdict": "not tested", "reason": "loss at ln <32>", "pair": {}},
             {"claim": "bert-mean-beats-bm25", "verdict": "not tested", "reason": "loss at ln <32>", "pair": {}},
             {"claim": "c", "verdict": "agrees", "reason": "", "pair": {}},
             {"claim": "d", "verdict": "not tested", "reason": "not run"}]
    some = page_header.warning([{"claims": lines}])  # another claim is decided: those that are not are named
    assert some.count("loss at ln &lt;32&gt;") == 1 and escape(load()["bert-mean-beats-bm25"].claim) in some
    assert page_header.warning([{"claims": lines[:2]}]).endswith(" loss at ln &lt;32&gt;</p>\n")
    assert page_header.warning([{"claims": lines[2:]}, {"run": {}}]) == ""


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
