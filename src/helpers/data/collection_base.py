"""What every collection offers, and its parts as arguments of steps.

A *unit* is what is ranked: `document` (title and body) or `passage` (a section, or an MS MARCO passage). Texts are
streamed, never held in memory; steps take collections apart into `Part`s, each with a digest of its own, so that a
changed query does not rebuild an index.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from helpers.errors import BadInput
from helpers.steps import digests, recipe


class Text(NamedTuple):
    """A document or a passage: what is indexed, cut into windows and scored."""

    doc_id: str
    title: str
    body: str


class Collection(ABC):
    """What every collection offers."""

    form: str  # how the text that `open_collection` takes for this format looks, as a regular expression; else it has an `opens`
    spec: str  # that text
    name: str
    licence: str = "as its source says"
    units: tuple[str, ...]  # that it can rank: `document`, `passage` or both
    splits: tuple[str, ...] = ()  # of its queries, such as `train`, `dev`, `test`
    chosen: int = 0  # the lowest grade that counts as relevant, where a reader has set one: `<collection>[relevant=2]`
    is_here: bool = True  # whether it can be read
    split_by_article: bool = False  # whether each article answers queries of one split alone: a training must keep to its split's

    @classmethod
    def opens(cls, spec: str) -> bool:
        """Whether a text names a collection of this format."""
        return re.fullmatch(cls.form, spec, re.DOTALL) is not None

    @abstractmethod
    def texts(self, unit: str) -> Iterator[Text]:
        """Stream the texts of a unit in the collection's order."""

    def queries(self, split: str) -> pd.DataFrame:
        """Columns query_id, text, and any labels that the collection has (answer_type, style); BadInput if it has no queries."""
        raise self.lacks("queries")

    def qrels(self, unit: str, split: str) -> pd.DataFrame:
        """Columns query_id, doc_id, relevance for the queries of the split; BadInput if it has no judgments."""
        raise self.lacks("judgments")

    def lacks(self, what: str) -> BadInput:
        """The error where queries or judgments are wanted of texts that have none."""
        return BadInput(f"{self.name} has no {what}", file=self.spec, mend="search it, or pre-train on it")

    def is_judged(self, unit: str, split: str) -> bool:
        """Whether the queries of a split have judgments."""
        return True

    def relevant_from(self, unit: str, split: str) -> int:
        """The lowest grade that counts as relevant in binary measures: what the reader set, else the collection's own rule."""
        return self.chosen or self.rule(unit, split)

    def rule(self, unit: str, split: str) -> int:
        """The collection's own rule: every grade above 0 counts, as in ir_measures, unless it declares another."""
        return 1

    def every_grade_gains(self, unit: str, split: str) -> bool | None:
        """Whether every grade gains in graded measures, as ir_measures has it; None for the rule of the recorded runs: of
        judgments without irrelevant texts only the relevant ones gain (`pools.gaining`)."""
        return True

    @abstractmethod
    def text_digest(self, unit: str) -> str:
        """A digest that changes when any text of the unit changes."""

    @property
    def home(self) -> str:
        """The collection that a warm-up learns from: this one, unless its texts are another's, put together in other ways."""
        return self.spec

    def sources(self, kind: str, *names: str) -> list[Path]:
        """The files that a part is read from: while they stay as they are, so does its digest; none of what an id names."""
        return []

    def frame_digest(self, kind: str, *names: str) -> str:
        """A digest that changes when any of the queries or judgments (`kind`) changes."""
        return recipe.sha256(getattr(self, kind)(*names).to_csv(index=False, lineterminator="\n"))

    def part(self, kind: str, *names: str) -> "Part":
        """A part for a step: `part("texts", unit)`, `part("queries", split)` or `part("qrels", unit, split)`."""
        unit = {"texts": names[0], "qrels": names[0]}.get(kind)
        if unit is not None and unit not in self.units:
            raise BadInput(f"{self.name} has no unit {unit!r}", mend=f"choose from {', '.join(self.units)}")
        if kind != "texts" and not self.splits:
            raise self.lacks("queries" if kind == "queries" else "judgments")
        if kind != "texts" and names[-1] not in self.splits:
            raise BadInput(f"{self.name} has no split {names[-1]!r}",
                           mend=f"choose from {', '.join(self.splits)}, or add its queries and judgments")
        return Part(self, kind, names)


class Part:
    """One part of a collection as a step's argument: known by its digest, loaded only when it is used."""

    def __init__(self, collection: Collection, kind: str, names: tuple[str, ...]):
        self.collection, self.kind, self.names = collection, kind, names

    @property
    def digest(self) -> str:
        """Of the content, wherever it lies: the same data in another folder is the same part."""
        of = self.collection
        return digests.once((of.spec, self.kind, self.names), self.sources(), lambda: (
            of.text_digest(*self.names) if self.kind == "texts" else of.frame_digest(self.kind, *self.names)))

    def sources(self) -> list[Path]:
        """The files that it is read from."""
        return self.collection.sources(self.kind, *self.names)

    @property
    def is_here(self) -> bool:
        """Whether it can be read."""
        return self.collection.is_here

    def recipe(self) -> dict[str, Any]:
        """The part as it stands in a step's recipe; only the digest enters the key."""
        return {"data": [self.kind, *self.names], "collection": self.collection.spec, "digest": self.digest}

    def load(self) -> Any:
        """The queries or judgments as a frame; the texts one after the other."""
        return getattr(self.collection, self.kind)(*self.names)
