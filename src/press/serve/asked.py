"""What may be asked of the service: a query, and settings for every stage, each with its limits."""

from collections.abc import Iterable
from itertools import chain
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from helpers.pages.fragments import one_line
from helpers.reranking.aggregation import AGGREGATIONS
from helpers.reranking.duo import DUOS

LONGEST, MOST, MOST_PAIRED = 2_000, 200, 30  # characters of a query; documents that are re-ranked; documents compared in pairs


def _one_of(*registries: Iterable[str]) -> AfterValidator:
    """The check that a text is a name in one of the registries."""
    def checked(value: str) -> str:
        if value not in (names := list(chain(*registries))):
            raise ValueError(f"choose from {', '.join(names)}")
        return value

    return AfterValidator(checked)


class Asked(BaseModel):
    """A request. What is unknown, of another type, or out of its limits is refused; nothing is guessed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: str = Field(max_length=LONGEST)
    k: int = Field(10, ge=1, le=MOST, description="documents shown")
    candidates: int = Field(20, ge=1, le=MOST, description="documents re-ranked: R in the thesis")
    reranker: str = Field("", max_length=40, description="one of those that /health lists; empty for the first")
    aggregation: Annotated[str, _one_of(AGGREGATIONS)] = Field("max", description="from the scores of windows to a document's")
    feedback: Literal["none", "documents", "passages"] = "none"
    pairwise: Annotated[str, _one_of(DUOS, ["none"])] = Field("none", description="the third stage's aggregation of pairs")
    paired: int = Field(5, ge=2, le=MOST_PAIRED, description="documents compared in pairs")
    sample: int = Field(3, ge=1, le=MOST_PAIRED, description="others that each is compared with, where `pairwise` is `sample`")

    @field_validator("query")
    @classmethod
    def clean(cls, query: str) -> str:
        """Control characters and half characters are blanks."""
        if not (query := one_line(query).strip()):
            raise ValueError("the query is empty")
        return query
