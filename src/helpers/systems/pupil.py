"""A re-ranker that goes on from its warm-up with what a teacher says of pairs that nobody judged.

    start = recipe().start.on("packaged:0,1,2")
    Pupil(backbone=start.backbone, start=start, read=replace(start, first=7_000, data_seed=2), reranker=recipe())
"""

import functools
from dataclasses import dataclass, field

from helpers.networks import backbone
from helpers.reranking.groups import answered_groups, ranked_groups
from helpers.reranking.rerank import window_logits
from helpers.steps import Step
from helpers.systems.listwise_reranker import Listwise, ListwiseReranker, WarmUp
from helpers.systems.testbed import SplitTestbed


@dataclass(frozen=True, kw_only=True)
class Pupil(Listwise):
    """Learns the order that a teacher gives to a pseudo-query's texts; no label is used."""

    start: WarmUp  # what it goes on from
    read: WarmUp  # whose pseudo-queries and texts it learns from
    reranker: ListwiseReranker | None = None  # the teacher; None for the bi-encoder that taught the warm-up
    losses: dict[str, float] = field(default_factory=lambda: {"kl": 1.0})
    batch_size: int = 8
    learning_rate: float = 5e-5

    @property
    def bed(self) -> SplitTestbed:
        """The pseudo-queries over the texts that they are made of."""
        return self.read.bed

    @functools.cached_property
    def groups(self) -> Step:
        """The groups that are read, with the teacher's logits in place of the bi-encoder's scores."""
        drawn, bed, teacher = self.read.groups, self.bed, self.reranker
        if teacher is None:
            return drawn
        tokens = bed.tokens(backbone.resolve(teacher.backbone))
        return answered_groups(drawn, window_logits(teacher.model, ranked_groups(drawn), bed.query_step, bed.store, tokens,
                                                    self.read.size, teacher.max_length, teacher.query_length))

    @property
    def origin(self) -> Step:
        """The warm-up's model."""
        return self.start.model
