import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import torch

from helpers.data.lines import json_lines
from helpers.data.texts import Texts
from helpers.networks import backbone
from helpers.retrieval import expansion, java
from helpers.retrieval.expansion import QUERIES, asked_words, batched, expansion_network, lacking, word_embeddings
from helpers.retrieval.indexes import analysed
from helpers.retrieval.term_weights import content
from helpers.systems.first_stages import DeepCT, FirstStages, WordExpansion, first_stages, repbert

slow = pytest.mark.slow
WORDS = pd.DataFrame({"word": ["iron", "rust", "rusting", "water"], "piece": [5, 6, 7, 8],
                      "term": ["iron", "rust", "rust", "water"]})


# ---- which words may be added ----

@pytest.mark.parametrize("scores, has, most, expected", [
    ([0.1, 0.4, 0.3, 0.2], set(), 9, ["rust", "water", "iron"]),  # of `rust` and `rusting` the likelier
    ([0.1, 0.3, 0.4, 0.2], set(), 9, ["rusting", "water", "iron"]),
    ([0.1, 0.4, 0.3, 0.2], {"rust"}, 9, ["water", "iron"]),  # a text that has `rusts` lacks neither
    ([0.1, 0.4, 0.3, 0.2], {"water"}, 1, ["rust"]),
    ([0.5, 0.5, 0.5, 0.5], set(), 2, ["iron", "rust"]),
    ([0.1, 0.4, 0.3, 0.2], {"iron", "rust", "water"}, 2, []),
    ([0.1, 0.4, 0.3, 0.2], set(), 0, [])])
def test_the_likeliest_words_that_a_text_lacks(scores, has, most, expected):
    assert lacking(np.array(scores), list(WORDS["word"]), list(WORDS["term"]), has, most) == expected


@slow
def test_the_vocabulary_holds_whole_words_that_the_index_has():
    words = expansion.vocabulary(backbone.resolve("packaged").tokenizer()).set_index("word")
    assert words.loc["baking", "term"] == words.loc["baked", "term"] == "bake"
    assert {"bread", "iron"} <= set(words.index)
    assert not {"the", "of", "##ing", "[CLS]", ",", "é"} & set(words.index)
    assert backbone.resolve("packaged").tokenizer().convert_ids_to_tokens(int(words.loc["bread", "piece"])) == "bread"


def test_the_first_words_that_were_added_to_some_documents(tmp_path):
    (tmp_path / QUERIES).write_text('{"id": "a", "queries": ["iron rust water"]}\n{"id": "b", "queries": ["iron"]}\n')
    assert expansion.added_words.definition.function(tmp_path, ["a"], 2).to_numpy().tolist() == [["a", "iron rust"]]


# ---- what is learned ----

def test_a_passages_words_are_counted_once_for_each_of_its_queries():
    texts = ["Iron, iron and rust?", "rust in water", "of the", "iron"]
    queries = pd.DataFrame({"query_id": ["a", "b", "c", "d"], "text": texts})
    asked = asked_words(queries, {"a": [3], "b": [3, 0], "c": [1]}, WORDS)
    assert asked == {3: Counter({0: 1, 1: 2, 3: 1}), 0: Counter({1: 1, 3: 1})}  # `d` has no relevant passage


def test_the_loss_of_two_passages_is_the_mean_of_their_cross_entropies():
    model = expansion_network(torch.eye(3)[:, :2], 2)  # three words, the last without an embedding
    with torch.no_grad():
        model.transform.weight.copy_(torch.eye(2))
        model.transform.bias.zero_()
        model.bias.copy_(torch.tensor([0.0, 0.0, 1.0]))
        model.scale.copy_(torch.tensor(math.log(2.0)))
    vectors = torch.tensor([[1.0, -1.0], [-3.0, 3.0]])  # the layer norm makes both (1, -1) or (-1, 1)
    assert model.scores(vectors).tolist() == [pytest.approx([2, -2, 1], abs=1e-4), pytest.approx([-2, 2, 1], abs=1e-4)]
    batch = batched([{"vector": np.array([1, -1], np.float32), "words": Counter({0: 3, 2: 1})},
                     {"vector": np.array([-3, 3], np.float32), "words": Counter({1: 1})}], 3)
    assert batch["asked"].tolist() == [[0.75, 0.0, 0.25], [0.0, 1.0, 0.0]]
    total = math.log(math.exp(2) + math.exp(-2) + math.exp(1))
    losses = total - (0.75 * 2 + 0.25 * 1), total - 2
    assert model(**batch)["loss"].item() == pytest.approx(sum(losses) / 2, abs=1e-4)


def test_word_embeddings_are_the_backbones_and_are_not_trained():
    from transformers import AutoModel

    packaged = backbone.resolve("packaged:0")
    rows = packaged.build(AutoModel).get_input_embeddings().weight.detach()[[2003, 3792]]
    found = word_embeddings(packaged, [2003, 3792])
    assert found.norm(dim=1).mean().item() == pytest.approx(1.0)
    assert (found * rows.norm(dim=1).mean() - rows).abs().max().item() < 1e-5
    assert {name for name, _ in expansion_network(found, 7).named_parameters()} == {
        "transform.weight", "transform.bias", "norm.weight", "norm.bias", "scale", "bias"}


# ---- the stage ----

@pytest.fixture
def tiny(folder):
    return WordExpansion(collection=str(folder), unit="document", backbone="packaged:0", epochs=60, batch_size=2, dropout=0.0,
                         learning_rate=1e-2, evaluation_passages=1, evaluations=2, max_length=32, words=3)


def test_the_first_stages_share_backbone_seed_and_the_vectors_of_the_zero_shot_encoder(folder, bed):
    stages = FirstStages(repbert(str(folder), "document", "packaged:0", 2, seed=9), DeepCT(str(folder)))
    made = stages.expansion
    assert (made.collection, made.unit, made.backbone, made.seed, made.queries) == (str(folder), "document", "packaged:0", 9, 0)
    assert made.encoder.embeddings(bed).key == stages.zero_shot.embeddings(bed).key
    assert stages.searched("expansion", bed).key == made.index(bed).key
    assert first_stages().expansion == WordExpansion()


@slow
def test_it_learns_the_words_of_queries_and_adds_those_that_a_text_lacks(tiny, bed):
    log = tiny.log.value()
    assert (log["passages"], log["evaluation_passages"], log["steps"]) == (1, 1, 60)
    assert log["log"][0]["step"] == 0 and "eval_loss" in log["log"][0]
    losses = [line["loss"] for line in log["log"] if "loss" in line]
    assert losses[-1] == pytest.approx(math.log(3), abs=0.05)  # `how`, `stop` and `iron` alike: no loss can be lower
    lines = list(json_lines(tiny.expansion(bed).value() / QUERIES))
    assert [line["id"] for line in lines] == [text.doc_id for text in Texts(bed.store.value())]
    for text, line in zip(Texts(bed.store.value()), lines, strict=True):
        added = line["queries"][0].split()
        terms = java.call(analysed, [content(text), *added])
        assert len(added) == 3 and not {terms[word][0] for word in added} & set(terms[content(text)])
    assert len(tiny.run(bed, 5).value()) >= len(bed.bm25(1.2, 0.75, 5).value())
    assert not list(tiny.model.value().rglob("*.bin"))  # safetensors only
