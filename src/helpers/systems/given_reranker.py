"""A re-ranker that somebody else trained: a cross-encoder, or a bi-encoder of sentence-transformers, as it is.

    Pipeline(GivenReranker("hub:cross-encoder/ms-marco-MiniLM-L6-v2@<commit hash>"))
    Pipeline(GivenReranker("/a/folder"))
"""

from dataclasses import dataclass

from helpers.networks.given_encoder import given
from helpers.reranking.given_model import given_window_scores
from helpers.steps import Step
from helpers.systems.testbed import Testbed


@dataclass(frozen=True)
class GivenReranker:
    """A whole model by its folder or its hub id with revision."""

    model: str

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` documents with the model's score."""
        return given_window_scores(given(self.model), run, bed.query_step, bed.store, bed.words, bed.overlap, candidates)
