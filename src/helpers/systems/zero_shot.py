"""A re-ranker without fine-tuning: the backbone as it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from helpers.encoders.embeddings import dense_window_scores
from helpers.evaluation.comparable import model_name
from helpers.networks import backbone
from helpers.steps import Step
from helpers.systems.testbed import Testbed

ZERO_SHOT = "zero-shot"  # how the names of such systems begin
T = TypeVar("T")


@dataclass(frozen=True)
class ZeroShotReranker:
    """A backbone as it is, as a re-ranker: the cosine of its embeddings, without any fine-tuning."""

    backbone: str = "packaged"
    max_length: int = 256  # tokens of a window or a query

    @property
    def label(self) -> str:
        """How tables name it, `zero-shot MiniLM`: by the backbone."""
        return f"{ZERO_SHOT} {model_name(self.backbone)}"

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` documents with the cosine of its embedding and the query's."""
        encoder = backbone.resolve(self.backbone)
        return dense_window_scores(encoder, run, bed.query_step, bed.store, bed.tokens(encoder), candidates, self.max_length)


def zero_shot_in(systems: Mapping[str, T]) -> T:
    """The encoder as it is among systems by name: the first whose name says so."""
    return next(system for name, system in systems.items() if name.startswith(ZERO_SHOT))
