import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from helpers.data.lines import json_lines
from helpers.data.texts import Texts
from helpers.retrieval import java, term_weights
from helpers.retrieval.bm25 import search
from helpers.retrieval.term_weights import IGNORED, WEIGHTS, batch, content, example, repeated, weighted_index
from helpers.steps import Step
from helpers.systems.first_stages import DeepCT, WordExpansion

slow = pytest.mark.slow


@pytest.mark.parametrize("weight, scale, smoothing, expected", [
    (0.25, 100, "sqrt", 50), (0.25, 100, "none", 25), (1.0, 100, "sqrt", 100), (0.0, 100, "sqrt", 0), (-0.3, 100, "sqrt", 0),
    (-0.3, 100, "none", 0), (1.44, 10, "sqrt", 12), (0.004, 100, "none", 0), (0.006, 100, "none", 1)])
def test_a_weight_as_a_term_frequency(weight, scale, smoothing, expected):
    assert repeated({"iron": weight}, scale, smoothing).split() == ["iron"] * expected


def test_words_are_repeated_and_those_of_no_weight_dropped():
    assert repeated({"iron": 0.09, "wet": -0.5, "air": 0.01}, 10, "sqrt") == "iron iron iron air"
    assert repeated({}, 10, "sqrt") == ""


@pytest.mark.parametrize("kind, shown", [(DeepCT, {"scale": 10, "k1": 0.9, "b": 0.1}),
                                         (WordExpansion, {"words": 2, "k1": 0.7, "b": 0.1})])
def test_every_field_but_those_of_the_index_is_part_of_the_model(kind, shown, folder, bed):
    base = kind(collection=str(folder), unit="document")
    others = {"queries": 2, "backbone": "packaged:0", "epochs": 9, "learning_rate": 5e-4, "batch_size": 3, "warmup": 0.5,
              "weight_decay": 0.2, "dropout": 0.1, "max_length": 99, "evaluation_passages": 3, "evaluations": 3, "seed": 7}
    assert len({base.model.key, *(replace(base, **{name: value}).model.key for name, value in others.items())}) == 1 + len(others)
    assert {replace(base, **{name: value}).model.key for name, value in shown.items()} == {base.model.key}
    keys = {base.run(bed, 5).key, *(replace(base, **{name: value}).run(bed, 5).key for name, value in shown.items())}
    assert len(keys) == 1 + len(shown)


# ---- training ----

def test_labels_stand_at_first_pieces(tokenizer):
    made = example(tokenizer, "Rustproofing iron, iron", {"rustproofing": 0.5, "iron": 1.0}, 32)
    pieces = tokenizer.convert_ids_to_tokens(made["input_ids"])
    assert pieces[0] == "[CLS]" and pieces[-1] == "[SEP]" and pieces[2].startswith("##")
    labels = dict(enumerate(made["labels"]))
    assert labels[1] == 0.5  # the first piece of "rustproofing"
    assert [label for place, label in labels.items() if pieces[place] == "iron"] == [1.0, 1.0]
    assert all(label == IGNORED for place, label in labels.items() if pieces[place].startswith(("##", "[", ",")))

    cut = example(tokenizer, "iron rust air water", {"iron": 1.0, "water": 1.0}, 4)  # keeps its first words
    assert cut["labels"] == [IGNORED, 1.0, 0.0, IGNORED]  # a word without recall is 0


def test_the_loss_is_the_mean_over_labels_that_count():
    outputs = SimpleNamespace(logits=torch.tensor([[[9.0], [0.5], [0.0]], [[9.0], [1.0], [7.0]]]))
    labels = torch.tensor([[IGNORED, 1.0, 0.0], [IGNORED, 0.0, IGNORED]])
    assert term_weights.squared_error(outputs, labels).item() == pytest.approx((0.25 + 0.0 + 1.0) / 3)


def test_a_batch_is_padded_and_its_padding_does_not_count(tokenizer):
    made = batch([{"input_ids": [101, 7, 102], "labels": [IGNORED, 0.5, IGNORED]},
                  {"input_ids": [101, 102], "labels": [IGNORED, IGNORED]}], tokenizer.pad_token_id)
    assert made["input_ids"].tolist() == [[101, 7, 102], [101, 102, tokenizer.pad_token_id]]
    assert made["attention_mask"].tolist() == [[1, 1, 1], [1, 1, 0]]
    assert made["labels"].tolist() == [[IGNORED, 0.5, IGNORED], [IGNORED] * 3]


@pytest.fixture
def tiny(folder):
    return DeepCT(collection=str(folder), unit="document", backbone="packaged:0", epochs=30, batch_size=2, evaluation_passages=1,
                  evaluations=2, learning_rate=1e-3, max_length=64, k1=1.2, b=0.75)


def words_of(tiny, bed):
    return {line["id"]: line["words"] for line in json_lines(tiny.weights(bed).value() / WEIGHTS)}


def test_a_model_learns_which_words_are_asked_for(tiny, bed):
    log = tiny.log.value()
    assert (log["passages"], log["evaluation_passages"], log["passages_in_all"], log["passages_of_one_query"]) == (2, 1, 3, 3)
    assert (log["steps"], log["words_in_queries"]) == (30, 6)  # why, bread, turns, brown of d1; iron, rusts of d2
    losses = [line["loss"] for line in log["log"] if "loss" in line]
    assert losses[-1] < losses[0] / 2
    weights, targets = words_of(tiny, bed), tiny.model.arguments["targets"].value()
    far = targets.assign(off=[abs(weights[doc][word] - recall) > 0.4 for doc, word, recall in
                              targets[["doc_id", "word", "recall"]].itertuples(index=False)])
    assert (~far.groupby("doc_id")["off"].any()).sum() >= 2  # what it was trained on, it knows
    assert not list(tiny.model.value().rglob("*.bin"))  # safetensors only


def test_every_word_of_every_text_is_weighted_once(tiny, bed):
    weights = words_of(tiny, bed)
    assert list(weights) == [text.doc_id for text in Texts(bed.store.value())]
    for text in Texts(bed.store.value()):
        assert list(weights[text.doc_id]) == list(dict.fromkeys(word for word, _, _ in term_weights.words_of(content(text))))
        assert np.isfinite(list(weights[text.doc_id].values())).all()


@slow
def test_a_word_that_occurs_twice_has_its_largest_estimate(tokenizer):
    values = torch.tensor([[[9.0], [0.2], [0.7], [0.4000004], [9.0]]])  # [CLS] iron air iron [SEP]
    model = lambda input_ids, attention_mask: SimpleNamespace(logits=values)
    assert term_weights.estimates(model, tokenizer, ["iron air iron"], 16) == [{"iron": 0.4, "air": 0.7}]


def index_of(words, place):
    """An index of weights that are given by hand."""
    place.mkdir()
    (place / WEIGHTS).write_text("".join(json.dumps({"id": doc, "words": weights}) + "\n" for doc, weights in words.items()))
    index = place / "index"
    index.mkdir()
    weighted_index.definition.function(place, 100, "sqrt", folder=index)
    return index


@slow
def test_the_passage_whose_word_weighs_more_ranks_higher(bed, tmp_path):
    same = {"water": 0.5, "air": 0.5}
    result = java.call(search, index_of({"light": {"iron": 0.1, **same}, "heavy": {"iron": 0.9, **same}, "none": {**same},
                                         "negative": {"iron": -0.1, **same}, "empty": {}}, tmp_path / "w"),
                       pd.DataFrame({"query_id": ["q"], "text": ["stop iron rusting"]}), 20.0, 0.75, 10)
    assert result["doc_id"].tolist() == ["heavy", "light"]


@slow
def test_the_heaviest_words_of_some_documents(tmp_path):
    (tmp_path / WEIGHTS).write_text("".join(json.dumps({"id": doc, "words": weights}) + "\n" for doc, weights in {
        "a": {"x": 0.1, "y": 0.5, "z": 0.5}, "b": {"x": 1.0}, "c": {}}.items()))
    table = term_weights.top_weighted_terms.definition.function(tmp_path, ["a", "c"], 2)
    assert table.to_numpy().tolist() == [["a", "y", 0.5], ["a", "z", 0.5]]


def test_fewer_than_two_passages_are_refused(tiny, bed, tmp_path):
    step = tiny.model
    given = {name: value.value() if isinstance(value, Step) else value for name, value in step.arguments.items()}
    with pytest.raises(ValueError, match="1 relevant passages have words"):
        step.definition.function(**{**given, "targets": given["targets"].query("doc_id == 'd1'")}, folder=tmp_path,
                                 checkpoints=tmp_path)
