"""First stages that are BM25 over an index: of the texts as they are, with more words, or of weights of words.

    DeepCT(queries=1500).run(Testbed("almanac", "passage"), depth=100)      # BM25 over term frequencies that a model predicts
    WordExpansion().run(Testbed("almanac", "passage"), depth=100)           # BM25 over passages with words that a model adds
    Doc2Query("hub:<owner>/<a T5 trained to ask>@<commit hash>").run(...)   # without such a model the baseline is *not run*
"""

import functools
from dataclasses import KW_ONLY, dataclass
from typing import Any

from helpers.networks import backbone
from helpers.networks.fine_tuning import training_log
from helpers.retrieval.bm25 import K1, B, bm25_run
from helpers.retrieval.expansion import ExpansionTraining, expanded_index, expansion_words, generated_queries, word_expansion
from helpers.retrieval.term_weights import SMOOTHINGS, TermWeightTraining, deepct, term_recall, weighted_index, word_weights
from helpers.steps import Step
from helpers.systems.bi_encoder import UNTRAINED, BiEncoder
from helpers.systems.testbed import SplitTestbed, Testbed


class Lexical:
    """BM25 over what `index` gives; a subclass is a dataclass with `k1` and `b`."""

    k1: float
    b: float

    def index(self, bed: Testbed) -> Step:
        """The Lucene index of a testbed's texts."""
        raise NotImplementedError

    def run(self, bed: Testbed, depth: int) -> Step:
        """BM25 over that index."""
        return bm25_run(self.index(bed), bed.query_step, self.k1, self.b, depth)

    def searched(self, bed: Testbed) -> Step:
        """The index."""
        return self.index(bed)

    def timed(self, bed: Testbed) -> dict[str, Any]:
        """Its settings for `costs.latency.latencies`."""
        return {"index": self.index(bed), "k1": self.k1, "b": self.b}


@dataclass(frozen=True)
class BM25(Lexical):
    """BM25 over the texts as they are."""

    k1: float = K1
    b: float = B

    def index(self, bed: Testbed) -> Step:
        """The testbed's own index."""
        return bed.index


@dataclass(frozen=True)
class Doc2Query(Lexical):
    """Texts expanded with the queries that a generator would ask of them (Nogueira et al. 2019, arXiv:1904.08375)."""

    generator: str  # a sequence-to-sequence model with safetensors weights: `hub:owner/name@revision` or a local folder
    queries: int = 40  # generated for each text (docTTTTTquery: 40)
    top_k: int = 10  # each token is drawn from so many likely ones (docTTTTTquery: 10); 1 takes the likeliest
    max_length: int = 512  # tokens read of a text
    query_length: int = 64  # tokens written of a query
    batch_size: int = 16  # texts a step
    seed: int = 1
    k1: float = K1  # of BM25 over the expanded texts
    b: float = B  # likewise

    def generated(self, bed: Testbed) -> Step:
        """The queries of every text of a testbed."""
        return generated_queries(bed.store, backbone.resolve(self.generator), self.queries, self.top_k, self.max_length,
                                 self.query_length, self.batch_size, self.seed)

    def index(self, bed: Testbed) -> Step:
        """The Lucene index of the texts with their queries."""
        return expanded_index(bed.store, self.generated(bed))


@dataclass(frozen=True)
class DeepCT(Lexical, TermWeightTraining):
    """Term weights from context, in an ordinary inverted index (Dai & Callan 2019, arXiv:1910.10687).

    A linear layer over the backbone's last states estimates each word's query-term recall (`term_recall`); the estimate becomes a
    term frequency: the word is repeated so often in what Lucene indexes. `TermWeightTraining` has the settings of the training.
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
    def model(self) -> Step:
        """The folder of the model, fine-tuned on the words of the training queries' relevant passages."""
        bed = Testbed(self.collection, self.unit, splits=self.splits, queries=self.queries)
        targets = term_recall(bed.query_step, bed.qrels_step, bed.min_relevance, bed.store)
        return deepct(targets, bed.store, backbone.resolve(self.backbone), **self.settings(TermWeightTraining))

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


@dataclass(frozen=True)
class WordExpansion(Lexical, ExpansionTraining):
    """Texts expanded with the words that a small model expects in their queries, from their vectors by an encoder as it is.

    The form is TILDE's, and adding its words to texts is TILDEv2's (Zhuang & Zuccon 2021, arXiv:2108.08513); see
    `retrieval.expansion_training`. Chosen on 600 dev queries of the Almanac on 24 November 2026, where BM25 has RR@10 .647 and
    R@100 .862:

    - 20 words, each once: .669, .669 and .673; .883, .872 and .870 (three seeds). With 50, .658 and .651; .885 and .882.
      In proportion to their probability, a hundred words of which the likeliest stands three or five times: .626 to .651.
    - All training queries, and they alone: with 1,500 of them .657 and .883; with two spans, title and heading of each train
      passage besides, .006 and .017 less.
    - The backbone's word embeddings: vectors that the encoder gives each word alone were neither surely better nor worse, and
      need no training to come to .661 and .881 with 20 words.
    - Dropout of .3 lowers the held-out loss, and hardly changes the measures.
    """

    collection: str = "almanac"  # whose training queries are used
    unit: str = "passage"
    splits: tuple[str, ...] = ("train",)  # their splits; only texts of these splits' articles are read in the training
    queries: int = 0  # how many of each split, 0 for all
    backbone: str = "packaged"
    _: KW_ONLY
    epochs: int = 10
    learning_rate: float = 1e-3
    batch_size: int = 64
    dropout: float = 0.0  # of a passage's vector
    words: int = 20  # added to a text
    k1: float = K1  # of BM25 over the expanded texts
    b: float = B  # likewise

    @property
    def encoder(self) -> BiEncoder:
        """The backbone as it is, as a bi-encoder of mean states: that of the first stage `minilm`."""
        return BiEncoder(self.collection, self.unit, backbone=self.backbone, loss=UNTRAINED, similarity="cosine",
                         max_length=self.max_length)

    @functools.cached_property
    def model(self) -> Step:
        """The folder of the model, trained on the words of the queries of relevant texts."""
        bed = SplitTestbed(self.collection, self.unit, splits=self.splits, queries=self.queries)
        return word_expansion(self.encoder.embeddings(bed), bed.store, bed.query_step, bed.qrels_step, bed.min_relevance,
                              backbone.resolve(self.backbone), **self.settings(ExpansionTraining))

    @property
    def log(self) -> Step:
        """The losses over the training, and its size."""
        return training_log(self.model)

    def expansion(self, bed: Testbed) -> Step:
        """The words added to every text of a testbed."""
        return expansion_words(self.model, self.encoder.embeddings(bed), bed.store, self.words)

    def index(self, bed: Testbed) -> Step:
        """The Lucene index of the texts with these words."""
        return expanded_index(bed.store, self.expansion(bed))
