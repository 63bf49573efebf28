"""Pairs of query and window: drawn, scored, trained on."""

import json
from dataclasses import replace

import numpy as np
import pytest

from helpers.data.collection import open_collection
from helpers.data.texts import split_of, splits_of
from helpers.data.windows import WHOLE, doc_of
from helpers.encoders.bi_encoder import denoised_pairs, draw, training_pairs
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.networks.fine_tuning import RankerTraining
from helpers.reranking import listwise
from helpers.systems.recipe import DocumentReader, document_reader
from helpers.systems.rerankers import PointwiseReranker
from helpers.systems.testbed import Testbed
from toys import qrels_of, run_of

# ---- pairs ----

def pairs(folder, **changes):
    bed = Testbed(str(folder), splits=("train",), words=6, overlap=2)
    given = {"candidates": 3, "min_relevance": 1, "positives": 1, "negatives": 2, "seed": 1} | changes
    return training_pairs(bed.bm25(0.9, 0.4, 10), bed.qrels_step, bed.store, bed.tokens(backbone.resolve("packaged")),
                          **given).value()


@pytest.mark.slow
def test_windows_of_relevant_candidates_are_positive_and_all_others_negative(folder, store):
    frame = pairs(folder, positives=0, negatives=0)
    labels = dict(zip(zip(frame["query_id"], frame["window_id"], strict=True), frame["label"], strict=True))
    assert {window for (query, window), label in labels.items() if label and query == "q1"} == {"d1#0", "d1#1", "d1#2", "d1#3"}
    assert {window.split("#")[0] for (query, window), label in labels.items() if not label and query == "q1"} == {"d4"}


@pytest.mark.slow
def test_a_drawn_sample_has_the_wanted_numbers_and_is_seeded(folder, store):
    frame = pairs(folder)
    assert "q3" not in set(frame["query_id"]), "it has no hits"
    assert frame[frame["query_id"] == "q1"]["label"].tolist() == [1, 0, 0]
    assert frame.equals(pairs(folder))
    draws = {tuple(pairs(folder, seed=seed)["window_id"]) for seed in range(2, 7)}
    assert len(draws) > 1


def test_draw_keeps_the_order_and_takes_all_for_zero_or_too_few():
    random = np.random.default_rng(1)
    items = list("abcdef")
    assert draw(items, 0, random) == items
    assert draw(items, 9, random) == items
    drawn = draw(items, 3, random)
    assert len(set(drawn)) == 3
    assert drawn == sorted(drawn)


# q1: c is as high as the relevant text, d higher; q2: nobody judged any; q3: all others are higher; q4: two relevant texts
SCORES = run_of(q1={"a#0": 2.0, "b#0": 1.0, "c#0": 2.0, "d#0": 3.0, "e#0": -1.0}, q2={"a#0": 1.0, "b#0": 0.0},
                q3={"a#0": 0.0, "b#0": 0.5}, q4={"a#0": 5.0, "b#0": 4.0, "c#0": 1.0})
JUDGED = qrels_of(q1={"a": 2, "b": 1}, q3={"a": 2}, q4={"a": 2, "b": 3})


def denoised(negatives, seed=1):
    return denoised_pairs.definition.function(SCORES, JUDGED, 2, negatives, seed)


def test_what_a_cross_encoder_scores_as_high_as_the_relevant_text_is_no_negative():
    frame = denoised(0)
    of = {query: list(group[["window_id", "label", "teacher"]].itertuples(index=False, name=None))
          for query, group in frame.groupby("query_id", sort=False)}
    assert of["q1"] == [("a#0", 1, 2.0), ("b#0", 0, 1.0), ("e#0", 0, -1.0)]
    assert of["q4"] in ([("a#0", 1, 5.0), ("c#0", 0, 1.0)], [("b#0", 1, 4.0), ("c#0", 0, 1.0)])
    assert list(of) == ["q1", "q4"]


def test_denoised_negatives_are_drawn_with_the_seed():
    assert denoised(1).equals(denoised(1))
    assert {tuple(denoised(1, seed)["window_id"][:2]) for seed in range(9)} == {("a#0", "b#0"), ("a#0", "e#0")}


# ---- windows ----

def test_every_window_of_the_first_candidates_has_its_documents_label(folder, store):
    bed = Testbed(str(folder), words=8, overlap=0)
    tokens, queries = bed.tokens(backbone.resolve("packaged")).value(), bed.query_frame
    run = run_of(q1=["d2", "d1", "d3"], q2=["d3", "d4"])
    frame = listwise.candidate_windows.definition.function(queries, qrels_of(q1={"d1": 1}, q2={"d2": 1}), 1, run,
                                                            bed.store.value(), tokens, 2)
    documents = frame["window_id"].str.partition("#")[0]
    assert list(dict.fromkeys(zip(frame["query_id"], documents, strict=True))) == [
        ("q1", "d2"), ("q1", "d1"), ("q2", "d3"), ("q2", "d4")]  # the third candidate is left out
    assert (documents == "d1").sum() > 1  # its windows one by one
    assert ((frame["query_id"] == "q1") & (documents == "d1")).astype(int).tolist() == frame["label"].tolist()


@pytest.fixture
def training(trained):
    settings = PointwiseReranker(batch_size=3, epochs=1, evaluation_queries=1, evaluations=2, learning_rate=1e-3,
                                 dropout=0.0).settings(RankerTraining)
    return lambda name, **changes: trained(listwise.pointwise_cross_encoder, name, "none", **settings | changes)


@pytest.mark.slow
def test_the_loss_falls_and_the_log_counts_pairs(training):
    log = json.loads((training("model") / "log.json").read_text())
    assert (log["pairs"], log["positives"], log["evaluation_pairs"], log["steps"]) == (22, 11, 2, 7)
    assert log["log"][-1]["eval_loss"] < log["log"][0]["eval_loss"]


def test_too_few_pairs_for_a_batch_are_told(training):
    with pytest.raises(BadInput, match="22 training pairs do not fill a batch of 64"):
        training("none", batch_size=64)


# ---- documents ----

@pytest.fixture
def reader():
    """One layer on a quarter of the Almanac, trained for a few steps on the first 32 tokens."""
    return replace(document_reader("almanac/16", "packaged:0", 24, 0, 64), max_length=32, evaluations=1, evaluation_queries=2)


def test_the_bi_encoder_reads_no_more_than_it_was_trained_on(reader):
    assert [replace(reader, max_length=length).teacher.max_length for length in (32, 4096)] == [32, 256]


def test_texts_are_cut_as_the_model_was_trained(reader):
    bed = Testbed("almanac/16", "document")
    assert [(one.reading(bed).words, one.reading(bed).overlap) for one in (reader, replace(reader, words=9, overlap=3))] == [
        (WHOLE, 0), (9, 3)]


@pytest.mark.slow
@pytest.mark.parametrize("negatives", ["random", "both"])
def test_documents_come_from_train_articles_alone(negatives, reader, store):
    groups = replace(reader, negatives=negatives).groups.value()
    splits = splits_of(open_collection("almanac/16"))
    assert {split_of(doc_of(window), splits) for window in groups["window_id"]} == {"train"}
    assert groups.groupby("query_id").size().eq(4).all() and groups.groupby("query_id")["label"].sum().eq(1).all()
    assert groups["window_id"].str.endswith("#0").all()


@pytest.mark.slow
def test_a_longformer_is_trained_from_a_reader_and_reads_whole_documents(reader, store):
    bed = Testbed("almanac/16", "document", queries=3)
    long = replace(reader, start=reader, attention_window=16, max_length=64)
    scores = long.scores(bed, bed.bm25(0.9, 0.4, 10), candidates=3).value()
    assert json.loads((long.model.value() / "config.json").read_text())["model_type"] == "longformer"
    assert set(scores["doc_id"].str.split("#").str[1]) == {"0"}  # one window a document
    assert scores["score"].nunique() > 3


@pytest.mark.slow
def test_a_pre_trained_longformer_is_fine_tuned_as_it_is(store, tmp_path, tokenizer):
    """The published ones have one token type only; the query's tokens are still known by theirs."""
    from transformers import LongformerConfig, LongformerModel

    config = LongformerConfig(vocab_size=len(tokenizer), hidden_size=24, num_hidden_layers=1, num_attention_heads=2,
                              pad_token_id=0, intermediate_size=48, max_position_embeddings=130, type_vocab_size=1,
                              attention_window=[16])
    LongformerModel(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = replace(document_reader("almanac/16", "packaged:0", 24, 0, 64, training="study"), backbone=str(tmp_path))
    bed = Testbed("almanac/16", "document", queries=3)
    scores = model.scores(bed, bed.bm25(0.9, 0.4, 10), candidates=3).value()
    assert isinstance(model, DocumentReader) and model.origin is None
    assert json.loads((model.model.value() / "config.json").read_text())["type_vocab_size"] == 1
    assert scores["score"].nunique() > 1


def test_runs_at_the_thesis_rates_differ_in_rate_and_seed_alone():
    by_rate = PointwiseReranker().at_rates([0, 2])
    assert by_rate == {5e-5: [PointwiseReranker(), PointwiseReranker(seed=2)]} and PointwiseReranker().at_rates([]) == {}
