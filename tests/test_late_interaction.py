import numpy as np
import pytest
import torch

from helpers.costs.latency import max_sim_latency
from helpers.data.texts import Texts
from helpers.encoders.bi_encoder import BiEncoderTraining
from helpers.encoders.embeddings import WholeTexts, max_sim, max_sim_run, max_sims, words
from helpers.encoders.models import BiEncoderModel
from helpers.networks import backbone
from helpers.networks.encoder import PASSAGE, QUERY, Encoder, normalised, wrapped
from helpers.systems.bi_encoder import reading
from helpers.systems.testbed import Testbed


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
