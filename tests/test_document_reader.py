"""Readers of whole documents: what they learn from, and that they read as they learned."""

import json
from dataclasses import replace

import pytest

from helpers.data.collection import open_collection
from helpers.data.texts import split_of, splits_of
from helpers.data.windows import WHOLE, doc_of
from helpers.systems.recipe import DocumentReader, document_reader
from helpers.systems.testbed import Testbed


@pytest.fixture
def reader():
    """One layer on a quarter of the Almanac, trained for a few steps on the first 32 tokens."""
    return replace(document_reader("almanac/4", "packaged:0", 24, 0, 64), max_length=32, evaluations=1, evaluation_queries=2)


def test_a_longformer_needs_a_model_to_be_made_from(reader):
    with pytest.raises(ValueError, match="start"):
        replace(reader, attention_window=64)


def test_the_bi_encoder_reads_no_more_than_it_was_trained_on(reader):
    assert [replace(reader, max_length=length).teacher.max_length for length in (32, 4096)] == [32, 256]


def test_texts_are_cut_as_the_model_was_trained(reader):
    bed = Testbed("almanac/4", "document")
    assert [(one.reading(bed).words, one.reading(bed).overlap) for one in (reader, replace(reader, words=9, overlap=3))] == [
        (WHOLE, 0), (9, 3)]


@pytest.mark.slow
@pytest.mark.parametrize("negatives", ["random", "both"])
def test_documents_come_from_train_articles_alone(negatives, reader, store):
    groups = replace(reader, negatives=negatives).groups.value()
    splits = splits_of(open_collection("almanac/4"))
    assert {split_of(doc_of(window), splits) for window in groups["window_id"]} == {"train"}
    assert groups.groupby("query_id").size().eq(4).all() and groups.groupby("query_id")["label"].sum().eq(1).all()
    assert groups["window_id"].str.endswith("#0").all()


@pytest.mark.slow
def test_a_longformer_is_trained_from_a_reader_and_reads_whole_documents(reader, store):
    bed = Testbed("almanac/4", "document", queries=3)
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
    model = replace(document_reader("almanac/4", "packaged:0", 24, 0, 64, training="study"), backbone=str(tmp_path))
    bed = Testbed("almanac/4", "document", queries=3)
    scores = model.scores(bed, bed.bm25(0.9, 0.4, 10), candidates=3).value()
    assert isinstance(model, DocumentReader) and model.origin is None
    assert json.loads((model.model.value() / "config.json").read_text())["type_vocab_size"] == 1
    assert scores["score"].nunique() > 1
