"""A re-ranker without fine-tuning: the backbone as it is."""

from dataclasses import dataclass

from helpers.encoders.dense import dense_window_scores
from helpers.networks import backbone
from helpers.steps import Step
from helpers.systems.testbed import Testbed

ZERO_SHOT = "zero-shot MiniLM"  # how tables name the encoder


@dataclass(frozen=True)
class ZeroShotReranker:
    """A backbone as it is, as a re-ranker: the cosine of its embeddings, without any fine-tuning."""

    backbone: str = "packaged"
    max_length: int = 256  # tokens of a window or a query

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` documents with the cosine of its embedding and the query's."""
        encoder = backbone.resolve(self.backbone)
        return dense_window_scores(encoder, run, bed.query_step, bed.store, bed.tokens(encoder), candidates, self.max_length)
