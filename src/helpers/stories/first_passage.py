"""The chapter *First passage or whole document* (Alarfaj 2022, sections 2.3.3 and 6.3)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from helpers import claims, compare, page, plots
from helpers.aggregation import aggregate
from helpers.evaluation import Evaluation, evaluate, values_of
from helpers.fragments import Fragment
from helpers.numbers import count, p_value, plain
from helpers.steps import Step
from helpers.stories.alarfaj import BM25, Settings
from helpers.stories.wording import effect
from helpers.testbed import Testbed

MEASURES = ("RR@10", "R@10", "nDCG@10")
MAX, MEAN, LONG = "BERT, best window (MaxP)", "BERT, mean of windows (MeanP)", "Longformer, whole document"
PARTS = ("first fifth", "second", "third", "fourth", "last fifth")


def first(tokens: int) -> str:
    """The name of BERT on the first tokens."""
    return f"BERT, first {tokens} tokens (FirstP)"


def evaluations(bed: Testbed, settings: Settings, first_tokens: Sequence[int], length: int) -> dict[str, Evaluation]:
    """BM25 and every way of reading its candidates."""
    run = bed.bm25(settings.classical().k1, settings.classical().b, settings.classical().depth)
    windows = settings.base.scores(bed, run, settings.candidates)
    scores: dict[str, tuple[Step, str]] = {
        **{first(tokens): (settings.bert(tokens).scores(bed, run, settings.candidates), "first") for tokens in first_tokens},
        MAX: (windows, "max"), MEAN: (windows, "mean"),
        LONG: (settings.longformer(length).scores(bed, run, settings.candidates), "first")}
    return {BM25: evaluate(BM25, run.value(), bed, MEASURES, run),
            **{name: evaluate(name, aggregate(step.value(), how), bed, MEASURES, step) for name, (step, how) in scores.items()}}


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
    """For each query the share of its document that stands before the answer; None where passages are not judged."""
    if bed.positions is None:
        return None
    found = bed.positions.value().drop_duplicates("query_id").set_index("query_id")
    return (found["begins"] / found["words"]).reindex(bed.judged).dropna()


def parts(shares: pd.Series) -> pd.Series:
    """The fifth of its document in which each answer begins."""
    return (shares * len(PARTS)).astype(int).clip(upper=len(PARTS) - 1).map(dict(enumerate(PARTS)))


def places_table(shares: pd.Series) -> Fragment:
    """How many answers begin in each fifth of their documents."""
    counts = parts(shares).value_counts().reindex(list(PARTS), fill_value=0)
    rows = [[part, count(int(number)), plain(number / counts.sum())] for part, number in counts.items()]
    return page.show_table("Where the answer begins", ("part of the document", "queries", "share"), rows)


def by_place(systems: Mapping[str, Evaluation], shares: pd.Series) -> Fragment:
    """RR@10 of every system by the place of the answer."""
    groups = parts(shares)
    values = values_of(systems, list(systems), "RR@10").loc[groups.index]
    order = groups.map({part: number for number, part in enumerate(PARTS)}).sort_values(kind="stable").index
    return plots.means_by_group(values.loc[order], groups.loc[order], "RR@10",
                                "RR@10 by the fifth of the document in which the answer begins, with 95 % intervals.")


def trends_table(systems: Mapping[str, Evaluation], shares: pd.Series) -> Fragment:
    """Does success fall with the place of the answer? Rank correlation of RR@10 with the share of the document before it."""
    rows = []
    for name, system in systems.items():
        values = system.values["RR@10"].loc[shares.index]
        found = stats.spearmanr(shares, values)
        halves = [plain(values[(shares < 0.5) == early].mean()) for early in (True, False)]
        rows.append([name, *halves, plain(float(found.statistic)), p_value(float(found.pvalue))])
    header = ("system", "RR@10, answer in the first half", "in the second half", "Spearman's ρ with the place", "p")
    return page.show_table("Does success depend on where the answer begins?", header, rows)


def finding(systems: Mapping[str, Evaluation], shares: pd.Series | None, first_tokens: Sequence[int]) -> Fragment:
    """The chapter's last words."""
    base = systems[first(max(first_tokens))]
    said = [f"Against {base.label}, Longformer on the whole document stands at {effect(systems[LONG].against(base, 'RR@10'))} in "
            f"RR@10, the best window at {effect(systems[MAX].against(base, 'RR@10'))}."]
    if shares is not None and len(shares):
        uniform = stats.chisquare(parts(shares).value_counts().reindex(list(PARTS), fill_value=0))
        early = float(np.mean(shares < 0.5))
        said.append(f"A share of {plain(early)} of the answers begins in the first half of its document; the chi-square test "
                    f"of an even spread over fifths gives p {p_value(float(uniform.pvalue))}.")
    return page.prose(*said)
