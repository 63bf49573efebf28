"""The studies' claims, from `published/claims.yaml`, and what this run says of each."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from helpers import paths
from helpers.errors import BadInput
from helpers.evaluation import comparable, published, verdicts
from helpers.evaluation.significance import Paired, Unpaired
from helpers.evaluation.verdicts import EQUIVALENT, INCOMPARABLE, NOT_RUN, UNTRAINED, Case, Verdict
from helpers.pages.compare import disagreement, verdict_badge
from helpers.pages.fragments import Fragment, Html, cell, table
from helpers.pages.numbers import interval, joined, p_value, plain, signed
from helpers.systems.evaluated import Evaluation

Pair = tuple[Evaluation, Evaluation]


@dataclass(frozen=True)
class Margin:
    """What a claim calls equal, in the unit of its measure, and why so much."""

    value: float
    because: str


@dataclass(frozen=True)
class Claim:
    """One conclusion of a study: the evidence it gave, and the test that would support it here; see `published/claims.yaml`."""

    id: str
    study: str
    claim: str
    evidence: dict[str, Any]
    measure: str
    direction: str
    significant: bool | None
    test: str
    chapter: str
    margin: Margin
    note: str = ""
    carried_by: str = ""
    inference: str = ""
    pairs: tuple[str, ...] = ()
    control: str = ""

    @property
    def unit(self) -> str:
        """What follows its differences: nothing for a share of one."""
        return {"milliseconds_per_query": " ms a text"}.get(self.measure, "")

    @property
    def printed(self) -> tuple[published.Entry, ...]:
        """The published values that it rests on, its own and the one that it is compared with; none where they are prose."""
        own = self.evidence
        if not own.get("row") or not own.get("table"):
            return ()
        first = published.value(self.study, own["table"], own["row"], own["column"])
        return (first,) if not own.get("against") else (first, published.value(
            self.study, own.get("against_table") or own["table"], own["against"], own.get("against_column") or own["column"]))


@functools.cache
def load() -> dict[str, Claim]:
    """All claims by id."""
    file = paths.PUBLISHED / "claims.yaml"
    known: dict[str, Claim] = {}
    for raw in paths.listed(file)["claims"]:
        claim = Claim(**raw | {"margin": Margin(**raw["margin"]), "pairs": tuple(raw.get("pairs", ()))})
        if claim.id in known:
            raise BadInput(f"two claims are called {claim.id!r}", file=file, mend="rename one")
        known[claim.id] = claim
    return known


@functools.cache
def chapter_plan() -> dict[str, dict[str, str]]:
    """The chapters that claims may name: title, and `not_run`, the reason, for one that is not in the book."""
    return paths.listed(paths.PUBLISHED / "chapters.yaml")


def pair(systems: Mapping[Any, Evaluation], first: Any, second: Any) -> Pair | str:
    """Two of the systems for a claim to compare, or, if these parameters leave one out, why there are none."""
    missing = [str(name) for name in dict.fromkeys((second, first)) if name not in systems]
    return f"needs {' and '.join(missing)}, which these parameters leave out" if missing else (systems[first], systems[second])


def judge(chapter: str, measured: Mapping[str, Pair | Mapping[str, Pair] | str], *, backbone: str = "",
          missing: str = "", untrained: Mapping[str, str] | None = None, incomparable: Mapping[str, str] | None = None,
          controls: Mapping[str, Pair] | None = None, picked_from: Mapping[str, int] | None = None,
          measures: Mapping[str, str] | None = None) -> Fragment:
    """The verdicts on a chapter's claims, as a table; Holm's correction runs over its comparable claims of a difference together.
    BadInput if a claim of this chapter has neither measurement nor reason here, or one is of another chapter.

    Args:
        measured: for each claim id the two systems that it compares, first and second; for a claim that several pairs must carry
            the pairs by the names that it declares. Systems on different queries are compared unpaired. A text is the reason why
            these parameters cannot test the claim. A system compared with itself, and a claim of which a pair is missing, are not
            run either.
        backbone: what the chapter's networks start from: it decides whether a claim on a bi-encoder is comparable.
        missing: why these parameters cannot test the chapter's other claims, if there are such.
        untrained: for claims what shows that their model did not learn; an empty text where nothing does.
        incomparable: the claims whose measurement is another thing than what the study measured, each with the reason; the effect
            is shown beside it.
        controls: for claims that declare a control, the first system and the control.
        picked_from: how many pairs a claim's pair was picked from by the results, such as best and worst.
        measures: for claims that are measured otherwise than declared, in what: such as recall in shorter lists.
    """
    mine = {name: claim for name, claim in load().items() if claim.chapter == chapter}
    measured = {**(dict.fromkeys(mine, missing) if missing else {}), **measured}
    pairs = {name: {"": own} if isinstance(own, tuple) else dict(own) for name, own in measured.items()
             if not isinstance(own, str)}
    reasons = {name: Verdict(NOT_RUN, reason=own) for name, own in measured.items() if isinstance(own, str)}
    reasons |= {name: Verdict(UNTRAINED, reason=reason) for name, reason in (untrained or {}).items() if reason}
    if odd_ones := set(mine) ^ {*pairs, *reasons}:
        raise BadInput(f"claim {sorted(odd_ones)[0]!r} and the chapter {chapter!r} do not agree",
                       file=paths.PUBLISHED / "claims.yaml", mend="measure every claim that names the chapter, and no other")
    for name, own in pairs.items():
        if why := why_not_run(mine[name], own):
            reasons.setdefault(name, Verdict(NOT_RUN, reason=why))
    before = {name: comparable.why_not_comparable(mine[name].carried_by, backbone) for name in pairs}
    apart = {name: "; ".join(filter(None, ((incomparable or {}).get(name, ""), why))) for name, why in before.items()}
    in_measure = {name: (measures or {}).get(name, mine[name].measure) for name in pairs}
    tests = {name: {pair: compare(mine[name], systems, in_measure[name]) for pair, systems in own.items()}
             for name, own in pairs.items() if name not in reasons}
    cases = {name: Case(mine[name].direction, tuple(own.values()), mine[name].margin.value, mine[name].significant,
                        (picked_from or {}).get(name, 1)) for name, own in tests.items()}
    judged = verdicts.judge_together({name: case for name, case in cases.items() if not apart[name]})
    rows, data = [], []
    for name, claim in mine.items():
        beside: dict[str, Any] = {}
        if name in reasons:
            verdict, key = reasons[name], None
        else:
            verdict = judged.get(name) or verdicts.judge_together({name: cases[name]})[name]
            key = next(iter(pairs[name].values()))[0].source.key
            decided = next(pair for pair, test in tests[name].items() if test is verdict.comparison)
            verdict = replace(verdict, reason=disagreement(*pairs[name][decided], in_measure[name]))
            if claim.control and not apart[name]:
                verdict, beside = with_control(claim, verdict, (controls or {}).get(name), in_measure[name])
            if apart[name]:
                verdict = replace(verdict, verdict=INCOMPARABLE, reason=apart[name])
            first = sorted(pairs[name], key=lambda pair: pair != decided)  # the front page draws the first
            beside |= {"pairs": [numbers(pairs[name][pair], tests[name][pair]) for pair in first]}
        rows.append(row(claim, verdict, f"#step-{key[:10]}" if key else "", beside.get("control")))
        data.append({"claim": name, "verdict": verdict.verdict, "evidence": evidence(verdict, claim.unit), "key": key} | beside)
    return Fragment(table("What the study claims, and what this run says of it", HEADER, rows, numeric_from=9).text,
                    data={"claims": data})


def why_not_run(claim: Claim, pairs: Mapping[str, Pair]) -> str:
    """Why a claim cannot be judged by these pairs; empty if it can."""
    if missing := [pair for pair in claim.pairs if pair not in pairs]:
        return (f"{', '.join(missing)}: not compared with these parameters, and the claim rests on {joined(claim.pairs)}"
                + " alike" * (len(claim.pairs) > 1))
    return ITSELF if any(first is second for first, second in pairs.values()) else ""


def compare(claim: Claim, systems: Pair, measure: str) -> Paired | Unpaired:
    """The comparison of two systems for a claim: unpaired on different queries, over queries alone if it declares so."""
    first, second = systems
    if set(first.values.index) != set(second.values.index):
        return first.unpaired_against(second, measure)
    return first.against(second, measure, drawn=claim.inference != "queries")


def with_control(claim: Claim, verdict: Verdict, control: Pair | None, measure: str) -> tuple[Verdict, dict[str, Any]]:
    """The verdict on a claim whose gain the control may explain, and what the control says; one not measured leaves it open."""
    alone = Verdict(NOT_RUN, reason="not measured here")
    if control is not None:
        alone = verdicts.judge(claim.direction, compare(claim, control, measure), margin=claim.margin.value)
    return verdicts.caused(verdict, alone), {"control": {"what": claim.control, "verdict": alone.verdict,
                                                         "evidence": evidence(alone)}}


def numbers(systems: Pair, comparison: Paired | Unpaired) -> dict[str, Any]:
    """What was compared, and the result, for whoever recomputes the verdict from the values that the page carries."""
    first, second = systems
    difference, narrow, noise = comparison.difference, comparison.narrow, comparison.noise
    return {"first": first.label, "second": second.label, "mean": difference.mean, "interval": [difference.low, difference.high],
            "narrow": [narrow.low, narrow.high], "p": comparison.p_permutation, "error": comparison.error,
            "detectable": comparison.detectable, "trainings": [noise.variance, noise.freedom if noise.variance else None]}


ITSELF = "with these parameters the two systems are one"
HEADER = ("claim", "published", "this run", "verdict")


def row(claim: Claim, verdict: Verdict, link: str, control: Mapping[str, str] | None = None) -> list[Any]:
    """A claim as a table's row; the measured effect links to its provenance, its control stands below the verdict."""
    effect: Any = evidence(verdict, claim.unit)
    if verdict.comparison is not None:
        effect = Html(f'<a class="nr-measured" href="{link}">{cell(effect)}</a>')
    return [claim.claim, published_evidence(claim), effect, verdict_cell(verdict.verdict, control)]


def evidence(verdict: Verdict, unit: str = "") -> str:
    """Effect, interval, p, margin and minimum detectable effect in one line; what was assumed; why there is no verdict, if so."""
    if verdict.comparison is None:
        return verdict.reason
    comparison, d = verdict.comparison, verdict.comparison.difference
    parts = [f"{signed(d.mean)} {interval(d.low, d.high, sign=True)}{unit}, p {p_value(verdict.p or 0.0)}, "
             f"{comparison.queries} {comparison.unit}",
             f"margin {plain(verdict.margin)}, detectable {plain(comparison.detectable)}{unit}"]
    if verdict.verdict == EQUIVALENT:
        parts.append(f"a difference of ±{plain(verdict.margin)} is excluded")
    return "; ".join([*parts, *filter(None, (comparison.noise.assumption, verdict.reason))])


def verdict_cell(verdict: str, control: Mapping[str, str] | None = None) -> Html:
    """A verdict, and below it what the claim's control says of the cause."""
    shown = verdict_badge(verdict)
    if not control:
        return shown
    return Html(f"{shown.text}<br><small>{cell('control, {what}: {verdict} ({evidence})'.format(**control))}</small>")


def published_evidence(claim: Claim) -> str:
    """The published values that a claim rests on, or where it stands if they are prose."""
    if not claim.printed:
        where = claim.evidence.get("table") or f"section {claim.evidence.get('section', '')}"
        return f"{published.published_name(claim.study)}, {where}"
    first, text = claim.printed[0], " compared with ".join(f"{entry.shown}{entry.mark}" for entry in claim.printed)
    significance = {True: ", significant", False: ", not significant", None: ", not tested"}[claim.significant]
    return f"{text} {first.measure.replace('_', ' ')} ({first.where}{significance})"
