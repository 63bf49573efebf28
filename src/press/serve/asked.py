"""What may be asked of the service: a query, and settings for every stage, each with its limits."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from helpers.pages.fragments import one_line
from helpers.reranking.aggregation import AGGREGATIONS
from helpers.reranking.duo import DUOS

LONGEST, MOST, MOST_PAIRED = 2_000, 200, 30  # characters of a query; documents that are re-ranked; documents compared in pairs


def _one_of(value: str, known: object, nothing: bool = False) -> str:
    names = [*known, *["none"] * nothing]  # type: ignore[misc]
    if value not in names:
        raise ValueError(f"choose from {', '.join(names)}")
    return value


class Asked(BaseModel):
    """A request. What is unknown, of another type, or out of its limits is refused; nothing is guessed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: str = Field(max_length=LONGEST)
    k: int = Field(10, ge=1, le=MOST, description="documents shown")
    candidates: int = Field(20, ge=1, le=MOST, description="documents re-ranked: R in the thesis")
    reranker: str = Field("", max_length=40, description="one of those that /health lists; empty for the first")
    aggregation: str = Field("max", description="from the scores of windows to a document's")
    feedback: Literal["none", "documents", "passages"] = "none"
    pairwise: str = Field("none", description="the third stage's aggregation of pairs")
    paired: int = Field(5, ge=2, le=MOST_PAIRED, description="documents compared in pairs")
    sample: int = Field(3, ge=1, le=MOST_PAIRED, description="others that each is compared with, where `pairwise` is `sample`")

    @field_validator("query")
    @classmethod
    def clean(cls, query: str) -> str:
        """Control characters and half characters are blanks."""
        if not (query := one_line(query).strip()):
            raise ValueError("the query is empty")
        return query

    @field_validator("aggregation")
    @classmethod
    def _aggregation(cls, name: str) -> str:
        return _one_of(name, AGGREGATIONS)

    @field_validator("pairwise")
    @classmethod
    def _pairwise(cls, name: str) -> str:
        return _one_of(name, DUOS, nothing=True)


