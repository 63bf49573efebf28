"""First stages that are BM25 over an index: of the texts as they are, with more words, or of weights of words."""

from dataclasses import dataclass
from typing import Any

from helpers.retrieval.bm25 import K1, B, bm25_run
from helpers.steps import Step
from helpers.systems.testbed import Testbed


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
