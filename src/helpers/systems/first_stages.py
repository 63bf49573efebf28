"""First stages by name: what the chapters on RepBERT compare, re-rank and combine.

    stages = first_stages("almanac", queries=1500)
    stages.run("repbert", Testbed("almanac", "passage", queries=400), depth=100)

| name | what |
|---|---|
| `bm25` | BM25 |
| `doctttttquery` | BM25 over passages with generated queries; needs a generator |
| `deepct` | BM25 over predicted term weights |
| `repbert` | RepBERT: exact search over embeddings |
| `untrained` | RepBERT before its training: the backbone with RepBERT's inner products and token types |
| `minilm` | the backbone as it is, as the bi-encoder that it was trained to be |
| a path | a published run, as a TREC file |

The recipes are the same in every chapter, so each model is trained once for all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from helpers.costs.latency import latencies
from helpers.data.external_run import external_run
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.retrieval.bm25 import K1, B
from helpers.steps import Step
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.deepct import DeepCT
from helpers.systems.doc2query import Doc2Query
from helpers.systems.testbed import Testbed

NAMES = ("bm25", "doctttttquery", "deepct", "repbert", "untrained", "minilm")
ENCODERS = ("repbert", "untrained", "minilm")


@dataclass(frozen=True)
class FirstStages:
    """The recipes that the names stand for.

    Args:
        repbert: the bi-encoder trained as in RepBERT.
        deepct: the term weights.
        generator: of queries for passages; None where there is none.
        k1: of plain BM25.
        b: likewise.
    """

    repbert: BiEncoder
    deepct: DeepCT
    generator: Doc2Query | None = None
    k1: float = K1
    b: float = B

    @property
    def zero_shot(self) -> BiEncoder:
        """The backbone as it is, compared as it was trained: by cosines, without token types."""
        return replace(self.repbert.zero_shot(), similarity="cosine", token_types=False, query_length=64)

    def run(self, name: str, bed: Testbed, depth: int) -> Step:
        """The best `depth` texts of the named stage for each query of a testbed.

        Raises:
            BadInput: for `doctttttquery` without a generator, or a name that is neither a stage nor a file.
        """
        if name == "bm25":
            return bed.bm25(self.k1, self.b, depth)
        if name == "deepct":
            return self.deepct.run(bed, depth)
        if name == "doctttttquery":
            return self._expansion.run(bed, depth)
        if name in ENCODERS:
            return self._encoder(name).run(bed, depth)
        return external_run(name, bed.query_step, depth)

    def searched(self, name: str, bed: Testbed) -> Step | None:
        """The folder that the named stage searches, an index or embeddings; None for a published run."""
        if name == "bm25":
            return bed.index
        if name == "deepct":
            return self.deepct.index(bed)
        if name == "doctttttquery":
            return self._expansion.index(bed)
        return self._encoder(name).embeddings(bed) if name in NAMES else None

    def latencies(self, names: Sequence[str], bed: Testbed, depth: int, timed: int, rounds: int) -> Step | None:
        """The time of one query after the other, in each named stage; None if all are published runs."""
        lexical, dense = {}, {}
        for name in (name for name in names if name in NAMES):
            where = self.searched(name, bed)
            if name in ENCODERS:
                encoder = self._encoder(name)
                dense[name] = {"passages": where, "query_length": encoder.query_length, "model": encoder.model,
                               "backbone": backbone.resolve(encoder.backbone), "pooling": encoder.pooling,
                               "normalise": encoder.similarity == "cosine", "token_types": encoder.token_types}
            else:
                settings: FirstStages | DeepCT | Doc2Query = (
                    self if name == "bm25" else self.deepct if name == "deepct" else self._expansion)
                lexical[name] = {"index": where, "k1": settings.k1, "b": settings.b}
        return latencies(lexical, dense, bed.query_step, depth, timed, rounds) if lexical or dense else None

    def _encoder(self, name: str) -> BiEncoder:
        return {"repbert": self.repbert, "untrained": self.repbert.zero_shot()}.get(name, self.zero_shot)

    @property
    def _expansion(self) -> Doc2Query:
        if self.generator is None:
            raise BadInput("`doctttttquery` needs a generator of queries",
                           mend="give one as hub:owner/name@revision or a folder, or leave the stage out")
        return self.generator


def repbert(collection: str = "almanac", unit: str = "passage", backbone: str = "packaged", queries: int = 1500, epochs: int = 2,
            learning_rate: float = 2e-5, batch_size: int = 26, seed: int = 1) -> BiEncoder:
    """RepBERT as its study trains it (Zhan et al. 2020, sections 3.1, 3.2 and 4.3.1), but for the backbone and the schedule.

    In-batch negatives alone, batches of 26, inner products of mean-pooled vectors, token types 0 and 1, lengths 20 and 256. The
    study's learning rate, 3e-6 over 350,000 steps, would move nothing in a few hundred; its dropout of 0.1 is left out.
    """
    return BiEncoder(collection, unit, queries=queries, backbone=backbone, loss="multi_label_margin", similarity="dot",
                     token_types=True, pooling="mean", query_length=20, max_length=256, negatives=0, epochs=epochs,
                     learning_rate=learning_rate, batch_size=batch_size, seed=seed, data_seed=1)


def first_stages(collection: str = "almanac", unit: str = "passage", backbone: str = "packaged", queries: int = 1500,
                 epochs: int = 2, learning_rate: float = 2e-5, seed: int = 1, generator: str = "") -> FirstStages:
    """The book's first stages, trained on the same queries of a collection.

    Args:
        collection: whose training queries are used.
        unit: what is ranked.
        backbone: of RepBERT and of DeepCT, and the bi-encoder that is left as it is.
        queries: training queries, 0 for all.
        epochs: RepBERT's; DeepCT has one, since its evaluation loss rises from then on.
        learning_rate: RepBERT's.
        seed: of both trainings.
        generator: of queries for passages, see `Doc2Query`; empty for none.
    """
    return FirstStages(repbert(collection, unit, backbone, queries, epochs, learning_rate, seed=seed),
                       DeepCT(collection, unit, queries=queries, backbone=backbone, seed=seed),
                       Doc2Query(generator) if generator else None)
