"""Dry runs: what a chapter would compute is found, nothing is computed or written, and what cannot be told is said. Explaining a
command: what would run and for how long, in words; nothing is run."""

import json
import re
import sys

import pytest

import dry_steps
from dry_steps import write_page, write_template
from helpers import paths
from helpers.data.irds import IrDatasets
from helpers.errors import BadInput
from helpers.steps import ledger
from helpers.steps.store import Store
from press import cli, dry_run, execute, explain
from press.dry_run import Computation, catalogue, nearest

IMPORTS = "from dry_steps_module import doubled, numbers, total"


def chapter(*cells, **values):
    """The dry run of a template `fake` of these cells with these parameters."""
    dry_steps.write_template("fake", IMPORTS, *cells)
    return dry_run.of_chapter("fake", {"count": 3, "times": 2, **values}, catalogue())


def names(result):
    return [step.name for step in result.missing.values()]


def snapshot(folder):
    return sorted((str(file.relative_to(folder)), file.stat().st_mtime_ns) for file in folder.rglob("*"))


WHOLE = "value = total([doubled(numbers(count), times)]).value()"


def test_a_missing_step_is_found_with_all_below_it_inputs_first(steps_module):
    plan = chapter(WHOLE)
    assert names(plan) == ["numbers", "doubled", "total"]
    assert plan.available == {}
    assert plan.stopped == [("value = total([doubled(numbers(count), times)]).value()", "needs the value of total")]


def test_what_is_stored_is_found_and_not_looked_below_and_nothing_is_computed_or_written(steps_module):
    steps_module.total([steps_module.doubled(steps_module.numbers(3), 2)]).value()
    dry_steps.COMPUTED.clear()
    before = snapshot(paths.store())
    plan = chapter(WHOLE)
    assert (plan.missing, plan.stopped, plan.stand_ins) == ({}, [], set())
    assert [source for _, source in plan.available.values()] == ["stored"]
    chapter(WHOLE, times=5)
    assert dry_steps.COMPUTED == [] and snapshot(paths.store()) == before


def test_the_nearest_value_stands_in_so_that_all_of_a_loop_is_found(steps_module):
    steps_module.numbers(3).value()
    steps_module.doubled(steps_module.numbers(3), 2).value()
    plan = chapter("values = [doubled(numbers(3), n).value() for n in (2, 5, 6)]", "after = numbers(len(values)).value()")
    assert [step.arguments["times"] for step in plan.missing.values()] == [5, 6]
    assert len(plan.stand_ins) == 2
    assert plan.stopped == []
    assert len(plan.available) == 2


def test_without_a_stand_in_only_what_depends_on_the_value_stops(steps_module):
    steps_module.numbers(7).value()
    plan = chapter("a = total([numbers(7)]).value()\nb = doubled(numbers(7)).value()", "c = a['total'] + 1", "d = c",
                   "e = numbers(7).value()", "a = 1", "f = [a for a in (1, 2)]")
    assert [statement.split(" =")[0] for statement, _ in plan.stopped] == ["a", "b", "c", "d"]
    assert [reason for _, reason in plan.stopped[2:]] == ["needs a", "needs c"]
    assert names(plan) == ["total", "doubled"]


def test_an_error_of_the_chapter_itself_is_told(steps_module):
    with pytest.raises(BadInput, match=r"would stop at `value = max\(\[\]\)`: ValueError"):
        chapter("value = max([])")


def test_an_error_after_a_stand_in_is_no_error_of_the_chapter(steps_module):
    steps_module.numbers(3).value()
    plan = chapter("value = numbers(2).value()['values']", "value.index(99)", "other = doubled(numbers(3)).value()")
    assert plan.stopped[0] == ("value.index(99)", "does not work without the missing values (ValueError)")
    assert names(plan) == ["numbers", "doubled"]


def test_texts_that_are_not_here_are_told_also_after_a_stand_in(steps_module):
    steps_module.numbers(3).value()
    of = "text_store(open_collection('dictionaries:/nowhere').part('texts', 'passage'))"
    with pytest.raises(BadInput, match="the dictionaries are not here.*or take no general text"):
        chapter("from helpers.data.collection import open_collection\nfrom helpers.data.texts import text_store",
                "numbers(2).value()", f"doubled({of}).value()")


def test_queries_and_texts_of_a_folder_are_read_and_forgotten(steps_module, tmp_path):
    (tmp_path / "in").mkdir()
    for name, text in {"collection": "p1\ta\n", "queries": "q1\ta\nq2\tb\n", "qrels": "q1 0 p1 1\n"}.items():
        (tmp_path / "in" / f"{name}.tsv").write_text(text)
    plan = chapter("from helpers.systems.testbed import Testbed", f"bed = Testbed('{tmp_path / 'in'}')",
                   "assert list(bed.query_frame['query_id']) == ['q1', 'q2'] and len(bed.qrels) == 1")
    assert not plan.stopped and {*names(plan)} == {"queries", "qrels", "text_store"}
    assert not list(paths.store().rglob("manifest.json"))
    (tmp_path / "in" / "collection.tsv").write_text("p1\t\u200b\n")
    with pytest.raises(BadInput, match=r"collection\.tsv:1: passage 'p1' has no text"):
        chapter("from helpers.systems.testbed import Testbed", f"Testbed('{tmp_path / 'in'}').index.value()")


# ---- computations that were made before ----

def recipe(step="train", version=1, **arguments):
    return {"step": step, "version": version, "arguments": arguments}


def data(name, digest="d"):
    return {"data": ["almanac", name], "digest": digest}


def entry(given, key="k", seconds=1.0, kept=None):
    return Computation(given, key, seconds, kept)


@pytest.mark.parametrize(("needed", "near", "far"), [
    (recipe(a=7, b=1), recipe(a=1, b=1), recipe(a=1, b=2)),
    (recipe(version=2, a=1), recipe(a=1), recipe(a=2)),
    (recipe(a=1, run=recipe("bm25")), recipe(a=2, run=recipe("bm25")), recipe(a=1, run=recipe("dense", k=1))),
    (recipe(run=recipe("bm25", queries=recipe("queries", sample=3)), queries=recipe("queries", sample=3)),  # shared: counts once
     recipe(run=recipe("bm25", queries=recipe("queries", sample=4)), queries=recipe("queries", sample=4)),
     recipe(run=recipe("bm25", queries=recipe("queries", sample=3), k=1, b=2), queries=recipe("queries", sample=3))),
    (recipe(texts=data("docs", "new")), recipe(texts=data("docs", "old")), recipe(texts=data("passages")))])
def test_the_nearest_differs_in_the_fewest_arguments(needed, near, far):
    assert [nearest(needed, [entry(one, one is near) for one in pair]).key for pair in ((near, far), (far, near))] == [True, True]


def test_among_equals_the_almanacs_come_first():
    almanac, elsewhere = ({"data": ["docs"], "collection": name, "digest": name} for name in ("almanac", "a"))
    known = [entry(recipe(texts=part), key) for part, key in ((elsewhere, "a"), (almanac, "b"))]
    assert nearest(recipe(texts={"data": ["docs"], "collection": "irds:x", "digest": "new"}), known).key == "b"


@pytest.fixture
def made(steps_module):
    """A step that was computed, with those below it."""
    step = steps_module.total([steps_module.doubled(steps_module.numbers(3)), steps_module.numbers(4)])
    step.value()
    return step


def test_a_stored_computation_is_known_where_it_is_kept_whatever_a_later_step_tells_of_it(made):
    (result,) = catalogue()["total"]
    assert (result.key, result.kept) == (made.key, Store(paths.store()))
    assert sorted(entry.recipe["arguments"]["count"] for entry in catalogue()["numbers"]) == [3, 4]
    assert all(entry.kept is not None for name in ("numbers", "doubled") for entry in catalogue()[name])


def test_a_recorded_run_tells_of_the_steps_below_it(made, steps_module, tmp_path):
    manifest = next(paths.store().glob("total/*/*/manifest.json"))
    told = json.loads(manifest.read_text())
    told["inputs"][0]["inputs"][0]["seconds"] = 33.0
    manifest.write_text(json.dumps(told))
    dry_steps.ship("total")
    paths.store().rename(tmp_path / "away")
    result = {entry.recipe["arguments"]["count"]: entry for entry in catalogue()["numbers"]}
    assert (result[3].seconds, result[3].kept) == (33.0, None)
    assert result[4].seconds is not None
    assert result[3].key == steps_module.numbers(3).key


CELLS = ("from dry_steps_module import doubled, numbers, total", "value = total([doubled(numbers(count), times)]).value()")


@pytest.fixture
def book(steps_module, tmp_path, monkeypatch):
    """A book of two chapters, `first` and `second`, and the profile `almanac`, with an empty store."""
    monkeypatch.setattr(ledger, "commit", lambda: "abc")
    (paths.PROFILES / "almanac.yaml").write_text("shared: {}\n")
    (paths.BOOK / "_toc.yml").write_text("parts: [{chapters: [{file: chapters/first}, {file: chapters/second}]}]")
    for name in ("first", "second"):
        write_template(name, *CELLS)
    return tmp_path


def compute(count=3, times=2):
    made = sys.modules["dry_steps_module"]
    made.total([made.doubled(made.numbers(count), times)]).value()


def executed(name, chapter="first", seconds=0.0, ledger=(), stamp=True):
    """A page as its execution would leave it."""
    page = execute.request(chapter, "almanac", {})
    run = {"profile": "almanac", "parameters": page.values, "commit": "abc", "date": "", "seconds": seconds}
    write_page(name, {"run": run}, {"ledger": list(ledger)})
    if stamp:
        (paths.CHAPTERS / f"{name}.stamp").write_text(execute.fingerprint(chapter, page.values, "almanac"))


def shown(name="first", **given):
    return explain.text(explain.plan(name, "almanac", given))


def test_a_changed_parameter_names_steps_and_pages(book):
    compute()
    assert "to compute 0, stored 1, recorded 0" in shown("second")
    text = shown(times="5")
    assert "times = 5, baseline 2" in text
    assert "to compute 2, stored 1" in text
    name = execute.request("first", "almanac", {"times": "5"}).name
    assert f"pages: {name}, {name}--compared; the baseline page first has not been executed" in text


def test_a_page_that_is_current_is_not_looked_into_and_one_that_is_out_of_date_would_run(book, monkeypatch):
    executed("first")
    with monkeypatch.context() as blind:
        blind.setattr(explain.dry_run, "of_chapter", None)
        assert shown().startswith("first: up to date, nothing would run")
    write_template("first", *CELLS, "more = 1")
    assert "would run" in shown()
    executed("second", "second", stamp=False)
    assert "would run" in shown("second")


def test_with_everything_fresh_a_current_page_would_run(book, monkeypatch):
    compute()
    executed("first")
    monkeypatch.setenv("BOOK_FRESH", "99999999999")
    text = shown()
    assert "to compute 3" in text
    assert "replaced" not in text  # each step's own old value stands in for it


def test_an_incomplete_list_says_so_and_values_that_stand_in_are_counted(book):
    write_template("first", CELLS[0], "a = total([numbers(1)]).value()", "b = doubled(a).value()")
    text = shown()
    assert "incomplete" in text
    assert "b = doubled(a).value(): needs a" in text
    compute()
    assert "incomplete" not in shown("second")
    assert "missing values replaced by those of similar steps to see what follows: 1;" in shown("second", times="5")


@pytest.mark.parametrize(("costs", "expected"), [
    ([], "0.0 s"), ([None], "1 unknown"), ([5.0], "5.0 s"), ([5.0, None, None], "5.0 s and 2 unknown"), ([20.0, 30.0], "50 s")])
def test_totals(costs, expected):
    assert explain.total(costs) == expected


def test_the_whole_book_counts_shared_steps_once_and_nothing_is_computed_or_written(book):
    before = sorted(book.rglob("*"))
    text = explain.whole_book("almanac")
    assert sorted(book.rglob("*")) == before and dry_steps.COMPUTED == []
    assert [line.split()[:2] for line in text.splitlines()[1:3]] == [["first", "would"], ["second", "would"]]
    assert "each step once: 3 to compute, expected 3 unknown" in text
    assert text.count("3 unknown+") == 2


def test_a_chapter_that_cannot_be_told_leaves_the_others(book):
    write_template("first", "raise_it = 1 / 0")
    compute()
    lines = explain.whole_book("almanac").splitlines()
    assert "cannot be told" in lines[1]
    assert lines[2].split()[:5] == ["second", "would", "run", "0", "1"]
    assert "each step once: 0 to compute" in lines[-1]


def test_the_command_explains_the_book_and_parameters_of_one_chapter_alone(book, capsys):
    compute()
    assert cli.main(["explain", "--profile", "almanac"]) == 0
    assert "all chapters, each step once" in capsys.readouterr().out
    assert cli.main(["explain", "-p", "times", "5"]) == 2
    assert "parameters belong to one chapter" in capsys.readouterr().err


def test_parameters_that_are_the_baselines_make_no_variant(book):
    assert execute.request("first", "almanac", {"times": "2"}).name == "first"
    given = ({"times": "5"}, {"times": "6"}, {"times": "5", "count": "3"})
    names = {execute.request("first", "almanac", options).name for options in given}
    assert len(names) == 2
    assert all(name.startswith("first--") for name in names)


# at the studies' own scale

AT_SCALE = ("from helpers.systems.testbed import Testbed",
            'run = Testbed(collection, "passage", queries=4).bm25(0.9, 0.4, 100).value()')


def test_every_large_collection_of_the_profile_is_known_with_ir_datasets_own_count():
    profile, known = (paths.PROFILES / "msmarco.yaml").read_text(), paths.listed(paths.PUBLISHED / "scale.yaml")["collections"]
    assert set(re.findall(r'"(irds:[^"\[]+)', profile)) <= set(known)
    counts = {name: IrDatasets(name)._dataset.metadata()["docs"]["count"] for name in known}
    assert counts == known


def test_what_is_not_fetched_is_named(steps_module, monkeypatch):
    (paths.BOOK / "_toc.yml").write_text("parts: [{chapters: [{file: chapters/one}, {file: chapters/small}]}]")
    (paths.PROFILES / "large.yaml").write_text("chapters: {one: {collection: 'irds:msmarco-passage'}}")
    for name in ("one", "small"):
        write_template(name, *AT_SCALE, parameters='collection: str = "almanac"  # what')
    one, book = explain.text(explain.plan("one", "large", {})), explain.whole_book("large")
    assert "not known before these are here: irds:msmarco-passage;" in one
    assert "would run, with irds:msmarco-passage" in book
    assert "all chapters, each step once: 4 to compute, expected 4 unknown" in book
