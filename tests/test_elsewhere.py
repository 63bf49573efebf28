"""Collections that are not shipped: known by their digests, the same keys with the folder and without it."""

from pathlib import Path

import pytest

from helpers import paths
from helpers.data import elsewhere
from helpers.data.collection import open_collection
from helpers.data.elsewhere import File
from helpers.errors import BadInput
from helpers.steps import recipe
from helpers.steps.store import fingerprint
from helpers.systems.testbed import Testbed

PARTS = (("texts", "passage"), ("queries", "test"), ("qrels", "passage", "test"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A small collection that is listed under `data/own`, where it is not, and lies in another folder."""
    here = tmp_path / "here"
    here.mkdir()
    for name, text in {"collection.tsv": "p1\tred\np2\tblue\n", "queries.tsv": "q1\tred\n",
                       "qrels.txt": "q1 0 p1 3\nq1 0 p2 0\n", "run.bm25.txt": "q1 Q0 p1 1 2.0 x\nq1 Q0 p2 2 1.0 x\n"}.items():
        (here / name).write_text(text)
    own = open_collection(str(here))
    known = {"licence": "theirs", "mend": "put it there", "splits": ["test"], "relevant_from": {"passage": 2},
             "digests": {" ".join(part): own.part(*part).digest for part in PARTS},
             "files": {"run.bm25.txt": fingerprint(here / "run.bm25.txt")}}
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(elsewhere, "listed", lambda: {"data/own": known})
    return here


def test_a_measure_has_one_key_with_the_folder_and_without(folder):
    keys = []
    for spec in ("data/own", str(folder)):
        bed = Testbed(spec)
        keys.append([step.key for step in (bed.store, bed.query_step, bed.qrels_step)])
        assert (bed.min_relevance, bed.every_grade, bed.unit) == (2, None, "passage")
    assert keys[0] == keys[1]
    digests = [recipe.describe(File(path))["digest"] for path in (folder / "run.bm25.txt", paths.ROOT / "data/own/run.bm25.txt")]
    assert digests[0] == digests[1]


def test_what_is_wanted_of_it_is_told_where_it_belongs(folder):
    source = open_collection("data/own")
    for wanted, arguments in ((source.texts, ["passage"]), (source.queries, ["test"]), (source.qrels, ["passage", "test"])):
        with pytest.raises(BadInput, match="not part of the book") as error:
            wanted(*arguments)
        assert error.value.file == Path("data/own") and error.value.mend == "put it there"
    with pytest.raises(BadInput, match="no such file"):
        File(paths.ROOT / "data/own/run.other.txt")
