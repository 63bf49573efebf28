"""The studies' claims, from `published/claims.yaml`, and what this run says of each."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

from helpers import paths
from helpers.errors import BadInput
from helpers.evaluation import published, verdicts
from helpers.evaluation.significance import Paired, Unpaired
from helpers.evaluation.verdicts import INCOMPARABLE, NOT_RUN, UNTRAINED, Case, Verdict
from helpers.pages.fragments import Fragment, Html, badge, cell, table
from helpers.pages.verdict_text import evidence
from helpers.systems.evaluated import Evaluation


@dataclass(frozen=True)
class Claim:
    """One conclusion of a study: the evidence it gave, and the test that would support it here."""

    id: str
    study: str
    claim: str
    evidence: dict[str, Any]
    measure: str
    direction: str
    significant: bool | None
    test: str
    chapter: str
    note: str = ""
    margin: dict[str, Any] | None = None  # `value`, and `because`
    control: str = ""
    pairs: str | list[str] = ""
    carried_by: str = ""
    inference: str = ""  # `queries`: the claim is about these trained models, so that trainings are not drawn anew

    @property
    def amount(self) -> float:
        """What is called equal, in the unit of the measure."""
        return float(self.margin["value"]) if self.margin else verdicts.MARGIN


@functools.cache
def load() -> dict[str, Claim]:
    """All claims by id."""
    file = paths.PUBLISHED / "claims.yaml"
    found: dict[str, Claim] = {}
    for raw in yaml.safe_load(file.read_text(encoding="utf-8"))["claims"]:
        claim = Claim(**raw)
        if claim.id in found:
            raise BadInput(f"two claims are called {claim.id!r}", file=file, mend="rename one")
        found[claim.id] = claim
    return found


@functools.cache
def chapter_plan() -> dict[str, dict[str, str]]:
    """The chapters that claims may name: title, and `not_run`, the reason, for one that is not in the book."""
    return yaml.safe_load((paths.PUBLISHED / "chapters.yaml").read_text(encoding="utf-8"))


Compared = tuple[Evaluation, Evaluation]


def judge(chapter: str, measured: Mapping[str, Compared | Sequence[Compared]], picked_from: int = 1,
          not_run: Mapping[str, str] | None = None, incomparable: Mapping[str, str] | None = None,
          groups: Mapping[str, Compared] | None = None, untrained: Mapping[str, str] | None = None,
          controls: Mapping[str, Compared] | None = None) -> Fragment:
    """The verdicts on a chapter's claims, as a table; Holm's correction runs over all claims of a difference together.

    Args:
        chapter: its name.
        measured: for each claim id the two systems that it compares, first against second, or several such pairs that must all
            carry it.
        picked_from: how many pairs the compared ones were picked from by their results, such as best against worst: p is
            multiplied by it (Bonferroni).
        not_run: the claims that these parameters cannot test, each with the reason. A system compared with itself is one too.
        incomparable: the claims whose measurement is another thing than what the study measured, each with the reason; the
            effect is shown beside it.
        groups: for a claim on two groups of queries, one system on either: compared unpaired.
        untrained: the claims whose model did not learn, each with what shows it.
        controls: for a claim that names a cause, its first system and the same one without the cause.

    Raises:
        BadInput: if a claim of this chapter has neither measurement nor reason here, or one is of another chapter.
    """
    mine = {name: claim for name, claim in load().items() if claim.chapter == chapter}
    pairs: dict[str, list[Compared]] = {name: as_list(given) for name, given in measured.items()}
    pairs |= {name: [pair] for name, pair in (groups or {}).items()}
    reasons = {name: Verdict(NOT_RUN, reason=ITSELF) for name, given in pairs.items() if any(a is b for a, b in given)}
    reasons |= {name: Verdict(NOT_RUN, reason=reason) for name, reason in (not_run or {}).items()}
    reasons |= {name: Verdict(UNTRAINED, reason=reason) for name, reason in (untrained or {}).items()}
    if odd_ones := set(mine) ^ {*pairs, *reasons}:
        odd = sorted(odd_ones)[0]
        raise BadInput(f"claim {odd!r} and the chapter {chapter!r} do not agree", file=paths.PUBLISHED / "claims.yaml",
                       mend="measure every claim that names the chapter, and no other")
    tests = {name: [test(mine[name], *pair, unpaired=name in (groups or {})) for pair in given]
             for name, given in pairs.items() if name not in reasons}
    found = verdicts.judge_together({
        name: Case(mine[name].direction, tuple(given), mine[name].amount, mine[name].significant, picked_from)
        for name, given in tests.items()})
    for name, pair in (controls or {}).items():
        if name in found:
            found[name] = verdicts.caused(found[name], verdicts.judge(mine[name].direction, test(mine[name], *pair)))
    found |= {name: replace(found[name], verdict=INCOMPARABLE, reason=reason) for name, reason in (incomparable or {}).items()
              if name in found}
    rows, data = [], []
    for name, claim in mine.items():
        verdict = reasons.get(name) or found[name]
        source = None if name in reasons else pairs[name][0][0].source.key
        rows.append(row(claim, verdict, f"#step-{source[:10]}" if source else ""))
        data.append({"claim": name, "verdict": verdict.verdict, "evidence": evidence(verdict), "key": source,
                     "pairs": [numbers(pair, one) for pair, one in zip(pairs[name], tests[name], strict=True)]
                     if name in tests else []})
    return Fragment(table("What the study claims, and what this run says of it", HEADER, rows, numeric_from=9).text,
                    data={"claims": data})


def as_list(given: Compared | Sequence[Compared]) -> list[Compared]:
    """One pair or several as a list."""
    return [(given[0], given[1])] if isinstance(given[0], Evaluation) else list(given)  # type: ignore[list-item, arg-type]


def test(claim: Claim, first: Evaluation, second: Evaluation, *, unpaired: bool = False) -> Paired | Unpaired:
    """The comparison of two systems in a claim's measure."""
    if unpaired:
        return first.unpaired_against(second, claim.measure)
    return first.against(second, claim.measure, drawn=claim.inference != "queries")


def numbers(pair: Compared, found: Paired | Unpaired) -> dict[str, Any]:
    """What was compared and found, for whoever recomputes the verdict from the values that the page carries."""
    return {"first": pair[0].label, "second": pair[1].label, "mean": found.difference.mean,
            "interval": [found.difference.low, found.difference.high], "narrow": [found.narrow.low, found.narrow.high],
            "p": found.p_permutation, "error": found.error, "detectable": found.detectable,
            "trainings": [found.noise.variance, found.noise.freedom if found.noise.variance else None]}


ITSELF = "with these parameters the two systems are one"
HEADER = ("claim", "published", "this run", "verdict")


def row(claim: Claim, verdict: Verdict, link: str) -> list[Any]:
    """A claim as a table's row; the measured effect links to its provenance."""
    effect: Any = evidence(verdict)
    if verdict.found is not None:
        effect = Html(f'<a class="nr-measured" href="{link}">{cell(effect)}</a>')
    return [claim.claim, published_evidence(claim), effect, badge(verdict.verdict, verdicts.KINDS[verdict.verdict])]


def published_evidence(claim: Claim) -> str:
    """The published values that a claim rests on, or where it stands if they are prose."""
    where, study = claim.evidence, claim.study
    if not where.get("row") or not where.get("table"):
        return f"{published.published_name(study)}, {where.get('table') or 'section ' + str(where.get('section', ''))}"
    first = published.value(study, where["table"], where["row"], where["column"])
    text = f"{first.printed}{first.mark}"
    if where.get("against"):
        second = published.value(study, where.get("against_table") or where["table"], where["against"],
                                 where.get("against_column") or where["column"])
        text += f" against {second.printed}{second.mark}"
    significance = {True: ", significant", False: ", not significant", None: ", not tested"}[claim.significant]
    return f"{text} {first.measure.replace('_', ' ')} ({first.where}{significance})"
