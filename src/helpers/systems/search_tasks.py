"""Two search tasks on which starting points are compared (Gao & Callan 2021, sections 5.3 and 5.4).

| task | queries | in training, each query meets | measures |
|---|---|---|---|
| open QA | questions for a fact | its passage, one irrelevant one of BM25's, those of the batch | hits in the first 20, 100 |
| web search | all | its passage, several irrelevant ones of BM25's, those of the batch | RR@10, R@100, R@1000 |

Both use the state of [CLS], inner products and the contrastive loss (equation 13).
"""

from dataclasses import dataclass

from helpers.errors import BadInput
from helpers.steps import Step
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation, evaluate_values
from helpers.systems.testbed import Testbed

FACTS = ("ABBR", "ENTY", "HUM", "LOC", "NUM")  # answers that are a thing, a person, a place, a number; not a description
DEPTH = 1000


@dataclass(frozen=True)
class SearchTask:
    """What is trained and measured, apart from where the training starts and how many queries it sees."""

    collection: str  # whose training and test queries are used
    unit: str  # `passage`, or `document`, read as one text
    backbone: str  # see `helpers.networks.backbone.resolve`; its tokenizer, and its weights where no other start is given
    answer_types: tuple[str, ...]  # of the queries, all if empty
    measures: tuple[str, ...]  # of the runs
    negatives: int  # of BM25's, for each query in training
    steps: int  # of the optimiser, as many for each number of training queries
    learning_rate: float  # the peak
    batch_size: int  # queries a step
    max_length: int
    test_queries: int  # 0 for all

    def __post_init__(self) -> None:
        if self.negatives < 1:
            raise BadInput(f"{self.negatives + 1} passages for each query", mend="give two or more: a relevant one, and others")

    @property
    def bed(self) -> Testbed:
        """The test queries."""
        return Testbed(self.collection, self.unit, queries=self.test_queries, answer_types=self.answer_types)

    def encoder(self, start: Step | None, size: int, seed: int) -> BiEncoder:
        """The bi-encoder fine-tuned from `start` on `size` training queries (0 for all), drawn and shuffled with the seed."""
        return BiEncoder(self.collection, self.unit, queries=size, negatives=self.negatives, backbone=self.backbone,
                         pooling="cls", loss="contrastive", similarity="dot", steps=self.steps,
                         learning_rate=self.learning_rate, batch_size=self.batch_size, max_length=self.max_length,
                         evaluation_queries=64, evaluations=5, seed=seed, start=start, answer_types=self.answer_types,
                         sample_seed=seed)

    def zero_shot(self) -> BiEncoder:
        """The backbone as it is, by the cosine of its mean states."""
        return BiEncoder(self.collection, self.unit, backbone=self.backbone, loss="none", max_length=self.max_length)

    def bm25(self, k1: float, b: float) -> Evaluation:
        """BM25 on the test queries."""
        return evaluate_values("BM25", self.bed.bm25(k1, b, DEPTH), self.bed, self.measures)

    def evaluate(self, label: str, encoder: BiEncoder) -> Evaluation:
        """An encoder on the test queries."""
        return evaluate_values(label, encoder.run(self.bed, DEPTH), self.bed, self.measures)
