"""The five words, each with a drawn example: the first thing in *How to read a page*."""

from helpers.evaluation.significance import Interval
from helpers.evaluation.verdicts import AGREES, DISAGREES, OPEN, SMALL, UNTESTED, WORDS
from helpers.pages.fragments import Html, badge, interval, signed, table

MARGIN = 0.03  # of the examples' claim, which is that the first system ranks better
EXAMPLES: dict[str, tuple[Interval | None, str]] = {
    AGREES: (Interval(0.06, 0.03, 0.09), "The interval lies on the side of zero that the study claims."),
    DISAGREES: (Interval(-0.05, -0.08, -0.02), "The interval lies on the other side of zero."),
    SMALL: (Interval(0.004, -0.016, 0.024),
            "The interval lies within the margin, the shaded band: so small a difference changes nothing."),
    OPEN: (Interval(0.02, -0.03, 0.07), "The interval holds zero, and differences that would matter. The smallest that "
                                        "would have been seen stands beside the word."),
    UNTESTED: (None, "Not run, not trained, no treatment, or another thing was measured: the reason stands beside the word.")}
WIDTH, HEIGHT, REACH = 220, 22, 0.11  # pixels, and the difference at either end


def examples() -> str:
    """A row for each word: an interval that leads to it, and why."""
    rows = [[drawn(own), badge(word, WORDS[word]), why] for word, (own, why) in EXAMPLES.items()]
    return table("Of a claim that one system ranks better than another", ("difference and its interval", "word", "why"), rows,
                 numeric_from=3).text


def drawn(own: Interval | None) -> Html:
    """An interval on an axis with zero in its middle, over the band of the margin."""
    words = ("An empty axis: nothing was measured." if own is None else
             f"A difference of {signed(own.mean)} with its interval {interval(own.low, own.high, sign=True)} on an axis.")
    marks = [f'<rect x="{_x(-MARGIN):.0f}" width="{_x(MARGIN) - _x(-MARGIN):.0f}" y="0" height="{HEIGHT}" fill="currentColor" '
             'opacity=".12"/>', f'<line x1="{_x(0):.0f}" x2="{_x(0):.0f}" y1="0" y2="{HEIGHT}" stroke="currentColor"/>']
    if own is not None:
        y = HEIGHT / 2
        marks += [f'<line x1="{_x(own.low):.0f}" x2="{_x(own.high):.0f}" y1="{y}" y2="{y}" stroke="currentColor" '
                  'stroke-width="2"/>',
                  f'<circle cx="{_x(own.mean):.0f}" cy="{y}" r="4" fill="currentColor"/>']
    return Html(f'<svg role="img" aria-label="{words}" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">'
                f'<title>{words}</title>{"".join(marks)}</svg>')


def _x(difference: float) -> float:
    return WIDTH * (difference + REACH) / (2 * REACH)
