"""First stages by name: what the chapters on RepBERT compare, re-rank and combine.

    stages = first_stages("almanac", queries=1500)
    stages.run("repbert", Testbed("almanac", "passage", queries=400), depth=100)

Names are those of `STAGES`, the path of a published run, as a TREC file, or a bi-encoder of sentence-transformers, by its folder
or `hub:<name>@<revision>`. The recipes are the same in every chapter, so each model is trained once for all of them.

Those that are BM25 over an index:

    DeepCT(queries=1500).run(Testbed("almanac", "passage"), depth=100)      # BM25 over term frequencies that a model predicts
    WordExpansion().run(Testbed("almanac", "passage"), depth=100)           # BM25 over passages with words that a model adds
    TrainedDoc2Query().run(Testbed("almanac", "passage"), depth=100)        # BM25 over passages with generated queries
    Doc2Query("hub:<owner>/<a T5 trained to ask>@<commit hash>").run(...)   # without such a model docTTTTTquery is *not run*
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any

from helpers.costs.latency import latencies
from helpers.data import package_index
from helpers.data.elsewhere import external_run
from helpers.encoders.bi_encoder import BiEncoderTraining
from helpers.encoders.embeddings import given_passage_embeddings, given_query_embeddings, window_store
from helpers.encoders.nearest_neighbours import exact_search
from helpers.encoders.training import bi_encoder
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.networks.encoder import given
from helpers.networks.fine_tuning import Trained
from helpers.registry import Registry
from helpers.retrieval.bm25 import K1, B, bm25_run, max_passage
from helpers.retrieval.doc2query import asked_draws, asked_pairs, asked_queries, generated_queries, query_writer, written_queries
from helpers.retrieval.expansion import expanded_index, expansion_words, word_expansion
from helpers.retrieval.term_weights import PassageTraining, deepct, term_recall, weighted_index, word_weights
from helpers.steps import Step
from helpers.systems.bi_encoder import UNTRAINED, BiEncoder
from helpers.systems.starting_points import chosen_start
from helpers.systems.testbed import SplitTestbed, Testbed


@dataclass(frozen=True, kw_only=True)
class Lexical:
    """BM25 over what `index` gives."""

    k1: float = K1
    b: float = B

    def generated(self, bed: Testbed) -> Step | None:
        """What is indexed with each text: nothing."""
        return None

    def index(self, bed: Testbed) -> Step:
        """The Lucene index of a testbed's texts, each with what was generated for it."""
        return bed.index if (added := self.generated(bed)) is None else expanded_index(bed.store, added)

    def run(self, bed: Testbed, depth: int) -> Step:
        """BM25 over that index."""
        return bm25_run(self.index(bed), bed.query_step, self.k1, self.b, depth)

    def timed(self, bed: Testbed) -> dict[str, Any]:
        """Its settings for `costs.latency.latencies`."""
        return {"index": self.index(bed), "k1": self.k1, "b": self.b}


BATCH = 16  # texts that queries are generated for at a time


@dataclass(frozen=True)
class Doc2Query(Lexical):
    """Texts expanded with the queries that a generator would ask of them (Nogueira et al. 2019, arXiv:1904.08375)."""

    generator: str  # a sequence-to-sequence model with safetensors weights: `hub:owner/name@revision` or a local folder
    queries: int = 40  # generated for each text (docTTTTTquery: 40)
    top_k: int = 10  # each token is drawn from so many likely ones (docTTTTTquery: 10); 1 takes the likeliest
    max_length: int = 512  # tokens read of a text
    query_length: int = 64  # tokens written of a query
    batch_size: int = BATCH  # texts a step
    seed: int = 1

    def generated(self, bed: Testbed) -> Step:
        """The queries of every text of a testbed."""
        return generated_queries(bed.store, backbone.resolve(self.generator), self.queries, self.top_k, self.max_length,
                                 self.query_length, self.batch_size, self.seed)


@dataclass(frozen=True)
class TrainedLexical(Trained, Lexical, PassageTraining):
    """BM25 over what a model makes of the texts; `PassageTraining` has the settings of its training."""

    collection: str = "almanac"  # whose training queries are used
    unit: str = "passage"  # of a longer text what is beyond `max_length` is not read
    splits: tuple[str, ...] = ("train",)  # their splits
    queries: int = 0  # how many of each split, 0 for all
    backbone: str = "packaged"


@dataclass(frozen=True)
class TrainedDoc2Query(TrainedLexical):
    """The same by a model of the book's own, which has learned to guess masked words and then the queries of relevant texts.

    Rate and passes are those of one trial on 30 November 2026, whose loss on 200 held-out train queries went from 7.35 nats a
    token to 5.22, 4.99, 4.94 and 4.93 after each pass; no ranking was looked at.
    """

    _: KW_ONLY
    epochs: int = 4
    learning_rate: float = 2e-4
    batch_size: int = 16
    dropout: float = 0.1
    max_length: int = 192  # tokens read of a text
    query_length: int = 24  # tokens written of a query, its end included
    asked: int = 20  # queries for each text
    top_k: int = 10  # each token is drawn from so many likely ones

    @functools.cached_property
    def model(self) -> Step:
        """The folder of the model, which begins as the language model of the chapter on Condenser."""
        bed = SplitTestbed(self.collection, self.unit, splits=self.splits, queries=self.queries)
        pairs = asked_pairs(bed.query_step, bed.qrels_step, bed.min_relevance)
        return query_writer(pairs, bed.store, chosen_start(self.backbone).model, query_length=self.query_length,
                            **self.settings(PassageTraining))

    def generated(self, bed: Testbed) -> Step:
        """The queries of every text of a testbed."""
        return written_queries(bed.store, self.model, self.asked, self.top_k, self.max_length, self.query_length, BATCH,
                               self.seed)


@dataclass(frozen=True)
class DeepCT(TrainedLexical):
    """Term weights from context, in an ordinary inverted index (Dai & Callan 2019, arXiv:1910.10687).

    A linear layer over the backbone's last states estimates each word's query-term recall (`term_recall`); the estimate becomes a
    term frequency: the word is repeated so often in what Lucene indexes. `PassageTraining` has the settings of the training.
    """

    _: KW_ONLY
    scale: int = 100  # the term frequency of a weight of 1 (N in the study: 100)
    k1: float = 20.0  # of BM25 over these frequencies, which are larger than counts
    b: float = 0.75  # likewise

    @property
    def model(self) -> Step:
        """The folder of the model, fine-tuned on the words of the training queries' relevant passages."""
        bed = Testbed(self.collection, self.unit, splits=self.splits, queries=self.queries)
        targets = term_recall(bed.query_step, bed.qrels_step, bed.min_relevance, bed.store)
        return deepct(targets, bed.store, backbone.resolve(self.backbone), **self.settings(PassageTraining))

    def weights(self, bed: Testbed) -> Step:
        """The weighted words of every text of a testbed."""
        return word_weights(self.model, bed.store, self.max_length)

    def index(self, bed: Testbed) -> Step:
        """The Lucene index of the weights: of their square roots, scaled, as the authors' later code has it."""
        return weighted_index(self.weights(bed), self.scale, "sqrt")


@dataclass(frozen=True)
class WordExpansion(TrainedLexical):
    """Texts expanded with the words that a small model expects in their queries, from their vectors by an encoder as it is.

    The form is TILDE's, and adding its words to texts is TILDEv2's (Zhuang & Zuccon 2021, arXiv:2108.08513); see
    `retrieval.expansion`. Chosen on 600 dev queries of the Almanac on 24 November 2026, where BM25 has RR@10 .647 and R@100 .862:
    20 words, each once, have .669, .669 and .673; .883, .872 and .870 (three seeds). None of these was surely better in RR@10: 50
    words, words in proportion to their probability, titles and spans as queries, vectors of single words, dropout.
    """

    _: KW_ONLY
    epochs: int = 10
    learning_rate: float = 1e-3
    batch_size: int = 64
    dropout: float = 0.0  # of a passage's vector
    words: int = 20  # added to a text

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
                              backbone.resolve(self.backbone), **self.settings(PassageTraining))

    def expansion(self, bed: Testbed) -> Step:
        """The words added to every text of a testbed."""
        return expansion_words(self.model, self.encoder.embeddings(bed), bed.store, self.words)

    generated = expansion


WINDOWS = 5  # found for each text that is wanted, since several may be of one text; as of `Testbed.bm25`


def is_given(name: str) -> bool:
    """Whether a name is a model's, a folder or a hub id, and not a stage's or a file's."""
    return name.startswith("hub:") or ("/" in name and Path(name).expanduser().is_dir())


@dataclass(frozen=True)
class GivenFirstStage:
    """A whole model by its folder or its hub id with revision. It reads a text in the testbed's windows, as re-rankers do, and
    the best one counts; they are embedded once, for all queries to come."""

    model: str

    def run(self, bed: Testbed, depth: int) -> Step:
        """The best `depth` texts for each query of a testbed."""
        model, store = given(self.model), window_store(bed.store, bed.words, bed.overlap)
        vectors = given_passage_embeddings(model, store), given_query_embeddings(model, bed.query_step)
        return max_passage(exact_search(*vectors, store, bed.query_step, WINDOWS * depth), depth)


@dataclass(frozen=True)
class FirstStages:
    """The recipes that the names stand for."""

    repbert: BiEncoder  # the bi-encoder trained as in RepBERT
    deepct: DeepCT  # the term weights
    generator: Doc2Query | None = None  # of queries for passages; None where there is none

    @property
    def zero_shot(self) -> BiEncoder:
        """The backbone as it is, compared as it was trained: by cosines, without token types."""
        return replace(self.repbert.zero_shot(), similarity="cosine", token_types=False, query_length=64)

    def run(self, name: str, bed: Testbed, depth: int) -> Step:
        """The best `depth` texts of the named stage for each query of a testbed; BadInput for `doctttttquery` without a
        generator, or a name that is no stage, file or model."""
        if is_given(name):
            return GivenFirstStage(name).run(bed, depth)
        if name not in STAGES and not Path(name).expanduser().is_file():
            raise BadInput(f"first stage {name!r}: one of {', '.join(STAGES)}, a TREC file or a model, and there is no such file")
        return STAGES[name](self).run(bed, depth) if name in STAGES else external_run(name, bed.query_step, depth, bed.store)

    def searched(self, name: str, bed: Testbed) -> Step | None:
        """The folder that the named stage searches, an index or embeddings; None for what others made."""
        own = STAGES[name](self).timed(bed) if name in STAGES else {}
        return own.get("index") or own.get("passages")

    def latencies(self, names: Sequence[str], bed: Testbed, depth: int, timed: int, rounds: int,
                  live: bool = False) -> Step | None:
        """The time of query after query in each named stage, live without a recorded one; None for those of others alone."""
        given = {name: STAGES[name](self).timed(bed) for name in names if name in STAGES}
        lexical, dense = ({name: own for name, own in given.items() if ("passages" in own) == side} for side in (False, True))
        return latencies(lexical, dense, bed.query_step, depth, timed, rounds).here(live) if given else None

    @property
    def expansion(self) -> WordExpansion:
        """The words that a small model adds, from the same backbone and all training queries: it learns in a minute."""
        return WordExpansion(self.repbert.collection, self.repbert.unit, backbone=self.repbert.backbone,
                             max_length=self.repbert.max_length, seed=self.repbert.seed)

    @property
    def doc2query(self) -> TrainedDoc2Query:
        """The same texts, with queries of a model of the same backbone that has learned from all training queries."""
        own = self.repbert
        return TrainedDoc2Query(own.collection, own.unit, backbone=own.backbone, seed=own.seed)

    @property
    def generated(self) -> Doc2Query:
        """The generated queries; BadInput without a generator."""
        if self.generator is None:
            raise BadInput("`doctttttquery` needs a generator of queries",
                           mend="give one as hub:owner/name@revision or a folder, or leave the stage out")
        return self.generator


STAGES: Registry[Callable[[FirstStages], Lexical | BiEncoder]] = Registry("first stage", {
    "bm25": lambda recipes: Lexical(),
    "doc2query": lambda recipes: recipes.doc2query,  # BM25 over passages with queries that a model of the book generates
    "doctttttquery": lambda recipes: recipes.generated,  # BM25 over passages with generated queries; needs a generator
    "expansion": lambda recipes: recipes.expansion,  # BM25 over passages with the words that a small model expects in queries
    "deepct": lambda recipes: recipes.deepct,  # BM25 over predicted term weights
    "repbert": lambda recipes: recipes.repbert,  # RepBERT: exact search over embeddings
    "untrained": lambda recipes: recipes.repbert.zero_shot(),  # the backbone with RepBERT's inner products and token types
    "minilm": lambda recipes: recipes.zero_shot,  # the backbone as it is, as the bi-encoder that it was trained to be
    "mpnet": lambda recipes: replace(recipes.zero_shot, backbone=package_index.SPEC),  # one of base size, likewise
})


REPBERT_TRAININGS: Registry[dict[str, Any]] = Registry("training of RepBERT", {
    "chosen": {"epochs": 2, "learning_rate": 2e-5},  # the study's rate moves nothing in a few hundred steps
    # Zhan et al. 2020, section 4.3.1: 18.2 million pairs are 36 passes over MS MARCO's; the dropout is BERT's own
    "study": {"epochs": 36, "learning_rate": 3e-6, "dropout": 0.1},
})


def repbert(collection: str = "almanac", unit: str = "passage", backbone: str = "packaged", queries: int = 1500, epochs: int = 0,
            training: str = "chosen", batch_size: int = 26, seed: int = 1) -> BiEncoder:
    """RepBERT as its study trains it (Zhan et al. 2020, sections 3.1, 3.2 and 4.3.1), but for the backbone and the schedule.

    In-batch negatives alone, batches of 26, inner products of mean-pooled vectors, token types 0 and 1, lengths 20 and 256; rate,
    dropout and passes (or so many `epochs`) by one of `REPBERT_TRAININGS`. Nothing is drawn from a ranking, so no article of dev
    or test can enter as a negative, whatever `own_articles` says.
    """
    return BiEncoder(collection, unit, queries=queries, backbone=backbone, loss="multi_label_margin", similarity="dot",
                     token_types=True, pooling="mean", query_length=20, max_length=256, negatives=0,
                     batch_size=batch_size, seed=seed, data_seed=1, own_articles=False,
                     **REPBERT_TRAININGS[training] | ({"epochs": epochs} if epochs else {}))


def on_all_queries(encoder: BiEncoder, **change: Any) -> BiEncoder:
    """RepBERT's training for a start that compares texts badly (chapter `repbert`): all queries, three passes at a higher rate,
    and no article of another split."""
    return replace(encoder, queries=0, epochs=3, learning_rate=1e-4, own_articles=True, **change)


def after_generated(encoder: BiEncoder, writer: TrainedDoc2Query) -> BiEncoder:
    """The training of an encoder after one pass over generated queries, by the same loss and at the same rate: those that are
    asked of all texts of the articles that it may see."""
    bed, reads = encoder.bed, backbone.resolve(encoder.backbone)
    queries = asked_queries(writer.generated(bed))
    draws = asked_draws(queries, bed.store, encoder.seed)
    return replace(encoder, start=bi_encoder(
        draws, draws, 1, queries, bed.store, bed.tokens(reads), reads, encoder.seed, encoder.start,
        **replace(encoder, epochs=1).settings(BiEncoderTraining)))


def first_stages(collection: str = "almanac", unit: str = "passage", backbone: str = "packaged", queries: int = 1500,
                 epochs: int = 0, training: str = "chosen", seed: int = 1, generator: str = "") -> FirstStages:
    """The book's first stages, trained on the same queries (0 for all) of a collection, from the same backbone.

    Epochs, 0 for those of the training, and training are RepBERT's; DeepCT has one epoch, since its evaluation loss rises from
    then on. For the generator see `Doc2Query`; empty for none.
    """
    return FirstStages(repbert(collection, unit, backbone, queries, epochs, training, seed=seed),
                       DeepCT(collection, unit, queries=queries, backbone=backbone, seed=seed),
                       Doc2Query(generator) if generator else None)
