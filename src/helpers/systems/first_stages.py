"""First stages by name: what the chapters on RepBERT compare, re-rank and combine.

    stages = first_stages("almanac", queries=1500)
    stages.run("repbert", Testbed("almanac", "passage", queries=400), depth=100)

Names are those of `STAGES`, the path of a published run, as a TREC file, or a bi-encoder of sentence-transformers, by its folder
or `hub:<name>@<revision>`. The recipes are the same in every chapter, so each model is trained once for all of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from helpers.costs.latency import latencies
from helpers.data.elsewhere import external_run
from helpers.encoders.embeddings import given_passage_embeddings, given_query_embeddings, window_store
from helpers.encoders.nearest_neighbours import exact_search
from helpers.errors import BadInput
from helpers.networks.encoder import given
from helpers.registry import Registry
from helpers.retrieval.bm25 import K1, B, max_passage
from helpers.steps import Step
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.lexical import BM25, DeepCT, Doc2Query, WordExpansion
from helpers.systems.testbed import Testbed


class FirstStage(Protocol):
    """What every first stage can do."""

    def run(self, bed: Testbed, depth: int) -> Step:
        """The best `depth` texts for each query of a testbed."""

    def searched(self, bed: Testbed) -> Step:
        """The folder that it searches, an index or embeddings."""

    def timed(self, bed: Testbed) -> dict[str, Any]:
        """What `costs.latency.latencies` takes to time it; with `passages` where queries are encoded."""


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
    k1: float = K1  # of plain BM25
    b: float = B  # likewise

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
        return STAGES[name](self).searched(bed) if name in STAGES else None

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
    def generated(self) -> Doc2Query:
        """The generated queries; BadInput without a generator."""
        if self.generator is None:
            raise BadInput("`doctttttquery` needs a generator of queries",
                           mend="give one as hub:owner/name@revision or a folder, or leave the stage out")
        return self.generator


STAGES: Registry[Callable[[FirstStages], FirstStage]] = Registry("first stage", {
    "bm25": lambda recipes: BM25(recipes.k1, recipes.b),
    "doctttttquery": lambda recipes: recipes.generated,  # BM25 over passages with generated queries; needs a generator
    "expansion": lambda recipes: recipes.expansion,  # BM25 over passages with the words that a small model expects in queries
    "deepct": lambda recipes: recipes.deepct,  # BM25 over predicted term weights
    "repbert": lambda recipes: recipes.repbert,  # RepBERT: exact search over embeddings
    "untrained": lambda recipes: recipes.repbert.zero_shot(),  # the backbone with RepBERT's inner products and token types
    "minilm": lambda recipes: recipes.zero_shot,  # the backbone as it is, as the bi-encoder that it was trained to be
})


def repbert(collection: str = "almanac", unit: str = "passage", backbone: str = "packaged", queries: int = 1500, epochs: int = 2,
            learning_rate: float = 2e-5, batch_size: int = 26, seed: int = 1) -> BiEncoder:
    """RepBERT as its study trains it (Zhan et al. 2020, sections 3.1, 3.2 and 4.3.1), but for the backbone and the schedule.

    In-batch negatives alone, batches of 26, inner products of mean-pooled vectors, token types 0 and 1, lengths 20 and 256. The
    study's learning rate, 3e-6 over 350,000 steps, would move nothing in a few hundred; its dropout of 0.1 is left out.
    Nothing is drawn from a ranking, so no article of dev or test can enter as a negative, whatever `own_articles` says.
    """
    return BiEncoder(collection, unit, queries=queries, backbone=backbone, loss="multi_label_margin", similarity="dot",
                     token_types=True, pooling="mean", query_length=20, max_length=256, negatives=0, epochs=epochs,
                     learning_rate=learning_rate, batch_size=batch_size, seed=seed, data_seed=1, own_articles=False)


def first_stages(collection: str = "almanac", unit: str = "passage", backbone: str = "packaged", queries: int = 1500,
                 epochs: int = 2, learning_rate: float = 2e-5, seed: int = 1, generator: str = "") -> FirstStages:
    """The book's first stages, trained on the same queries (0 for all) of a collection, from the same backbone.

    Epochs and learning rate are RepBERT's; DeepCT has one epoch, since its evaluation loss rises from then on. For the generator
    see `Doc2Query`; empty for none.
    """
    return FirstStages(repbert(collection, unit, backbone, queries, epochs, learning_rate, seed=seed),
                       DeepCT(collection, unit, queries=queries, backbone=backbone, seed=seed),
                       Doc2Query(generator) if generator else None)
