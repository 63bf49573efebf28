"""What is known of earlier computations: recipes, costs, and which of them is nearest to a new one."""

import json

import pytest

from dry_steps import ship
from helpers import paths
from helpers.steps.store import Store
from press.known import Known, catalogue, nearest, why


def recipe(step="train", version=1, **arguments):
    return {"step": step, "version": version, "arguments": arguments}


def data(name, digest="d"):
    return {"data": ["almanac", name], "digest": digest}


def entry(given, key="k", seconds=1.0, kept=None):
    return Known(given, key, seconds, kept)


def nearest_of(needed, *others):
    """The key of the nearest, and why the needed one is missing."""
    near = nearest(needed, [entry(other, str(number)) for number, other in enumerate(others)])
    return near.key, why(needed, "needed", near)


@pytest.mark.parametrize(("needed", "near", "far", "reason"), [
    (recipe(a=7, b=1), recipe(a=1, b=1), recipe(a=1, b=2), "a = 7 (nearest: 1)"),
    (recipe(version=2, a=1), recipe(a=1), recipe(a=2), "version = 2 (nearest: 1)"),
    (recipe(a=1, run=recipe("bm25")), recipe(a=2, run=recipe("bm25")), recipe(a=1, run=recipe("dense", k=1)),
     "a = 1 (nearest: 2)"),
    (recipe(model=recipe("x", seed=7)), recipe(model=recipe("x", seed=1)), recipe(model=recipe("x", seed=1, a=1)),
     "x: seed = 7 (nearest: 1)"),
    (recipe(a=1), recipe(), recipe(a=2, b=3), "a = 1 (nearest: none)"),
    (recipe(run=recipe("bm25", queries=recipe("queries", sample=3)), queries=recipe("queries", sample=3)),  # shared: counts once
     recipe(run=recipe("bm25", queries=recipe("queries", sample=4)), queries=recipe("queries", sample=4)),
     recipe(run=recipe("bm25", queries=recipe("queries", sample=3), k=1, b=2), queries=recipe("queries", sample=3)),
     "queries: sample = 3 (nearest: 4)"),
    (recipe(texts=data("docs", "new")), recipe(texts=data("docs", "old")), recipe(texts=data("passages")),
     "data: almanac/docs = new (nearest: old)"),
    (recipe(a=1, b=1, c=1, d=1), recipe(a=2, b=2, c=2, d=2), recipe(e=1, f=1, g=1, h=1, i=1),
     "a = 1 (nearest: 2); b = 1 (nearest: 2); c = 1 (nearest: 2); 1 more")])
def test_the_nearest_differs_in_the_fewest_arguments_and_they_are_the_reason(needed, near, far, reason):
    assert nearest_of(needed, near, far) == ("0", reason) and nearest_of(needed, far, near) == ("1", reason)


def test_among_equals_the_almanacs_come_first():
    almanac, elsewhere = ({"data": ["docs"], "collection": name, "digest": name} for name in ("almanac", "a"))
    known = [entry(recipe(texts=part), key) for part, key in ((elsewhere, "a"), (almanac, "b"))]
    assert nearest(recipe(texts={"data": ["docs"], "collection": "irds:x", "digest": "new"}), known).key == "b"


def test_why_a_known_recipe_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("BOOK_FRESH", "")
    assert why(recipe(), "k", None) == "never computed"
    assert [why(recipe(), "k", entry(recipe(), kept=kept)) for kept in (None, Store(tmp_path))] == ["not kept", "damaged"]
    monkeypatch.setenv("BOOK_FRESH", "1")
    assert why(recipe(), "k", entry(recipe())) == "all is computed again"


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
    ship("total")
    paths.store().rename(tmp_path / "away")
    result = {entry.recipe["arguments"]["count"]: entry for entry in catalogue()["numbers"]}
    assert (result[3].seconds, result[3].kept) == (33.0, None)
    assert result[4].seconds is not None
    assert result[3].key == steps_module.numbers(3).key
