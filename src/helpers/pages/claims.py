"""The studies' claims, from `published/claims.yaml`, and what this run says of each."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import yaml

from helpers import paths
from helpers.errors import BadInput
from helpers.evaluation import published, verdicts
from helpers.evaluation.significance import Paired, Unpaired
from helpers.evaluation.verdicts import INCOMPARABLE, NOT_RUN, Verdict
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


def judge(chapter: str, measured: Mapping[str, tuple[Evaluation, Evaluation]], picked_from: int = 1,
          not_run: Mapping[str, str] | None = None, incomparable: Mapping[str, str] | None = None,
          groups: Mapping[str, tuple[Evaluation, Evaluation]] | None = None) -> Fragment:
    """The verdicts on a chapter's claims, as a table; Holm's correction runs over all of them together.

    Args:
        chapter: its name.
        measured: for each claim id the two systems that it compares, first against second.
        picked_from: how many pairs the compared ones were picked from by their results, such as best against worst: p is
            multiplied by it (Bonferroni).
        not_run: the claims that these parameters cannot test, each with the reason. A system compared with itself is one too.
        incomparable: the claims whose measurement is another thing than what the study measured, each with the reason; the
            effect is shown beside it.
        groups: for a claim on two groups of queries, one system on either: compared unpaired.

    Raises:
        BadInput: if a claim of this chapter has neither measurement nor reason here, or one is of another chapter.
    """
    mine = {name: claim for name, claim in load().items() if claim.chapter == chapter}
    measured = {**measured, **(groups or {})}
    if odd_ones := set(mine) ^ {*measured, *(not_run or {})}:
        odd = sorted(odd_ones)[0]
        raise BadInput(f"claim {odd!r} and the chapter {chapter!r} do not agree", file=paths.PUBLISHED / "claims.yaml",
                       mend="measure every claim that names the chapter, and no other")
    itself = {name: ITSELF for name, (first, second) in measured.items() if first is second}
    reasons = {**itself, **(not_run or {})}
    found: dict[str, Paired | Unpaired] = {
        name: (first.unpaired_against if name in (groups or {}) else first.against)(second, mine[name].measure)
        for name, (first, second) in measured.items() if name not in reasons}
    p_values = [min(1.0, picked_from * test.p_permutation) for test in found.values()]
    corrected = dict(zip(found, verdicts.holm(p_values), strict=True))
    rows, data = [], []
    for name, claim in mine.items():
        if name in reasons:
            verdict, link, key = Verdict(NOT_RUN, reason=reasons[name]), "", None
        else:
            verdict, key = verdicts.judge(claim.direction, found[name], corrected[name]), measured[name][0].source.key
            if name in (incomparable or {}):
                verdict = replace(verdict, verdict=INCOMPARABLE, reason=(incomparable or {})[name])
            link = f"#step-{key[:10]}"
        rows.append(row(claim, verdict, link))
        data.append({"claim": name, "verdict": verdict.verdict, "evidence": evidence(verdict), "key": key})
    return Fragment(table("What the study claims, and what this run says of it", HEADER, rows, numeric_from=9).text,
                    data={"claims": data})


ITSELF = "with these parameters the two systems are one"
HEADER = ("claim", "published", "this run", "verdict")


def row(claim: Claim, verdict: Verdict, link: str) -> list[Any]:
    """A claim as a table's row; the measured effect links to its provenance."""
    effect: Any = evidence(verdict)
    if verdict.verdict != NOT_RUN:
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
