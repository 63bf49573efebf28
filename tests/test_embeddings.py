from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from helpers.costs.latency import max_sim_latency
from helpers.data.collection_base import Text
from helpers.data.texts import Texts, relevant_places, write_store
from helpers.encoders import embeddings as lengths_module
from helpers.encoders.bi_encoder import BiEncoderTraining
from helpers.encoders.embeddings import WholeTexts, max_sim, max_sim_run, max_sims, similarities, tsne_map, words
from helpers.encoders.models import BiEncoderModel
from helpers.networks import backbone
from helpers.networks.encoder import PASSAGE, QUERY, Encoder, normalised, wrapped
from helpers.retrieval.term_weights import term_overlap
from helpers.systems.bi_encoder import reading
from helpers.systems.testbed import Testbed
from toys import qrels_of

QUERIES = pd.DataFrame({"query_id": ["q1", "q2", "q3"], "text": ["", "", ""]})
QRELS = qrels_of(q1={"p0": 1, "p2": 1, "p1": 0}, q2="gone", q3={"p3": 2}, q9="p1")


@pytest.fixture
def space(tmp_path):
    write_store(tmp_path, (Text(f"p{n}", "", "") for n in range(40)))
    random = np.random.default_rng(1)
    passages = random.normal(size=(40, 8)).astype(np.float32)
    queries = np.stack([passages[0] + 0.1, passages[1], passages[3] + 0.2]).astype(np.float32)
    np.save(tmp_path / "passages.npy", passages)
    np.save(tmp_path / "queries.npy", queries)
    return tmp_path, passages, queries


def test_relevant_passages_are_known_by_their_positions(space):
    assert relevant_places(space[0], QUERIES, QRELS, 1) == {"q1": [0, 2], "q3": [3]}
    assert relevant_places(space[0], QUERIES, QRELS, 2) == {"q3": [3]}


def test_similarities_by_hand(space):
    folder, passages, queries = space
    result = similarities.definition.function(folder, folder, folder, QUERIES, QRELS, 1).set_index("query_id")
    assert result.index.tolist() == ["q1", "q3"]
    scores = passages @ queries[0]
    others = np.delete(scores, [0, 2])
    assert result.loc["q1", "relevant"] == pytest.approx(max(scores[0], scores[2]))
    assert result.loc["q1", "other"] == pytest.approx(others.mean(), abs=1e-6)
    assert result.loc["q1", "above"] == pytest.approx((others < max(scores[0], scores[2])).mean())


def test_what_is_as_similar_as_the_relevant_passage_is_not_below_it(tmp_path):
    write_store(tmp_path, (Text(f"p{n}", "", "") for n in range(3)))
    np.save(tmp_path / "passages.npy", np.array([[1.0], [1.0], [0.0]], np.float32))
    np.save(tmp_path / "queries.npy", np.ones((1, 1), np.float32))
    one = similarities.definition.function(tmp_path, tmp_path, tmp_path, QUERIES[:1], qrels_of(q1="p0"), 1)
    assert one["above"].tolist() == [0.5]


def test_a_map_has_a_query_and_a_passage_for_each_and_is_seeded(space):
    folder, *_ = space
    drawn = [tsne_map.definition.function(folder, folder, folder, QUERIES, QRELS, 1, 5, 20.0, seed) for seed in (1, 1, 2)]
    assert drawn[0]["query_id"].tolist() == ["q1", "q3", "q1", "q3"]
    assert drawn[0]["kind"].tolist() == ["query", "query", "passage", "passage"]
    assert drawn[0].equals(drawn[1])
    assert len(tsne_map.definition.function(folder, folder, folder, QUERIES, QRELS, 1, 1, 20.0, 1)) == 2


def test_lengths_are_counted_with_special_tokens(monkeypatch):
    monkeypatch.setattr(lengths_module, "WholeTexts", lambda *_: SimpleNamespace(lengths=lambda: np.array([3, 0, 3, 10])))
    assert lengths_module.token_lengths.definition.function("store", "tokens") == {"2": 1, "5": 2, "12": 1}


@pytest.mark.slow
def test_a_query_shares_stemmed_terms_with_its_relevant_passage(bed):
    result = term_overlap(bed.store, bed.query_step, bed.qrels_step, 1).value().set_index("query_id")
    # q1 "why does bread turn brown": d1 has all but "does"; q2 "how to stop iron rusting": d2 has iron and rusts
    assert result.loc["q1", ["share", "terms"]].tolist() == [4 / 5, 5]
    assert result.loc["q2", ["share", "terms"]].tolist() == [2 / 4, 4]
    assert "q3" not in result.index  # stop words alone


def test_max_sim_by_hand():
    query = np.array([[1, 0], [0, 1]], dtype=np.float32)
    text = np.array([[0.6, 0.8], [0.8, 0.6], [-1, 0]], dtype=np.float32)
    assert max_sim(query, text) == pytest.approx(0.8 + 0.8)
    assert max_sim(query[:1], text[2:]) == pytest.approx(-1)
    assert max_sim(query[:0], text) == 0


def test_a_padded_batch_has_the_same_sums_and_its_special_tokens_and_padding_count_nothing():
    torch.manual_seed(0)
    sides = [(normalised(torch.randn(len(lengths), max(lengths), 4, requires_grad=True)),
              torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]) for lengths in ([5, 2], [6, 4, 5])]
    ours = max_sims(*((vectors, words(mask)) for vectors, mask in sides))
    asked, read = ([text[1:int(kept.sum()) - 1].detach().numpy() for text, kept in zip(vectors, mask, strict=True)]
                   for vectors, mask in sides)
    by_hand = [[max_sim(query, passage) for passage in read] for query in asked]
    assert np.allclose(ours.detach().numpy(), by_hand, atol=1e-6)
    assert by_hand[1] == [0, 0, 0], "a query of special tokens alone"
    encoder = BiEncoderModel(None, BiEncoderTraining(similarity="max_sim", loss="contrastive"))
    assert torch.allclose(encoder._similarity(sides), ours), "what the training compares by"
    ours.sum().backward()


@pytest.mark.slow
def test_token_vectors_have_length_one_and_pool_to_the_vector_of_the_text():
    encoder = Encoder(backbone.resolve("packaged:0"), None, "mean", normalise=False, token_types=False)
    rows = [wrapped(encoder.tokenizer, ids, 16) for ids in ([2003, 2040, 2050], [7592])]
    vectors = encoder.token_vectors(rows, PASSAGE)
    assert [text.shape for text in vectors] == [(5, encoder.dimensions), (3, encoder.dimensions)]
    assert np.allclose(np.linalg.norm(np.concatenate(vectors), axis=1), 1, atol=1e-3)
    alone = encoder.token_vectors(rows[1:], PASSAGE)[0]
    assert np.allclose(vectors[1], alone, atol=0.02)  # padding and company change nothing but rounding


@pytest.mark.slow
def test_a_list_is_ordered_by_the_words_without_special_tokens(folder, store):
    encoder = backbone.resolve("packaged:0")
    bed = reading(Testbed(str(folder)))
    first, tokens = bed.bm25(0.9, 0.4, 10), bed.tokens(encoder)
    run = max_sim_run(encoder, first, bed.query_step, bed.store, tokens, 10, 64, 16).value()
    assert sorted(zip(run["query_id"], run["doc_id"], strict=True)) == sorted(
        zip(first.value()["query_id"], first.value()["doc_id"], strict=True))
    reader, best = Encoder(encoder, None, "mean", normalise=True, token_types=False), run.iloc[0]
    text = bed.query_frame.set_index("query_id").loc[best["query_id"], "text"]
    ids = reader.tokenizer([text], add_special_tokens=False)["input_ids"][0]
    query = reader.token_vectors([wrapped(reader.tokenizer, ids, 16)], QUERY)[0][1:-1]
    texts = WholeTexts(tokens.value(), bed.store.value())
    place = [text.doc_id for text in Texts(bed.store.value())].index(best["doc_id"])
    passage = reader.token_vectors([wrapped(reader.tokenizer, texts.at(place), 64)], PASSAGE)[0][1:-1]
    assert best["score"] == pytest.approx(float((query @ passage.T).max(axis=1).sum()), abs=0.05)
    spent = max_sim_latency(encoder, first, bed.query_step, bed.store, tokens, 10, 64, 16, timed=2, rounds=3).value()
    assert spent["queries"] == 2 and all(min(spent[part]) > 0 and len(spent[part]) == 3 for part in ("encode", "order"))
