"""DeepCT: term weights from context, in an ordinary inverted index (Dai & Callan 2019, arXiv:1910.10687).

    model = DeepCT(queries=1500)
    run = model.run(Testbed("almanac", "passage"), depth=100)     # BM25 over term frequencies that the model predicts

A linear layer over the backbone's last states estimates each word's query-term recall (`term_recall`); the estimate becomes a
term frequency: the word is repeated so often in what Lucene indexes.
"""

from dataclasses import KW_ONLY, dataclass

from helpers.networks import backbone
from helpers.reranking.cross_encoder import training_log
from helpers.retrieval.deepct_training import TermWeightTraining, deepct
from helpers.retrieval.term_recall import term_recall
from helpers.retrieval.word_weights import SMOOTHINGS, weighted_index, word_weights
from helpers.steps import Step
from helpers.systems.lexical import Lexical
from helpers.systems.testbed import Testbed


@dataclass(frozen=True)
class DeepCT(Lexical, TermWeightTraining):
    """Training data and backbone of the term weights, and how they are indexed and searched; `TermWeightTraining` has the rest.
    """

    collection: str = "almanac"  # whose training queries are used
    unit: str = "passage"  # `passage`; of a longer text the words beyond `max_length` are not indexed
    splits: tuple[str, ...] = ("train",)  # their splits
    queries: int = 0  # how many of each split, 0 for all
    backbone: str = "packaged"
    _: KW_ONLY
    scale: int = 100  # the term frequency of a weight of 1 (N in the study: 100)
    # `sqrt` takes the square root of a weight before it is scaled, as the authors' later code does; `none`
    smoothing: str = "sqrt"
    k1: float = 20.0  # of BM25 over these frequencies, which are larger than counts
    b: float = 0.75  # likewise

    def __post_init__(self) -> None:
        if self.smoothing not in SMOOTHINGS:
            raise ValueError(f"smoothing {self.smoothing!r}: one of {', '.join(SMOOTHINGS)}")

    @property
    def targets(self) -> Step:
        """The query-term recall of the words of the training queries' relevant passages."""
        bed = Testbed(self.collection, self.unit, splits=self.splits, queries=self.queries)
        return term_recall(bed.query_step, bed.qrels_step, bed.min_relevance, bed.store)

    @property
    def model(self) -> Step:
        """The folder of the fine-tuned model."""
        bed = Testbed(self.collection, self.unit, splits=self.splits, queries=self.queries)
        return deepct(self.targets, bed.store, backbone.resolve(self.backbone), **self.settings(TermWeightTraining))

    @property
    def log(self) -> Step:
        """The losses over the training, and its size."""
        return training_log(self.model)

    def weights(self, bed: Testbed) -> Step:
        """The weighted words of every text of a testbed."""
        return word_weights(self.model, bed.store, self.max_length)

    def index(self, bed: Testbed) -> Step:
        """The Lucene index of the weights."""
        return weighted_index(self.weights(bed), self.scale, self.smoothing)
