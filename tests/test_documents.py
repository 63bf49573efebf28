"""What the chapters on documents share: rows of table 2, and the place of the answer, from known values."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from helpers.data.collection_base import Text
from helpers.evaluation import published
from helpers.evaluation.verdicts import UNTESTED
from helpers.pages import documents
from helpers.pages.documents import BERT, BM25, LONGFORMER, row
from helpers.systems.pipeline import Feedback, Pipeline, with_feedback
from helpers.systems.recipe import document_reader
from tables import cells
from toys import Bed, Value, of_values, run_of, system


def test_the_rows_of_feedback_differ_in_index_and_candidates():
    rows = with_feedback(BERT, Pipeline(None, candidates=9), Feedback(3, 4), 40)
    assert {name: pipeline.feedback for name, pipeline in rows.items()} == {
        f"{BERT} + PRF (FI)": Feedback(3, 4), f"{BERT} + PRF (FIJ)": Feedback(3, 4, retrieve=False),
        f"{BERT} + PRF (PI)": Feedback(3, 4, 40), f"{BERT} + PRF (PIJ)": Feedback(3, 4, 40, retrieve=False)}
    assert {pipeline.candidates for pipeline in rows.values()} == {9}


def test_the_rows_are_those_of_table_2_and_three_that_it_lacks():
    entries = [(where, entry) for where, entry in published.load("alarfaj2022").items() if where[0] == "2"]
    bm25 = Pipeline(None)
    rows = {BM25, BERT, *map(row, (512, 1024, 2048, 4096)), *with_feedback(BERT, bm25, Feedback(), 40),
            *with_feedback(LONGFORMER, bm25, Feedback(), 40)}
    assert rows - {where[1] for where, _ in entries} == {f"{BERT} + PRF (FIJ)", f"{LONGFORMER} + PRF (FI)",
                                                        f"{LONGFORMER} + PRF (FIJ)"}
    assert {where[2] for where, _ in entries} == {*documents.COLUMNS, "Number of tokens"}
    assert {entry.measure for (_, _, column), entry in entries if column in documents.COLUMNS} == set(documents.MEASURES)


@pytest.mark.parametrize("name, printed, effect, measured", [
    ("P@10", "0.6814", "+0.070", "0.750"), ("MAP@100", "0.2607", "+0.015", "0.375"), ("NDCG@10", "0.5858", "+0.046", "0.375")])
def test_a_column_of_table_2_is_shown_beside_its_measure(name, printed, effect, measured):
    shown = documents.table_2(name, {BM25: system(), BERT: system(0.125, shifts={"P@10": 0.5})}, whole=True)
    rows = {line[0]: line for line in reversed(cells(shown)[1:])}  # the first table, and not the folded one
    assert (rows[BERT][1], rows[BERT][2][:5]) == (f"{printed} {effect}", measured)
    assert rows[f"{BERT} + PRF (PI)"][-1] == UNTESTED
    assert name in shown.html.partition("</caption>")[0]
    assert {line["measure"] for line in shown.data["values"]} == {documents.COLUMNS[name]}


def test_a_row_that_cannot_differ_from_bm25_is_not_tested():
    alike, other = (cells(documents.table_2("R@100", {BM25: system(name=BM25), BERT: system(shifts=shift, name=BERT)}))[2]
                    for shift in ({}, {"R@100": 0.25}))
    assert "no query differs" in alike and "no query differs" not in other


def test_a_longformer_is_made_from_the_same_start_or_was_pre_trained():
    reader = document_reader("almanac", "packaged", 70, 30, 90)
    assert reader.longformer(512, 64) == replace(reader, max_length=512, attention_window=64)
    assert reader.longformer(512, 64, "other") == replace(reader, max_length=512, start=None, backbone="other")
    assert document_reader(training="study").longformer(1024).learning_rate == 3e-5 and reader.longformer_rate is None
    own = replace(reader.longformer(512, 64), untrained=True)  # ranks as a Longformer that has learned from no document
    assert own.model.key == own.origin.key != reader.start.model.key == replace(reader, untrained=True).model.key


def trained_to(*losses):
    """A model whose held-out loss went through these."""
    lines = [{"step": number, "eval_loss": loss} for number, loss in enumerate(losses)]
    return SimpleNamespace(log=Value({"steps": 9, "pairs": 80, "evaluation_pairs": 8, "log": lines}), size=4, epochs=2)


def test_a_model_that_learned_is_told_from_one_that_did_not():
    shown = documents.learning_table({"learns": trained_to(1.5, 0.25, 0.5), "guesses": trained_to(1.386, 1.386)})
    assert cells(shown)[1:] == [["learns", "10", "2", "9", "1.500", "0.250", "0.500", "1.386"],
                                ["guesses", "10", "2", "9", "1.386", "1.386", "1.386", "1.386"]]


def test_an_answer_is_where_its_middle_is():
    answers = pd.DataFrame([("q1", 0, 10, 100), ("q1", 80, 10, 100), ("q9", 5, 10, 100), ("q2", 90, 10, 100)],
                           columns=["query_id", "begins", "length", "words"])
    bed = SimpleNamespace(positions=Value(answers), judged=["q2", "q3", "q1"])
    assert documents.places(bed).to_dict() == {"q2": 0.95, "q1": 0.05}  # not judged, not found: neither is there


# ---- one query through several rankings: which query it is, and what its table says ----

FIRST, LAST = run_of(q="abc", r="abcd", s="abcd"), run_of(q="abc", r="dbca", s="dcab")


@pytest.fixture
def systems():
    return {"first": of_values([0.5], run=FIRST), "last": of_values([0.5], run=LAST)}


@pytest.mark.parametrize(("relevant", "query"), [
    ({"q": "a", "r": "b", "s": "c"}, "s"),  # at one place in both rankings, at one place again, third and second
    ({"q": "a", "r": "d"}, "r"), ({"q": "a", "r": "b"}, "q"), ({"q": "z", "r": "z"}, "q")])
def test_it_is_one_whose_relevant_text_moves(systems, relevant, query):
    assert documents.chosen(systems, Bed(**relevant), ["first", "last"]) == query


def test_the_texts_stand_in_the_last_order_with_place_and_score(systems, monkeypatch):
    texts = {name: Text(name, title, f"{name} " + "word " * length) for name, length, title in (
        ("a", 40, ""), ("b", 1, "Title"), ("c", 1, ""), ("d", 1, ""))}
    monkeypatch.setattr(documents, "Texts", lambda folder: texts)
    systems["empty"], bed = of_values([0.5], run=run_of(q="a")), Bed(q="a", r="d")
    bed.store = Value()
    text = documents.one_query(systems, bed, ["first", "empty", "last"]).html
    rows = [row.split("</tr>")[0] for row in text.split('<th scope="row"')[1:]]
    assert ["d word <span" in rows[0] and ">relevant<" in rows[0], "Title: b word<" in rows[1], "…" in rows[3]] == [True] * 3
    assert "4. (−3.00)" in rows[0] and "1. (0.00)" in rows[0] and "–" in rows[0]
