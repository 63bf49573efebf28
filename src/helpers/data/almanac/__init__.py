"""The Almanac: the built-in collection (CC0), an original miniature of MS MARCO. `DATASHEET.md` describes it.

    open_collection("almanac")
    open_collection("almanac/4")                every fourth article, with the queries that these answer
    open_collection("almanac/long")             documents that are long: the answer stands in any part
    open_collection("almanac/long-early")       the same parts, the answer in the first: early, as in MS MARCO
    open_collection("almanac/4/long")           made of every fourth article

A long document joins articles of one domain and one split, in their order, three to five at a time; sizes and leads are drawn
with a seed. One article of each document is its *lead*. Of the ordinary queries those alone are kept that a lead answers, the
same in both collections: they compare places query by query. Nothing else may tell which part that is. The first part's title
would stand in front of every window, and be the lead's in one collection alone; so the title is the domain, and each part begins
with its own.
"""

import functools
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate, islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pandas as pd

from helpers import paths
from helpers.data.collection_base import Collection, Text
from helpers.data.lines import json_lines
from helpers.data.texts import splits_of
from helpers.errors import BadInput
from helpers.steps import digests, recipe


class Almanac(Collection):
    """1,000 articles of six sections, 5,994 typed and styled queries, 60 broad topics with graded judgments."""

    form = r"almanac(/[1-9]\d*)?"
    name = "The Almanac"
    licence = "CC0 1.0"
    split_by_article = True
    units = ("document", "passage")
    splits = ("train", "dev", "test", "topics")

    def __init__(self, spec: str = "almanac"):
        """The whole, or a part of it."""
        self.spec = spec
        self.every = int(spec.partition("/")[2] or 1)  # of so many articles the first

    def articles(self) -> Iterator[dict[str, Any]]:
        """Stream the articles as they are stored: doc_id, domain, title, sections of heading and text."""
        return islice(json_lines(paths.ALMANAC / "documents.jsonl.gz"), 0, None, self.every)

    @functools.cached_property
    def _ids(self) -> set[str]:
        return {article["doc_id"] for article in self.articles()}

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
        rows = _judgments(unit)
        return rows.copy() if self.every == 1 else rows[rows["doc_id"].str.partition(".")[0].isin(self._ids)]

    def rule(self, unit: str, split: str) -> int:
        """Grade 2, answers at least in part: grade 1 marks siblings that are related and no more."""
        return 2

    def every_grade_gains(self, unit: str, split: str) -> bool | None:
        """None: ordinary queries name siblings that somebody thought of, so these gain nothing; topics are pooled."""
        return None

    def similarity(self) -> pd.DataFrame:
        """600 sentence pairs: columns pair_id, score (0 to 5), sentence1, sentence2."""
        return _table("similarity.tsv").astype({"score": float})

    def text_digest(self, unit: str) -> str:
        """Of the article file; the unit is part of it, since both units come from the same file."""
        part = f"/{self.every}" if self.every > 1 else ""
        return recipe.sha256(digests.sha256(paths.ALMANAC / "documents.jsonl.gz") + unit + part)

    def sources(self, kind: str, *names: str) -> list[Path]:
        """All of its files, which are few."""
        return sorted(file for file in paths.ALMANAC.iterdir() if file.suffix in (".gz", ".tsv", ".txt"))


@functools.cache
def _table(name: str) -> pd.DataFrame:  # read once, and never changed: a chapter opens the Almanac some thirty times
    return pd.read_csv(paths.ALMANAC / name, sep="\t", dtype=str, quoting=3, keep_default_na=False)


@functools.cache
def _judgments(unit: str) -> pd.DataFrame:
    rows = pd.read_csv(paths.ALMANAC / f"qrels.{unit}s.txt", sep=" ", header=None, dtype=str,
                       names=["query_id", "iteration", "doc_id", "relevance"])
    return rows.drop(columns="iteration").astype({"relevance": int})


PARTS = (3, 4, 5)  # articles of a document
FEWEST, MOST = 1_670, 2_940  # its words: with any neighbours of the Almanac they make 2,000 to 4,000 word pieces
MIXED = "mixed"  # the domain of documents that are made of what the domains leave over

Article = dict[str, Any]  # doc_id, domain, title, sections of heading and text


class Joined(NamedTuple):
    """A document: its articles in their order, and which of them is the lead."""

    doc_id: str
    domain: str
    parts: list[Article]
    lead: int


def joined(articles: list[Article], splits: dict[str, str], seed: int) -> list[Joined]:
    """The documents that articles make, by domain and first article, numbered within the domain.

    What a domain cannot join (too few are left, or they are too long together) is joined across domains, still within its split;
    what remains then, mostly an article or two, is left out.

    Args:
        articles: by rising id.
        splits: of each article; one that is missing here is left out.
        seed: draws how many articles each document takes, and its lead. Of the documents of one split and one number of parts
            no place has two leads more than another.
    """
    groups: dict[tuple[str, str], list[Article]] = defaultdict(list)
    for article in articles:
        if article["doc_id"] in splits:
            groups[article["domain"], splits[article["doc_id"]]].append(article)
    rests: dict[tuple[str, str], list[Article]] = defaultdict(list)
    runs: list[tuple[str, str, list[Article]]] = []
    for (domain, split), group in groups.items():
        cuts, rest = runs_of(group, Random(f"{seed} {domain} {split}"))
        runs += [(domain, split, run) for run in cuts]
        rests[MIXED, split] += rest
    for (domain, split), group in rests.items():
        runs += [(domain, split, run) for run in runs_of(group, Random(f"{seed} {domain} {split}"))[0]]
    runs.sort(key=lambda run: (run[0], run[2][0]["doc_id"]))  # so that a document's number does not tell its split
    leads = {(split, parts): places(parts, Random(f"{seed} {split} {parts}")) for split in splits.values() for parts in PARTS}
    counts: dict[str, int] = defaultdict(int)
    found = []
    for domain, split, run in runs:
        counts[domain] += 1
        found.append(Joined(f"long-{domain}-{counts[domain]:02}", domain, run, next(leads[split, len(run)])))
    return found


def runs_of(articles: list[Article], random: Random) -> tuple[list[list[Article]], list[Article]]:
    """The longest beginning of the articles that can be cut into documents, cut; and the rest."""
    words = [len(" ".join([article["title"], *(text for section in article["sections"] for text in section.values())]).split())
             for article in articles]
    end, cuts = next((end, cuts) for end in range(len(words), -1, -1) if (cuts := sizes(words[:end], random)) is not None)
    return [articles[stop - size:stop] for size, stop in zip(cuts, accumulate(cuts), strict=True)], articles[end:]


def sizes(words: list[int], random: Random) -> list[int] | None:
    """How many articles of so many words each document takes, drawn anew where they leave a rest; None if they always do."""
    if not words:
        return []
    for size in random.sample(PARTS, len(PARTS)):
        if size <= len(words) and FEWEST <= sum(words[:size]) <= MOST and (rest := sizes(words[size:], random)) is not None:
            return [size, *rest]
    return None


def places(parts: int, random: Random) -> Iterator[int]:
    """Places of leads without end: each once, in an order that is drawn, then each once again."""
    while True:
        yield from random.sample(range(parts), parts)


class LongAlmanac(Almanac):
    """Each article stands in one document at most, with others of its split; a document's grade is that of its best part."""

    form = f"{Almanac.form}/long(-early)?"
    name = "The Almanac, long documents"
    seed = 1  # of the cuts and of the leads

    def __init__(self, spec: str = "almanac/long"):
        """Of the whole, or of a part of it."""
        self._home, _, order = spec.rpartition("/")
        super().__init__(self._home)
        self.spec, self.early = spec, order == "long-early"

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
        if self.early:
            found = [one._replace(parts=[one.parts[one.lead], *one.parts[:one.lead], *one.parts[one.lead + 1:]], lead=0)
                     for one in found]
        return found

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
        moved: dict[str, str] = {}  # where each article, or each of its passages, is now
        for document in self.documents:
            passages = [f"{part['doc_id']}.{number}" for part in document.parts for number in range(len(part["sections"]))]
            moved |= ({part["doc_id"]: document.doc_id for part in document.parts} if unit == "document" else
                      {passage: f"{document.doc_id}.{number}" for number, passage in enumerate(passages)})
        rows = super()._judged(unit)
        rows["doc_id"] = rows["doc_id"].map(moved)
        return rows.dropna().groupby(["query_id", "doc_id"], sort=False, as_index=False).max()

    def text_digest(self, unit: str) -> str:
        """Of the texts as they come out: what the rule and the seed make of the articles."""
        return recipe.sha256(recipe.canonical([list(text) for text in self.texts(unit)]))
