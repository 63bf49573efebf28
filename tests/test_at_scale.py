"""What MS MARCO's scale takes: the facts, the measured slice, and which plans show them."""

import json
import re

import pytest

from dry_steps import write_template
from helpers import paths
from helpers.data.irds import IrDatasets
from press.explain import at_scale, plan

PARAMETERS = 'collection: str = "almanac"  # what'
CELLS = ("from helpers.systems.testbed import Testbed",
         'run = Testbed(collection, "passage", queries=4).bm25(0.9, 0.4, 100).value()')


def test_every_large_collection_of_the_profile_is_known_with_ir_datasets_own_count():
    profile, known = (paths.PROFILES / "msmarco.yaml").read_text(encoding="utf-8"), at_scale.facts()["collections"]
    assert set(re.findall(r'"(irds:[^"\[]+)', profile)) <= set(known)
    assert {name: IrDatasets(name).size("docs") for name in known} == known


@pytest.mark.parametrize(("collection", "large"), [("irds:msmarco-passage", True), ("irds:vaswani", False), ("almanac", False)])
def test_what_is_large(collection, large):
    store = {"step": "b", "arguments": {"texts": {"data": ["docs"], "collection": collection, "digest": ""}}}
    assert at_scale.is_large({"step": "a", "version": 1, "arguments": {"runs": [store]}}) is large


def test_the_measured_slice_is_of_the_largest_size_and_of_this_books_code(tmp_path, monkeypatch):
    stages = {"tokens": [{"size": 20, "seconds": 9, "megabytes": 9}, {"size": 2000, "seconds": 4, "megabytes": 1200.4}],
              "training": [{"size": 2000, "seconds": 4, "megabytes": 1}]}
    sections = {"stream": {"stages": stages},
                "rerank": {"items": 1000, "contenders": {"this book": {"seconds": [8, 9, 30]}, "other": {"seconds": [1]}}},
                "train": {"items": 10, "contenders": {"this book": {"seconds": [1]}}, "small": True}}
    common = {"measured": "2026", "small": False}
    content = {"machine": {}, "sections": {name: {**common, **section} for name, section in sections.items()}}
    monkeypatch.setattr(paths, "BENCH", tmp_path)
    assert at_scale.measured() == []
    (tmp_path / "m.json").write_text(json.dumps(content))
    source = "measured, bench/m.json"
    assert at_scale.measured() == [("tokens of 2,000 generated texts", "4.0 s, 1,200 MB of memory", source),
                                   ("1,000 pairs re-ranked", "9.0 s", source)]
    monkeypatch.undo()
    assert len(at_scale.measured()) == len(at_scale.STREAMED) + len(at_scale.NETWORKS), "of the shipped ones"


def test_a_plan_on_a_large_collection_counts_its_steps_and_shows_the_table(steps_module):
    (paths.BOOK / "_toc.yml").write_text("parts: [{chapters: [{file: chapters/one}, {file: chapters/small}]}]")
    (paths.PROFILES / "large.yaml").write_text("chapters: {one: {collection: 'irds:msmarco-passage'}}")
    for name in ("one", "small"):
        write_template(name, *CELLS, parameters=PARAMETERS)
    one, book = plan.text(plan.plan("one", "large", {})), plan.whole_book("large")
    assert "expected: not known at this scale" in one
    assert at_scale.table() in one and at_scale.table() in book
    assert "chapters on large collections, each step once: 3 to compute" in book
    assert "the other chapters, each step once: 4 to compute, expected 4 unknown" in book
