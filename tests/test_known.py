"""What is known of earlier computations: recipes, costs, and which of them is nearest to a new one."""

import json
import sys

import pytest

import dry_steps
from helpers import paths
from helpers.steps import registry
from press.explain import known
from press.explain.known import OTHER_DATA, OTHER_STEP, SAME_PART, Difference, Known, catalogue, differences, distance, nearest


def recipe(step="train", version=1, **arguments):
    return {"step": step, "version": version, "arguments": arguments}


def data(name, digest="d"):
    return {"data": ["almanac", name], "digest": digest}


def one(needed, other):
    (difference,) = differences(needed, other)
    return difference


def test_a_plain_argument():
    assert one(recipe(a=1), recipe(a=2)) == Difference(("a",), "train", "a", "1", "2")
    assert one(recipe(a="1"), recipe(a=1)) == Difference(("a",), "train", "a", '"1"', "1")


def test_an_argument_that_one_lacks():
    assert one(recipe(a=1), recipe()) == Difference(("a",), "train", "a", "1", "none")
    assert one(recipe(), recipe(a=1)) == Difference(("a",), "train", "a", "none", "1")


def test_an_argument_of_a_step_below_is_told_with_its_step_and_the_way_to_it():
    needed, other = (recipe(model=recipe("encoder", pairs=recipe("pairs", seed=seed))) for seed in (1, 2))
    assert one(needed, other) == Difference(("model", "pairs", "seed"), "pairs", "seed", "1", "2")


def test_steps_in_a_list_are_compared_one_by_one():
    assert one(recipe(parts=[recipe("x", a=1), recipe("x", a=2)]), recipe(parts=[recipe("x", a=1), recipe("x", a=3)])) \
        == Difference(("parts", 1, "a"), "x", "a", "2", "3")
    assert one(recipe(parts=[1, 2]), recipe(parts=[1, 3])).value == "[1, 2]"


def test_another_step_in_its_place_and_other_data_weigh_more():
    assert one(recipe(run=recipe("bm25")), recipe(run=recipe("dense"))) == \
        Difference(("run",), "train", "run", "bm25", "dense", OTHER_STEP)
    assert one(recipe(texts=data("docs")), recipe(texts=data("passages"))) == \
        Difference(("texts",), "train", "texts", "almanac/docs", "almanac/passages", OTHER_DATA)


def test_the_same_part_of_another_collection_is_nearer_than_another_part_and_further_parts_count_alone():
    docs, elsewhere, more = data("docs", "1"), data("docs", "2"), data("passages")
    assert one(recipe(texts=docs), recipe(texts=elsewhere)).weight == SAME_PART < OTHER_DATA
    assert one(recipe(texts=[docs]), recipe(texts=[docs, more])) == \
        Difference(("texts", 1), "train", "texts", "none", "almanac/passages", OTHER_DATA)


def test_among_equals_the_almanacs_come_first():
    almanac, elsewhere = ({"data": ["docs"], "collection": name, "digest": name} for name in ("almanac", "a"))
    known = [Known(recipe(texts=part), key, 1.0, "here", None) for part, key in ((elsewhere, "a"), (almanac, "b"))]
    needed = recipe(texts={"data": ["docs"], "collection": "irds:x", "digest": "new"})
    assert [entry.key for entry, _ in nearest(needed, known)] == ["b", "a"]


def test_data_of_one_name_that_changed():
    result = one(recipe(texts=data("docs", "new")), recipe(texts=data("docs", "old")))
    assert (result.value, result.other) == ("changed", "almanac/docs")


def test_what_two_inputs_share_counts_once():
    samples = [recipe("queries", sample=sample) for sample in (3, 4)]
    needed, other = (recipe(run=recipe("bm25", queries=queries), queries=queries) for queries in samples)
    result = list(differences(needed, other))
    assert {difference.path[0] for difference in result} == {"run", "queries"}
    assert distance(result) == 1


def entry(given, key="k", seconds=1.0):
    return Known(given, key, seconds, "here", None)


def test_the_nearest_comes_first_and_the_same_key_is_the_nearest_of_all():
    needed = recipe(a=1, b=1, run=recipe("bm25"))
    others = [entry(recipe(a=1, b=1, run=recipe("dense")), "1"), entry(recipe(a=2, b=2, run=recipe("bm25")), "2"),
              entry(recipe(a=2, b=1, run=recipe("bm25")), "3")]
    assert [entry.key for entry, _ in nearest(needed, others)] == ["3", "2", "1"]
    same = known.recipe.key_of(needed)
    assert nearest(needed, [*others, entry(needed, same)])[0] == (entry(needed, same), [])


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("BOOK_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("BOOK_FRESH", "")
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(registry, "STEPS", dict(registry.STEPS))
    monkeypatch.setitem(sys.modules, "dry_steps_module", dry_steps.module())
    return tmp_path


def make():
    module = sys.modules["dry_steps_module"]
    return module.total([module.doubled(module.numbers(3)), module.numbers(4)])


def test_a_stored_computation_is_known_with_its_folder(store):
    step = make()
    step.value()
    (result,) = catalogue()["total"]
    assert (result.key, result.place, result.folder.is_dir()) == (step.key, "here", True)
    assert sorted(entry.recipe["arguments"]["count"] for entry in catalogue()["numbers"]) == [3, 4]


def test_a_recorded_run_tells_of_the_steps_below_it(store):
    step = make()
    step.value()
    (store / "results").mkdir()
    (store / "store" / "total").rename(store / "results" / "total")
    manifest = next((store / "results").rglob("manifest.json"))
    told = json.loads(manifest.read_text())
    told["inputs"][0]["inputs"][0]["seconds"] = 33.0
    manifest.write_text(json.dumps(told))
    for name in ("numbers", "doubled"):
        (store / "store" / name).rename(store / name)
    result = {entry.recipe["arguments"]["count"]: entry for entry in catalogue()["numbers"]}
    assert (result[3].seconds, result[3].place, result[3].folder) == (33.0, "recorded run", None)
    assert result[4].seconds is not None
    assert result[3].key == sys.modules["dry_steps_module"].numbers(3).key


def test_the_entry_itself_is_preferred_to_what_a_later_step_tells_of_it(store):
    make().value()
    assert all(entry.folder is not None for name in ("numbers", "doubled") for entry in catalogue()[name])
