"""A folder in BEIR's form: texts, queries by split, judgments, and what is out of form."""

import json

import pytest

from helpers.data.collection import open_collection
from helpers.data.folders import BeirFolder


def lines(*records):
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "corpus.jsonl").write_text(lines(
        {"_id": "d1", "title": "Rivers", "text": "Water that flows.", "metadata": {}}, {"_id": "d2", "text": "A tidé\nof two."},
        {"_id": "d3", "title": "Empty", "text": ""}), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text(lines({"_id": "q1", "text": "rivers"}, {"_id": "q2", "text": "tide", "metadata": {}},
                                                  {"_id": "q3", "text": "nobody judges it"}))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n")
    (tmp_path / "qrels" / "train.tsv").write_text("q2\td2\t1\r\n")
    return tmp_path


def test_texts_queries_and_judgments(folder):
    opened = open_collection(str(folder))
    assert isinstance(opened, BeirFolder)
    assert (opened.units, opened.splits) == (("document",), ("test", "train"))
    assert list(opened.texts("document")) == [("d1", "Rivers", "Water that flows."), ("d2", "", "A tidé\nof two."),
                                              ("d3", "Empty", "")]
    assert opened.queries("test").to_numpy().tolist() == [["q1", "rivers"]]
    assert opened.queries("train").to_numpy().tolist() == [["q2", "tide"]]
    assert opened.qrels("document", "test").to_numpy().tolist() == [["q1", "d1", 2], ["q1", "d2", 0]]
    assert opened.relevant_from("document", "test") == 1  # of documents, every grade above 0 counts
    assert opened.qrels("document", "train")["relevance"].tolist() == [1]  # without a line that names the columns
