"""Models of others as first stages and re-rankers: their scores are those of their own files, read by others' code."""

import json

import numpy as np
import pytest
import torch
from pytest import approx

from helpers.data.texts import Texts
from helpers.data.windows import windows
from helpers.encoders.embeddings import given_passage_embeddings
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.networks.encoder import given
from helpers.pages import stages
from helpers.systems.first_stages import GivenFirstStage, first_stages
from helpers.systems.pipeline import Pipeline
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import GivenReranker, ZeroShotReranker
from press.search_command import search
from toys import bert

pytestmark = pytest.mark.slow

# ---- bi-encoders as the first stage, beside transformers alone ----

LENGTH = 9  # tokens that the models read: less than the texts have
PROMPTS = {"query": "query: ", "document": "passage: "}


def saved(folder, pooling="cls_token", similarity="cosine", modules=("Transformer", "Pooling", "Normalize"), prompts=PROMPTS):
    """A folder as it lies on the hub: a BERT with random weights and the files of sentence-transformers, written by hand."""
    bert(vocab_size=30522, hidden_size=32, num_hidden_layers=1).save_pretrained(folder)
    backbone.resolve("packaged").tokenizer().save_pretrained(folder)
    paths = [f"{place}_{name}" if place else "" for place, name in enumerate(modules)]
    for file, content in {
            "modules.json": [{"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{name}"}
                             for place, (name, path) in enumerate(zip(modules, paths, strict=True))],
            "sentence_bert_config.json": {"max_seq_length": LENGTH, "do_lower_case": False},
            "config_sentence_transformers.json": {"prompts": prompts, "similarity_fn_name": similarity},
            "1_Pooling/config.json": {"word_embedding_dimension": 32, **{
                f"pooling_mode_{how}": how == pooling for how in {"cls_token", "mean_tokens", "max_tokens", pooling}}}}.items():
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text(json.dumps(content))
    return str(folder)


def by_hand(folder, pooling, normalise):
    """A function that gives a text's vector by transformers alone."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    @torch.no_grad()
    def vector_of(text):
        fed = tokenizer(text, truncation=True, max_length=LENGTH, return_tensors="pt")
        states = model(**fed).last_hidden_state[0].numpy()
        vector = states[0] if pooling == "cls_token" else states.mean(0)
        return vector / np.linalg.norm(vector) if normalise else vector
    return vector_of


@pytest.fixture
def bed(folder, store):
    return Testbed(str(folder), words=6, overlap=2)


@pytest.mark.parametrize("pooling, similarity, modules, prompts", [
    ("cls_token", "cosine", ("Transformer", "Pooling", "Normalize"), PROMPTS),
    ("mean_tokens", "cosine", ("Transformer", "Pooling"), {}),  # no module normalises, but the cosine does
    ("cls_token", "dot", ("Transformer", "Pooling"), {"query": "ask ", "document": ""})])
def test_the_ranking_is_that_of_the_models_own_files(bed, tmp_path, pooling, similarity, modules, prompts):
    model = saved(tmp_path / "own", pooling, similarity, modules, prompts)
    found = GivenFirstStage(model).run(bed, 10).value()
    vector_of, expected = by_hand(model, pooling, similarity == "cosine"), {}
    for query, text in bed.query_frame[["query_id", "text"]].itertuples(index=False):
        asked = vector_of(prompts.get("query", "") + text)
        for document in Texts(bed.store.value()):
            read = [vector_of(prompts.get("document", "") + window.text) for window in windows(document, bed.words, bed.overlap)]
            expected[query, document.doc_id] = max(float(asked @ vector) for vector in read)
    scores = found.set_index(["query_id", "doc_id"])["score"].to_dict()
    assert scores == approx(expected, abs=1e-5)
    assert all(own["score"].is_monotonic_decreasing for _, own in found.groupby("query_id"))


def test_the_command_and_the_pipeline_take_one_before_any_reranker(folder, store, tmp_path):
    model = saved(tmp_path / "own")
    dense = search(["the of and"], str(folder), "", "none", "none", 10, model)  # no word of it is in BM25's index
    assert dense.equals(Pipeline(None, retriever=GivenFirstStage(model)).search("the of and", str(folder)))
    assert len(dense) == len(Texts(Testbed(str(folder)).store.value()))
    again = search(["the of and"], str(folder), "", model, "none", 10, model)
    assert again["doc_id"].to_list() == dense["doc_id"].to_list(), "the same model ranks again as it did"
    fed = Pipeline(None, retriever=GivenFirstStage(model)).stages(Testbed(str(folder)))
    assert list(fed) == ["dense"]


def test_passages_are_embedded_once_and_again_when_a_modules_folder_changes(bed, tmp_path):
    model = saved(tmp_path / "own")
    first = given_passage_embeddings(given(model), bed.store)
    assert first.key == given_passage_embeddings(given(model), bed.store).key
    before = np.load(first.value() / "passages.npy")
    config = tmp_path / "own" / "1_Pooling" / "config.json"
    config.write_text(json.dumps({"word_embedding_dimension": 32, "pooling_mode_max_tokens": True}))
    second = given_passage_embeddings(given(model), bed.store)
    assert second.key != first.key
    assert not np.allclose(np.load(second.value() / "passages.npy"), before)


def test_the_chapters_on_first_stages_take_one_by_its_folder(bed, tmp_path):
    model = saved(tmp_path / "e5.small")
    step = stages.runs(first_stages(), [model], bed, 10)[model]
    assert step.key == GivenFirstStage(model).run(bed, 10).key
    assert [stages.label(name) for name in (model, "hub:owner/e5-v1.5@abc", "runs/run.tas-b.txt", "bm25")] == [
        "e5.small", "e5-v1.5", "tas-b", "BM25(Anserini)"]


@pytest.mark.parametrize("given_as, words", [
    ({"modules": ("Transformer", "Pooling", "CNN")}, "a module of kind CNN"),
    ({"modules": ("Transformer", "Pooling", "Dense")}, "2_Dense .* no safetensors"),
    ({"pooling": "strange_tokens"}, "pools in a way .* pooling_mode_strange_tokens"),
    ({"similarity": "euclidean"}, "compares by euclidean"),
    ({"similarity": "nonsense"}, "compares by nonsense")])
def test_what_cannot_be_followed_is_told(bed, tmp_path, given_as, words):
    with pytest.raises(BadInput, match=words):
        GivenFirstStage(saved(tmp_path / "own", **given_as)).run(bed, 2).value()


def test_a_folder_that_does_not_say_how_it_pools_is_refused(bed, tmp_path):
    model = saved(tmp_path / "own")
    (tmp_path / "own" / "1_Pooling" / "config.json").write_text('{"embedding_dimension": 32, "pooling_mode": "strange"}')
    with pytest.raises(BadInput, match="cannot read .* 'strange'"):
        GivenFirstStage(model).run(bed, 2).value()
    (tmp_path / "own" / "modules.json").unlink()
    for wrong, words in ((model, "no modules.json"), ("packaged:0", "no whole model"), ("./nowhere", "no backbone"),
                         ("hub:a/b", "no revision")):
        with pytest.raises(BadInput, match=words):
            GivenFirstStage(wrong).run(bed, 2).value()


# ---- re-rankers, beside sentence-transformers ----

def cross_encoder(folder, labels=1, kind="roberta"):
    """A folder with a small cross-encoder: random weights, MiniLM's words; by default of a kind that tells no segments apart."""
    from transformers import AutoConfig, AutoModelForSequenceClassification

    torch.manual_seed(1)
    config = AutoConfig.for_model(kind, vocab_size=30522, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                                  intermediate_size=64, max_position_embeddings=130, num_labels=labels, pad_token_id=0)
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    backbone.resolve("packaged").tokenizer().save_pretrained(folder)
    return str(folder)


def scored(bed, reranker):
    """The windows of BM25's first two documents with their queries as texts, and their scores."""
    found, texts = reranker.scores(bed, bed.bm25(1.2, 0.75, 10), 2).value(), Texts(bed.store.value())
    asked = dict(bed.query_frame[["query_id", "text"]].to_numpy().tolist())
    by_id = {window.window_id: window.text for text in texts for window in windows(text, bed.words, bed.overlap)}
    pairs = [(asked[query], by_id[window]) for query, window in zip(found["query_id"], found["doc_id"], strict=True)]
    return pairs, found["score"].tolist()


@pytest.mark.parametrize("kind", ["roberta", "bert"])
def test_a_cross_encoders_scores_are_its_own_logits(bed, tmp_path, kind):
    from sentence_transformers import CrossEncoder

    pairs, scores = scored(bed, GivenReranker(folder := cross_encoder(tmp_path / kind, kind=kind)))
    own = CrossEncoder(folder, device="cpu", activation_fn=torch.nn.Identity()).predict(pairs)
    assert len(pairs) > 4 and scores == approx(own.tolist(), abs=1e-5)


def test_a_bi_encoder_is_pooled_as_it_says_and_the_packaged_one_by_its_mean(bed, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer

    packaged = backbone.resolve("packaged").source
    by_cls = SentenceTransformer(modules=[Transformer(packaged), Pooling(384, "cls")], similarity_fn_name="dot")
    by_cls.save(str(tmp_path / "own"))
    for reranker, folder in ((GivenReranker(str(tmp_path / "own")), str(tmp_path / "own")), (ZeroShotReranker(), packaged)):
        pairs, scores = scored(bed, reranker)
        model = SentenceTransformer(folder, device="cpu")
        asked, read = (model.encode(list(side)) for side in zip(*pairs, strict=True))
        assert scores == approx((asked * read).sum(1).tolist(), rel=1e-4, abs=0.01)


def test_the_pipeline_and_the_command_take_a_given_reranker(folder, store, tmp_path):
    model = cross_encoder(tmp_path / "ce")
    whole = Pipeline(GivenReranker(model), None, 20, "max").search("brown bread", str(folder))
    assert search(["brown bread"], str(folder), "", model, "none", 10).equals(whole)
    assert len(whole) > 1


def test_what_cannot_score_is_told(bed, tiny, tmp_path):
    for model, words in ((cross_encoder(tmp_path / "two", 2), "2 values"), ("packaged:0", "no whole model"),
                         (str(tiny.model.value()), "no whole model"), ("./nowhere", "no backbone"), ("hub:a/b", "no revision")):
        with pytest.raises(BadInput, match=words):
            GivenReranker(model).scores(bed, bed.bm25(1.2, 0.75, 10), 2).value()
