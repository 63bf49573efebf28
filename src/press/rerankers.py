"""The re-rankers that have a name: what `book search`, `measure` and `serve` choose from.

A light module, since the command line needs the names at once: what makes a re-ranker is imported when one is made.
"""

from pkgutil import resolve_name
from typing import Any, NamedTuple

PROBABILITY, COSINE = "a cross-encoder's probability of relevance", "the cosine of query and window"


class Reranker(NamedTuple):
    """A re-ranker before it is made."""

    score: str  # what its scores are
    models: tuple[str, ...]  # those that score the windows for it, by name: itself, or others whose scores it sums
    maker: str = ""  # what makes it, as `module:name` in `helpers.systems`; none for the first stage alone
    settings: dict[str, Any] = {}  # what it is made with

    def made(self) -> Any:
        """The `Scorer`; None for the first stage alone."""
        return resolve_name(f"helpers.systems.{self.maker}")(**self.settings) if self.maker else None


RERANKERS = {
    "both": Reranker("the mean of what two models give it, each in standard deviations from the average window of the query",
                     ("base", "minilm"), "pipeline:SummedReranker"),
    "base": Reranker("a cross-encoder's logit", ("base",), "rerankers:WarmUp"),
    "minilm": Reranker(COSINE, ("minilm",), "zero_shot:ZeroShotReranker"),
    "mpnet": Reranker(COSINE, ("mpnet",), "zero_shot:ZeroShotReranker", {"backbone": "packaged:mpnet"}),
    "general": Reranker(PROBABILITY, ("general",), "recipe:general_reranker"),
    "none": Reranker("BM25's", ())}


def named(name: str, score: str = PROBABILITY) -> Reranker:
    """The re-ranker of a name; of a model's folder or id what is known without reading it, with what its scores are."""
    return RERANKERS.get(name) or Reranker(score, (name,))
