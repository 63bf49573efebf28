import gzip
from collections.abc import Iterator
from itertools import islice

import pandas as pd
import pytest

from helpers.collection import check_qrels, open_collection, part_from_recipe
from helpers.errors import BadInput

PARTS = (("texts", "passage"), ("queries", "test"), ("qrels", "passage", "test"))


@pytest.fixture(scope="module")
def almanac():
    return open_collection("almanac")


def fill(folder, query="what is a pond"):
    folder.mkdir()
    (folder / "collection.tsv").write_text("p1\ta pond is a small lake\np2\ta river flows\n")
    (folder / "queries.tsv").write_text(f"q1\t{query}\n")
    (folder / "qrels.tsv").write_text("q1\t0\tp1\t1\n")
    return folder


def digests(folder):
    collection = open_collection(str(folder))
    return {part[0]: collection.part(*part).digest for part in PARTS}


# ---- The Almanac; the counts are those of its data sheet ----

def test_almanac_has_1000_documents_and_6000_passages(almanac):
    assert sum(1 for _ in almanac.texts("document")) == 1000
    assert sum(1 for _ in almanac.texts("passage")) == 6000  # six sections of each article


@pytest.mark.parametrize("split, count", [("train", 3595), ("dev", 600), ("test", 1799), ("topics", 60),
                                          ("headings", 6000)])
def test_almanac_split_sizes(almanac, split, count):
    queries = almanac.queries(split)
    assert len(queries) == count
    assert queries["query_id"].is_unique
    assert (queries["text"].str.len() > 0).all()


def test_almanac_splits_do_not_overlap(almanac):
    ids = [query for split in almanac.splits for query in almanac.queries(split)["query_id"]]
    assert len(ids) == len(set(ids)) == 3595 + 600 + 1799 + 60 + 6000


@pytest.mark.parametrize("unit", ["document", "passage"])
def test_almanac_judgments_are_of_its_own_texts_and_queries(almanac, unit):
    texts = {text.doc_id for text in almanac.texts(unit)}
    assert len(texts) == {"document": 1000, "passage": 6000}[unit]
    for split in almanac.splits:
        qrels = almanac.qrels(unit, split)
        assert set(qrels["query_id"]) == set(almanac.queries(split)["query_id"])
        assert set(qrels["doc_id"]) <= texts
        assert qrels["relevance"].between(0, 3).all()


def test_almanac_topic_grades(almanac):
    grades = almanac.qrels("passage", "topics")["relevance"].value_counts().to_dict()
    assert grades == {3: 244, 2: 147, 1: 488, 0: 2455}  # the data sheet's counts


def test_almanac_heading_queries_point_at_their_section(almanac):
    article = next(almanac.articles())
    query, passage = f"h-{article['doc_id']}.0", f"{article['doc_id']}.0"
    first = almanac.queries("headings").iloc[0]
    assert (first["query_id"], first["text"]) == (query, f"{article['title']} {article['sections'][0]['heading']}")
    assert almanac.qrels("passage", "headings").iloc[0].tolist() == [query, passage, 3]
    assert almanac.qrels("document", "headings").iloc[0].tolist() == [query, article["doc_id"], 3]


def test_almanac_document_holds_its_passages(almanac):
    document = next(almanac.texts("document"))
    passages = list(islice(almanac.texts("passage"), 6))
    assert document.body == "\n\n".join(passage.body for passage in passages)
    assert {passage.title for passage in passages} == {document.title}


def test_almanac_similarity_pairs_and_topic_descriptions(almanac):
    pairs = almanac.similarity()
    assert len(pairs) == 600
    assert pairs["score"].between(0, 5).all()
    assert set(almanac.topics()["query_id"]) == set(almanac.queries("topics")["query_id"])


def test_almanac_relevance_starts_at_grade_2(almanac):
    assert almanac.relevant_from("document", "test") == 2


def test_almanac_units_have_different_digests(almanac):
    assert almanac.part("texts", "document").digest != almanac.part("texts", "passage").digest


# ---- streaming ----

def test_texts_are_an_iterator(almanac):
    texts = almanac.texts("passage")
    assert isinstance(texts, Iterator)
    assert [next(texts).doc_id, next(texts).doc_id] == ["arts-001.0", "arts-001.1"]  # the file's first article


def test_a_folder_is_read_line_by_line(tmp_path):
    folder = fill(tmp_path / "f")
    (folder / "collection.tsv").write_text("p1\tfine\nbroken\n")
    texts = open_collection(str(folder)).texts("passage")
    assert next(texts).doc_id == "p1"  # the broken line has not been read yet
    with pytest.raises(BadInput):
        next(texts)


# ---- digests of parts ----

def test_the_same_content_elsewhere_is_the_same_part(tmp_path):
    assert digests(fill(tmp_path / "a")) == digests(fill(tmp_path / "b"))


def test_a_changed_query_changes_the_queries_alone(tmp_path):
    before, after = digests(fill(tmp_path / "a")), digests(fill(tmp_path / "b", query="what is a lake"))
    assert before["queries"] != after["queries"]
    assert before["texts"] == after["texts"]
    assert before["qrels"] == after["qrels"]


def test_a_changed_text_changes_the_texts_alone(tmp_path):
    before, folder = digests(fill(tmp_path / "a")), fill(tmp_path / "b")
    (folder / "collection.tsv").write_text("p1\ta pond is a small lake\np2\ta river flew\n")
    after = digests(folder)
    assert before["texts"] != after["texts"]
    assert before["queries"] == after["queries"]


def test_packing_the_files_changes_no_digest(tmp_path):
    before, folder = digests(fill(tmp_path / "a")), fill(tmp_path / "b")
    for file in list(folder.iterdir()):
        file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert digests(folder) == before


def test_a_part_is_made_again_from_its_recipe(tmp_path):
    part = open_collection(str(fill(tmp_path / "a"))).part("queries", "test")
    again = part_from_recipe(part.recipe())
    assert again.digest == part.digest
    pd.testing.assert_frame_equal(again.load(), part.load())


@pytest.mark.parametrize("part", [("texts", "chapter"), ("qrels", "chapter", "test"), ("queries", "holdout"),
                                  ("qrels", "passage", "holdout")])
def test_unknown_parts_name_the_choices(almanac, part):
    with pytest.raises(BadInput, match="choose from (document, passage|train, dev, test)"):
        almanac.part(*part)


# ---- opening ----

@pytest.mark.parametrize("spec", ["almanach", "/no/such/folder"])
def test_what_cannot_be_opened_names_the_three_doors(spec):
    with pytest.raises(BadInput, match="almanac.*folder.*irds:"):
        open_collection(spec)


def test_a_file_is_no_collection(tmp_path):
    (tmp_path / "collection.tsv").write_text("p1\ttext\n")
    with pytest.raises(BadInput):
        open_collection(str(tmp_path / "collection.tsv"))


def test_an_unknown_ir_datasets_id(tmp_path, monkeypatch):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    with pytest.raises(BadInput, match="no-such-dataset"):
        open_collection("irds:no-such-dataset")


# ---- judgments that do not fit ----

def test_check_qrels_counts_missing_ids_once():
    qrels = pd.DataFrame({"doc_id": ["a", "b", "b", "c"]})
    assert check_qrels(qrels, {"a", "c"}, "qrels.txt") == 1  # b, judged twice
    assert check_qrels(qrels, {"a", "b", "c"}, "qrels.txt") == 0


def test_check_qrels_refuses_judgments_of_another_release():
    with pytest.raises(BadInput, match="qrels.txt: none of the judged ids.*Mend"):
        check_qrels(pd.DataFrame({"doc_id": ["a", "b"]}), {"x"}, "qrels.txt")
