"""The chapters on bi-encoders: what they say follows the values."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.verdicts import AGREES, DISAGREES, SMALL, UNTESTED
from helpers.pages import encoders
from helpers.stories import encoders as story
from helpers.systems.bi_encoder import BiEncoder
from tables import cells, verdicts_of
from toys import Value, system

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
    assert named == set(story.published_means())
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
    monkeypatch.setattr(story, "evaluate_seeds", lambda name, runs, bed, measures: (name, runs))
    assert story.fine_tuned(None, {"a": BiEncoder()}, [1, 3], 10) == {"a": ("a", [(1, 1), (3, 1)])}


def test_the_packaged_encoder_is_not_compared_with_bert_and_the_rest_is_not_run():
    after = {"MiniLM / Avg": system(0.4), "MiniLM / CLS": system()}
    judged = story.claims_table(after, {}, system(), "packaged")
    assert set(verdicts_of(judged).values()) == {UNTESTED}
    assert "+0.400" in judged.html
    assert "not BERT but MiniLM / Avg; the backbone was a bi-encoder before" in judged.html


@pytest.mark.parametrize("roberta, verdict", [(0.1, AGREES), (0.4, DISAGREES), (0.3, SMALL)])
def test_each_newer_encoder_is_judged_and_the_span_of_its_poolings(roberta, verdict):
    shifts = {"BERT / Avg": 0.3, "BERT / Max": 0.3, "RoBERTa / Avg": roberta, "RoBERTa / CLS": roberta - 0.1, "ALBERT / Avg": 0.1,
              "ALBERT / Max": 0.1, "DistilBERT / Avg": 0.1, "DistilBERT / Max": 0.1, "ELECTRA / Avg": 0.1, "ELECTRA / Max": 0.2,
              "ELECTRA / CLS": 0.0}
    after = {name: system(shift) for name, shift in shifts.items()}
    judged = story.claims_table(after, {"BERT / Avg": system()}, system(), "hub:google-bert/bert-base-uncased@main")
    words = verdicts_of(judged)
    assert words["bert-encoder-beats-bm25"] == AGREES
    assert [words[f"newer-encoders-do-not-beat-bert/{name}"] for name in ("RoBERTa", "ALBERT", "ELECTRA")] == [
        verdict, AGREES, AGREES]
    assert {word for name, word in words.items() if name.startswith("pooling-matters-for-electra/ELECTRA")} == {AGREES}


def test_poolings_are_ranged_over_each_encoder():
    assert story.ranges({"A / Avg": 0.3, "A / CLS": 0.1, "B / Max": 0.2}) == {
        "A": ("Avg 0.300", "CLS 0.100", "0.200"), "B": ("Max 0.200", "Max 0.200", "0.000")}
    rows = cells(story.pooling_table({"short": {"MiniLM / Avg": system(0.1), "MiniLM / CLS": system()},
                                         "long": {"MiniLM / Avg": system(0.1), "MiniLM / CLS": system(0.15)}}))
    assert ["ELECTRA", "published", "Max 0.246", "CLS 0.188", "0.058"] in rows
    assert rows[-2:] == [["MiniLM", "short", "Avg 0.350", "CLS 0.250", "0.100"],
                         ["MiniLM", "long", "CLS 0.400", "Avg 0.350", "0.050"]]


def log_of(first, last):
    return {"parameters": 1000, "queries": 90, "steps": 6,
            "log": [{"step": 0, "eval_loss": 0.9, "eval_accuracy": first}, {"step": 6, "loss": 0.5},
                    {"step": 6, "eval_loss": 0.4, "eval_accuracy": last}]}


def test_the_trainings_begin_before_the_first_step():
    row = cells(story.training_table({"a": log_of(0.5, 0.75)}))[1]
    assert row == ["a", "1,000", "90", "6", "0.900 → 0.400", "0.500 → 0.750"]


def test_the_cost_takes_the_seconds_of_the_steps_before_and_leaves_unknown_ones_empty():
    rows = cells(story.cost({"a": TRAINED}, {"a": system(source=SEARCHED)}))
    assert rows[1] == ["a", "2 min", "30 s", "2.0 s", "a processor, 1 thread of 2 cores"]
    unknown = Value(manifest={"inputs": [{"step": "bi_encoder", "key": "x"}]})
    assert cells(story.cost({"a": SimpleNamespace(log=unknown)}, {"a": system(source=SEARCHED)}))[1][1] == ""
