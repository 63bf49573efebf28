"""The chapter *Significance* (David 2020, section 4.4, table 4.3)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers.evaluation import published
from helpers.evaluation.all_pairs import all_pairs, differences
from helpers.evaluation.sub_samples import critical, power, shift_of, significant_share, sub_sample_ps
from helpers.evaluation.verdicts import ALPHA, holm
from helpers.pages import claims, matrices, page
from helpers.pages.compare import measured, with_interval
from helpers.pages.fragments import Fragment, details, table
from helpers.pages.numbers import count, interval, p_value, plain, signed
from helpers.stories.david import STUDY, is_packaged, pair_of
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation, values_of

MEASURE = "RR@10"
POWER = 0.8
OURS, STUDYS = "per query, permutation, Holm", "the study's rule"


def compared(systems: Mapping[str, Evaluation], groups: int, divisions: int) -> pd.DataFrame:
    """Every pair of systems by both rules.

    Args:
        systems: on the same queries.
        groups: sub-samples of the study's rule.
        divisions: into how many random sub-samples the queries are divided to see how far the choice matters.

    Returns:
        A row a pair: first, second; difference, low, high (RR@10); d (Cohen's, paired); p, holm (permutation); p_groups,
        holm_groups (the study's test, uncorrected as there and corrected), share (of divisions in which it is significant).
    """
    values = values_of(systems, list(systems), MEASURE)
    pairs, moved = all_pairs(values), differences(values)
    p_groups = sub_sample_ps(moved, groups)
    rows = [(pair.first, pair.second, pair.difference.mean, pair.difference.low, pair.difference.high, pair.d, pair.p, pair.holm)
            for pair in pairs]
    frame = pd.DataFrame(rows, columns=["first", "second", "difference", "low", "high", "d", "p", "holm"])
    return frame.assign(p_groups=p_groups, holm_groups=holm(list(p_groups)), share=significant_share(moved, groups, divisions))


def setting_table(queries: int, groups: int) -> Fragment:
    """The study's test and this run's copy of it."""
    said = {column: published.value(STUDY, "text 4.4", "paired t-test", column).printed
            for column in ("groups of queries", "queries in each group", "threshold")}
    low, high = queries // groups, -(-queries // groups)
    here = {"groups of queries": count(groups), "threshold": f"{ALPHA:g}",
            "queries in each group": count(low) if low == high else f"{low:,} or {high:,}"}
    return page.show_table("The paired t-test over sub-samples, in the study and here", ("setting", "published", "here"),
                           [[name, said[name], here[name]] for name in said])


def claims_table(systems: Mapping[str, Evaluation], models: Mapping[str, BiEncoder]) -> Fragment:
    """The chapter's claim: the encoder that stands for DistilBERT against the one that stands for BERT."""
    claim, (whole, half) = "distilbert-not-different-from-bert", pair_of(models)
    if not half:
        return claims.judge("significance", {}, not_run={claim: "needs a second backbone, to stand for DistilBERT"})
    reason = ("the first layers of one model, not a smaller model that was distilled from it: what cutting costs says nothing of "
              "distillation")
    return claims.judge("significance", {claim: (systems[half], systems[whole])}, backbone=models[whole].backbone,
                        incomparable={claim: reason} if is_packaged(models[half]) else {})


def square(pairs: pd.DataFrame, column: str, names: Sequence[str]) -> pd.DataFrame:
    """One column of the pairs as a (systems, systems) table, alike on both sides of the diagonal."""
    found = pd.DataFrame(0.0, index=list(names), columns=list(names))
    for line in pairs.to_dict("records"):
        found.loc[line["first"], line["second"]] = found.loc[line["second"], line["first"]] = float(line[column])
    return found


def matrix(systems: Mapping[str, Evaluation], pairs: pd.DataFrame) -> Fragment:
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
    study = pairs["p_groups"] < ALPHA
    rules = {f"{STUDYS}: means of sub-samples, t, no correction": "p_groups", "means of sub-samples, t, Holm": "holm_groups",
             "per query, permutation, no correction": "p", OURS: "holm"}
    rows = []
    for name, column in rules.items():
        here = pairs[column] < ALPHA
        alone = [count(int((a & ~b).sum())) for a, b in ((study, here), (here, study))]
        rows.append([name, f"{here.sum():,} of {len(pairs):,}", *alone])
    return page.show_table("Significant pairs by rule (p < 0.05)",
                           ("rule", "significant", "only by the study's rule", "only by this one"), rows)


def disagreeing(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs on which the two rules differ."""
    return pairs[(pairs["p_groups"] < ALPHA) != (pairs["holm"] < ALPHA)]


def disagreements(systems: Mapping[str, Evaluation], pairs: pd.DataFrame) -> Fragment:
    """The pairs on which the two rules differ, with what each says."""
    odd = disagreeing(pairs)
    if odd.empty:
        return page.prose(f"The two rules agree on all {len(pairs)} pairs.")
    return page.show_table("Where the two rules disagree", HEADER, pair_rows(systems, odd), numeric_from=2)


def every_pair(systems: Mapping[str, Evaluation], pairs: pd.DataFrame) -> Fragment:
    """All pairs, to open on a click."""
    shown = table("All pairs of systems", HEADER, pair_rows(systems, pairs), numeric_from=2)
    return Fragment(details(f"All {len(pairs)} pairs", shown).text)


HEADER = ("pair", "significant", "difference in RR@10", "Cohen's d", "p, sub-samples", "significant in", "p, per query",
          "p, Holm")


def pair_rows(systems: Mapping[str, Evaluation], pairs: pd.DataFrame) -> list[list]:
    """A pair as a table's row."""
    rows = []
    for line in pairs.to_dict("records"):
        by = [name for name, column in (("study", "p_groups"), ("per query", "holm")) if line[column] < ALPHA]
        rows.append([f"{line['first']} less {line['second']}", " and ".join(by) or "neither",
                     with_interval(measured(signed(line["difference"]), systems[line["first"]]),
                                   interval(line["low"], line["high"], sign=True)),
                     signed(line["d"], 2), p_value(line["p_groups"]), f"{line['share']:.0%} of divisions", p_value(line["p"]),
                     p_value(line["holm"])])
    return rows


def why(pairs: pd.DataFrame, queries: int, groups: int, divisions: int) -> Fragment:
    """Why the rules disagree: freedom, chance and correction."""
    seen = power(groups, shift_of(queries, POWER))
    torn = int(((pairs["share"] > ALPHA) & (pairs["share"] < 1 - ALPHA)).sum())
    return page.prose(
        f"**Degrees of freedom.** On average the standard error of {groups} means is that of all {queries:,} queries, but it is "
        f"estimated from {groups} values: |t| must exceed {plain(critical(groups), 2)} instead of {plain(critical(queries), 2)}, "
        f"and a difference that the queries show with a power of {POWER:.0%} is shown by the means with {seen:.0%}.",
        f"**Chance.** Which queries fall together is drawn. For {torn:,} of the {len(pairs):,} pairs more than {ALPHA:.0%} but "
        f"less than {1 - ALPHA:.0%} of {divisions:,} divisions call the difference significant.",
        f"**Correction.** The study corrects nothing: of {len(pairs):,} pairs of equal systems it would call "
        f"{plain(ALPHA * len(pairs), 1)} different on average; Holm's method keeps the chance of any such error at {ALPHA:.0%}.")


def finding(pairs: pd.DataFrame, models: Mapping[str, BiEncoder]) -> Fragment:
    """The chapter's last words."""
    whole, half = pair_of(models)
    study, ours = pairs["p_groups"] < ALPHA, pairs["holm"] < ALPHA
    odd = len(disagreeing(pairs))
    said = [f"Of {len(pairs):,} pairs the study's rule calls {study.sum():,} different, the test per query with Holm's "
            f"correction {ours.sum():,}.", "They agree on every pair." if not odd else
            f"They disagree on {odd:,}: {(study & ~ours).sum():,} differ by the study's rule alone, {(ours & ~study).sum():,} by "
            "the other alone."]
    alone = pairs[(pairs["first"] == whole) & (pairs["second"] == half)]
    for line in alone.to_dict("records"):
        sure = "significant" if line["p_groups"] < ALPHA else "not significant"
        said.append(f"{half} against {whole}: {signed(-line['difference'])} in RR@10, by the study's own rule {sure} "
                    f"(p {p_value(line['p_groups'])}), per query p {p_value(line['p'])}, Cohen's d {signed(-line['d'], 2)}.")
    return page.prose(*said)
