"""What the chapters *Significance* and *Answer types* (David 2020) share: the systems that the chapter *Encoders* makes."""

from collections.abc import Mapping, Sequence

from helpers.retrieval.bm25 import K1, B
from helpers.stories.encoders import BEFORE
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation, evaluate
from helpers.systems.testbed import Testbed

STUDY = "david2020"


def variants(models: Mapping[str, BiEncoder], trained: bool) -> dict[str, BiEncoder]:
    """Every model after its training, then every model before it; without `trained` the latter alone."""
    before = {f"{name}, {BEFORE}": model.zero_shot() for name, model in models.items()}
    return {**models, **before} if trained else before


def evaluations(bed: Testbed, models: Mapping[str, BiEncoder], depth: int, measures: Sequence[str]) -> dict[str, Evaluation]:
    """BM25, and each encoder's exhaustive search, on the same queries."""
    runs = {"BM25": bed.bm25(K1, B, depth), **{name: model.run(bed, depth) for name, model in models.items()}}
    return {name: evaluate(name, run.value(), bed, measures, run) for name, run in runs.items()}


def pair_of(models: Mapping[str, BiEncoder]) -> tuple[str, str]:
    """The names of the first encoder, and of the same with the next backbone: they stand for BERT and DistilBERT.

    With one backbone the second name is empty.
    """
    whole, first = next(iter(models.items()))
    others = [name for name, model in models.items() if model.backbone != first.backbone
              and (model.pooling, model.loss) == (first.pooling, first.loss)]
    return whole, next(iter(others), "")


def is_packaged(model: BiEncoder) -> bool:
    """Whether a model starts from the packaged backbone or layers of it."""
    return model.backbone.split(":")[0] == "packaged"
