"""What David's chapters share: models under the names of his tables, before and after their training, and their measures."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from helpers.evaluation import published
from helpers.pages import encoders
from helpers.systems.bi_encoder import BiEncoder
from toys import Value

BASE = BiEncoder(queries=1500, data_seed=1)


def test_every_model_stands_before_and_after_its_training():
    models = encoders.variants(encoders.models(BASE, ["packaged"], ["mean", "cls"]), trained=True)
    assert list(models) == ["MiniLM / Avg", "MiniLM / CLS", "MiniLM / Avg, zero-shot", "MiniLM / CLS, zero-shot"]
    assert [(model.pooling, model.loss) for model in models.values()] == [
        ("mean", "triplet"), ("cls", "triplet"), ("mean", "none"), ("cls", "none")]


def test_bm25_and_every_model_rank_the_same_queries(monkeypatch):
    run = Value("run")
    bed = SimpleNamespace(bm25=lambda k1, b, depth: run, kept_values=lambda result, measures: (result.value(), measures),
                          qrels=pd.DataFrame({"relevance": [1]}))
    model = SimpleNamespace(run=lambda where, depth: run if (where, depth) == (bed, 7) else None)
    result = encoders.evaluations(bed, {"a": model}, 7, ["RR"])
    assert list(result) == ["BM25", "a"]
    assert [system.values for system in result.values()] == [("run", ["RR"])] * 2


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
    assert named == {row for row in published.column(encoders.STUDY, "4.2", "MRR@10") if " / " in row}
    versions = {row for (table, row, _) in published.load(encoders.STUDY) if table == "B.1"}
    assert set(encoders.CHECKPOINTS) == versions - {"all models"}


def test_a_model_for_every_backbone_and_pooling():
    models = encoders.models(BASE, ["packaged", "packaged:0"], ["mean", "max"])
    assert models == {"MiniLM / Avg": BASE, "MiniLM / Max": replace(BASE, pooling="max"),
                      "MiniLM (layers 0) / Avg": replace(BASE, backbone="packaged:0"),
                      "MiniLM (layers 0) / Max": replace(BASE, backbone="packaged:0", pooling="max")}


@pytest.mark.parametrize("depth, last", [(100, "nDCG@100"), (1000, "nDCG@1000"), (50, "nDCG@10")])
def test_measures_do_not_look_beyond_the_depth(depth, last):
    result = encoders.measures(depth)
    assert result[:4] == ["RR@10", "AP", f"R@{depth}", "Rprec"]
    assert result[-1] == last
