"""The base re-ranker: a cross-encoder that learned to judge pairs from a bi-encoder, without any label.

    base = WarmUp()
    base.scores(bed, run, candidates=20)                # a step: windows with their logits

BERT was pre-trained on pairs of sentences, MiniLM was not: its [CLS] says nothing of pairs before this warm-up. The default's
weights are shipped with the book.
"""

import functools
from dataclasses import dataclass, field, replace

from helpers.data.windows import WHOLE
from helpers.networks import backbone
from helpers.reranking.cross_encoder import training_log
from helpers.reranking.groups import teacher_groups
from helpers.reranking.listwise import ListwiseTraining, listwise_cross_encoder
from helpers.reranking.pseudo_queries import pseudo_queries
from helpers.reranking.rerank import window_logits
from helpers.steps import Step
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.split_testbed import SplitTestbed
from helpers.systems.testbed import Testbed


@dataclass(frozen=True, kw_only=True)
class WarmUp(ListwiseTraining):
    """Learns from what the bi-encoder says of pseudo-queries and texts of the training queries' articles.

    Args:
        collection: whose training queries and texts are used.
        unit: whose texts are read, whole.
        splits: of the queries and of the articles.
        backbone: see `helpers.networks.backbone.resolve`; also the teacher, as a bi-encoder.
        spans: pseudo-queries of each text besides its title and heading.
        first: pseudo-queries in all, 0 for as many as there are.
        depth: of the bi-encoder's rankings, from which groups are drawn.
        size: texts of a group.
        losses: weights by name, see `helpers.reranking.ranking_losses`.
        data_seed: of queries and groups.
    """

    collection: str = "almanac"
    unit: str = "passage"
    splits: tuple[str, ...] = ("train",)
    backbone: str = "packaged"
    spans: int = 2
    first: int = 14_000
    depth: int = 60
    size: int = 4
    losses: dict[str, float] = field(default_factory=lambda: {"kl": 1.0, "centred_mse": 0.05})
    data_seed: int = 1
    batch_size: int = 8
    learning_rate: float = 1.2e-4
    evaluation_queries: int = 100

    @functools.cached_property
    def bed(self) -> SplitTestbed:
        """The pseudo-queries over the texts that they are made of."""
        bed = SplitTestbed(self.collection, self.unit, self.splits, words=WHOLE, overlap=0)
        return replace(bed, adhoc_queries=pseudo_queries(bed.store, bed.query_step, self.spans, self.first, self.data_seed))

    @property
    def teacher(self) -> BiEncoder:
        """The backbone as it is."""
        return BiEncoder(self.collection, self.unit, backbone=self.backbone, loss="none", max_length=self.max_length)

    @functools.cached_property
    def groups(self) -> Step:
        """Some texts of the bi-encoder's ranking for each pseudo-query."""
        return teacher_groups(self.teacher.run(self.bed, self.depth), self.size, self.data_seed)

    @functools.cached_property
    def model(self) -> Step:
        """The folder of the model."""
        bed, encoder = self.bed, backbone.resolve(self.backbone)
        return listwise_cross_encoder(self.groups, bed.query_step, bed.store, bed.tokens(encoder), encoder, self.losses,
                                      **self.settings(ListwiseTraining))

    @property
    def log(self) -> Step:
        """The losses over the training, and its size."""
        return training_log(self.model)

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` texts with its logit."""
        tokens = bed.tokens(backbone.resolve(self.backbone))
        return window_logits(self.model, run, bed.query_step, bed.store, tokens, candidates, self.max_length, self.query_length)
