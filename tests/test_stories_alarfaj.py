"""The chapters on Alarfaj's pipeline: what they say follows the values. Differences are constant over the queries where a test
reads the words, so that interval and p are known: of 8 equal differences the permutation test's p is 2 / 2^8 = 0.008."""

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from helpers.data.collection import open_collection
from helpers.data.runs import COLUMNS
from helpers.data.windows import WHOLE
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.verdicts import AGREES, DISAGREES, SMALL, UNTESTED
from helpers.networks.backbone import resolve
from helpers.pages import compare, plots
from helpers.reranking.aggregation import reranked
from helpers.stories import alarfaj, feedback, first_passage, longformer
from helpers.stories import pipeline as pipeline_story
from helpers.stories.alarfaj import BERT, BM25, FULL, JUST, JUST_FULL, PASSAGE, Settings, row
from helpers.systems.pipeline import Feedback
from helpers.systems.testbed import Testbed
from tables import caption, cells, text_of, verdicts_of
from toys import ESCAPED, HOSTILE, Bed, Letters, Value, of_values, run_of, system

# ---- what the chapters share ----

SETTINGS = alarfaj.settings("almanac", "packaged", 70, 30, 90, 2, "chosen", candidates=9, documents=3, terms=4)
SEEN = 90 - 47 - 3  # word pieces beside a query of 47, [CLS] and two [SEP]


def test_the_rows_with_bert_differ_in_their_feedback():
    rows = SETTINGS.rows()
    assert rows[BM25] == SETTINGS.classical()
    assert {name: pipeline.feedback for name, pipeline in rows.items() if name != BM25} == {
        BERT: None, FULL: Feedback(3, 4), JUST_FULL: Feedback(3, 4, retrieve=False), PASSAGE: Feedback(3, 4, SEEN),
        JUST: Feedback(3, 4, SEEN, retrieve=False)}
    assert all(pipeline.model == SETTINGS.bert() for name, pipeline in rows.items() if name != BM25)
    assert {pipeline.candidates for pipeline in rows.values()} == {9}


def test_the_rows_with_longformer_differ_in_length_and_feedback():
    rows = [pipeline for name, pipeline in SETTINGS.rows([512, 1024], 1024).items() if "Longformer" in name]
    assert [(pipeline.model.max_length, pipeline.feedback) for pipeline in rows] == [
        (512, None), (1024, None), (1024, Feedback(3, 4)), (1024, Feedback(3, 4, retrieve=False)),
        (1024, Feedback(3, 4, SEEN)), (1024, Feedback(3, 4, SEEN, retrieve=False))]
    assert list(SETTINGS.rows([512])) == [*SETTINGS.rows(), row(512)]


def test_the_rows_are_those_of_table_2_and_three_that_it_lacks():
    entries = [(where, entry) for where, entry in published.load(alarfaj.STUDY).items() if where[0] == alarfaj.TABLE]
    rows = SETTINGS.rows([512, 1024, 2048, 4096], 1024)
    printed = list(dict.fromkeys(where[1] for where, _ in entries))
    assert [name for name in rows if name in printed] == printed
    assert {*rows} - {*printed} == {JUST_FULL, "BM25 + Longformer + PRF (FI)", "BM25 + Longformer + PRF (FIJ)"}
    assert {where[2] for where, _ in entries} == {*alarfaj.COLUMNS, "Number of tokens"}
    assert {entry.measure for (_, _, column), entry in entries if column in alarfaj.COLUMNS} == set(alarfaj.COLUMNS.values())
    assert set(alarfaj.COLUMNS.values()) == set(alarfaj.MEASURES)


def test_every_pipeline_is_measured_by_its_final_ranking():
    class Last:
        def __init__(self, *docs):
            self.docs = docs

        def run(self, bed):
            return Value(run_of(q1=self.docs), key="-".join(self.docs))

    systems = alarfaj.evaluations(Bed(q1="b"), {"good": Last("b", "a"), "bad": Last("a", "c", "d", "b"), "empty": Last()})
    assert {name: system.values["RR@10"].tolist() for name, system in systems.items()} == {
        "good": [1.0], "bad": [0.25], "empty": [0.0]}
    assert [system.values["P@10"].tolist() for system in systems.values()] == [[0.1], [0.1], [0.0]]
    assert [(system.label, system.source.key) for system in systems.values()][:2] == [("good", "b-a"), ("bad", "a-c-d-b")]
    assert all(list(system.values.columns) == list(alarfaj.MEASURES) for system in systems.values())


# ---- the pipeline ----

@pytest.mark.parametrize("random, holds", [(0.25, True), (0.0, False)])
def test_the_discussion_of_the_pipeline_rests_on_its_negatives(random, holds):
    systems = {BM25: system(), BERT: system(0.25), pipeline_story.RANDOM: system(random)}
    assert list(pipeline_story.signs(systems).values()) == [holds]
    rows = [row[0] for row in cells(pipeline_story.negatives_table(systems))[1:]]
    assert rows == ["BERT by its negatives", "BM25 + BERT, random negatives and BM25"]


def test_the_studys_negatives_are_drawn_at_random():
    model = pipeline_story.with_random_negatives(SETTINGS).model
    assert model == replace(SETTINGS.bert(), negatives="random")


@pytest.fixture
def hostile_folder(tmp_path):
    """A collection whose title and text are markup, with a split that nobody judged."""
    (tmp_path / "docs.tsv").write_text(f"d1\tu\t{HOSTILE}\tbread\nd2\tu\t\t{'word ' * 13}\n")
    (tmp_path / "queries.tsv").write_text("q1\tbread\nq2\tiron\n")
    (tmp_path / "queries.dev.tsv").write_text("q5\tbread\n")
    (tmp_path / "queries.extra.tsv").write_text("q3\tbread\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d2 1\n")
    (tmp_path / "qrels.extra.txt").write_text("q3 0 d1 1\n")
    return tmp_path


class Stages:
    """Stands for a pipeline whose stages are known."""

    def __init__(self, **stages):
        self.by_name = {name.replace("_", " "): Value(run_of(q1=docs)) for name, docs in stages.items()}

    def stages(self, bed):
        self.queries = bed.query_frame["text"].tolist()
        return self.by_name


def test_the_stages_stand_side_by_side(hostile_folder, store):
    pipeline = Stages(BM25=["d1", "d2"], re_ranked=["d2"])
    shown = pipeline_story.stages_table(pipeline, HOSTILE, str(hostile_folder), "document", 2)
    assert pipeline.queries == [HOSTILE]
    untitled = " ".join(["word"] * 12) + " …"
    assert cells(shown) == [["rank", "BM25", "re ranked"], ["1", HOSTILE, untitled], ["2", untitled, ""]]
    assert "<script" not in shown.html
    assert f"<caption>“{ESCAPED}” through the pipeline" in shown.html
    empty = pipeline_story.stages_table(Stages(BM25=[], re_ranked=[]), "the of", str(hostile_folder), "document", 5)
    assert cells(empty) == cells(shown)[:1]


def test_answers_are_shown_with_their_titles_as_text():
    rows = pd.DataFrame({"query": [HOSTILE, "iron"], "rank": [1, 1], "doc_id": ["d1", "d2"], "score": [0.51239, 2.0],
                         "title": ["Bread", HOSTILE]})
    shown = pipeline_story.answers_table(rows)
    assert cells(shown)[1:] == [[HOSTILE, "1", "Bread", "0.512"], ["iron", "1", HOSTILE, "2.000"]]
    assert "<script" not in shown.html
    assert shown.html.count(ESCAPED) == 2


def test_table_1_stands_beside_this_collections_files(hostile_folder, store):
    rows = cells(pipeline_story.files_table(open_collection(str(hostile_folder)), "document"))[1:]
    assert all(row[4].endswith(" kB") for row in rows) and rows[4][4] == "1 kB" and rows[2][4] == "0 kB"
    assert [row[:3] for row in rows] == [
        ["Collection", "3213835", "2"], ["Validation queries", "5193", "1"], ["Validation qrels", "5193", "none"],
        ["Test queries", "200", "2"], ["Test qrels", "16258", "3"], ["extra queries", "", "1"], ["extra qrels", "", "1"]]


def test_damaged_judgments_are_an_error_and_not_missing_ones(hostile_folder, store):
    (hostile_folder / "qrels.extra.txt").write_text("q3 0 d1\n")
    with pytest.raises(BadInput, match="3 columns"):
        pipeline_story.files_table(open_collection(str(hostile_folder)), "document")


@pytest.mark.parametrize("bert, bm25, verdict", [(0.25, 0.0, AGREES), (0.0, 0.25, DISAGREES), (0.25, 0.25, SMALL)])
def test_bert_is_judged_by_its_precision(bert, bm25, verdict):
    systems = {BERT: system(0.1, shifts={"P@10": bert}), BM25: system(0.4, shifts={"P@10": bm25})}
    assert verdicts_of(pipeline_story.claims_table(systems)) == {"bert-reranking-beats-bm25": verdict}


# ---- first passage or whole document ----

class Reader:
    """Stands for a model that gives a window of each document its score."""

    label = first_passage.ZERO_SHOT

    def __init__(self, **scores):
        self.rows = [("q1", name.replace("_", "#"), value) for name, value in scores.items()]
        self.depths = []

    def scores(self, bed, run, candidates):
        self.depths.append(candidates)
        return Value(pd.DataFrame(self.rows, columns=COLUMNS))


READERS = {first_passage.first(64): Reader(a_0=0.9, b_0=0.1), first_passage.first(128): Reader(a_0=0.2, b_0=0.8),
           first_passage.WINDOWED: Reader(a_0=0.6, a_1=0.5, b_0=0.1, b_1=0.9),  # max b, mean a, sum a
           first_passage.LONG: Reader(a_0=0.3, b_0=0.7)}


def test_every_way_of_reading_ranks_the_same_candidates(monkeypatch):
    monkeypatch.setattr(first_passage, "reranked", lambda scores, how, run: Value(
        reranked.definition.function(scores.value(), how, run.value())))
    monkeypatch.setattr(first_passage, "ZeroShotReranker", lambda backbone: Reader(a_0=0.1, b_0=0.2))
    settings = SimpleNamespace(candidates=2, reader=SimpleNamespace(backbone="packaged"),
                               classical=lambda: SimpleNamespace(run=lambda bed: Value(run_of(q1="abc"))))
    systems = first_passage.evaluations(Bed(q1="b"), settings, READERS)
    best, mean, total = first_passage.WINDOWS
    assert {name: "".join(system.run["doc_id"]) for name, system in systems.items()} == {
        BM25: "abc", first_passage.first(64): "abc", first_passage.first(128): "bac", best: "bac", mean: "abc", total: "abc",
        first_passage.LONG: "bac", first_passage.ZERO_SHOT: "bac"}  # c was not scored and keeps its place
    assert {name: system.values["RR@10"].tolist() for name, system in systems.items() if name in (BM25, first_passage.LONG)} == {
        BM25: [0.5], first_passage.LONG: [1.0]}
    assert READERS[first_passage.WINDOWED].depths == [2, 2, 2]
    without = {name: reader for name, reader in READERS.items() if name != first_passage.WINDOWED}
    assert [*first_passage.evaluations(Bed(q1="b"), settings, without)] == [BM25, *without, first_passage.ZERO_SHOT]
    assert all(system.label == name for name, system in systems.items())


def test_readers_differ_in_what_they_read_alone():
    models = first_passage.readers(SETTINGS, [64, 128], {first_passage.LONG: 256})
    assert [(model.max_length, model.words == WHOLE, model.attention_window) for model in models.values()] == [
        (64, True, None), (128, True, None), (90, False, None), (256, True, 256)]
    same = [replace(model, max_length=90, words=WHOLE, overlap=0, attention_window=None) for model in models.values()]
    assert all(model == SETTINGS.reader for model in same)


def trained_to(*losses):
    """A model whose held-out loss went through these."""
    log = {"steps": 9, "log": [{"step": number, "eval_loss": loss} for number, loss in enumerate(losses)]}
    return SimpleNamespace(log=Value(log), size=4)


def test_a_model_that_learned_is_told_from_one_that_did_not():
    shown = alarfaj.learning_table({"learns": trained_to(1.5, 0.25, 0.5), "guesses": trained_to(1.386, 1.386)})
    assert cells(shown)[1:] == [["learns", "9", "1.500", "0.250", "0.500", "1.386"],
                                ["guesses", "9", "1.386", "1.386", "1.386", "1.386"]]


def ways(whole=0.0, passage=0.0, short=0.0, best=0.0):
    """The systems of the chapter; the study's claim is on nDCG@10, the finding on RR@10."""
    names = {BM25: 0.0, first_passage.first(64): short, first_passage.first(128): passage,
             next(iter(first_passage.WINDOWS)): best, first_passage.LONG: whole}
    return {name: system(shift, name) for name, shift in names.items()}


@pytest.mark.parametrize("whole, best, holds", [
    (0.0, 0.25, [True, True, True, True]), (0.25, 0.25, [True, False, False, True]), (0.0, 0.0, [False, True, False, False])])
def test_the_discussion_of_reading_rests_on_the_best_window(whole, best, holds):
    assert list(first_passage.signs(ways(whole, best=best), [64, 128]).values()) == holds


def test_every_other_system_is_compared_with_the_longest_first_passage():
    shown = first_passage.differences(ways(whole=0.25, passage=0.125, short=0.125), [64, 128])
    base, best = first_passage.first(128), next(iter(first_passage.WINDOWS))
    assert caption(shown) == f"Compared with {base}, and the best window with {BM25}"
    rows = {row[0]: row[1:] for row in cells(shown)[1:]}
    assert list(rows) == [*(f"{name}, and {base}" for name in (BM25, first_passage.first(64), best, first_passage.LONG)),
                          f"{best}, and {BM25}"]
    assert [row[2][:6] for row in rows.values()] == ["−0.125", "+0.000", "−0.125", "+0.125", "+0.000"]


@pytest.mark.parametrize("late, passage, holds", [(0.25, 0.0, True), (0.25, 0.5, False), (0.75, 0.0, False)])
def test_late_answers_may_be_harder_for_all_and_most_for_first_passages(late, passage, holds):
    shares = pd.Series([0.1, 0.2, 0.8, 0.9], index=["q0", "q1", "q2", "q3"])
    found = {BM25: [0.5, 0.5, late, late], first_passage.first(64): [0.5, 0.5, passage, passage]}
    systems = {name: of_values(values) for name, values in found.items()}
    assert list(first_passage.late_signs(systems, shares).values()) == [holds]
    assert first_passage.late_signs(systems, None) == first_passage.late_signs(systems, shares[:2]) == {}


def placed(rows, judged):
    """A bed whose answers begin at given words."""
    frame = pd.DataFrame(rows, columns=["query_id", "begins", "length", "words"])
    return SimpleNamespace(positions=Value(frame), judged=judged)


def test_an_answer_stands_where_its_middle_is():
    bed = placed([("q1", 0, 10, 100), ("q1", 80, 10, 100), ("q9", 5, 10, 100), ("q2", 90, 10, 100)], ["q2", "q3", "q1"])
    assert first_passage.places(bed).to_dict() == {"q2": 0.95, "q1": 0.05}  # not judged, not found: neither is there


@pytest.mark.parametrize("bed", [SimpleNamespace(positions=None), placed([], ["q1"]), placed([("q9", 0, 1, 2)], ["q1"])])
def test_unknown_places_are_none(bed):
    assert first_passage.places(bed) is None


@pytest.mark.parametrize("share, part", [(0.0, 0), (0.33, 0), (0.34, 1), (0.66, 1), (0.67, 2), (0.999, 2), (1.0, 2)])
def test_documents_have_three_parts(share, part):
    assert first_passage.parts(pd.Series([share])).tolist() == [first_passage.PARTS[part]]


@pytest.mark.parametrize("sections", [3, 6, 12])
def test_answers_in_every_section_alike_are_spread_evenly(sections):
    """Beginnings are not: of six sections two begin in the first fifth of a document, and none in its last sixth."""
    bed = placed([(f"q{n}", 100 * n, 100, 100 * sections) for n in range(sections)], [f"q{n}" for n in range(sections)])
    shares = first_passage.places(bed)
    assert set(Counter(first_passage.parts(shares)).values()) == {sections // 3}
    assert shares.mean() == pytest.approx(first_passage.EVEN)
    rows = cells(first_passage.places_table(shares))[1:]
    assert [row[1:] for row in rows] == [[str(sections // 3), "0.333"]] * 3


FALLING = of_values({"RR@10": [1.0, 0.5, 0.25, 0.0]}, "falling")
PLACES = pd.Series([0.9, 0.1, 0.4, 0.6], index=["q3", "q0", "q1", "q2"])  # in another order than the systems' queries


def test_success_by_place_is_drawn_from_the_first_part_on():
    text = text_of(first_passage.by_place({"A": FALLING}, PLACES))
    assert "A, first third: 1.000; A, middle third: 0.375; A, last third: 0.000." in text


def test_success_is_correlated_with_the_place():
    rising = of_values({"RR@10": [0.0, 0.25, 1.0, 0.5]})  # ranks 1 2 4 3 against 1 2 3 4: rho 1 - 6 x 2 / 60 = 0.8, p 0.2
    level = of_values({"RR@10": [0.5] * 4})
    rows = cells(first_passage.trends_table({"A": rising, "level": level, "B": rising}, PLACES))[1:]
    assert rows == [["A", "0.125", "0.750", "+0.800", "0.200"], ["level", "0.500", "0.500", "", ""],
                    ["B", "0.125", "0.750", "+0.800", "0.200"]]
    (row_of_one,) = cells(first_passage.trends_table({"A": FALLING}, PLACES))[1:]
    assert row_of_one == ["A", "0.750", "0.125", "−1.000", "< 0.001"]


@pytest.mark.parametrize("shares, values", [([0.1, 0.2], [0, 1]), ([0.1] * 3, [0, 1, 2]), ([0.1, 0.2, 0.3], [1, 1, 1])])
def test_what_does_not_vary_has_no_correlation(shares, values):
    assert first_passage.correlation(pd.Series(shares), pd.Series(values)) is None


# ---- Longformer lengths ----

@pytest.mark.parametrize("longest, expected", [
    (973, {512: 512, 1024: 1024, 2048: 1024, 4096: 1024}),  # with 47 tokens of the query and 3 special ones: 1023
    (974, {512: 512, 1024: 1024, 2048: 1024, 4096: 1024}),
    (975, {512: 512, 1024: 1024, 2048: 2048, 4096: 2048}),
    (9000, {512: 512, 1024: 1024, 2048: 2048, 4096: 4096}),
    (1, {512: 512, 1024: 512, 2048: 512, 4096: 512})])
def test_lengths_beyond_the_longest_document_are_one(longest, expected):
    lengths = longformer.distinct([4096, 1024, 512, 2048], pd.Series({"a": 1, "b": longest}), 47)
    assert list(lengths.items()) == list(expected.items())


def test_what_each_length_reads():
    documents = pd.Series({"a": 97, "b": 197, "c": 900})  # 1,194 in all; three tokens of an input are special
    rows = cells(longformer.read_table(documents, {100: 100, 200: 200, 1024: 1024, 2048: 1024}))[1:]
    assert rows == [["100", "0.333", "0.244", ""],  # 3 x 97 = 291
                    ["200", "0.667", "0.411", ""],  # 97 + 197 + 197 = 491
                    ["1,024", "1.000", "1.000", ""], ["2,048", "1.000", "1.000", "as 1,024: no document is longer"]]


def of_lengths(bm25=0.0, bert=0.0, **shifts):
    """Longformers by length: `of_lengths(l512=0.1)`."""
    lengths = {row(int(name[1:])): system(shift) for name, shift in shifts.items()}
    return {BM25: system(bm25, BM25), BERT: system(bert, BERT), **lengths}


ABOVE = "longformer-reranking-beats-bm25"


@pytest.mark.parametrize("chosen, bm25, verdict", [(0.25, 0.0, AGREES), (0.0, 0.125, DISAGREES), (0.25, 0.25, SMALL)])
def test_longformer_of_1024_tokens_is_judged_against_bm25(chosen, bm25, verdict):
    systems = of_lengths(bm25, l512=0.5, l1024=chosen, l2048=0.75)
    assert verdicts_of(longformer.claims_table(systems, {512: 512, 1024: 1024, 2048: 2048})) == {ABOVE: verdict}


@pytest.mark.parametrize("lengths, chosen", [([512, 2048], 512), ([768, 1280], 768), ([1000, 1100], 1000),
                                             ([64, 1536, 4096], 1536)])
def test_the_length_nearest_to_the_studys_stands_for_it(lengths, chosen):
    systems = of_lengths(0.25, **{f"l{length}": 0.5 if length == chosen else 0.25 for length in lengths})
    shown = longformer.claims_table(systems, {length: length for length in lengths})
    assert verdicts_of(shown)[ABOVE] == AGREES  # the only one that is above BM25


def timed(**seconds):
    """Costs by length; the medians are the given seconds, Longformer's first: `timed(l256=(1.0, 2.0))`."""
    kinds = ("Longformer", "full attention")
    return {kind: [{"length": int(name[1:]), "seconds": [value[n] * 2, value[n] / 2, value[n]], "megabytes": 100.4 + 1000 * n}
                   for name, value in seconds.items()] for n, kind in enumerate(kinds)}


def test_the_cost_table_has_medians_extremes_and_memory():
    header, *rows = cells(longformer.cost_table(timed(l256=(2.0, 1.0), l1024=(4.0, 16.0))))
    assert header[:5] == ["tokens", "Longformer", "full attention", "memory, Longformer", "memory, full attention"]
    assert rows == [["256", "2.000 s [1.000, 4.000]", "1.000 s [0.500, 2.000]", "100 MB", "1,100 MB", "0.50×"],
                    ["1,024", "4.000 s [2.000, 8.000]", "16.000 s [8.000, 32.000]", "100 MB", "1,100 MB", "4.00×"]]


def test_the_time_of_scoring_is_that_of_the_step_that_scored():
    """Whatever the order of a step's inputs: a rebuilt recipe may have another one."""
    inputs = [{"step": "bm25_run", "seconds": 1.0}, {"step": "window_scores", "seconds": 132.0}]
    known, unknown = (system(0.25, source=Value(manifest={"inputs": entry})) for entry in (inputs, [{"step": "window_scores"}]))
    bm25 = system(source=Value(manifest={"inputs": inputs}))
    rows = cells(longformer.scoring_table({BM25: bm25, row(512): known, row(1024): unknown}))[1:]
    assert [(row[0], row[1][:5], row[2]) for row in rows] == [
        (BM25, "0.250", ""), (row(512), "0.500", "2 min"), (row(1024), "0.500", "")]


@pytest.mark.slow  # reads the tokenizer
def test_lengths_of_documents_are_word_pieces_with_their_titles(folder, store):
    bed, tokenizer = Testbed(str(folder), words=3, overlap=1), resolve("packaged:0").tokenizer()
    result = longformer.document_lengths(bed, "packaged:0")
    texts = {text.doc_id: f"{text.title} {text.body}" for text in bed.source.texts("document")}
    assert result.to_dict() == {doc: len(tokenizer(text, add_special_tokens=False)["input_ids"]) for doc, text in texts.items()}


def test_every_model_of_the_lengths_is_there_once():
    models = longformer.models(SETTINGS, {512: 512, 1024: 1024, 2048: 1024})
    assert {name: (model.max_length, model.attention_window) for name, model in models.items()} == {
        BERT: (90, None), row(512): (512, 256), row(1024): (1024, 256)}


@pytest.mark.parametrize("short, bert, learned, level", [((0.9, 0.2), 0.4, True, True), ((0.9, 0.5), 0.4, False, True),
                                                         ((0.1, 0.2), 0.4, False, True)])
def test_the_discussion_of_lengths_rests_on_losses_and_ranks(short, bert, learned, level):
    models = {BERT: trained_to(0.6, bert), row(512): trained_to(*short), row(1024): trained_to(0.9, 0.3)}
    systems = {row(512): system(0.25), row(1024): system(0.125)}
    cost = {kind: [{"length": length, "seconds": [seconds]} for length, seconds in lines.items()] for kind, lines in {
        "windowed": {512: 0.2, 1024: 0.3}, "full": {512: 0.1, 1024: 0.4 if learned else 0.3}}.items()}
    assert list(longformer.signs(systems, models, cost).values()) == [learned, learned, level]


# ---- feedback ----

def test_each_explanation_is_tested_by_pipelines_that_differ_in_one_thing():
    pipelines = feedback.pipelines(SETTINGS)
    systems = {name: system(number / 32, name) for number, name in enumerate(pipelines)}
    named = {f"{system.mean('nDCG@10').mean:.3f}": name for name, system in systems.items()}
    rows = cells(feedback.explanations_table(systems))[1:]
    assert [tuple(named[mean] for mean in row[1:3]) for row in rows] == [
        (feedback.INSIDE, FULL), (PASSAGE, FULL), (feedback.JUST_FULL, FULL), (feedback.WORDS, PASSAGE),
        (feedback.SENTENCE, feedback.WORDS), (feedback.ASKED, PASSAGE)]
    for said_of, first, second, *_ in rows:
        one, other = (asdict(pipelines[named[mean]].feedback) for mean in (first, second))
        assert sum(one[name] != other[name] for name in one) == 1, said_of
        assert pipelines[named[first]].model == pipelines[named[second]].model


def fed(**shifts):
    names = {"bm25": BM25, "bert": BERT, "full": FULL, "passage": PASSAGE, "just": JUST, "bo1": feedback.BO1, "kl": feedback.KL,
             "printed": feedback.PRINTED, "rm3": feedback.RM3, "asked_again": feedback.ASKED}
    return {name: system(shifts.get(short, 0.0), name) for short, name in names.items()}


HURTS, BEATS = "full-index-feedback-hurts-bert", "passage-index-feedback-beats-full-index"
ONLY = "rerank-only-beats-retrieving-again"


@pytest.mark.parametrize("bert, full, passage, just, verdicts", [
    (0.25, 0.0, 0.125, 0.25, (AGREES,) * 3), (0.0, 0.25, 0.125, 0.0, (DISAGREES,) * 3),
    (0.25, 0.25, 0.25, 0.25, (SMALL,) * 3), (0.0, 0.0, 0.0, 0.25, (SMALL, SMALL, AGREES))])
def test_feedback_is_judged_with_full_and_passage_index(bert, full, passage, just, verdicts):
    shown = feedback.claims_table(fed(bert=bert, full=full, passage=passage, just=just))
    judged = verdicts_of(shown)
    assert [judged[claim] for claim in (HURTS, BEATS, ONLY)] == list(verdicts)


@pytest.mark.parametrize("full, passage, verdicts", [(0.25, 0.25, (AGREES, AGREES)), (0.25, 0.0, (AGREES, SMALL)),
                                                     (0.0, -0.25, (SMALL, DISAGREES))])
def test_recall_is_judged_index_by_index(full, passage, verdicts):
    judged = verdicts_of(feedback.claims_table(fed(full=full, passage=passage)))
    assert [judged[f"feedback-raises-recall/{index} index"] for index in ("full", "passage")] == list(verdicts)


@pytest.mark.parametrize("asked, share, holds", [(0.25, 0.95, [True, True, False]), (-0.125, 0.85, [False, False, False])])
def test_the_discussion_of_feedback_rests_on_what_was_measured(asked, share, holds):
    """The judgments of these toys were not pooled: nothing can be said of judged texts alone."""
    assert list(feedback.signs(fed(asked_again=asked), {"full index": pd.Series([share])}).values()) == holds


def test_feedback_for_bm25_alone_is_compared_with_bm25():
    bo1, kl, printed, rm3 = cells(feedback.classical_table(fed(bm25=0.125, bo1=0.25, kl=0.5)))[1:]
    assert bo1[:4] == ["BM25 + Bo1 and BM25", "0.500", "0.375", "+0.125 [+0.125, +0.125]"]
    assert kl[:4] == ["BM25 + KL and BM25", "0.750", "0.375", "+0.375 [+0.375, +0.375]"]
    assert (printed[0], rm3[0]) == ("BM25 + Bo1 as printed and BM25", "BM25 + RM3 and BM25")
    assert printed[1:] == rm3[1:] and printed[1:4] == ["0.250", "0.375", "−0.125 [−0.125, −0.125]"]


def test_rm3_has_as_many_documents_and_terms_as_bo1(monkeypatch):
    arguments = {}

    def run(index, queries, k1, b, depth, documents, terms, original):
        arguments.update(index=index, queries=queries, k1=k1, depth=depth, documents=documents, terms=terms, original=original)
        return Value(run_of(q1="ab"))

    monkeypatch.setattr(feedback, "rm3_run", run)
    bed = Bed(q1="b")
    bed.index, bed.query_step = "index of texts", "queries"
    result = feedback.rm3(bed, SETTINGS)
    assert (result.label, result.values["RR@10"].tolist()) == (feedback.RM3, [0.5])
    assert arguments == {"index": "index of texts", "queries": "queries", "k1": 1.2, "depth": 100, "documents": 3, "terms": 4,
                         "original": 0.5}


def weights_of(*rows):
    return pd.DataFrame(rows, columns=["query_id", "term", "weight", "added"])


FULL_WEIGHTS = weights_of(("q1", "bread", 2.0, False), ("q1", "oven", 1.0, True), ("q1", "late", 0.5, True))
PART_WEIGHTS = weights_of(("q1", "bread", 2.0, False), ("q1", "sugar", 1.0, True))


@dataclass(frozen=True)
class Given:
    """Stands for the feedback: its weights are given."""

    rows: object
    form: str = "terms"
    terms: int = 4
    within: int = 0
    visible: object = None  # what all terms are that the model sees

    def weights(self, bed, run):
        assert run == "trusted run"
        assert (self.terms, self.within) in ((4, 0), (feedback.MANY, 40))
        return Value(self.visible if self.within else self.rows)

    def reading(self, bed, run):
        added = " ".join(self.rows.loc[self.rows["added"].astype(bool), "term"])
        return SimpleNamespace(query_frame=bed.query_frame.assign(text=lambda rows: rows["text"] + f" ({self.form}: {added})"))


@dataclass
class Lent:
    """Stands for the settings."""

    full: object = None
    part: object = None
    visible: object = None
    reader: object = field(default_factory=lambda: SimpleNamespace(room=40))

    def feedback(self, passages=False):
        result = self.part if passages else self.full
        return Given(weights_of() if result is None else result, visible=self.visible)

    def rows(self):
        return {BERT: SimpleNamespace(run=lambda bed: "trusted run")}


def queries_of(*texts):
    frame = pd.DataFrame({"query_id": [f"q{number}" for number in range(1, len(texts) + 1)], "text": texts})
    return SimpleNamespace(query_frame=frame, store="texts", query_step="queries")


def test_expanded_queries_are_shown_as_text():
    shown = feedback.expansions_table(queries_of(HOSTILE, "the of", "third"), Lent(FULL_WEIGHTS, PART_WEIGHTS), 2)
    assert cells(shown)[1:] == [[HOSTILE, "oven late", "sugar", f"{HOSTILE} (sentence: sugar)"],
                                ["the of", "", "", "the of (sentence: sugar)"]]  # nothing is added to stop words
    assert "<script" not in shown.html
    assert caption(shown) == "The first 2 queries, expanded"


def test_a_term_is_seen_if_it_stands_in_what_the_model_reads():
    visible = weights_of(("q1", "bread", 2.0, False), ("q1", "oven", 1.0, True), ("q1", "sugar", 1.0, True))
    shares = feedback.seen_shares(queries_of("bread", "the of"), Lent(FULL_WEIGHTS, PART_WEIGHTS, visible))
    assert {name: values.to_dict() for name, values in shares.items()} == {
        "full index": {"q1": 0.5}, "passage index": {"q1": 1.0}}


def moved(*changes):
    """Systems whose nDCG@10 with feedback from the passage index differs by so much for each query."""
    base = np.full(len(changes), 0.5)
    values = {BERT: base, PASSAGE: base + changes, FULL: base, JUST: base - changes}
    queries = [f"q{number}" for number in range(1, len(changes) + 1)]
    return {name: of_values({"nDCG@10": item}, queries=queries) for name, item in values.items()}


def test_the_largest_gains_and_losses_are_shown_with_their_terms():
    bed = queries_of(HOSTILE, "worst", "same", "good", "bad")
    shown = feedback.moves_table(bed, Lent(FULL_WEIGHTS, PART_WEIGHTS), moved(0.5, -0.5, 0.0, 0.25, -0.25), 1)
    assert cells(shown)[1:] == [[HOSTILE, "+0.500", "sugar"], ["worst", "−0.500", ""]]
    assert "<script" not in shown.html
    rows = cells(feedback.moves_table(bed, Lent(FULL_WEIGHTS, PART_WEIGHTS), moved(0.5, -0.5, 0.0, 0.25, -0.25), 9))[1:]
    assert [row[1] for row in rows] == ["+0.500", "+0.250", "−0.250", "−0.500"]  # one that stays is neither


@dataclass(frozen=True)
class Tiny(Settings):
    """The chapter's settings with a model that needs no training."""

    def bert(self, tokens=0):
        return Letters()


@pytest.mark.slow
def test_the_chapter_on_feedback_runs_on_a_tiny_collection(folder, store):
    """One of its three queries is of stop words: it has no candidates, no terms, no share, and still its rows."""
    settings, bed = Tiny(replace(SETTINGS.reader, max_length=58), documents=1, terms=3, candidates=4), Testbed(str(folder))
    shares = feedback.seen_shares(bed, settings)
    assert set(shares["full index"].index) == {"q1", "q2"}
    assert set(shares["passage index"]) == {1.0}
    assert shares["full index"].between(0, 1).all()
    rows = cells(feedback.expansions_table(bed, settings, 5))[1:]
    assert [row[0] for row in rows] == bed.query_frame["text"].tolist()
    assert rows[2] == ["the of and", "", "", "the of and"]
    assert all(len(row[1].split()) <= 3 and row[3].startswith(row[0]) for row in rows)
    systems = alarfaj.evaluations(bed, feedback.pipelines(settings)) | {feedback.RM3: feedback.rm3(bed, settings)}
    assert all(len(system.values) == 3 and system.values.loc["q3"].sum() == 0 for system in systems.values())
    assert len(cells(feedback.explanations_table(systems))) == 7


# ---- broad topics ----

@pytest.mark.parametrize("recall, first, holds", [(0.25, -0.125, True), (0.0, -0.125, False), (0.25, 0.125, False)])
@pytest.mark.parametrize("topics, gains, unsure", [([0.25] * 8, True, False), ([0.25, -0.125] * 4, True, True),
                                                   ([0.0] * 8, False, True)])
def test_the_discussion_of_topics_rests_on_both_kinds_of_queries(recall, first, holds, topics, gains, unsure):
    fed_back = {name: system(shifts={"R@100": recall, "RR@10": first}) for name in (FULL, PASSAGE)}
    signs = alarfaj.signs({BM25: of_values({"nDCG@10": [0.5] * 8}),
                           BERT: of_values({"nDCG@10": [0.5 + gain for gain in topics], "R@100": [0.5] * 8}),
                           FULL: of_values({"R@100": [0.5 + recall] * 8})},
                          {BM25: system(0.25), BERT: system(), **fed_back})
    assert list(signs.values()) == [holds, gains, unsure, True, recall > 0]


@pytest.mark.parametrize("name, printed, effect, measured", [
    ("P@10", "0.6814", "+0.070", "0.750"), ("MAP@100", "0.2607", "+0.015", "0.375"), ("NDCG@10", "0.5858", "+0.046", "0.375")])
def test_a_column_of_table_2_stands_beside_its_measure(name, printed, effect, measured):
    shown = alarfaj.table_2(name, {BM25: system(), BERT: system(0.125, shifts={"P@10": 0.5})}, whole=True)
    rows = {row[0]: row for row in reversed(cells(shown)[1:])}  # the first table, and not the folded one
    assert (rows[BERT][1], rows[BERT][2][:5]) == (f"{printed} {effect}", measured)
    assert rows[PASSAGE][-1] == UNTESTED
    assert name in caption(shown)
    assert {line["measure"] for line in shown.data["values"]} == {alarfaj.COLUMNS[name]}


# ---- tables and figures that these chapters brought ----

def test_comparisons_are_linked():
    pairs = {"up": (system(0.25), system()), "none": (system(), system()), HOSTILE: (system(), system(0.125))}
    shown = compare.differences_table(HOSTILE, pairs, "RR@10")
    header, *rows = cells(shown)
    assert header == ["comparison", "first", "second", "difference in RR@10", "p"]
    # p 2 / 256 and 1
    assert rows == [["up", "0.500", "0.250", "+0.250 [+0.250, +0.250]", "0.008"],
                    ["none", "0.250", "0.250", "+0.000 [+0.000, +0.000]", "1.000"],
                    [HOSTILE, "0.250", "0.375", "−0.125 [−0.125, −0.125]", "0.008"]]
    assert shown.html.count('href="#step-0123456789"') == 6
    assert "<script" not in shown.html


def test_sorted_differences_say_who_gains_and_who_loses():
    lines = {"A": pd.Series([0.0, -0.25, 0.5]), "& B": pd.Series([0.125])}
    shown = plots.sorted_differences(lines, "difference", HOSTILE)
    assert text_of(shown) == ("Sorted differences in difference for each query. A: 1 queries gain, 1 lose, from -0.250 to 0.500. "
                              "& B: 1 queries gain, 0 lose, from 0.125 to 0.125.")
    assert ESCAPED in shown.html.split("<figcaption>")[1]
    assert "<script" not in shown.html
    assert plots.sorted_differences(lines, "difference", HOSTILE).html == shown.html


def test_the_steps_of_feedback_are_compared_for_every_model_that_has_it():
    values = {BERT: 0.5, FULL: 0.25, PASSAGE: 0.375, JUST: 0.75, row(512): 0.25,
              JUST_FULL: 0.625, **{f"{alarfaj.LONGFORMER} + PRF ({way})": shift for way, shift in
                                   (("FI", 0.5), ("FIJ", 0.25), ("PI", 0.0), ("PIJ", 0.125))}}
    systems = {name: system(shift, name) for name, shift in values.items()}
    rows = {cell[0]: cell[3][:6] for cell in cells(alarfaj.feedback_table(systems, 512))[1:]}
    assert list(rows.values()) == ["−0.250", "+0.125", "−0.125", "+0.250", "+0.125", "+0.375",
                                   "+0.250", "+0.000", "−0.250", "−0.125", "−0.500", "+0.125"]
    assert list(rows)[6] == "BM25 + Longformer: full index (FI), and no feedback"
    assert len(cells(alarfaj.feedback_table(systems, 0))) == 7


def test_a_row_that_cannot_differ_from_bm25_is_not_tested():
    alike, other = (cells(alarfaj.table_2("R@100", {BM25: system(name=BM25), BERT: system(shifts=shift, name=BERT)}))[2]
                    for shift in ({}, {"R@100": 0.25}))
    assert "cannot differ" in alike and "cannot differ" not in other


@pytest.mark.parametrize("last, expected", [(-0.125, True), (0.125, False)])
def test_feedback_lowers_both_models_only_if_every_way_does(last, expected):
    fed = {f"{name} + PRF ({way})": system(-0.125) for name in (BERT, alarfaj.LONGFORMER) for way in ("FI", "FIJ", "PI", "PIJ")}
    systems = {BERT: system(), row(512): system(), **fed, f"{alarfaj.LONGFORMER} + PRF (PIJ)": system(last)}
    assert list(alarfaj.longer_signs(systems, 512).values()) == [expected]
    assert alarfaj.longer_signs(systems, 0) == {}
