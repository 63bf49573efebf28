"""The chapter *Broad topics*: table 2 of Alarfaj (2022) in full."""

from collections.abc import Mapping, Sequence

from helpers.pages.compare import against_published, measures_table
from helpers.pages.fragments import Fragment
from helpers.pages.page import prose
from helpers.stories.alarfaj import BERT, BM25, COLUMNS, MEASURES, STUDY, TABLE, Settings
from helpers.stories.wording import effect
from helpers.systems.evaluated import Evaluation
from helpers.systems.pipeline import Pipeline


def pipelines(settings: Settings, lengths: Sequence[int], feedback_length: int) -> dict[str, Pipeline]:
    """Every row of table 2."""
    return {**settings.bert_rows(), **settings.longformer_rows(lengths, feedback_length)}


def column(name: str, systems: Mapping[str, Evaluation]) -> Fragment:
    """One column of table 2, published and measured, against BM25."""
    return against_published(STUDY, TABLE, name, COLUMNS[name], systems, BM25)


def whole(caption: str, systems: Mapping[str, Evaluation]) -> Fragment:
    """All measures of all rows."""
    return measures_table(caption, systems, MEASURES)


def finding(topics: Mapping[str, Evaluation], ordinary: Mapping[str, Evaluation]) -> Fragment:
    """The chapter's last words."""
    said = []
    for name, systems in (("broad topics", topics), ("ordinary queries", ordinary)):
        best = max(systems, key=lambda row: systems[row].mean("nDCG@10").mean)
        change = effect(systems[BERT].against(systems[BM25], "nDCG@10"))
        said.append(f"On the {name} BERT changes nDCG@10 by {change} against BM25; the highest mean is that of {best}.")
    return prose(*said)
