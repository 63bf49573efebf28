"""Models of others as re-rankers: their scores are those that sentence-transformers gives."""

import pytest
import torch
from pytest import approx

from helpers.data.texts import Texts
from helpers.data.windows import windows
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.systems.pipeline import Pipeline
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import GivenReranker
from press.search_command import search

pytestmark = pytest.mark.slow


def saved(folder, labels=1, kind="roberta"):
    """A folder with a small cross-encoder: random weights, MiniLM's words; by default of a kind that tells no segments apart."""
    from transformers import AutoConfig, AutoModelForSequenceClassification

    torch.manual_seed(1)
    config = AutoConfig.for_model(kind, vocab_size=30522, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                                  intermediate_size=64, max_position_embeddings=130, num_labels=labels, pad_token_id=0)
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    backbone.resolve("packaged").tokenizer().save_pretrained(folder)
    return str(folder)


def scored(bed, model):
    """The windows of BM25's first two documents with their texts and scores."""
    found, texts = GivenReranker(model).scores(bed, bed.bm25(1.2, 0.75, 10), 2).value(), Texts(bed.store.value())
    asked = dict(bed.query_frame[["query_id", "text"]].to_numpy().tolist())
    by_id = {window.window_id: window.text for text in texts for window in windows(text, bed.words, bed.overlap)}
    pairs = [(asked[query], by_id[window]) for query, window in zip(found["query_id"], found["doc_id"], strict=True)]
    return pairs, found["score"]


@pytest.fixture
def bed(folder, store):
    return Testbed(str(folder), words=6, overlap=2)


@pytest.mark.parametrize("kind", ["roberta", "bert"])
def test_a_cross_encoders_scores_are_its_own_logits(bed, tmp_path, kind):
    from sentence_transformers import CrossEncoder

    pairs, scores = scored(bed, folder := saved(tmp_path / kind, kind=kind))
    own = CrossEncoder(folder, device="cpu", activation_fn=torch.nn.Identity()).predict(pairs)
    assert len(pairs) > 4 and scores.tolist() == approx(own.tolist(), abs=1e-5)


def test_a_bi_encoder_is_pooled_as_it_says(bed, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer

    body = Transformer(backbone.resolve("packaged").source)
    SentenceTransformer(modules=[body, Pooling(384, "cls")], similarity_fn_name="dot").save(str(tmp_path / "own"))
    pairs, scores = scored(bed, str(tmp_path / "own"))
    own = SentenceTransformer(str(tmp_path / "own"), device="cpu")
    asked, read = (own.encode(list(side)) for side in zip(*pairs, strict=True))
    assert scores.tolist() == approx((asked * read).sum(1).tolist(), rel=1e-4)


def test_the_pipeline_and_the_command_take_one(folder, store, tmp_path):
    model = saved(tmp_path / "ce")
    whole = Pipeline(GivenReranker(model), None, 20, "max").search("brown bread", str(folder))
    assert search(["brown bread"], str(folder), "", model, "none", 10).equals(whole)
    assert len(whole) > 1


def test_what_cannot_score_is_told(bed, tiny, tmp_path):
    for model, words in ((saved(tmp_path / "two", 2), "2 values"), ("packaged:0", "no whole model"), ("./nowhere", "no backbone"),
                         (str(tiny.model.value()), "no whole model"), ("hub:a/b", "no revision")):
        with pytest.raises(BadInput, match=words):
            GivenReranker(model).scores(bed, bed.bm25(1.2, 0.75, 10), 2).value()
