"""Folders as collections: in MS MARCO's format, in BEIR's form, of text files; what the real data has, and what is refused."""

import gzip
import json
import os

import pytest

from helpers.data.collection import open_collection
from helpers.data.collection_base import Text
from helpers.data.folders import BeirFolder, MsMarcoFolder, TextFolder
from helpers.data.lines import read_qrels
from helpers.errors import BadInput
from helpers.systems.testbed import Testbed, tuning_bed
from test_cases import GOOD, good_folder


@pytest.fixture
def make(tmp_path):
    """A folder with the good files, of which some are replaced (text or bytes) or left out (None)."""
    return lambda changed=None: MsMarcoFolder(good_folder(tmp_path, "tsv", changed or {}))


def test_a_good_folder_is_read(make):
    collection = make()
    assert (collection.units, collection.splits) == (("passage",), ("test",))
    assert list(collection.texts("passage")) == [Text("p1", "", "a pond"), Text("p2", "", "a river")]
    assert collection.queries("test").to_dict("list") == {"query_id": ["q1", "q2"], "text": ["water", "stream"]}
    assert collection.qrels("passage", "test").to_numpy().tolist() == [["q1", "p1", 1], ["q2", "p2", 1]]


def test_what_is_no_plain_file_is_told_and_never_waited_for(make, tmp_path):
    os.mkfifo(tmp_path / "docs.tsv")
    with pytest.raises(BadInput, match=r"docs\.tsv: no plain file"):
        make()


def test_a_damaged_archive_has_no_digest(make):
    packed = gzip.compress(b"p1\ta pond\n" * 99)
    collection = make({"collection.tsv": None, "collection.tsv.gz": packed[:-9]})
    with pytest.raises(BadInput, match=r"collection\.tsv\.gz: the gzip file is damaged"):
        collection.part("texts", "passage").recipe()


def test_a_folder_is_read_line_by_line(make):
    texts = make({"collection.tsv": "p1\tfine\nbroken\n"}).texts("passage")
    assert next(texts).doc_id == "p1"  # the broken line has not been read yet
    with pytest.raises(BadInput):
        next(texts)


def test_a_part_has_the_digest_of_what_its_files_hold_now_packed_or_not(make, tmp_path):
    def digests(collection):
        parts = ("texts", "passage"), ("queries", "test"), ("qrels", "passage", "test")
        return [collection.part(*part).digest for part in parts]

    collection = make()
    before = digests(collection)
    (tmp_path / "qrels.tsv").write_text("q1 0 p2 1\n")
    assert [now == old for now, old in zip(digests(collection), before, strict=True)] == [True, True, False]
    for name, content in GOOD["tsv"].items():
        (tmp_path / name).unlink()
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content.encode()))
    assert digests(MsMarcoFolder(tmp_path)) == before


# ---- what the real data has, and is not refused ----

def test_judgments_of_other_queries_are_left_out(make):
    collection = make({"qrels.tsv": "q1 0 p1 1\nq9 0 p1 1\nq9 0 p2 1\n"})
    assert collection.qrels("passage", "test")["query_id"].tolist() == ["q1"]


def test_trec_judgments_keep_their_grades(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 d1 3\nq1 Q0 d2 0\nq2\t0\td1\t-1\n")
    assert list(read_qrels(tmp_path / "qrels.txt")) == [("q1", "d1", 3), ("q1", "d2", 0), ("q2", "d1", -1)]


def test_judgments_of_two_units_in_one_folder(make):
    collection = make({"docs.tsv": "d1\tu\tt\tb\n", "qrels.tsv": None, "qrels.passages.txt": "q1 0 p1 1\n",
                         "qrels.documents.test.tsv": "q1 0 d1 1\n"})
    assert collection.units == ("document", "passage")
    assert collection.qrels("passage", "test")["doc_id"].tolist() == ["p1"]
    assert collection.qrels("document", "test")["doc_id"].tolist() == ["d1"]


# ---- names of files ----

PASSAGES = {"collection.tsv": "p1\ta pond\np2\ta river\n", "queries.train.tsv": "1\ttrain query\n",
            "qrels.train.tsv": "1\t0\tp1\t1\n",
            "queries.dev.tsv": "2\tdev query\n3\tof the large set\n", "queries.dev.small.tsv": "2\tdev query\n",
            "qrels.dev.small.tsv": "2\t0\tp2\t1\n", "queries.eval.small.tsv": "4\teval query\n",
            "msmarco-test2019-queries.tsv": "5\ttest query\n6\tnot judged\n", "2019qrels-pass.txt": "5 Q0 p1 3\n5 Q0 p2 0\n",
            "top1000.dev.tsv": "2\tp1\tdev query\ta pond\n", "triples.train.small.tsv": "a\tb\tc\n"}
DOCUMENTS = {"msmarco-docs.tsv": "D1\thttp://x\tTitle\tBody\n", "msmarco-doctrain-queries.tsv": "1\ttrain query\n",
             "msmarco-doctrain-qrels.tsv": "1 0 D1 1\n", "msmarco-docdev-queries.tsv": "2\tdev query\n",
             "msmarco-docdev-qrels.tsv": "2 0 D1 1\n", "docleaderboard-queries.tsv": "4\teval query\n",
             "msmarco-test2020-queries.tsv": "5\ttest query\n", "2020qrels-docs.txt": "5 0 D1 2\n",
             "msmarco-doctrain-top100": "1 Q0 D1 1 -5.0 IndriQueryLikelihood\n"}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("files, unit, splits, doc", [(PASSAGES, "passage", {"train", "dev", "test", "eval.small"}, "p1"),
                                                      (DOCUMENTS, "document", {"train", "dev", "test"}, "D1")])
def test_a_folder_of_the_official_files_opens_as_it_is(tmp_path, files, unit, splits, doc, packed):
    for name, text in files.items():
        (tmp_path / (name + ".gz" * packed)).write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    collection = open_collection(str(tmp_path))
    assert (collection.units, set(collection.splits)) == ((unit,), splits)
    assert collection.queries("dev")["query_id"].tolist() == ["2"]  # of the small set, which has the judgments
    assert collection.qrels(unit, "train")["query_id"].tolist() == ["1"]
    assert collection.qrels(unit, "test")["doc_id"].iloc[0] == doc
    assert collection.relevant_from(unit, "test") == (2 if unit == "passage" else 1)


def test_a_split_without_judgments_is_skipped_until_it_is_asked_for(make):
    collection = make(PASSAGES | {"queries.tsv": None, "qrels.tsv": None})
    assert {split for split in collection.splits if collection.is_judged("passage", split)} == {"train", "dev", "test"}
    with pytest.raises(BadInput, match=r"the split 'eval.small'. Mend: add qrels.eval.small.tsv .*, or choose from"):
        Testbed(str(collection.folder), splits=("eval.small",), min_relevance=1)
    assert len(collection.queries("eval.small")) == 1 and collection.relevant_from("passage", "test") == 2


def test_the_only_judged_split_is_not_tuned_on(make):
    folder = str(make({"queries.eval.small.tsv": "4\teval query\n"}).folder)
    assert tuning_bed(folder, "", "dev", 0) is None


def test_large_dev_with_judgments_and_two_years_keep_their_names(make):
    both = {"qrels.dev.tsv": "3 0 p1 1\n", "msmarco-test2020-queries.tsv": "7\tanother\n", "2020qrels-pass.txt": "7 0 p1 1\n"}
    collection = make(PASSAGES | both | {"queries.tsv": None, "qrels.tsv": None})
    assert {"dev", "dev.small", "test2019", "test2020"} < set(collection.splits)
    assert collection.qrels("passage", "test2020")["query_id"].tolist() == ["7"]


def lines(*records):
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)


@pytest.fixture
def beir(tmp_path):
    (tmp_path / "corpus.jsonl").write_text(lines(
        {"_id": "d1", "title": "Rivers", "text": "Water that flows.", "metadata": {}}, {"_id": "d2", "text": "A tidé\nof two."},
        {"_id": "d3", "title": "Empty", "text": ""}), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text(lines({"_id": "q1", "text": "rivers"}, {"_id": "q2", "text": "tide", "metadata": {}},
                                                  {"_id": "q3", "text": "nobody judges it"}))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n")
    (tmp_path / "qrels" / "train.tsv").write_text("q2\td2\t1\r\n")
    return tmp_path


def test_texts_queries_and_judgments(beir):
    opened = open_collection(str(beir))
    assert isinstance(opened, BeirFolder)
    assert (opened.units, opened.splits) == (("document",), ("test", "train"))
    assert list(opened.texts("document")) == [("d1", "Rivers", "Water that flows."), ("d2", "", "A tidé\nof two."),
                                              ("d3", "Empty", "")]
    assert opened.queries("test").to_numpy().tolist() == [["q1", "rivers"]]
    assert opened.queries("train").to_numpy().tolist() == [["q2", "tide"]]
    assert opened.qrels("document", "test").to_numpy().tolist() == [["q1", "d1", 2], ["q1", "d2", 0]]
    assert opened.relevant_from("document", "test") == 1  # of documents, every grade above 0 counts
    assert opened.qrels("document", "train")["relevance"].tolist() == [1]  # without a line that names the columns


@pytest.fixture
def written(tmp_path):
    (tmp_path / "b.txt").write_text("First.\n  \nSecond,\nof two lines.\n\n\n", encoding="utf-8")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.txt").write_text("Ünïcode only.", encoding="utf-8")
    (tmp_path / "notes.md").write_text("not read")
    return tmp_path


def test_documents_are_files_and_passages_their_paragraphs(written):
    opened = open_collection(str(written))
    assert isinstance(opened, TextFolder)
    assert [text.doc_id for text in opened.texts("document")] == ["b.txt", "more/a.txt"]
    assert [(text.doc_id, text.body) for text in opened.texts("passage")] == [
        ("b.txt.0", "First."), ("b.txt.1", "Second,\nof two lines."), ("more/a.txt.0", "Ünïcode only.")]


def test_a_digest_follows_names_contents_and_unit(written):
    opened = open_collection(str(written))
    before = opened.text_digest("passage")
    assert before != opened.text_digest("document") and before == open_collection(str(written)).text_digest("passage")
    (written / "b.txt").rename(written / "c.txt")
    assert open_collection(str(written)).text_digest("passage") != before


def test_it_has_no_queries(written):
    opened = open_collection(str(written))
    assert opened.splits == ()
    with pytest.raises(BadInput, match="no queries"):
        opened.queries("test")
    with pytest.raises(BadInput, match="no judgments"):
        opened.part("qrels", "passage", "test")


def test_ms_marcos_format_comes_first(written):
    (written / "collection.tsv").write_text("p1\ttext\n")
    (written / "queries.tsv").write_text("q1\tquery\n")
    assert isinstance(open_collection(str(written)), MsMarcoFolder)
