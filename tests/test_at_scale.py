"""What MS MARCO's scale takes: the facts, and which plans show them."""

import re

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


def test_what_is_not_fetched_is_named_and_the_table_shows_what_it_takes(steps_module, monkeypatch):
    (paths.BOOK / "_toc.yml").write_text("parts: [{chapters: [{file: chapters/one}, {file: chapters/small}]}]")
    (paths.PROFILES / "large.yaml").write_text("chapters: {one: {collection: 'irds:msmarco-passage'}}")
    for name in ("one", "small"):
        write_template(name, *CELLS, parameters=PARAMETERS)
    one, book = explain.text(explain.plan("one", "large", {})), explain.whole_book("large")
    assert "not known before these are here: irds:msmarco-passage;" in one
    assert explain.scale_table() in one and explain.scale_table() in book
    assert "would run, with irds:msmarco-passage" in book
    assert "all chapters, each step once: 4 to compute, expected 4 unknown" in book
