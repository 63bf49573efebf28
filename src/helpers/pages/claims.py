"""The studies' claims, from `published/claims.yaml`, and what this run says of each; and the discussion of a chapter, written by
hand and shown only beside the results that it was written for.

`published/discussions.yaml` has the paragraphs of each chapter, each with what it rests on. A `short` one is the chapter's
answer, and stands at the top of the page.

Conditions: what a paragraph rests on, as comparisons of the evaluations, and as facts, that its chapter hands over.

`sum > merge`: the 95 % interval of the difference lies above zero; `ranks !> merge`: it does not; `a >~ b`: the mean is higher;
`a !>~ b`: it is not. `a >~ b + .01`: it is so by more than .01; `a > b in R@10`: in another measure. A single name is a fact,
true or false: `level`, `not level`.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from helpers import paths
from helpers.errors import BadInput
from helpers.evaluation import published, verdicts
from helpers.evaluation.significance import Paired, unpaired
from helpers.evaluation.verdicts import OPEN, UNTESTED, Verdict
from helpers.pages.fragments import Fragment, linked, p_value, plain, table, with_ends
from helpers.pages.results import disagreement, verdict_badge
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


COMPARISON = re.compile(r"(\w+)\s*(!?>)(~?)\s*(\w+)(?:\s*\+\s*(\d*\.\d+))?(?:\s+in\s+(\S+))?")
FACT = re.compile(r"(not\s+)?(\w+)")


def failed(conditions: str, known: Mapping[str, Evaluation | bool], measure: str) -> list[str]:
    """Those of the conditions, joined by `and`, that do not hold; none holds of what is not there. BadInput for other texts."""
    return [one for one in map(str.strip, conditions.split(" and ")) if not _holds(one, known, measure)]


def _holds(condition: str, known: Mapping[str, Evaluation | bool], measure: str) -> bool:
    if fact := FACT.fullmatch(condition):
        return fact[2] in known and bool(known[fact[2]]) != bool(fact[1])
    if not (parts := COMPARISON.fullmatch(condition)):
        raise BadInput(f"{condition!r} is no condition", file=paths.PUBLISHED / "discussions.yaml",
                       mend="write `a > b`, `a !> b`, `a >~ b` or a fact's name, several joined by `and`")
    first, second = known.get(parts[1]), known.get(parts[4])
    if not isinstance(first, Evaluation) or not isinstance(second, Evaluation):
        return False
    measure, more = parts[6] or measure, float(parts[5] or 0)
    moved = first.mean(measure).mean - second.mean(measure).mean if parts[3] else first.against(second, measure).difference.low
    return (moved > more) == (parts[2] == ">")


OTHERWISE = "A paragraph is not shown here: it was written for another outcome of {}."
EFFECTS = HIGHER, LOWER, UNCLEAR = ("higher", "lower", "open")  # where the intervals of a claim's effects lie


def discussion(chapter: str, judged: Fragment | None = None, measure: str = "", **known: Evaluation | bool) -> Fragment:
    """The paragraphs that rest on what this run measured: on words or sides in the table of its claims (`claims.judge`), and on
    comparisons in a `measure`, and facts, of what is `known` (`when`, see `conditions`). Of the other paragraphs, what they rest
    on. The answer in short is carried as data, for the top of the page. `chapter/part` has the paragraphs of that part, for a
    fold of the page."""
    outcomes = {line["claim"]: {line["verdict"], effect(line)} for line in (judged.data["claims"] if judged else [])}
    parts, short, claimed = list[str](), list[str](), load()
    chapter, _, of = chapter.partition("/")
    written = [paragraph for paragraph in paragraphs()[chapter] if paragraph.get("part", "") == of]
    for paragraph in written:
        moved = [claimed[name].claim if name in claimed else name
                 for name, outcome in paragraph["rests_on"].items() if outcome not in outcomes.get(name, ())]
        moved += failed(paragraph["when"], known, measure) if "when" in paragraph else []
        text = OTHERWISE.format("; ".join(f"*{name}*" for name in moved)) if moved else paragraph["text"].strip()
        (short if paragraph.get("short") else parts).append(text)
    whens = [paragraph["when"] for paragraph in written if "when" in paragraph]
    carried = {"in_short": " ".join(short)} | {"compared": differences(whens, known, measure)}
    return Fragment(markdown="\n\n".join(parts), data={name: part for name, part in carried.items() if part})


def differences(whens: Sequence[str], known: Mapping[str, Evaluation | bool], measure: str) -> dict[str, list[float]]:
    """What the conditions compare, of systems that are there, for other pages: `a - b in RR@10` with the two means and the
    difference's interval."""
    found: dict[str, list[float]] = {}
    for parts in filter(None, (COMPARISON.fullmatch(one.strip()) for text in whens for one in text.split(" and "))):
        first, second, name = known.get(parts[1]), known.get(parts[4]), parts[6] or measure
        if isinstance(first, Evaluation) and isinstance(second, Evaluation):
            difference = first.against(second, name).difference
            found[f"{parts[1]} - {parts[4]} in {name}"] = [first.mean(name).mean, second.mean(name).mean, difference.mean,
                                                           difference.low, difference.high]
    return found


def effect(line: Mapping[str, Any]) -> str:
    """Where the interval of a claim's measured difference lies, whatever its verdict: above zero, below it, or neither."""
    low, high = line["pair"]["interval"] if "pair" in line else (0.0, 0.0)
    return HIGHER if low > 0 else LOWER if high < 0 else UNCLEAR


def paragraphs() -> dict[str, list[dict[str, Any]]]:
    """What is written, by chapter."""
    return paths.listed(paths.PUBLISHED / "discussions.yaml")
