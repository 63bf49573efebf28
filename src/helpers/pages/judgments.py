"""Beside a pooled measure: how much of what each system shows was judged, and what is left if only judged texts count."""

from collections.abc import Mapping

from helpers.evaluation.judgments import BPREF, ENOUGH, SHARE, condensed
from helpers.pages import page
from helpers.pages.compare import lead, measured
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import plain, signed
from helpers.systems.evaluated import Evaluation

MEASURE = "nDCG@10"


def judged_table(systems: Mapping[str, Evaluation], baseline: str, measure: str = MEASURE) -> Fragment:
    """Judged@10 of each system; where a system has less than .95, the condensed list and bpref beside the measure, too.

    Args:
        systems: evaluations by name.
        baseline: the one whose differences are looked at.
        measure: graded, and measured on the condensed list as well.
    """
    base = systems[baseline]
    if SHARE not in base.values:
        return page.prose("The judgments of these queries were not pooled: nobody looked for irrelevant texts, so Judged@10 says "
                          "nothing, and grades below the relevant ones gain nothing in nDCG.")
    whole = lacking(systems)
    names = [measure, condensed(measure), BPREF] if whole else [measure]
    rows = []
    for name, system in systems.items():
        share = measured(plain(system.mean(SHARE).mean), system)
        cells = [plain(system.mean(each).mean) + (f" ({signed(lead(system, base, each))})" if system is not base else "")
                 for each in names]
        rows.append([name, share, *cells, "the signs differ" if whole and not agree(system, base, measure) else ""])
    head = {condensed(measure): f"{measure}, judged texts alone"}
    header = ("system", SHARE, *(head.get(name, name) for name in names), "")
    return page.show_table(f"How far {measure} rests on judgments (in brackets the difference from {baseline})", header, rows)


def lacking(systems: Mapping[str, Evaluation]) -> bool:
    """Whether a system shows so much that nobody judged that the condensed list must be looked at."""
    return any(system.mean(SHARE).mean < ENOUGH for system in systems.values())


def agree(system: Evaluation, base: Evaluation, measure: str = MEASURE) -> bool:
    """Whether the measure, its condensed list and bpref put two systems in one order; those that tie agree with all."""
    leads = [lead(system, base, each) for each in (measure, condensed(measure), BPREF)]
    return not (min(leads) < 0 < max(leads))
