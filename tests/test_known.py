"""What is known of earlier computations: recipes, costs, and which of them is nearest to a new one."""

import json

import pytest

from helpers import paths
from press.explain import known
from press.explain.known import OTHER_DATA, OTHER_STEP, SAME_PART, Difference, Known, catalogue, differences, distance, nearest


def recipe(step="train", version=1, **arguments):
    return {"step": step, "version": version, "arguments": arguments}


def data(name, digest="d"):
    return {"data": ["almanac", name], "digest": digest}


def encoder(seed):
    return recipe(model=recipe("encoder", pairs=recipe("pairs", seed=seed)))


@pytest.mark.parametrize(("needed", "other", "difference"), [
    (recipe(a=1), recipe(a=2), (("a",), "train", "a", "1", "2")),
    (recipe(a="1"), recipe(a=1), (("a",), "train", "a", '"1"', "1")),
    (recipe(a=1), recipe(), (("a",), "train", "a", "1", "none")),
    (recipe(), recipe(a=1), (("a",), "train", "a", "none", "1")),
    (encoder(1), encoder(2), (("model", "pairs", "seed"), "pairs", "seed", "1", "2")),
    (recipe(parts=[1, 2]), recipe(parts=[1, 3]), (("parts",), "train", "parts", "[1, 2]", "[1, 3]")),
    (recipe(parts=[recipe("x", a=1), recipe("x", a=2)]), recipe(parts=[recipe("x", a=1), recipe("x", a=3)]),
     (("parts", 1, "a"), "x", "a", "2", "3")),
    (recipe(run=recipe("bm25")), recipe(run=recipe("dense")), (("run",), "train", "run", "bm25", "dense", OTHER_STEP)),
    (recipe(texts=data("docs")), recipe(texts=data("passages")),
     (("texts",), "train", "texts", "almanac/docs", "almanac/passages", OTHER_DATA)),
    (recipe(texts=[data("docs")]), recipe(texts=[data("docs"), data("passages")]),
     (("texts", 1), "train", "texts", "none", "almanac/passages", OTHER_DATA)),
    (recipe(texts=data("docs", "new")), recipe(texts=data("docs", "old")),
     (("texts",), "train", "texts", "changed", "almanac/docs", SAME_PART))])
def test_one_difference_is_told_with_its_step_and_the_way_to_it(needed, other, difference):
    assert list(differences(needed, other)) == [Difference(*difference)]


def test_the_same_part_of_another_collection_is_nearer_than_another_part():
    part, elsewhere = recipe(texts=data("passages")), recipe(texts=data("docs", "2"))
    ordered = nearest(recipe(texts=data("docs", "1")), [entry(part, "a"), entry(elsewhere, "b")])
    assert [known.recipe for known, _ in ordered] == [elsewhere, part]


def test_among_equals_the_almanacs_come_first():
    almanac, elsewhere = ({"data": ["docs"], "collection": name, "digest": name} for name in ("almanac", "a"))
    known = [Known(recipe(texts=part), key, 1.0, "here", None) for part, key in ((elsewhere, "a"), (almanac, "b"))]
    needed = recipe(texts={"data": ["docs"], "collection": "irds:x", "digest": "new"})
    assert [entry.key for entry, _ in nearest(needed, known)] == ["b", "a"]


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
def made(steps_module):
    """A step that was computed, with those below it."""
    step = steps_module.total([steps_module.doubled(steps_module.numbers(3)), steps_module.numbers(4)])
    step.value()
    return step


def test_a_stored_computation_is_known_with_its_folder_whatever_a_later_step_tells_of_it(made):
    (result,) = catalogue()["total"]
    assert (result.key, result.place, result.folder.is_dir()) == (made.key, "here", True)
    assert sorted(entry.recipe["arguments"]["count"] for entry in catalogue()["numbers"]) == [3, 4]
    assert all(entry.folder is not None for name in ("numbers", "doubled") for entry in catalogue()[name])


def test_a_recorded_run_tells_of_the_steps_below_it(made, steps_module, tmp_path):
    paths.store().rename(tmp_path / "away")
    (tmp_path / "away" / "total").rename(paths.RESULTS / "total")
    manifest = next(paths.RESULTS.rglob("manifest.json"))
    told = json.loads(manifest.read_text())
    told["inputs"][0]["inputs"][0]["seconds"] = 33.0
    manifest.write_text(json.dumps(told))
    result = {entry.recipe["arguments"]["count"]: entry for entry in catalogue()["numbers"]}
    assert (result[3].seconds, result[3].place, result[3].folder) == (33.0, "recorded run", None)
    assert result[4].seconds is not None
    assert result[3].key == steps_module.numbers(3).key
