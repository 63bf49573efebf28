"""The chapter *Significance* (David 2020, section 4.4, table 4.3)."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from helpers.evaluation import all_pairs, published
from helpers.evaluation.all_pairs import holm
from helpers.evaluation.verdicts import ALPHA
from helpers.pages import claims, matrices, page, plots
from helpers.pages.compare import difference_cell
from helpers.pages.encoders import STUDY
from helpers.pages.fragments import Fragment, Html, details
from helpers.pages.numbers import count, p_value, plain, signed
from helpers.pages.slider import slider
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Systems, values_of

MEASURE = "RR@10"
POWER = 0.8
SHOWN = (0, 0.02, 0.05, 0.1, 0.3)  # of all pairs, the smaller differences
SIZES = (25, 50, 100, 200, 400, 800, 1600, 3200)
OURS, STUDYS = "per query, permutation, Holm", "the study's rule"
CUT = ("the first layers of one model, not a smaller model that was distilled from it: what cutting costs says nothing of "
       "distillation")


def compared(systems: Systems, groups: int, divisions: int) -> pd.DataFrame:
    """Every pair of systems, measured on the same queries, by both rules: what `all_pairs` gives for RR@10, with p_groups,
    holm_groups (the study's test over so many groups, uncorrected as there and corrected) and share (of so many random divisions
    of the queries into groups, those in which it is significant)."""
    values = values_of(systems, list(systems), MEASURE)
    moved = all_pairs.differences(values)
    p_groups = all_pairs.sub_sample_ps(moved, groups)
    return all_pairs.all_pairs(values).assign(p_groups=p_groups, holm_groups=holm(list(p_groups)),
                                              share=all_pairs.significant_share(moved, groups, divisions))


def setting_table(queries: int, groups: int) -> Fragment:
    """The study's test and this run's copy of it."""
    low, high = queries // groups, -(-queries // groups)
    here = {"groups of queries": count(groups), "queries in each group": count(low) if low == high else f"{low:,} or {high:,}",
            "threshold": f"{ALPHA:g}"}
    return page.records_table("The paired t-test over sub-samples, in the study and here", (
        {"setting": name, "published": published.value(STUDY, "text 4.4", "paired t-test", name).printed, "here": value}
        for name, value in here.items()))


def pair_of(models: Mapping[str, BiEncoder]) -> tuple[str, str]:
    """The names of the first encoder, and of the same with the next backbone: they stand for BERT and DistilBERT.

    With one backbone the second name is empty.
    """
    whole, first = next(iter(models.items()))
    others = [name for name, model in models.items() if model.backbone != first.backbone
              and (model.pooling, model.loss) == (first.pooling, first.loss)]
    return whole, next(iter(others), "")


def claims_table(systems: Systems, models: Mapping[str, BiEncoder]) -> Fragment:
    """The chapter's claim: the encoder that stands for DistilBERT compared with that for BERT."""
    claim, (whole, half) = "distilbert-not-different-from-bert", pair_of(models)
    if not half:
        return claims.judge("significance", {claim: "needs a second backbone, to stand for DistilBERT"})
    return claims.judge("significance", {claim: (systems[half], systems[whole])}, backbone=models[whole].backbone,
                        untested={claim: CUT if models[half].backbone.startswith("packaged") else ""})


def square(pairs: pd.DataFrame, column: str, names: list[str]) -> pd.DataFrame:
    """One column of the pairs as a (systems, systems) table, alike on both sides of the diagonal."""
    upper = pairs.pivot(index="first", columns="second", values=column).reindex(index=names, columns=names).fillna(0.0)
    return upper + upper.T


def matrix(systems: Systems, pairs: pd.DataFrame) -> Fragment:
    """The significance matrix: the study's rule above the diagonal, ours below."""
    names = list(systems)
    means = np.array([systems[name].values[MEASURE].mean() for name in names])
    effects = pd.DataFrame(means[:, None] - means, index=names, columns=names)
    caption = ("Above the diagonal the study's rule, below it permutation tests per query with Holm's correction; a dot marks a "
               "significant difference, N none, and the colour is the difference in RR@10.")
    return matrices.pair_matrix(effects, square(pairs, "p_groups", names) < ALPHA, square(pairs, "holm", names) < ALPHA,
                                (STUDYS, OURS), MEASURE, caption)


def rules_table(pairs: pd.DataFrame) -> Fragment:
    """How many pairs each rule calls different: the test and the correction one by one."""
    rules = {f"{STUDYS}: means of sub-samples, t, no correction": "p_groups", "means of sub-samples, t, Holm": "holm_groups",
             "per query, permutation, no correction": "p", OURS: "holm"}
    study, here = pairs["p_groups"] < ALPHA, {rule: pairs[column] < ALPHA for rule, column in rules.items()}
    return page.records_table("Significant pairs by rule (p < 0.05)", (
        {"rule": rule, "significant": f"{sure.sum():,} of {len(pairs):,}",
         "only by the study's rule": count((study & ~sure).sum()), "only by this one": count((sure & ~study).sum())}
        for rule, sure in here.items()))


def pairs_table(systems: Systems, pairs: pd.DataFrame, caption: str) -> Fragment:
    """What each rule says of pairs."""
    def rules(line: pd.Series) -> str:
        return " and ".join(rule for rule, p in (("study", line["p_groups"]), ("per query", line["holm"])) if p < ALPHA)

    return page.records_table(caption, (
        {"pair": f"{line['first']} less {line['second']}", "significant": rules(line) or "neither",
         "difference in RR@10": difference_cell(line["difference"], systems[line["first"]]), "Cohen's d": signed(line["d"], 2),
         "p, sub-samples": p_value(line["p_groups"]), "significant in": f"{line['share']:.0%} of divisions",
         "p, per query": p_value(line["p"]), "p, Holm": p_value(line["holm"])} for _, line in pairs.iterrows()), numeric_from=2)


def signs(pairs: pd.DataFrame) -> dict[str, bool]:
    """What the discussion rests on."""
    same = (pairs["p_groups"] < ALPHA) == (pairs["holm"] < ALPHA)
    return {"the rules agree on every pair": bool(same.all()), "the rules agree on nine pairs of ten": bool(same.mean() >= 0.9),
            "nine pairs of ten differ by the test per query": bool((pairs["holm"] < ALPHA).mean() >= 0.9)}


def disagreements(systems: Systems, pairs: pd.DataFrame) -> Fragment:
    """The pairs on which the two rules differ, with what each says."""
    odd = pairs[(pairs["p_groups"] < ALPHA) != (pairs["holm"] < ALPHA)]
    if odd.empty:
        return page.prose(f"The two rules agree on all {len(pairs)} pairs.")
    return pairs_table(systems, odd, "Where the two rules disagree")


def every_pair(systems: Systems, pairs: pd.DataFrame) -> Fragment:
    """All pairs, to open on a click."""
    return Fragment(details(f"All {len(pairs)} pairs", Html(pairs_table(systems, pairs, "All pairs of systems").html)).text)


def why(pairs: pd.DataFrame, queries: int, groups: int, divisions: int) -> Fragment:
    """Why the rules disagree: freedom, chance and correction."""
    seen = all_pairs.power(groups, all_pairs.shift_of(queries, POWER))
    means, alone = all_pairs.critical(groups), all_pairs.critical(queries)
    torn = int(((pairs["share"] > ALPHA) & (pairs["share"] < 1 - ALPHA)).sum())
    return page.prose(
        f"**Degrees of freedom.** On average the standard error of {groups} means is that of all {queries:,} queries, but it is "
        f"estimated from {groups} values: |t| must exceed {plain(means, 2)} instead of {plain(alone, 2)}, and a difference that "
        f"the queries show with a power of {POWER:.0%} is shown by the means with {seen:.0%}.",
        f"**Chance.** Which queries fall together is drawn. For {torn:,} of the {len(pairs):,} pairs more than {ALPHA:.0%} but "
        f"less than {1 - ALPHA:.0%} of {divisions:,} divisions call the difference significant.",
        f"**Correction.** The study corrects nothing: of {len(pairs):,} pairs of equal systems it would call "
        f"{plain(ALPHA * len(pairs), 1)} different on average; Holm's method keeps the chance of any such error at {ALPHA:.0%}.")


def size_figure(systems: Systems, pairs: pd.DataFrame) -> Fragment:
    """How many queries it takes to see a difference: pairs from the smallest difference to a middling one."""
    moved = all_pairs.differences(values_of(systems, list(systems), MEASURE))
    chosen = np.argsort(np.abs(moved.mean(axis=0)))[sorted({int(part * (len(pairs) - 1)) for part in SHOWN})]
    sizes = [size for size in SIZES if size < len(moved)] + [len(moved)]
    names = [f"{pairs['first'][n]} less {pairs['second'][n]} ({signed(moved[:, n].mean())})" for n in chosen]
    shares = pd.DataFrame(all_pairs.share_by_size(moved[:, chosen], sizes), index=pd.Index(sizes, name="queries"), columns=names)
    drawn = plots.curves({name: shares[name] for name in names}, "queries", "share of samples", "The share of samples of the "
                         "queries, drawn with replacement, in which a paired t-test finds the difference.", log=True)
    error = moved[:, chosen].std(axis=0, ddof=1).max() / np.sqrt(sizes)
    detectable = [all_pairs.shift_of(size, POWER) * own for size, own in zip(sizes, error, strict=True)]
    told = {f"detected with a power of {POWER:.0%} where queries scatter most": detectable}
    return slider(drawn, shares.assign(**told), sizes[len(sizes) // 2])
