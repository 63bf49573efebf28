"""What MS MARCO's scale takes: the facts, and which plans show them."""

import re

import pytest

from dry_steps import write_template
from helpers import paths
from helpers.data.irds import IrDatasets
from press import explain

PARAMETERS = 'collection: str = "almanac"  # what'
CELLS = ("from helpers.systems.testbed import Testbed",
         'run = Testbed(collection, "passage", queries=4).bm25(0.9, 0.4, 100).value()')


def test_every_large_collection_of_the_profile_is_known_with_ir_datasets_own_count():
    profile, known = (paths.PROFILES / "msmarco.yaml").read_text(encoding="utf-8"), explain.scale()["collections"]
    assert set(re.findall(r'"(irds:[^"\[]+)', profile)) <= set(known)
    assert {name: IrDatasets(name).size("docs") for name in known} == known


@pytest.mark.parametrize(("collection", "large"), [("irds:msmarco-passage", True), ("irds:vaswani", False), ("almanac", False)])
def test_what_is_large(collection, large):
    store = {"step": "b", "arguments": {"texts": {"data": ["docs"], "collection": collection, "digest": ""}}}
    assert explain.is_large({"step": "a", "version": 1, "arguments": {"runs": [store]}}) is large


def test_a_plan_on_a_large_collection_counts_its_steps_and_shows_the_table(steps_module):
    (paths.BOOK / "_toc.yml").write_text("parts: [{chapters: [{file: chapters/one}, {file: chapters/small}]}]")
    (paths.PROFILES / "large.yaml").write_text("chapters: {one: {collection: 'irds:msmarco-passage'}}")
    for name in ("one", "small"):
        write_template(name, *CELLS, parameters=PARAMETERS)
    one, book = explain.text(explain.plan("one", "large", {})), explain.whole_book("large")
    assert "expected: not known at this scale" in one
    assert explain.scale_table() in one and explain.scale_table() in book
    assert "chapters on large collections, each step once: 3 to compute" in book
    assert "the other chapters, each step once: 4 to compute, expected 4 unknown" in book
