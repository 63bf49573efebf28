"""The chapters on bi-encoders: what they say follows the values."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from helpers.data.collection_base import Text
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.verdicts import AGREES, DISAGREES, SMALL, UNTESTED
from helpers.stories import embeddings, encoders, sequence_length
from helpers.systems.bi_encoder import BiEncoder
from tables import cells, verdicts_of
from toys import Bed, Value, run_of, system

SEARCHED = Value(manifest={"inputs": [{"step": "passage_embeddings", "seconds": 30.0}, {"step": "query_embeddings", "key": "x"}],
                           "seconds": 2.0, "machine": {"cpu": "a processor", "cores": 2, "threads": 1}})
TRAINED = SimpleNamespace(log=Value(manifest={"inputs": [{"step": "bi_encoder", "seconds": 100.0}]}))


# ---- encoders ----

@pytest.mark.parametrize("spec, name", [
    ("packaged", "MiniLM"), ("packaged:0,1,2", "MiniLM (layers 0,1,2)"), ("hub:bert-base-uncased@86b5e09", "BERT"),
    ("hub:google-bert/bert-base-uncased@main", "BERT"), ("hub:roberta-base@main", "RoBERTa"),
    ("hub:albert-base-v1@main", "ALBERT"), ("hub:distilbert-base-uncased@main", "DistilBERT"),
    ("hub:google/electra-base-discriminator@main", "ELECTRA"),
    ("hub:someone/other-model@v1", "other-model"), ("/models/mine/", "mine")])
def test_a_backbone_has_the_studys_name_or_its_own(spec, name):
    assert encoders.label(spec) == name


def test_every_row_of_the_study_can_be_measured_by_a_checkpoint():
    named = {f"{encoders.label(f'hub:x/{checkpoint}@main')} / {pooling}"
             for checkpoint in encoders.CHECKPOINTS for pooling in encoders.POOLINGS.values()}
    assert named == set(encoders.published_means())
    versions = {row for (table, row, _) in published.load(encoders.STUDY) if table == "B.1"}
    assert set(encoders.CHECKPOINTS) == versions - {"all models"}


def test_a_model_for_every_backbone_and_pooling():
    base = BiEncoder(margin=0.5)
    models = encoders.models(base, ["packaged", "packaged:0"], ["mean", "max"])
    assert models == {"MiniLM / Avg": base, "MiniLM / Max": replace(base, pooling="max"),
                      "MiniLM (layers 0) / Avg": replace(base, backbone="packaged:0"),
                      "MiniLM (layers 0) / Max": replace(base, backbone="packaged:0", pooling="max")}


def test_two_backbones_of_one_name_are_refused():
    with pytest.raises(BadInput, match="one name"):
        encoders.models(BiEncoder(), ["hub:a/bert-base-uncased@1", "hub:b/bert-base-uncased@1"], ["mean"])


@pytest.mark.parametrize("depth, last", [(100, "nDCG@100"), (1000, "nDCG@1000"), (50, "nDCG@10")])
def test_measures_do_not_look_beyond_the_depth(depth, last):
    result = encoders.measures(depth)
    assert result[:4] == ["RR@10", "AP", f"R@{depth}", "Rprec"]
    assert result[-1] == last


def test_models_are_searched_with_every_seed(monkeypatch):
    monkeypatch.setattr(BiEncoder, "run", lambda model, bed, depth: (model.seed, model.data_seed))
    monkeypatch.setattr(encoders, "evaluate_seeds", lambda name, runs, bed, measures: (name, runs))
    assert encoders.fine_tuned(None, {"a": BiEncoder()}, [1, 3], 10) == {"a": ("a", [(1, 1), (3, 1)])}


def test_the_packaged_encoder_is_not_compared_with_bert_and_the_rest_is_not_run():
    after = {"MiniLM / Avg": system(0.4), "MiniLM / CLS": system()}
    judged = encoders.claims_table(after, {}, system(), "packaged")
    assert set(verdicts_of(judged).values()) == {UNTESTED}
    assert "+0.400" in judged.html
    assert "not BERT but MiniLM / Avg; the backbone was a bi-encoder before" in judged.html


@pytest.mark.parametrize("roberta, verdict", [(0.1, AGREES), (0.4, DISAGREES), (0.3, SMALL)])
def test_each_newer_encoder_is_judged_and_the_span_of_its_poolings(roberta, verdict):
    shifts = {"BERT / Avg": 0.3, "BERT / Max": 0.3, "RoBERTa / Avg": roberta, "RoBERTa / CLS": roberta - 0.1, "ALBERT / Avg": 0.1,
              "ALBERT / Max": 0.1, "DistilBERT / Avg": 0.1, "DistilBERT / Max": 0.1, "ELECTRA / Avg": 0.1, "ELECTRA / Max": 0.2,
              "ELECTRA / CLS": 0.0}
    after = {name: system(shift) for name, shift in shifts.items()}
    judged = encoders.claims_table(after, {"BERT / Avg": system()}, system(), "hub:google-bert/bert-base-uncased@main")
    words = verdicts_of(judged)
    assert words["bert-encoder-beats-bm25"] == AGREES
    assert [words[f"newer-encoders-do-not-beat-bert/{name}"] for name in ("RoBERTa", "ALBERT", "ELECTRA")] == [
        verdict, AGREES, AGREES]
    assert {word for name, word in words.items() if name.startswith("pooling-matters-for-electra/ELECTRA")} == {AGREES}


def test_poolings_are_ranged_over_each_encoder():
    assert encoders.ranges({"A / Avg": 0.3, "A / CLS": 0.1, "B / Max": 0.2}) == {
        "A": ("Avg 0.300", "CLS 0.100", "0.200"), "B": ("Max 0.200", "Max 0.200", "0.000")}
    rows = cells(encoders.pooling_table({"short": {"MiniLM / Avg": system(0.1), "MiniLM / CLS": system()},
                                         "long": {"MiniLM / Avg": system(0.1), "MiniLM / CLS": system(0.15)}}))
    assert ["ELECTRA", "published", "Max 0.246", "CLS 0.188", "0.058"] in rows
    assert rows[-2:] == [["MiniLM", "short", "Avg 0.350", "CLS 0.250", "0.100"],
                         ["MiniLM", "long", "CLS 0.400", "Avg 0.350", "0.050"]]


def log_of(first, last):
    return {"parameters": 1000, "queries": 90, "steps": 6,
            "log": [{"step": 0, "eval_loss": 0.9, "eval_accuracy": first}, {"step": 6, "loss": 0.5},
                    {"step": 6, "eval_loss": 0.4, "eval_accuracy": last}]}


def test_the_trainings_begin_before_the_first_step():
    row = cells(encoders.training_table({"a": log_of(0.5, 0.75)}))[1]
    assert row == ["a", "1,000", "90", "6", "0.900 → 0.400", "0.500 → 0.750"]


def test_the_cost_takes_the_seconds_of_the_steps_before_and_leaves_unknown_ones_empty():
    rows = cells(encoders.cost({"a": TRAINED}, {"a": system(source=SEARCHED)}))
    assert rows[1] == ["a", "2 min", "30 s", "2.0 s", "a processor, 1 thread of 2 cores"]
    unknown = Value(manifest={"inputs": [{"step": "bi_encoder", "key": "x"}]})
    assert cells(encoders.cost({"a": SimpleNamespace(log=unknown)}, {"a": system(source=SEARCHED)}))[1][1] == ""


# ---- sequence length ----

LENGTHS = {"20": 6, "100": 3, "300": 1}


def test_a_length_is_that_of_training_and_search():
    models = sequence_length.models(BiEncoder(), [128, 32])
    assert list(models) == [32, 128]
    assert models == {32: BiEncoder(max_length=32, query_length=32), 128: BiEncoder(max_length=128, query_length=64)}


@pytest.mark.parametrize("limit, share, mean", [(20, 0.4, 20), (99, 0.4, (120 + 4 * 99) / 10), (100, 0.1, 52), (512, 0.0, 72)])
def test_what_a_limit_cuts_and_leaves(limit, share, mean):
    assert sequence_length.read_of(LENGTHS, limit) == pytest.approx((share, mean))


@pytest.mark.parametrize("lengths, pair", [([32, 128, 512], (512, 128)), ([32, 64, 256], (256, 64)), ([100, 156], (156, 100)),
                                           ([64], (64, 64)), ([16, 48], (48, 16)), ([64, 128], (128, 64))])
def test_the_longest_is_compared_with_the_one_nearest_to_the_studys_shorter(lengths, pair):
    assert sequence_length.compared(dict.fromkeys(lengths)) == pair


def test_only_the_studys_encoder_and_lengths_are_judged():
    systems = {128: system(0.2), 512: system()}
    hub = BiEncoder(backbone="hub:bert-base-uncased@main")
    assert verdicts_of(sequence_length.claims_table(systems, hub, LENGTHS)) == {sequence_length.CLAIM: AGREES}
    other = sequence_length.claims_table(systems, BiEncoder(), LENGTHS)
    assert verdicts_of(other) == {sequence_length.CLAIM: UNTESTED}
    assert "MiniLM with 512 tokens and with 128; the longest passage has 300" in other.html
    assert verdicts_of(sequence_length.claims_table({64: system(0.2), 256: system()}, hub, LENGTHS)) == {
        sequence_length.CLAIM: UNTESTED}
    assert verdicts_of(sequence_length.claims_table({64: system()}, BiEncoder(), LENGTHS)) == {sequence_length.CLAIM: UNTESTED}


def test_the_table_of_lengths_has_effectiveness_cuts_and_cost():
    systems = {20: system(source=SEARCHED), 100: system(0.1, source=SEARCHED)}
    rows = cells(sequence_length.table(systems, dict.fromkeys(systems, TRAINED), LENGTHS, 100))
    assert rows[1][:4] == ["20 tokens", "40%", "20", "0.250 [0.062, 0.438]"]
    assert rows[2][:3] == ["100 tokens", "10%", "52"]
    assert rows[1][-2:] == ["2 min", "30 s"]


# ---- what embeddings hold ----

BED = Bed(q0="a", q1="b", q2="c")
BED.query_frame["text"], BED.store = ["<why>", "how", "when"], Value()


def systems():
    words = run_of(q0=["x", "y", "a"], q1=["b", "x"], q2=["x"])
    meaning = run_of(q0=["a"], q1=["x", "y"], q2=["c"])
    return {"BM25": system(queries=4, run=words), "fine-tuned": system(0.1, queries=4, run=meaning)}


@pytest.fixture
def texts(monkeypatch):
    known = {name: Text(name, f"Title {name}", "word " * 60) for name in "abcxy"}
    monkeypatch.setattr(embeddings, "Texts", lambda store: known)


def test_who_finds_what_the_other_does_not():
    places = embeddings.ranks(systems(), BED)
    assert places["BM25"].tolist()[:2] == [3, 1]
    assert embeddings.won(places, "fine-tuned", "BM25", 2).index.tolist() == ["q2", "q0"]  # not found at all comes first
    assert embeddings.won(places, "fine-tuned", "BM25", 3).index.tolist() == ["q2"]
    assert embeddings.won(places, "BM25", "fine-tuned", 2).index.tolist() == ["q1"]


def test_examples_show_the_texts_escaped_and_cut(texts):
    table = embeddings.examples(systems(), BED, "fine-tuned", "BM25", 2, 5)
    assert "2 queries, 2 shown" in table.html
    assert "<why>" not in table.html
    rows = cells(table)
    assert rows[1][0] == "when"
    assert rows[1][2] == "not found"
    assert rows[2][2] == "rank 3"
    assert rows[2][1].startswith("Title a word")
    assert rows[2][1].endswith("…")
    assert len(rows[2][1].split()) == embeddings.SHOWN_WORDS + 1
    assert rows[2][3].startswith("Title x")
    assert len(cells(embeddings.examples(systems(), BED, "fine-tuned", "BM25", 2, 1))) == 2


def test_answers_of_two_systems_are_counted():
    rows = cells(embeddings.counts_table(systems(), BED, 2))
    assert rows[1] == ["BM25, fine-tuned", "0", "1", "2", "0"]
    assert cells(embeddings.counts_table(systems(), BED, 3))[1] == ["BM25, fine-tuned", "1", "1", "1", "0"]


def test_queries_are_banded_by_the_share_that_is_repeated():
    shares = pd.DataFrame({"query_id": list("abcdef"), "share": [0.0, 0.5, 0.51, 1.0, 0.99, 0.2], "terms": 2})
    assert embeddings.bands(shares).to_dict() == {"a": "none", "b": "up to half", "c": "over half", "d": "all", "e": "over half",
                                                  "f": "up to half"}


def test_effectiveness_by_overlap_is_ordered_and_leaves_unmeasured_queries_out():
    shares = pd.DataFrame({"query_id": ["q3", "q0", "q1", "gone"], "share": [1.0, 0.0, 0.4, 1.0], "terms": 2})
    figure = embeddings.by_overlap({"BM25": system(queries=4), "fine-tuned": system(0.1, queries=4)}, shares)
    texts = dict.fromkeys(re.findall(r"BM25, (\S+(?: to half)?):", figure.html))  # in the text alternative and when pointed at
    assert list(texts) == ["none", "up to half", "all"]
    assert "n = 2" not in figure.html


def test_a_map_says_how_many_queries_have_their_passage_nearest():
    points = pd.DataFrame([("a", "query", 0, 0), ("b", "query", 9, 0), ("a", "passage", 1, 0), ("b", "passage", 2, 0)],
                          columns=["query_id", "kind", "x", "y"])
    assert embeddings.nearest_share(points) == 1.0
    swapped = points.assign(x=[0, 9, 2, 1])
    assert embeddings.nearest_share(swapped) == 0.0
    figure = embeddings.map_figure({"zero-shot": swapped, "fine-tuned": points})
    assert "zero-shot: 0% of 2 queries have their own passage as the nearest. fine-tuned: 100% of 2" in figure.html


def test_the_space_is_told_by_its_similarities():
    table = pd.DataFrame({"query_id": ["a", "b"], "relevant": [0.9, 0.7], "other": [0.1, 0.3], "above": [1.0, 0.5]})
    step = Value(table)
    rows = cells(embeddings.space_table({"zero-shot": step}))
    assert rows[1] == ["zero-shot", "0.800", "0.200", "0.600", "75.00%"]
    assert 'href="#step-0123456789"' in embeddings.space_table({"zero-shot": step}).html


# ---- findings ----

SHARES = pd.DataFrame({"query_id": ["q0", "q1", "q2"], "share": [0.0, 1.0, 0.5], "terms": 2})


def test_the_finding_on_embeddings_correlates_the_gain_with_the_overlap():
    both = systems()  # the second gains less where more of the query is repeated
    both["fine-tuned"].values["RR@10"] = both["BM25"].values["RR@10"] + [0.3, 0.1, 0.2, 0.0]
    text = embeddings.finding(both, "fine-tuned", SHARES).markdown
    assert "Its lead shrinks" in text
    assert "of the two is −1.00" in text
