"""The front page's answer: what held of each study, in words, and every claim's effect, published and measured, as a picture."""

from collections.abc import Mapping
from statistics import median
from typing import Any

from helpers.evaluation import published
from helpers.evaluation.verdicts import AGREES, DISAGREES, OPEN, SMALL, UNTESTED, WORDS
from helpers.pages import claims
from helpers.pages.claims import Claim
from helpers.pages.fragments import Html, badge, cell, table
from helpers.pages.numbers import count, plain, signed

BAR = 700  # pixels: the width of the bar of verdicts
WIDTH, HEIGHT, REACH = 180, 16, 0.25  # of a row's picture, in pixels, and the largest effect that it shows
KEY = ('<p class="nr-said">A line is the 95 % interval of the measured effect, its dot the mean; a diamond is what the study '
       f"printed. The scale runs from {-REACH:+g} to {REACH:+g} in the claim's measure, the vertical line is no difference; what "
       "lies beyond ends in an arrow. The word of a claim follows from its line.</p>")


def findings(tested: Mapping[str, Mapping[str, Any]]) -> str:
    """What the index page includes, from each claim's line of its chapter's data, with the chapter as `page`."""
    parts = [in_words(study, tested) for study in published.STUDIES]
    rows = [row for study in published.STUDIES for row in pictured(study, tested)]
    plot = table("Every claim that was measured: published and measured effect", ("claim", "effect", "verdict"), rows, 9)
    return "\n\n".join([verdict_bar(tested), *parts, plot.text + KEY]) + "\n"


def counted(tested: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """How many claims have which verdict, those that some have."""
    of = [verdict_of(tested.get(claim)) for claim in claims.load()]
    return {verdict: of.count(verdict) for verdict in WORDS if verdict in of}


def bar(counts: Mapping[str, int], width: float, height: float) -> str:
    """The verdicts as one bar, each as wide as it is frequent, with its number."""
    parts, x, unit = [], 0.0, width / sum(counts.values())
    for verdict, number in counts.items():
        wide = unit * number
        parts.append(f'<g class="nr-{WORDS[verdict]}"><rect x="{x:.1f}" width="{wide - 2:.1f}" height="{height}" rx="2" '
                     f'fill="currentColor"/><text x="{x + wide / 2 - 1:.1f}" y="{height / 2}" dy=".35em" text-anchor="middle" '
                     f'fill="var(--nr-paper)">{number}</text></g>')
        x += wide
    return "".join(parts)


def verdict_bar(tested: Mapping[str, Mapping[str, Any]]) -> str:
    """The bar of all verdicts, and below it what its parts are."""
    counts = counted(tested)
    words = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    named = " ".join(badge(f"{number} {verdict}", WORDS[verdict]).text for verdict, number in counts.items())
    return (f'<svg class="nr-bar" role="img" aria-label="Verdicts on {sum(counts.values())} claims: {words}" '
            f'viewBox="0 0 {BAR} {HEIGHT + 8}">{bar(counts, BAR, HEIGHT + 8)}</svg><p>{named}</p>')


def in_words(study: str, tested: Mapping[str, Mapping[str, Any]]) -> str:
    """One study's claims by what became of them, each a link to its chapter."""
    own = [claim for claim in claims.load().values() if claim.study == study]
    of = {claim.id: verdict_of(tested.get(claim.id)) for claim in own}

    def named(word: str) -> str:
        return "; ".join(link(claim, tested) for claim in own if of[claim.id] == word)

    sentences = [f"<strong>{cell(published.published_name(study))}</strong>, {count(len(own))} claims.",
                 *(f"<em>{word.capitalize()}</em>: {text}." for word in (AGREES, DISAGREES, SMALL) if (text := named(word))),
                 *(f"{word.capitalize()}: {number}." for word in (OPEN, UNTESTED) if (number := list(of.values()).count(word))),
                 believed(of, tested)]
    return f"<p>{' '.join(filter(None, sentences))}</p>"


def believed(of: Mapping[str, str], tested: Mapping[str, Mapping[str, Any]]) -> str:
    """Why one may believe the verdicts that were given: how small a difference their tests see."""
    seen = [tested[claim]["pair"]["detectable"] for claim, word in of.items()
            if word != UNTESTED and "pair" in tested[claim] and not claims.load()[claim].unit]
    tests = "half of the tests find" if len(seen) > 1 else "the test finds"
    return (f"Why believe it: rules and margins were written down before any training shown here ran, and {tests} a true "
            f"difference of {plain(median(seen))} four times in five." if seen else "")


def verdict_of(line: Mapping[str, Any] | None) -> str:
    """A claim's verdict; *not tested* for one that no chapter has measured."""
    return line["verdict"] if line else UNTESTED


def link(claim: Claim, tested: Mapping[str, Mapping[str, Any]]) -> str:
    """A claim in its own words, which lead to its chapter."""
    text = cell(claim.claim)
    return f'<a href="chapters/{tested[claim.id]["page"]}.html">{text}</a>' if claim.id in tested else text


def pictured(study: str, tested: Mapping[str, Mapping[str, Any]]) -> list[list[Any]]:
    """A row for each claim with a measured effect."""
    return [[Html(link(claim, tested)), picture(claim, line["pair"], line["verdict"]),
             badge(line["verdict"], WORDS[line["verdict"]])] for claim, line in sorted_claims(study, tested)]


def sorted_claims(study: str, tested: Mapping[str, Mapping[str, Any]]) -> list[tuple[Claim, Mapping[str, Any]]]:
    """The claims with a measured effect, largest first, but for effects in a unit of their own (milliseconds)."""
    shown = [(claim, line) for claim in claims.load().values() if claim.study == study and not claim.unit
             and (line := tested.get(claim.id)) and "pair" in line]
    shown.sort(key=lambda one: -one[1]["pair"]["mean"])
    return shown


def published_effect(claim: Claim) -> float | None:
    """The difference of the two printed values that a claim rests on; None where the study printed none."""
    first, *second = claim.printed or (None,)
    return first.amount - second[0].amount if first and second else None


def picture(claim: Claim, pair: Mapping[str, Any], verdict: str) -> Html:
    """A row's picture, in words for those who do not see it."""
    (low, high), printed = pair["interval"], published_effect(claim)
    words = f"{claim.claim}: measured {signed(pair['mean'])}, from {signed(low)} to {signed(high)}" + (
        f"; published {signed(printed)}" if printed is not None else "")
    attributes = f'class="nr-effect nr-{WORDS[verdict]}" role="img" aria-label="{cell(words)}"'
    return Html(f'<svg {attributes} width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">'
                f'<title>{cell(words)}</title>{marks_of(claim, pair)}</svg>')


def marks_of(claim: Claim, pair: Mapping[str, Any]) -> str:
    """A measured effect with its interval and the printed one, drawn on one axis."""
    (low, high), y, printed = pair["interval"], HEIGHT / 2, published_effect(claim)
    marks = [f'<line x1="{_x(0):.1f}" x2="{_x(0):.1f}" y1="0" y2="{HEIGHT}" stroke="currentColor" opacity=".35"/>',
             f'<line x1="{_x(low):.1f}" x2="{_x(high):.1f}" y1="{y}" y2="{y}" stroke="currentColor" stroke-width="2"/>',
             f'<circle cx="{_x(pair["mean"]):.1f}" cy="{y}" r="3.5" fill="currentColor"/>']
    marks += [_arrow(side) for side, end in ((-1, low), (1, high)) if side * end > REACH]
    if printed is not None:
        x = _x(printed)
        marks.append(f'<path d="M{x:.1f} {y - 5} l4 5 l-4 5 l-4 -5 z" fill="none" stroke="currentColor" stroke-width="1.3"/>')
        marks += [_arrow(side) for side in (-1, 1) if side * printed > REACH]
    return "".join(marks)


def _x(effect: float) -> float:
    """Where an effect lies on the axis, in pixels; those beyond it at its ends."""
    return 6 + (WIDTH - 12) * (max(-REACH, min(REACH, effect)) + REACH) / (2 * REACH)


def _arrow(side: int) -> str:
    x, y = _x(side * REACH), HEIGHT / 2
    return f'<path d="M{x:.1f} {y - 4} l{4 * side} 4 l{-4 * side} 4 z" fill="currentColor"/>'
