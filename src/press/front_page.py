"""The front page's answer: what held of each study, in words, and every claim's effect, published and measured, as a picture."""

from collections.abc import Mapping
from typing import Any

from helpers.evaluation import published, verdicts
from helpers.evaluation.verdicts import CONTRADICTED, EQUIVALENT, INCOMPARABLE, NO_CAUSE, NOT_RUN, SUPPORTED, UNTRAINED
from helpers.pages import claims
from helpers.pages.claims import Claim
from helpers.pages.fragments import Html, badge, cell, table
from helpers.pages.numbers import count, signed

WIDTH, HEIGHT, REACH = 180, 16, 0.25  # of a row's picture, in pixels, and the largest effect that it shows
HELD, AGAINST, SILENT = (SUPPORTED, NO_CAUSE), (CONTRADICTED, EQUIVALENT), (INCOMPARABLE, UNTRAINED, NOT_RUN)
KEY = ('<p class="nr-said">A line is the 95 % interval of the measured effect, its dot the mean; a diamond is what the study '
       f"printed. The scale runs from {-REACH:+g} to {REACH:+g} in the claim's measure, the vertical line is no difference; what "
       "lies beyond ends in an arrow.</p>")


def findings(tested: Mapping[str, Mapping[str, Any]]) -> str:
    """What the index page includes, from each claim's line of its chapter's data, with the chapter as `page`."""
    parts = [in_words(study, tested) for study in published.STUDIES]
    rows = [row for study in published.STUDIES for row in pictured(study, tested)]
    plot = table("Every claim that was measured: published and measured effect", ("claim", "effect", "verdict"), rows, 9)
    return "\n\n".join([*parts, plot.text + KEY]) + "\n"


def in_words(study: str, tested: Mapping[str, Mapping[str, Any]]) -> str:
    """One study's claims by what became of them, each a link to its chapter."""
    own = [claim for claim in claims.load().values() if claim.study == study]
    of = {claim.id: verdict_of(tested.get(claim.id)) for claim in own}

    def named(kinds: tuple[str, ...]) -> str:
        return "; ".join(f"{link(claim, tested)}" for claim in own if of[claim.id] in kinds)

    silent = sum(verdict in SILENT for verdict in of.values())
    open_ones = len(own) - silent - sum(verdict in HELD + AGAINST for verdict in of.values())
    sentences = [f"<strong>{cell(published.published_name(study))}</strong>, {count(len(own))} claims.",
                 f"Held: {text}." if (text := named(HELD)) else "None held with significance.",
                 f"Not found here: {text}." if (text := named(AGAINST)) else "",
                 f"Undecided: {open_ones}." if open_ones else "",
                 f"Not tested: {silent}, because a model did not learn, or what was measured is of another kind, or nothing was."
                 if silent else ""]
    return f"<p>{' '.join(filter(None, sentences))}</p>"


def verdict_of(line: Mapping[str, Any] | None) -> str:
    """A claim's verdict; `not run` for one that no chapter has measured."""
    return line["verdict"] if line else NOT_RUN


def link(claim: Claim, tested: Mapping[str, Mapping[str, Any]]) -> str:
    """A claim in its own words, which lead to its chapter."""
    text = cell(claim.claim)
    return f'<a href="chapters/{tested[claim.id]["page"]}.html">{text}</a>' if claim.id in tested else text


def pictured(study: str, tested: Mapping[str, Mapping[str, Any]]) -> list[list[Any]]:
    """A row for each claim with a measured effect, largest first, but for effects in a unit of their own (milliseconds)."""
    shown = [(claim, line) for claim in claims.load().values() if claim.study == study and not claim.unit
             and (line := tested.get(claim.id)) and line.get("pairs")]
    shown.sort(key=lambda one: -one[1]["pairs"][0]["mean"])
    return [[Html(link(claim, tested)), picture(claim, line["pairs"][0], line["verdict"]),
             badge(line["verdict"], verdicts.KINDS[line["verdict"]])] for claim, line in shown]


def published_effect(claim: Claim) -> float | None:
    """The difference of the two printed values that a claim rests on; None where the study printed none."""
    first, *second = claim.printed or (None,)
    return first.amount - second[0].amount if first and second else None


def picture(claim: Claim, pair: Mapping[str, Any], verdict: str) -> Html:
    """A measured effect with its interval and the printed one, drawn on one axis; in words for those who do not see it."""
    (low, high), y, printed = pair["interval"], HEIGHT / 2, published_effect(claim)
    words = f"{claim.claim}: measured {signed(pair['mean'])}, from {signed(low)} to {signed(high)}" + (
        f"; published {signed(printed)}" if printed is not None else "")
    marks = [f'<line x1="{_x(0):.1f}" x2="{_x(0):.1f}" y1="0" y2="{HEIGHT}" stroke="currentColor" opacity=".35"/>',
             f'<line x1="{_x(low):.1f}" x2="{_x(high):.1f}" y1="{y}" y2="{y}" stroke="currentColor" stroke-width="2"/>',
             f'<circle cx="{_x(pair["mean"]):.1f}" cy="{y}" r="3.5" fill="currentColor"/>']
    marks += [_arrow(side) for side, end in ((-1, low), (1, high)) if side * end > REACH]
    if printed is not None:
        x = _x(printed)
        marks.append(f'<path d="M{x:.1f} {y - 5} l4 5 l-4 5 l-4 -5 z" fill="none" stroke="currentColor" stroke-width="1.3"/>')
        marks += [_arrow(side) for side in (-1, 1) if side * printed > REACH]
    attributes = f'class="nr-effect nr-{verdicts.KINDS[verdict]}" role="img" aria-label="{cell(words)}"'
    return Html(f'<svg {attributes} width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">'
                f'<title>{cell(words)}</title>{"".join(marks)}</svg>')


def _x(effect: float) -> float:
    """Where an effect lies on the axis, in pixels; those beyond it at its ends."""
    return 6 + (WIDTH - 12) * (max(-REACH, min(REACH, effect)) + REACH) / (2 * REACH)


def _arrow(side: int) -> str:
    x, y = _x(side * REACH), HEIGHT / 2
    return f'<path d="M{x:.1f} {y - 4} l{4 * side} 4 l{-4 * side} 4 z" fill="currentColor"/>'
