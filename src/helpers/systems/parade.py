"""PARADE over the windows that a re-ranker has read (Steensland 2021, section 3.2.2).

    reader = recipe(unit="document")
    model = Parade(reader=reader, how="transformer")
    model.run(bed, run, candidates=20)                  # a step: the candidates in its order
"""

import functools
from dataclasses import dataclass, field, replace

from helpers.data.windows import WHOLE
from helpers.networks import backbone
from helpers.reranking.aggregation import group_run, parade, parade_log, parade_run, window_states
from helpers.steps import Step
from helpers.systems.listwise_reranker import ListwiseReranker
from helpers.systems.testbed import Testbed


@dataclass(frozen=True, kw_only=True)
class Parade:
    """Learns an aggregation of windows from the judgments of documents; what reads the windows stays as it is."""

    reader: ListwiseReranker  # whose start reads the windows (or itself, without one), and whose queries and negatives are used
    how: str = "transformer"  # see `helpers.reranking.aggregation`
    losses: dict[str, float] = field(default_factory=lambda: {"bce": 1.0})  # weights by name
    learning_rate: float = 1e-4
    epochs: int = 20  # at most: the weights of the lowest held-out loss are kept
    held_out: int = 80  # groups
    seed: int = 1  # of what begins anew, and of the order

    @property
    def groups(self) -> Step:
        """A relevant document of each query with others, as a run."""
        return group_run(replace(self.reader, words=WHOLE, overlap=0).groups)

    def states(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """The states of the run's top documents."""
        own = replace(bed, words=self.reader.words, overlap=self.reader.overlap)
        tokens = own.tokens(backbone.resolve(self.reader.backbone))
        return window_states((self.reader.start or self.reader).model, run, bed.query_step, bed.store, tokens, candidates,
                             self.reader.max_length, self.reader.query_length)

    @functools.cached_property
    def model(self) -> Step:
        """The folder of the aggregation."""
        states = self.states(self.reader.bed, self.groups, self.reader.size)
        return parade(states, self.groups, self.how, self.losses, self.learning_rate, self.epochs, self.held_out, self.seed)

    @property
    def log(self) -> Step:
        """The losses over the training."""
        return parade_log(self.model)

    def run(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """The run's top documents in its order."""
        return parade_run(self.states(bed, run, candidates), self.model)
