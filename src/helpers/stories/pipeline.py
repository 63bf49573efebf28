"""The chapter *The pipeline* (Alarfaj 2022, chapters 4 and 5)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import pandas as pd

from helpers.data.collection_base import Collection
from helpers.data.queries import adhoc_queries
from helpers.data.texts import Texts, text_store
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.significance import mean_interval
from helpers.pages import claims, compare, page
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.stories.alarfaj import BERT, BM25, STUDY, Settings
from helpers.systems.evaluated import Systems
from helpers.systems.pipeline import Pipeline, title_of
from helpers.systems.testbed import Testbed

RANDOM = "BM25 + BERT, random negatives"
UNITS = {"gigabytes": "GB", "megabytes": "MB", "kilobytes": "kB"}
SPLITS = {"train": "Train", "dev": "Validation", "test": "Test"}  # as the study calls them


def stages_table(pipeline: Pipeline, query: str, collection: str, unit: str, k: int) -> Fragment:
    """The best documents of one query after each stage, side by side."""
    bed = Testbed(collection, unit, adhoc_queries=adhoc_queries([query]))
    store = Texts(bed.store.value())
    stages = {name: [title_of(store, doc) for doc in step.value()["doc_id"].head(k)]
              for name, step in pipeline.stages(bed).items()}
    rows = [[str(rank), *titles] for rank, titles in enumerate(zip_longest(*stages.values(), fillvalue=""), start=1)]
    return page.show_table(f"“{query}” through the pipeline: the first {k} after each stage", ("rank", *stages), rows,
                           numeric_from=9)


def answers_table(answers: pd.DataFrame) -> Fragment:
    """What `Pipeline.search` gives, as a table."""
    if answers.empty:
        return page.prose("No document holds a word of these queries.")
    return page.records_table("The pipeline's answers", [
        {"query": line["query"], "rank": line["rank"], "document": line["title"], "score": plain(line["score"])}
        for line in answers.to_dict("records")], numeric_from=3)


def files_table(source: Collection, unit: str) -> Fragment:
    """Table 1 for this collection: records and size of its texts, and of the queries and judgments of each split."""
    known = {place: f"{entry.printed} {UNITS.get(entry.measure, '')}".strip()
             for place, entry in published.cells(STUDY, "1").items()}
    files: dict[str, Iterable[Sequence[Any]]] = {"Collection": Texts(text_store(source.part("texts", unit)).value())}
    for split in sorted(source.splits, key=lambda split: [*SPLITS, split].index(split)):
        name = SPLITS.get(split, split)
        files[f"{name} queries"] = source.queries(split)[["query_id", "text"]].itertuples(index=False)
        files[f"{name} qrels"] = judgments(source, unit, split)
    rows = []
    for name, lines in files.items():
        sizes = [sum(len(str(field).encode()) + 1 for field in line) for line in lines]  # as lines of tab-separated fields
        rows.append([name, known.get((name, "Number of records"), ""), count(len(sizes)) if sizes else "none",
                     known.get((name, "Size"), ""), f"{count(-(-sum(sizes) // 1000))} kB"])
    header = ("file", "records, published", "this collection", "size, published", "this collection")
    return page.show_table("The files of the collection (table 1)", header, rows)


def judgments(source: Collection, unit: str, split: str) -> Iterable[Sequence[Any]]:
    """The judgments of a split; none if their file is missing, as it is for queries kept for a leaderboard."""
    try:
        return source.qrels(unit, split).itertuples(index=False)
    except BadInput as error:
        if error.line is not None:  # the file is there, but damaged
            raise
        return []


def with_random_negatives(settings: Settings) -> Pipeline:
    """BERT as the study trains it, beside documents drawn at random."""
    return Pipeline(replace(settings.bert(), negatives="random"), candidates=settings.candidates)


def negatives_table(systems: Systems) -> Fragment:
    """What the choice of negatives changes."""
    return compare.differences_table("Negatives from rankings, and drawn at random", {
        "BERT by its negatives": (systems[BERT], systems[RANDOM]), f"{RANDOM} and {BM25}": (systems[RANDOM], systems[BM25])},
        "nDCG@10")


def signs(systems: Systems) -> dict[str, bool]:
    """What the discussion rests on besides the claim."""
    pair = (systems[BERT].values["nDCG@10"], systems[RANDOM].values["nDCG@10"])
    return {"negatives drawn at random are not surely worse": bool(mean_interval(pair[0] - pair[1]).low <= 0)}


def claims_table(systems: Systems) -> Fragment:
    """The chapter's claim: re-ranking by BERT compared with BM25, in precision."""
    return claims.judge("pipeline", {"bert-reranking-beats-bm25": (systems[BERT], systems[BM25])})
