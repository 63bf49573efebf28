"""How much work a benchmark does: enough to measure well, or just enough to see that everything runs."""

from dataclasses import dataclass

from helpers.systems.base_reranker import base_reranker
from helpers.systems.reranker import Reranker
from helpers.systems.testbed import Testbed


@dataclass(frozen=True)
class Scale:
    """The sizes of all sections.

    Args:
        collection: what is ranked.
        unit: of it.
        queries: whose candidates are re-ranked.
        candidates: of each.
        encoded: queries whose candidates are encoded.
        searched: queries of BM25.
        model: the cross-encoder that re-ranks.
        sizes: shapes of models for queries a minute; none for the six of Steensland's table 5.5.
        ranked: queries ranked by each of them in a round.
        steps: of training in a round.
        growth: the smallest number of queries, documents and candidates.
        times: how many times as many are tried.
        passages: of the generated collections that are streamed.
        asked: their queries, of training and of test each.
    """

    collection: str
    unit: str
    queries: int
    candidates: int
    encoded: int
    searched: int
    model: Reranker
    sizes: tuple[str, ...] = ()
    ranked: int = 2
    steps: int = 50
    growth: tuple[int, int, int] = (20, 200, 10)
    times: tuple[int, ...] = (1, 10, 100)
    passages: tuple[int, ...] = (20_000, 200_000, 2_000_000)
    asked: int = 200

    @property
    def bed(self) -> Testbed:
        """The texts, with all test queries."""
        return Testbed(self.collection, self.unit)


def full() -> Scale:
    """What is measured: the Almanac's passages and the book's base model."""
    return Scale("almanac", "passage", queries=50, candidates=20, encoded=25, searched=400, model=base_reranker())


def small(collection: str = "almanac", unit: str = "passage") -> Scale:
    """A trial of seconds a section: one layer, trained for a moment."""
    model = Reranker(collection, unit, queries=40, candidates=10, positives=1, negatives=2, answers=False, backbone="packaged:0",
                     epochs=1, evaluation_queries=4, evaluations=1)
    return Scale(collection, unit, queries=4, candidates=5, encoded=1, searched=10, model=model, sizes=("1/32/2", "2/32/2"),
                 ranked=1, steps=3, growth=(1, 5, 2), times=(1, 2, 4), passages=(300, 600), asked=30)
