"""The chapter *First passage or whole document* (Alarfaj 2022, sections 2.3.3 and 6.3)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from helpers.evaluation import verdicts
from helpers.evaluation.significance import mean_interval, permutation_p
from helpers.pages import claims, compare, page, plots
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, interval, p_value, plain, signed
from helpers.reranking.aggregation import reranked
from helpers.steps import Step
from helpers.stories.alarfaj import BM25, Settings
from helpers.stories.wording import effect
from helpers.systems.evaluated import Evaluation, evaluate, values_of
from helpers.systems.testbed import Testbed

MEASURES = ("RR@10", "R@10", "nDCG@10")
MAX, MEAN, LONG = "BERT, best window (MaxP)", "BERT, mean of windows (MeanP)", "Longformer, whole document"
PARTS = ("first third", "middle third", "last third")
EVEN = 0.5  # where the middle of an answer stands on average, if answers are spread evenly over their documents


def first(tokens: int) -> str:
    """The name of BERT on the first tokens."""
    return f"BERT, first {tokens} tokens (FirstP)"


def evaluations(bed: Testbed, settings: Settings, first_tokens: Sequence[int], length: int) -> dict[str, Evaluation]:
    """BM25 and every way of reading its candidates; documents below these keep BM25's order."""
    run = settings.classical().run(bed)
    windows = settings.base.scores(bed, run, settings.candidates)
    scores: dict[str, tuple[Step, str]] = {
        **{first(tokens): (settings.bert(tokens).scores(bed, run, settings.candidates), "first") for tokens in first_tokens},
        MAX: (windows, "max"), MEAN: (windows, "mean"),
        LONG: (settings.longformer(length).scores(bed, run, settings.candidates), "first")}
    runs = {BM25: run, **{name: reranked(step, how, run) for name, (step, how) in scores.items()}}
    return {name: evaluate(name, step.value(), bed, MEASURES, step) for name, step in runs.items()}


def claims_table(systems: Mapping[str, Evaluation], first_tokens: Sequence[int]) -> Fragment:
    """The chapter's claim: the whole document against its first passage."""
    pair = (systems[LONG], systems[first(max(first_tokens))])
    return claims.judge("first_passage", {"full-document-no-better-than-first-passage": pair})


def differences(systems: Mapping[str, Evaluation], first_tokens: Sequence[int]) -> Fragment:
    """Every way of reading against the first passage."""
    base = first(max(first_tokens))
    pairs = {name: (systems[name], systems[base]) for name in systems if name != base}
    return compare.differences_table(f"Against {base}", pairs, "RR@10")


def places(bed: Testbed) -> pd.Series | None:
    """For each query where the middle of its answer stands, as a share of its document; None where the judgments do not say.

    The middle, since an answer of some length cannot begin at the end of its document: beginnings lie early even if answers are
    spread evenly.
    """
    if bed.positions is None:
        return None
    found = bed.positions.value().drop_duplicates("query_id").set_index("query_id")
    shares = ((found["begins"] + found["length"] / 2) / found["words"]).reindex(bed.judged).dropna()
    return shares if len(shares) else None


def parts(shares: pd.Series) -> pd.Series:
    """The part of its document in which the middle of each answer stands."""
    return (shares * len(PARTS)).astype(int).clip(upper=len(PARTS) - 1).map(dict(enumerate(PARTS)))


def places_table(shares: pd.Series | None) -> Fragment:
    """How many answers stand in each part of their documents."""
    if shares is None:
        return page.prose("The judgments of this collection do not say in which passage of a document an answer stands.")
    counts = parts(shares).value_counts().reindex(list(PARTS), fill_value=0)
    rows = [[part, count(int(number)), plain(number / counts.sum())] for part, number in counts.items()]
    return page.show_table("Where the middle of the answer stands", ("part of the document", "queries", "share"), rows)


def by_place(systems: Mapping[str, Evaluation], shares: pd.Series | None) -> Fragment:
    """RR@10 of every system by the place of the answer."""
    if shares is None:
        return page.prose("Without the places of the answers there is no figure of success by place.")
    groups = parts(shares)
    values = values_of(systems, list(systems), "RR@10").loc[groups.index]
    order = groups.map({part: number for number, part in enumerate(PARTS)}).sort_values(kind="stable").index
    return plots.means_by_group(values.loc[order], groups.loc[order], "RR@10",
                                "RR@10 by the part of the document in which the answer stands, with 95 % intervals.")


def trends_table(systems: Mapping[str, Evaluation], shares: pd.Series | None) -> Fragment:
    """Does success fall with the place of the answer? Rank correlation of RR@10 with it, p corrected by Holm's method."""
    if shares is None:
        return page.prose("Nor can it be tested whether success depends on the place.")
    values = values_of(systems, list(systems), "RR@10").loc[shares.index]
    found = {name: correlation(shares, values[name]) for name in systems}
    tested = {name: p for name, (_, p) in found.items() if p is not None}
    corrected = dict(zip(tested, verdicts.holm(list(tested.values())), strict=True))
    rows = []
    for name, (rho, _) in found.items():
        halves = [values.loc[(shares < EVEN) == early, name] for early in (True, False)]
        rows.append([name, *(plain(float(half.mean())) if len(half) else "" for half in halves),
                     "" if rho is None else signed(rho), p_value(corrected[name]) if name in corrected else ""])
    header = ("system", "RR@10, answer in the first half", "in the second half", "Spearman's ρ with the place", "p")
    return page.show_table("Does success depend on where the answer stands?", header, rows)


def correlation(shares: pd.Series, values: pd.Series) -> tuple[float, float] | tuple[None, None]:
    """Spearman's correlation and its p; None twice for fewer than three queries, or if all of a series are equal."""
    if len(shares) < 3 or shares.nunique() == 1 or values.nunique() == 1:
        return None, None
    found = stats.spearmanr(shares, values)
    return float(found.statistic), float(found.pvalue)


def finding(systems: Mapping[str, Evaluation], shares: pd.Series | None, first_tokens: Sequence[int]) -> Fragment:
    """The chapter's last words."""
    base = systems[first(max(first_tokens))]
    said = [f"Against {base.label}, Longformer on the whole document stands at {effect(systems[LONG].against(base, 'RR@10'))} in "
            f"RR@10, the best window at {effect(systems[MAX].against(base, 'RR@10'))}."]
    if shares is not None:
        place, p = mean_interval(shares), permutation_p(shares.to_numpy() - EVEN)
        said.append(f"The middle of the answer stands, on average, at a share of {plain(place.mean)} "
                    f"{interval(place.low, place.high)} of its document; spread evenly it would stand at {plain(EVEN)} "
                    f"(permutation p {p_value(p)}). For a share of {plain(float(np.mean(shares < EVEN)))} of the queries it is "
                    "in the first half.")
    return page.prose(*said)
