"""Beside a pooled measure: how much of what each system shows was judged, and what is left if only judged texts count."""

from helpers.evaluation.pools import BPREF, ENOUGH, SHARE, condensed
from helpers.pages import page
from helpers.pages.compare import lead, mean_link
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import plain, signed
from helpers.systems.evaluated import Evaluation, Systems

MEASURE = "nDCG@10"


def judged_table(systems: Systems, baseline: str) -> Fragment:
    """Judged@10 of each system, and its difference in nDCG@10 from the baseline; where a system has less than .95, both on the
    condensed list and in bpref, too."""
    base = systems[baseline]
    if SHARE not in base.values:
        return page.prose("The judgments of these queries were not pooled, so they hold no irrelevant texts and Judged@10 shows "
                          "nothing.")
    whole = any(system.mean(SHARE).mean < ENOUGH for system in systems.values())
    heads = {MEASURE: MEASURE} | ({condensed(MEASURE): f"{MEASURE}, judged texts alone", BPREF: BPREF} if whole else {})
    return page.records_table(f"How far {MEASURE} rests on judgments (in brackets the difference from {baseline})", (
        {"system": name, SHARE: mean_link(system, SHARE),
         **{head: plain(system.mean(column).mean) + (f" ({signed(lead(system, base, column))})" if system is not base else "")
            for column, head in heads.items()},
         "": "the signs differ" if whole and not agree(system, base) else ""} for name, system in systems.items()))


def agree(system: Evaluation, base: Evaluation) -> bool:
    """Whether nDCG@10, its condensed list and bpref put two systems in one order; those that tie agree with all."""
    leads = [lead(system, base, measure) for measure in (MEASURE, condensed(MEASURE), BPREF)]
    return not (min(leads) < 0 < max(leads))
