"""The chapter *First passage or whole document* (Alarfaj 2022, sections 2.3.3 and 6.3)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from helpers.pages import compare, page, plots
from helpers.pages.compare import above, lead
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, p_value, plain, signed
from helpers.reranking.aggregation import reranked
from helpers.stories.alarfaj import BM25, Settings
from helpers.systems.document_reader import DocumentReader
from helpers.systems.evaluated import Evaluation, Systems, evaluate, values_of
from helpers.systems.reranking_experiment import Scorer
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZERO_SHOT, ZeroShotReranker

MEASURES = ("RR@10", "R@10", "nDCG@10")
WINDOWS = {"BERT, best window (MaxP)": "max", "BERT, mean of windows (MeanP)": "mean", "BERT, sum of windows (SumP)": "sum"}
WINDOWED, LONG = "BERT, windows", "Longformer, whole document"
PARTS = ("first third", "middle third", "last third")
EVEN = 0.5  # where the middle of an answer stands on average, if answers are spread evenly over their documents


def first(tokens: int) -> str:
    """The name of BERT on the first tokens."""
    return f"BERT, first {tokens} tokens (FirstP)"


def readers(settings: Settings, first_tokens: Sequence[int], longformers: Mapping[str, int]) -> dict[str, DocumentReader]:
    """The models by what they read: first passages, windows, and Longformers of so many tokens, by their names."""
    return {**{first(tokens): settings.bert(tokens) for tokens in first_tokens}, WINDOWED: settings.windows(),
            **{name: settings.longformer(length) for name, length in longformers.items()}}


def evaluations(bed: Testbed, settings: Settings, models: Mapping[str, DocumentReader]) -> dict[str, Evaluation]:
    """BM25 and every way of reading its candidates, the zero-shot encoder's too; documents below these keep BM25's order."""
    ways: dict[str, tuple[Scorer, str]] = {}
    for name, model in models.items():
        ways |= {window: (model, how) for window, how in WINDOWS.items()} if name == WINDOWED else {name: (model, "first")}
    zero_shot = ZeroShotReranker(settings.reader.backbone)
    ways[zero_shot.label] = (zero_shot, "max")
    run = settings.classical().run(bed)
    runs = {BM25: run, **{name: reranked(model.scores(bed, run, settings.candidates), how, run)
                          for name, (model, how) in ways.items()}}
    return {name: evaluate(name, step, bed, MEASURES) for name, step in runs.items()}


def signs(systems: Systems, first_tokens: Sequence[int]) -> dict[str, bool]:
    """What the discussion rests on."""
    best = next(iter(WINDOWS))
    trained = [name for name in systems if name != BM25 and not name.startswith(ZERO_SHOT)]
    return {"the best window ranks above the longest first passage":
            lead(systems[best], systems[first(max(first_tokens))], "RR@10") > 0,
            "the whole document is not surely better than its first passage":
            not above(systems[LONG], systems[first(max(first_tokens))], "nDCG@10"),
            "of the trained models the best window alone ranks above BM25":
            [name for name in trained if lead(systems[name], systems[BM25], "RR@10") > 0] == [best],
            "the best window's lead over BM25 is sure": above(systems[best], systems[BM25], "RR@10")}


def late_signs(systems: Systems, shares: pd.Series | None) -> dict[str, bool]:
    """The same of the place of the answer; nothing where it is not known, or on one side of the middle alone."""
    if shares is None or not (shares < EVEN).any() or not (shares >= EVEN).any():
        return {}
    values = values_of(systems, list(systems), "RR@10").loc[shares.index]
    falls = values[shares < EVEN].mean() - values[shares >= EVEN].mean()
    cut = falls.index.str.endswith("(FirstP)")
    return {"late answers are harder for every reader, most for the first passages": bool(
        falls.min() > 0 and falls[cut].min() > falls[~cut].max())}


def differences(systems: Systems, first_tokens: Sequence[int]) -> Fragment:
    """Every way of reading compared with the first passage."""
    base = first(max(first_tokens))
    pairs = {f"{name}, and {base}": (systems[name], systems[base]) for name in systems if name != base}
    best = next(iter(WINDOWS))
    return compare.differences_table(f"Compared with {base}, and the best window with {BM25}",
                                     pairs | {f"{best}, and {BM25}": (systems[best], systems[BM25])}, "RR@10")


def places(bed: Testbed) -> pd.Series | None:
    """For each query where the middle of its answer stands, as a share of its document; None where the judgments do not say.

    The middle, since an answer of some length cannot begin at the end of its document: beginnings lie early even if answers are
    spread evenly.
    """
    if bed.positions is None:
        return None
    answers = bed.positions.value().drop_duplicates("query_id").set_index("query_id")
    shares = ((answers["begins"] + answers["length"] / 2) / answers["words"]).reindex(bed.judged).dropna()
    return shares if len(shares) else None


def parts(shares: pd.Series) -> pd.Series:
    """The part of its document in which the middle of each answer stands, a category in their order."""
    return pd.cut(shares, list(np.linspace(0, 1, len(PARTS) + 1)), right=False, labels=list(PARTS)).fillna(PARTS[-1])


def places_table(shares: pd.Series | None) -> Fragment:
    """How many answers stand in each part of their documents."""
    if shares is None:
        return page.prose("The judgments of this collection do not say in which passage of a document an answer is.")
    return page.records_table("Where the middle of the answer lies", [
        {"part of the document": part, "queries": count(number), "share": plain(number / len(shares))}
        for part, number in parts(shares).value_counts(sort=False).items()])


def by_place(systems: Systems, shares: pd.Series | None) -> Fragment:
    """RR@10 of every system by the place of the answer."""
    if shares is None:
        return page.prose("Without the places of the answers there is no figure of success by place.")
    groups = parts(shares).sort_values(kind="stable")
    values = values_of(systems, list(systems), "RR@10").loc[groups.index]
    return plots.means_by_group(values, groups, "RR@10",
                                "RR@10 by the part of the document that has the answer, with 95 % intervals.")


def trends_table(systems: Systems, shares: pd.Series | None) -> Fragment:
    """Does success fall with the place of the answer? Rank correlation of RR@10 with it."""
    if shares is None:
        return page.prose("Nor can it be tested whether success depends on the place.")
    values = values_of(systems, list(systems), "RR@10").loc[shares.index]
    correlations = {name: result for name in systems if (result := correlation(shares, values[name]))}
    halves = {"RR@10, answer in the first half": values[shares < EVEN], "in the second half": values[shares >= EVEN]}
    return page.records_table("Does success depend on where the answer is?", [
        {"system": name, **{head: plain(half[name].mean()) if len(half) else "" for head, half in halves.items()},
         "Spearman's ρ with the place": signed(correlations[name][0]) if name in correlations else "",
         "p": p_value(correlations[name][1]) if name in correlations else ""} for name in systems])


def correlation(shares: pd.Series, values: pd.Series) -> tuple[float, float] | None:
    """Spearman's correlation and its p; None for fewer than three queries, or if all of a series are equal."""
    if len(shares) < 3 or shares.nunique() == 1 or values.nunique() == 1:
        return None
    result = stats.spearmanr(shares, values)
    return float(result.statistic), float(result.pvalue)
