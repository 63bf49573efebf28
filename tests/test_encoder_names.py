"""What David's chapters share: every model before and after its training, on the same queries as BM25."""

from types import SimpleNamespace

import pandas as pd

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
