"""The Almanac: the built-in collection (CC0), an original miniature of MS MARCO. `DATASHEET.md` describes it.

    open_collection("almanac")
    open_collection("almanac/4")        every fourth article, with the queries that these answer
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import paths
from helpers.data.collection_base import Collection, Text
from helpers.data.lines import json_lines
from helpers.steps import digests, recipe


class Almanac(Collection):
    """1,000 articles of six sections, 5,994 typed and styled queries, 60 broad topics with graded judgments."""

    name = "The Almanac"
    licence = "CC0 1.0"
    split_by_article = True
    units = ("document", "passage")
    splits = ("train", "dev", "test", "topics")

    def __init__(self, spec: str = "almanac"):
        """The whole, or a part of it."""
        self.spec = spec
        self.every = int(spec.partition("/")[2] or 1)  # of so many articles the first

    @classmethod
    def opens(cls, spec: str) -> bool:
        """Its name, or that of a part of it."""
        return re.fullmatch(r"almanac(/[1-9]\d*)?", spec) is not None

    def articles(self) -> Iterator[dict[str, Any]]:
        """Stream the articles as they are stored: doc_id, domain, title, sections of heading and text."""
        return islice(json_lines(paths.ALMANAC / "documents.jsonl.gz"), 0, None, self.every)

    def texts(self, unit: str) -> Iterator[Text]:
        """A document's body is its sections, headings included; a passage is one section under its article's title."""
        for article in self.articles():
            sections = [f"{section['heading']}. {section['text']}" for section in article["sections"]]
            if unit == "document":
                yield Text(article["doc_id"], article["title"], "\n\n".join(sections))
            else:
                for number, section in enumerate(sections):
                    yield Text(f"{article['doc_id']}.{number}", article["title"], section)

    def queries(self, split: str) -> pd.DataFrame:
        """Columns query_id, text, answer_type, style; those of a part are answered by one of its articles."""
        frame = _table("queries.tsv")
        frame = frame[frame["split"] == split].drop(columns="split")
        if self.every > 1:
            judged = self._judged("document")
            answered = judged[judged["relevance"] >= self.relevant_from("document", split)]
            frame = frame[frame["query_id"].isin(answered["query_id"])]
        return frame.reset_index(drop=True)

    def qrels(self, unit: str, split: str) -> pd.DataFrame:
        """Grades: 3 answers fully, 2 in part, 1 related, 0 irrelevant (judged irrelevant: topics only)."""
        rows = self._judged(unit)
        return rows[rows["query_id"].isin(set(self.queries(split)["query_id"]))].reset_index(drop=True)

    def _judged(self, unit: str) -> pd.DataFrame:
        rows = pd.read_csv(paths.ALMANAC / f"qrels.{unit}s.txt", sep=" ", header=None, dtype=str,
                           names=["query_id", "iteration", "doc_id", "relevance"]).drop(columns="iteration")
        rows["relevance"] = rows["relevance"].astype(int)
        if self.every > 1:
            rows = rows[rows["doc_id"].str.partition(".")[0].isin({article["doc_id"] for article in self.articles()})]
        return rows

    def rule(self, unit: str, split: str) -> int:
        """Grade 2, answers at least in part: grade 1 marks siblings that are related and no more."""
        return 2

    def every_grade_gains(self, unit: str, split: str) -> bool | None:
        """None: ordinary queries name siblings that somebody thought of, so these gain nothing; topics are pooled."""
        return None

    def topics(self) -> pd.DataFrame:
        """The judge's description of each broad topic: columns query_id, description."""
        return _table("topics.tsv")

    def similarity(self) -> pd.DataFrame:
        """600 sentence pairs: columns pair_id, score (0 to 5), sentence1, sentence2."""
        frame = _table("similarity.tsv")
        frame["score"] = frame["score"].astype(float)
        return frame

    def text_digest(self, unit: str) -> str:
        """Of the article file; the unit is part of it, since both units come from the same file."""
        part = f"/{self.every}" if self.every > 1 else ""
        return recipe.sha256(digests.sha256(paths.ALMANAC / "documents.jsonl.gz") + unit + part)

    def sources(self, kind: str, *names: str) -> list[Path]:
        """All of its files, which are few."""
        return sorted(file for file in paths.ALMANAC.iterdir() if file.suffix in (".gz", ".tsv", ".txt"))


def _table(name: str) -> pd.DataFrame:
    return pd.read_csv(paths.ALMANAC / name, sep="\t", dtype=str, quoting=3, keep_default_na=False)
