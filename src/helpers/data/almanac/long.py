"""Documents that are long: articles of the Almanac, three to five joined (`joining.py`). `DATASHEET.md` describes them.

    open_collection("almanac/long")             the answer stands in any part
    open_collection("almanac/long-early")       the same parts, the answer in the first: early, as in MS MARCO
    open_collection("almanac/4/long")           made of every fourth article

One article of each document is its *lead*. Of the ordinary queries those alone are kept that a lead answers, the same in both
collections: they compare places query by query. Nothing else may tell which part that is. The first part's title would stand in
front of every window, and be the lead's in one collection alone; so the title is the domain, and each part begins with its own.
"""

import functools
import re
from collections.abc import Iterator

import pandas as pd

from helpers.data.almanac import Almanac
from helpers.data.almanac.joining import Joined, joined
from helpers.data.articles import splits_of
from helpers.data.collection_base import Text
from helpers.errors import BadInput
from helpers.steps import recipe


class LongAlmanac(Almanac):
    """Each article stands in one document at most, with others of its split; a document's grade is that of its best part."""

    name = "The Almanac, long documents"
    seed = 1  # of the cuts and of the leads

    def __init__(self, spec: str = "almanac/long"):
        """Of the whole, or of a part of it."""
        self._home, _, order = spec.rpartition("/")
        super().__init__(self._home)
        self.spec, self.early = spec, order == "long-early"

    @classmethod
    def opens(cls, spec: str) -> bool:
        """The name of the Almanac, or of a part of it, and then the order."""
        return re.fullmatch(r"almanac(/[1-9]\d*)?/long(-early)?", spec) is not None

    @property
    def home(self) -> str:
        """The Almanac, or the part of it, that the articles come from: it has the same splits."""
        return self._home

    @functools.cached_property
    def documents(self) -> list[Joined]:
        """Its documents; BadInput if the articles are too few for one."""
        found = joined(list(self.articles()), splits_of(Almanac(self.home)), self.seed)
        if not found:
            raise BadInput(f"{self.home} has too few articles for a long document", mend="take a larger part of the Almanac")
        return [one.with_lead_first() for one in found] if self.early else found

    def texts(self, unit: str) -> Iterator[Text]:
        """A document's body is its parts, each with its title before its sections; a passage is a section under that title."""
        for document in self.documents:
            parts = [(part["title"], [f"{section['heading']}. {section['text']}" for section in part["sections"]])
                     for part in document.parts]
            if unit == "document":
                body = "\n\n".join(piece for title, sections in parts for piece in (title, *sections))
                yield Text(document.doc_id, document.domain.capitalize(), body)
            else:
                passages = ((title, section) for title, sections in parts for section in sections)
                for number, (title, section) in enumerate(passages):
                    yield Text(f"{document.doc_id}.{number}", title, section)

    def queries(self, split: str) -> pd.DataFrame:
        """As in the Almanac; of train, dev and test those that a lead answers."""
        frame = super().queries(split)
        if split == "topics":
            return frame
        leads = {document.parts[document.lead]["doc_id"] for document in self.documents}
        judged = super()._judged("document")
        answered = judged[judged["doc_id"].isin(leads) & (judged["relevance"] >= self.relevant_from("document", split))]
        return frame[frame["query_id"].isin(answered["query_id"])].reset_index(drop=True)

    def _judged(self, unit: str) -> pd.DataFrame:
        rows = super()._judged(unit)
        rows["doc_id"] = rows["doc_id"].map(self._moved(unit))
        return rows.dropna().groupby(["query_id", "doc_id"], sort=False, as_index=False).max()

    def _moved(self, unit: str) -> dict[str, str]:
        """Where each article, or each of its passages, is now."""
        if unit == "document":
            return {part["doc_id"]: document.doc_id for document in self.documents for part in document.parts}
        moved: dict[str, str] = {}
        for document in self.documents:
            passages = [f"{part['doc_id']}.{number}" for part in document.parts for number in range(len(part["sections"]))]
            moved |= {passage: f"{document.doc_id}.{number}" for number, passage in enumerate(passages)}
        return moved

    def text_digest(self, unit: str) -> str:
        """Of the texts as they come out: what the rule and the seed make of the articles."""
        return recipe.sha256(recipe.canonical([list(text) for text in self.texts(unit)]))
