"""The re-rankers that have a name: what `book search`, `measure` and `serve` choose from.

A light module, since the command line needs the names at once: what makes a re-ranker is imported when one is made.
"""

from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any

PROBABILITY, COSINE = "a cross-encoder's probability of relevance", "the cosine of query and window"


@dataclass(frozen=True)
class Reranker:
    """A re-ranker before it is made."""

    score: str  # what its scores are
    maker: str = ""  # what makes it, as `module:name` in `helpers.systems`; none for the first stage alone
    settings: dict[str, Any] = field(default_factory=dict)  # what it is made with
    parts: tuple[str, ...] | None = None  # the re-rankers whose scores of windows make its own, if it is not one itself

    def made(self) -> Any:
        """The `Scorer`; None for the first stage alone."""
        return resolve_name(f"helpers.systems.{self.maker}")(**self.settings) if self.maker else None


RERANKERS = {
    "both": Reranker("the mean of what two models give it, each in standard deviations from the average window of the query",
                     "pipeline:SummedReranker", parts=("base", "minilm")),
    "base": Reranker("a cross-encoder's logit", "rerankers:WarmUp"),
    "minilm": Reranker(COSINE, "zero_shot:ZeroShotReranker"),
    "mpnet": Reranker(COSINE, "zero_shot:ZeroShotReranker", {"backbone": "packaged:mpnet"}),
    "general": Reranker(PROBABILITY, "recipe:general_reranker"),
    "none": Reranker("BM25's", parts=())}


def parts_of(name: str) -> tuple[str, ...]:
    """The names of the models that score windows for a re-ranker: its parts, or itself."""
    parts = RERANKERS[name].parts if name in RERANKERS else None
    return (name,) if parts is None else parts


def score_of(name: str, otherwise: str) -> str:
    """What the scores of a re-ranker are; `otherwise` is said of one without a name here."""
    return RERANKERS[name].score if name in RERANKERS else otherwise
