"""What the chapters on documents share: rows of table 2, what a length reads, and the place of the answer, from known values."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from helpers.data.collection_base import Text
from helpers.data.runs import COLUMNS
from helpers.evaluation import published
from helpers.evaluation.verdicts import UNTESTED
from helpers.networks.backbone import resolve
from helpers.pages import documents
from helpers.pages import documents as shown
from helpers.pages.documents import BERT, BM25, LONGFORMER, WINDOWED, WINDOWS, first, row
from helpers.reranking.aggregation import reranked
from helpers.systems.pipeline import Feedback, Pipeline, with_feedback
from helpers.systems.recipe import document_reader
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZERO_SHOT
from tables import caption, cells, text_of
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
    assert name in caption(shown)
    assert {line["measure"] for line in shown.data["values"]} == {documents.COLUMNS[name]}


def test_a_row_that_cannot_differ_from_bm25_is_not_tested():
    alike, other = (cells(documents.table_2("R@100", {BM25: system(name=BM25), BERT: system(shifts=shift, name=BERT)}))[2]
                    for shift in ({}, {"R@100": 0.25}))
    assert "cannot differ" in alike and "cannot differ" not in other


@pytest.mark.parametrize("lengths, chosen", [([512, 2048], 512), ([768, 1280], 768), ([1000, 1100], 1000),
                                             ([64, 1536, 4096], 1536)])
def test_the_length_nearest_to_the_studys_stands_for_it(lengths, chosen):
    assert documents.nearest(lengths) == chosen


def test_a_longformer_is_made_from_the_same_start_or_was_pre_trained():
    reader = document_reader("almanac", "packaged", 70, 30, 90)
    assert reader.longformer(512, 64) == replace(reader, max_length=512, attention_window=64)
    assert reader.longformer(512, 64, "other") == replace(reader, max_length=512, start=None, backbone="other")


def trained_to(*losses):
    """A model whose held-out loss went through these."""
    log = {"steps": 9, "log": [{"step": number, "eval_loss": loss} for number, loss in enumerate(losses)]}
    return SimpleNamespace(log=Value(log), size=4)


def test_a_model_that_learned_is_told_from_one_that_did_not():
    shown = documents.learning_table({"learns": trained_to(1.5, 0.25, 0.5), "guesses": trained_to(1.386, 1.386)})
    assert cells(shown)[1:] == [["learns", "9", "1.500", "0.250", "0.500", "1.386"],
                                ["guesses", "9", "1.386", "1.386", "1.386", "1.386"]]


@pytest.mark.slow  # reads the tokenizer
def test_lengths_of_documents_are_word_pieces_with_their_titles(folder, store):
    bed, tokenizer = Testbed(str(folder), words=3, overlap=1), resolve("packaged:0").tokenizer()
    texts = {text.doc_id: f"{text.title} {text.body}" for text in bed.source.texts("document")}
    assert documents.document_lengths(bed, "packaged:0").to_dict() == {
        doc: len(tokenizer(text, add_special_tokens=False)["input_ids"]) for doc, text in texts.items()}


class Reader:
    """Stands for a model that gives a window of each document its score."""

    label = ZERO_SHOT

    def __init__(self, **scores):
        self.rows = [("q1", name.replace("_", "#"), value) for name, value in scores.items()]

    def scores(self, bed, run, candidates):
        assert candidates == 2
        return Value(pd.DataFrame(self.rows, columns=COLUMNS))


def test_every_way_of_reading_ranks_the_same_candidates(monkeypatch):
    monkeypatch.setattr(documents, "reranked", lambda scores, how, run: Value(
        reranked.definition.function(scores.value(), how, run.value())))
    monkeypatch.setattr(documents, "ZeroShotReranker", lambda backbone: Reader(a_0=0.1, b_0=0.2))
    models = {first(64): Reader(a_0=0.9, b_0=0.1), row(512): Reader(a_0=0.3, b_0=0.7),
              WINDOWED: Reader(a_0=0.6, a_1=0.5, b_0=0.1, b_1=0.9)}  # max b, mean a, sum a
    systems = documents.readings(Bed(q1="b"), Value(run_of(q1="abc")), 2, models, "packaged")
    best, mean, total = WINDOWS
    assert {name: "".join(system.run["doc_id"]) for name, system in systems.items()} == {
        BM25: "abc", first(64): "abc", row(512): "bac", best: "bac", mean: "abc", total: "abc", ZERO_SHOT: "bac"}
    assert (systems[BM25].values["RR@10"].tolist(), systems[best].values["RR@10"].tolist()) == ([0.5], [1.0])
    assert all(system.label == name for name, system in systems.items())


def placed(rows, judged):
    """A bed whose answers begin at given words."""
    frame = pd.DataFrame(rows, columns=["query_id", "begins", "length", "words"])
    return SimpleNamespace(positions=Value(frame), judged=judged)


def test_an_answer_is_where_its_middle_is():
    bed = placed([("q1", 0, 10, 100), ("q1", 80, 10, 100), ("q9", 5, 10, 100), ("q2", 90, 10, 100)], ["q2", "q3", "q1"])
    assert documents.places(bed).to_dict() == {"q2": 0.95, "q1": 0.05}  # not judged, not found: neither is there


@pytest.mark.parametrize("bed", [SimpleNamespace(positions=None), placed([], ["q1"]), placed([("q9", 0, 1, 2)], ["q1"])])
def test_without_known_places_there_is_no_figure_and_no_table(bed):
    shares = documents.places(bed)
    assert shares.empty and "do not show" in documents.by_place({"A": FALLING}, shares).markdown


@pytest.mark.parametrize("share, part", [(0.0, 0), (0.33, 0), (0.34, 1), (0.66, 1), (0.67, 2), (0.999, 2), (1.0, 2)])
def test_documents_have_three_parts(share, part):
    assert documents.parts(pd.Series([share])).tolist() == [documents.PARTS[part]]


@pytest.mark.parametrize("sections", [3, 6, 12])
def test_answers_in_every_section_are_spread_evenly(sections):
    """Beginnings are not: of six sections two begin in the first fifth of a document, and none in its last sixth."""
    bed = placed([(f"q{n}", 100 * n, 100, 100 * sections) for n in range(sections)], [f"q{n}" for n in range(sections)])
    assert documents.parts(documents.places(bed)).value_counts().tolist() == [sections // 3] * 3
    assert documents.places(bed).mean() == pytest.approx(0.5)


FALLING = of_values({"RR@10": [1.0, 0.5, 0.25, 0.0]}, "falling")
PLACES = pd.Series([0.9, 0.1, 0.4, 0.6], index=["q3", "q0", "q1", "q2"])  # in another order than the systems' queries


def test_success_by_place_is_drawn_from_the_first_part_on():
    text = text_of(documents.by_place({"A": FALLING}, PLACES))
    assert "A: 1.000 first third, 0.375 middle third, 0.000 last third." in text


# ---- one query through several rankings: which query it is, and what its table says ----

FIRST, LAST = run_of(q="abc", r="abcd", s="abcd"), run_of(q="abc", r="dbca", s="dcab")


@pytest.fixture
def systems():
    return {"first": of_values([0.5], run=FIRST), "last": of_values([0.5], run=LAST)}


@pytest.mark.parametrize(("relevant", "query"), [
    ({"q": "a", "r": "b", "s": "c"}, "s"),  # at one place in both rankings, at one place again, third and second
    ({"q": "a", "r": "d"}, "r"), ({"q": "a", "r": "b"}, "q"), ({"q": "z", "r": "z"}, "q")])
def test_it_is_one_whose_relevant_text_moves(systems, relevant, query):
    assert shown.chosen(systems, Bed(**relevant), ["first", "last"]) == query


def test_pages_of_other_rankings_show_other_queries():
    many = {name: of_values([0.5], run=run_of(**{f"q{n}": texts for n in range(20)})) for name, texts in (
        ("first", "ab"), ("last", "ba"), ("other", "ba"), ("third", "ba"))}
    bed = Bed(**{f"q{n}": "a" for n in range(20)})
    assert len({shown.chosen(many, bed, ["first", name]) for name in ("last", "other", "third")}) > 1


def test_the_texts_stand_in_the_last_order_with_place_and_score(systems, monkeypatch):
    texts = {name: Text(name, title, f"{name} " + "word " * length) for name, length, title in (
        ("a", 40, ""), ("b", 1, "Title"), ("c", 1, ""), ("d", 1, ""))}
    monkeypatch.setattr(shown, "Texts", lambda folder: texts)
    systems["empty"], bed = of_values([0.5], run=run_of(q="a")), Bed(q="a", r="d")
    bed.store = Value()
    text = shown.one_query(systems, bed, ["first", "empty", "last"]).html
    rows = [row.split("</tr>")[0] for row in text.split('<th scope="row"')[1:]]
    assert ["d word <span" in rows[0] and ">relevant<" in rows[0], "Title: b word<" in rows[1], "…" in rows[3]] == [True] * 3
    assert "4. (−3.00)" in rows[0] and "1. (0.00)" in rows[0] and "–" in rows[0]
