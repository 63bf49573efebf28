"""The chapter *Broad topics*: table 2 of Alarfaj (2022) in full."""

from collections.abc import Mapping

from helpers.pages.fragments import Fragment
from helpers.pages.page import prose
from helpers.stories.alarfaj import BERT, BM25
from helpers.stories.wording import effect
from helpers.systems.evaluated import Evaluation


def finding(topics: Mapping[str, Evaluation], ordinary: Mapping[str, Evaluation]) -> Fragment:
    """The chapter's last words."""
    text = []
    for name, systems in (("broad topics", topics), ("ordinary queries", ordinary)):
        best = max(systems, key=lambda row: systems[row].mean("nDCG@10").mean)
        change = effect(systems[BERT].against(systems[BM25], "nDCG@10"))
        text.append(f"On the {name} BERT changes nDCG@10 by {change} against BM25; the highest mean is that of {best}.")
    return prose(*text)
