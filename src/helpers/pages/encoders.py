"""What David's chapters (2020) share: names of encoders as his tables have them, their measures, and their exact search."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from helpers.errors import BadInput
from helpers.evaluation.verdicts import model_name, short_name
from helpers.networks import backbone
from helpers.pages.results import Results
from helpers.retrieval.bm25 import K1, B
from helpers.systems.bi_encoder import BiEncoder, DistilledEncoder
from helpers.systems.evaluated import evaluate, evaluate_values
from helpers.systems.testbed import Testbed

STUDY = "david2020"
BEFORE = "zero-shot"
POOLINGS = {"mean": "Avg", "cls": "CLS", "max": "Max"}  # as the study's tables call them
CHECKPOINTS = {"bert-base-uncased": "BERT", "roberta-base": "RoBERTa", "albert-base-v1": "ALBERT",
               "distilbert-base-uncased": "DistilBERT", "electra-base-discriminator": "ELECTRA"}  # rows of its table B.1


def label(spec: str) -> str:
    """How the tables call a backbone: the study's name for its five checkpoints, else its own."""
    return CHECKPOINTS.get(short_name(spec), model_name(spec))


def models(base: BiEncoder, specs: Sequence[str], poolings: Sequence[str]) -> dict[str, BiEncoder]:
    """A model for every backbone and pooling, named as in table 4.2: `BERT / Avg`; BadInput for two backbones of one name."""
    if len({label(spec) for spec in specs}) < len(specs):
        raise BadInput(f"two of the backbones {', '.join(specs)} have one name", mend="give each of them once")
    return {f"{label(spec)} / {POOLINGS[pooling]}": replace(base, backbone=spec, pooling=pooling)
            for spec, pooling in product(specs, poolings)}


def students(base: BiEncoder, spec: str, poolings: Sequence[str]) -> dict[str, BiEncoder]:
    """A student that learned the states of the whole of its backbone, `MiniLM distilled / Avg`; none if no layers are named."""
    name = f"{label(backbone.resolve(spec).whole().spec)} distilled" if spec else ""
    return {f"{name} / {POOLINGS[pooling]}": replace(DistilledEncoder(spec, base.collection, base.unit).of(base), pooling=pooling)
            for pooling in poolings if spec}


def variants(models: Mapping[str, BiEncoder], trained: bool) -> dict[str, BiEncoder]:
    """Every model after its training, then every model before it; without `trained` the latter alone."""
    before = {f"{name}, {BEFORE}": model.zero_shot() for name, model in models.items()}
    return {**models, **before} if trained else before


def measures(depth: int) -> list[str]:
    """The study's measures as far as so many passages of each query allow."""
    known = ["RR@10", "AP", f"R@{depth}", "Rprec", "nDCG@5", "nDCG@10", "nDCG@100", "nDCG@1000"]
    return [name for name in known if not name.startswith("nDCG@") or int(name[5:]) <= depth]


def evaluations(bed: Testbed, models: Mapping[str, BiEncoder], depth: int, measures: Sequence[str],
                listed: Sequence[str] | None = None) -> Results[str]:
    """BM25, and each encoder's exact search over the whole collection, on the same queries; of those that a page does not look at
    in lists (`listed`, by default all) the values alone."""
    runs = {"BM25": bed.bm25(K1, B, depth), **{name: model.run(bed, depth) for name, model in models.items()}}
    return Results({name: (evaluate if listed is None or name in listed else evaluate_values)(name, run, bed, measures)
                    for name, run in runs.items()})
