"""The studies' claims, from `published/claims.yaml`, and what this run says of each."""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from helpers import paths
from helpers.errors import BadInput
from helpers.evaluation import published, verdicts
from helpers.evaluation.significance import Paired, unpaired
from helpers.evaluation.verdicts import OPEN, UNTESTED, Verdict
from helpers.pages.compare import disagreement, verdict_badge
from helpers.pages.fragments import Fragment, linked, p_value, plain, table, with_ends
from helpers.systems.evaluated import Evaluation

Pair = tuple[Evaluation, Evaluation]


class Compared(NamedTuple):
    """The two systems that a claim compares, where it needs more than a pair."""

    first: Evaluation
    second: Evaluation
    control: Evaluation | None = None  # of a claim that declares one: the first one's lead over it stands beside the word
    measure: str = ""  # if it is not the declared one, such as recall in shorter lists


Measured = Pair | Compared | Mapping[str, Pair | Compared | str] | str


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
    margin: Mapping[str, Any]  # `value`, what it calls too small to matter, in the unit of its measure, and why, `because`
    note: str = ""
    carried_by: str = ""
    inference: str = ""
    control: str = ""
    per: str = "text"  # what a time is of: a text, a query, a triplet
    waits_for: str = ""  # what a run needs that lacks one of its systems
    declared: str = ""  # the id in the file, of a claim over one of several rivals
    rival: str = ""  # that rival's name

    @property
    def unit(self) -> str:
        """What follows its differences: nothing for a share of one."""
        return f" ms a {self.per}" if self.measure == "milliseconds_per_query" else ""

    @property
    def level(self) -> bool:
        """Whether it denies a difference: what the design can see decides whether it can agree."""
        return self.direction in (verdicts.NO_DIFFERENCE, verdicts.NO_GAIN)

    @property
    def printed(self) -> tuple[published.Entry, ...]:
        """The published values that it rests on, its own and the one that it is compared with; of a difference of differences two
        more, by what `less` has otherwise; none where they are prose."""
        found: list[published.Entry] = []
        for own in (self.evidence, *([self.evidence | self.evidence["less"]] if "less" in self.evidence else [])):
            if own.get("row") and own.get("table"):
                found.append(published.value(self.study, own["table"], own["row"], own["column"]))
            if found and own.get("against"):
                found.append(published.value(self.study, own.get("against_table") or own["table"], own["against"],
                                             own.get("against_column") or own["column"]))
        return tuple(found)


@functools.cache
def load() -> dict[str, Claim]:
    """All claims by id; one over several rivals is a claim for each, `repbert-beats-bm25-and-others/DeepCT`."""
    known: dict[str, Claim] = {}
    file = paths.PUBLISHED / "claims.yaml"
    for raw in paths.listed(file)["claims"]:
        for claim in split(raw):
            if claim.id in known:
                raise BadInput(f"two claims are called {claim.id!r}", file=file, mend="rename one")
            known[claim.id] = claim
    return known


def split(raw: Mapping[str, Any]) -> Iterator[Claim]:
    """A declared claim, or one for each of its rivals, whose own evidence and margin go before the common ones."""
    common = {name: value for name, value in raw.items() if name != "rivals"}
    if "rivals" not in raw:
        yield Claim(**common, declared=raw["id"])
    for rival, own in raw.get("rivals", {}).items():
        margin = raw["margin"] | ({"value": own["margin"]} if "margin" in own else {})
        evidence = raw["evidence"] | {name: value for name, value in own.items() if name != "margin"}
        yield Claim(**common | {"id": f"{raw['id']}/{rival}", "claim": f"{raw['claim']}: {rival}", "margin": margin,
                                "evidence": evidence}, declared=raw["id"], rival=rival)


def pair(systems: Mapping[Any, Evaluation], first: Any, second: Any, control: Evaluation | None = None,
         measure: str = "") -> Compared | str:
    """Two of the systems for a claim to compare, or, if these parameters leave one out, why there are none."""
    missing = [str(name) for name in dict.fromkeys((second, first)) if name not in systems]
    return (f"needs {' and '.join(missing)}, which these parameters leave out" if missing else
            Compared(systems[first], systems[second], control, measure))


def judge(chapter: str, measured: Mapping[str, Measured], *, backbone: str = "",
          untested: Mapping[str, str] | None = None) -> Fragment:
    """The verdicts on a chapter's claims, as a table. BadInput if a claim of this chapter has neither measurement nor reason, or
    one is of another chapter.

    Args:
        measured: for each claim, by the id that the file has, the two systems that it compares, first and second; for one over
            several rivals such a pair for each, by the rival's name: a rival that is missing is not tested. Systems on different
            queries are compared unpaired. A text is the reason why these parameters cannot test the claim.
        backbone: what the chapter's networks start from: it decides whether a claim on what makes a bi-encoder is tested.
        untested: for claims why their measurement decides nothing: no training, no treatment, another thing; the effect is shown.
            An empty text is no reason.
    """
    mine = {name: claim for name, claim in load().items() if claim.chapter == chapter}
    declared = {claim.declared for claim in mine.values()}
    if odd_ones := declared ^ set(measured):
        raise BadInput(f"claim {sorted(odd_ones)[0]!r} and the chapter {chapter!r} do not agree",
                       file=paths.PUBLISHED / "claims.yaml", mend="measure every claim that names the chapter, and no other")
    rows, data = [], []
    for name, claim in mine.items():
        found = of_claim(claim, measured[claim.declared])
        beside: dict[str, Any] = {"key": None}
        if isinstance(found, str):
            verdict = Verdict(UNTESTED, reason=f"{found}; it waits for {claim.waits_for}" if claim.waits_for else found)
        else:
            systems, measure = found[:2], found.measure or claim.measure
            test = compare(claim, systems, measure)
            why = "; ".join(filter(None, ((untested or {}).get(claim.declared, ""),
                                          verdicts.why_not_comparable(claim.carried_by, backbone))))
            margin = claim.margin["value"]
            verdict = Verdict(UNTESTED if why else verdicts.judge(claim.direction, test, margin), test, margin,
                              why or disagreement(*systems, measure))
            beside = {"key": systems[0].source.key, "pair": recomputable(claim, systems, measure, test)}
            if claim.control and found.control:
                lead = compare(claim, (found.first, found.control), measure).difference
                beside["control"] = f"over {claim.control}: {with_ends(lead)}"
        effect = evidence(verdict, claim.unit, claim.level)
        shown = effect if isinstance(found, str) else linked(effect, found.first.source)
        rows.append([claim.claim, published_evidence(claim), shown, verdict_badge(verdict.word, beside.get("control"))])
        data.append({"claim": name, "verdict": verdict.word, "evidence": effect, "reason": verdict.reason,
                     "printed": [entry.cell for entry in claim.printed]} | beside)
    return Fragment(table("What the study claims, and what this run says of it", HEADER, rows, numeric_from=9).text,
                    data={"claims": data})


def of_claim(claim: Claim, measured: Measured) -> Compared | str:
    """The two systems of a claim, or why there are none."""
    if isinstance(measured, Mapping):
        assert claim.rival, f"{claim.id}: a pair is wanted"
        measured = measured.get(claim.rival, f"{claim.rival} is not measured with these parameters")
    if isinstance(measured, str):
        return measured
    return "with these parameters the two systems are one" if measured[0] is measured[1] else Compared(*measured)


def compare(claim: Claim, systems: Pair, measure: str) -> Paired:
    """The comparison of two systems for a claim: unpaired on different queries, over queries alone if it declares so."""
    first, second = systems
    if set(first.values.index) != set(second.values.index):
        return unpaired(first.values[measure], second.values[measure])
    return first.against(second, measure, drawn=claim.inference != "queries")


def recomputable(claim: Claim, systems: Pair, measure: str, comparison: Paired) -> dict[str, Any]:
    """What was compared, the result, the values of every query and seed that it rests on and what its trainings are, for whoever
    recomputes the verdict; a correlation, which is no mean over queries, has no values."""
    first, second = systems
    difference, narrow, noise = comparison.difference, comparison.narrow, comparison.noise
    result = {"first": first.label, "second": second.label, "mean": difference.mean,
              "interval": [difference.low, difference.high], "narrow": [narrow.low, narrow.high], "p": comparison.p_permutation,
              "error": comparison.error, "detectable": comparison.detectable,
              "trainings": [noise.variance, noise.freedom if noise.variance else None]}
    if type(first) is not Evaluation:
        return result
    if set(first.values.index) != set(second.values.index):
        return result | {"values": [[texts(own.values[measure])] for own in systems]}
    *both, shared = first.both_rows(second, measure)
    return result | {"values": [[texts(row) for row in rows.values] for rows in both], "measure": measure, "shared": shared,
                     "drawn": claim.inference != "queries",
                     **{name: [getattr(rows, name) for rows in both] for name in ("trained", "kind", "seeds", "groups")}}


def texts(values: Any) -> str:
    """Values with five digits, as a text."""
    return " ".join(f"{value:.5g}" for value in values)


HEADER = ("claim", "published", "this run", "verdict")


def evidence(verdict: Verdict, unit: str = "", level: bool = False) -> str:
    """Difference, interval, p, margin in one line; what would be seen, where the run cannot tell, or could not if a claim that
    denies a difference (`level`) were tested; what was assumed; reasons."""
    if verdict.comparison is None:
        return verdict.reason
    comparison, d = verdict.comparison, verdict.comparison.difference
    parts = [f"{with_ends(d)}{unit}, p {p_value(comparison.p_permutation)}, "
             f"{' and '.join(map(str, comparison.queries))} {comparison.unit}, margin {plain(verdict.margin)}"]
    if verdict.word == OPEN or (level and verdict.word == UNTESTED and comparison.detectable > verdict.margin):
        parts.append(f"the smallest difference that would be seen is {plain(comparison.detectable)}{unit}")
    return "; ".join([*parts, *filter(None, (comparison.noise.assumption, verdict.reason))])


def published_evidence(claim: Claim) -> str:
    """The published values that a claim rests on, or where it stands if they are prose."""
    if not claim.printed:
        where = claim.evidence.get("table") or f"section {claim.evidence.get('section', '')}"
        return f"{published.published_name(claim.study)}, {where}"
    first, own = claim.printed[0], [f"{entry.shown}{entry.mark}" for entry in claim.printed]
    text = ", less ".join(" compared with ".join(own[n:n + 2]) for n in range(0, len(own), 2))
    significance = {True: ", significant", False: ", not significant", None: ", significance not tested"}[claim.significant]
    return f"{text} {first.measure.replace('steps_thousands', 'thousand steps').replace('_', ' ')} ({first.where}{significance})"


def rivals(declared: str) -> list[str]:
    """The names of a claim's rivals, in their order."""
    return [claim.rival for claim in load().values() if claim.declared == declared]
