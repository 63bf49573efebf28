"""The chapter *The pipeline* (Alarfaj 2022, chapters 4 and 5)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from helpers.data.collection_base import Collection
from helpers.data.queries import adhoc_queries
from helpers.data.texts import Texts, text_store
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.pages import claims, page
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.stories.alarfaj import BERT, BM25, STUDY
from helpers.stories.wording import effect
from helpers.systems.evaluated import Evaluation
from helpers.systems.pipeline import Pipeline, title_of
from helpers.systems.testbed import Testbed

UNITS = {"gigabytes": "GB", "megabytes": "MB", "kilobytes": "kB"}
SPLITS = {"Train": "train", "Validation": "dev", "Test": "test"}


def stages_table(pipeline: Pipeline, query: str, collection: str, unit: str, k: int) -> Fragment:
    """The best documents of one query after each stage, side by side."""
    bed = Testbed(collection, unit, adhoc_queries=adhoc_queries([query]))
    store = Texts(bed.store.value())
    stages = {name: step.value()["doc_id"].head(k).to_list() for name, step in pipeline.stages(bed).items()}
    rows = [[str(place + 1), *(title_of(store, ids[place]) if place < len(ids) else "" for ids in stages.values())]
            for place in range(max(map(len, stages.values())))]
    return page.show_table(f"“{query}” through the pipeline: the first {k} after each stage", ("rank", *stages), rows,
                           numeric_from=9)


def answers_table(found: pd.DataFrame) -> Fragment:
    """What `Pipeline.search` gives, as a table."""
    if found.empty:
        return page.prose("No document holds a word of these queries.")
    rows = [[query, str(rank), title, plain(score)] for query, rank, title, score in
            zip(found["query"], found["rank"], found["title"], found["score"], strict=True)]
    return page.show_table("The pipeline's answers", ("query", "rank", "document", "score"), rows, numeric_from=3)


def files_table(source: Collection, unit: str) -> Fragment:
    """Table 1 for this collection: records and size of its texts, and of the queries and judgments of each split."""
    known = {(row, column): f"{entry.printed} {UNITS.get(entry.measure, '')}".strip()
             for (row, column), entry in published.cells(STUDY, "1").items()}
    files: dict[str, Iterable[Sequence[Any]]] = {"Collection": Texts(text_store(source.part("texts", unit)).value())}
    for name, split in {**SPLITS, **{split: split for split in source.splits if split not in SPLITS.values()}}.items():
        if split in source.splits:
            files[f"{name} queries"] = records(source.queries(split)[["query_id", "text"]])
            files[f"{name} qrels"] = judgments(source, unit, split)
    rows = []
    for name, lines in files.items():
        records_, bytes_ = measured(lines)
        rows.append([name, known.get((name, "Number of records"), ""), count(records_) if records_ else "none",
                     known.get((name, "Size"), ""), f"{count(-(-bytes_ // 1000))} kB"])
    header = ("file", "records, published", "this collection", "size, published", "this collection")
    return page.show_table("The files of the collection (table 1)", header, rows)


def measured(lines: Iterable[Sequence[Any]]) -> tuple[int, int]:
    """How many records there are, and their bytes as lines of tab-separated fields."""
    sizes = [sum(len(str(field).encode()) + 1 for field in line) for line in lines]
    return len(sizes), sum(sizes)


def records(frame: pd.DataFrame) -> Iterable[Sequence[Any]]:
    """A frame's rows."""
    return frame.itertuples(index=False)


def judgments(source: Collection, unit: str, split: str) -> Iterable[Sequence[Any]]:
    """The judgments of a split; none if their file is missing, as it is for queries kept for a leaderboard."""
    try:
        return records(source.qrels(unit, split))
    except BadInput as error:
        if error.line is not None:  # the file is there, but damaged
            raise
        return []


def claims_table(systems: Mapping[str, Evaluation]) -> Fragment:
    """The chapter's claim: re-ranking by BERT against BM25, in precision."""
    return claims.judge("pipeline", {"bert-reranking-beats-bm25": (systems[BERT], systems[BM25])})


def finding(systems: Mapping[str, Evaluation]) -> Fragment:
    """The chapter's last words."""
    found = {measure: effect(systems[BERT].against(systems[BM25], measure)) for measure in ("P@10", "nDCG@10", "RR@10")}
    return page.prose("Re-ranking by BERT changes " + ", ".join(f"{measure} by {said}" for measure, said in found.items()) + ".")
