"""Fragments: what a notebook cell shows on the page. HTML or Markdown for the reader, JSON beside it for other pages.

Every text that comes from data goes through `escape`: a hostile document title stays a text, on a page of Markdown too.
"""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from helpers.evaluation.significance import Interval


def plain(value: float, digits: int = 3) -> str:
    """A measure: `0.571`."""
    return f"{value:.{digits}f}"


def signed(value: float, digits: int = 3) -> str:
    """A difference, with its sign and a true minus: `+0.054`, `−0.010`."""
    return f"{value:+.{digits}f}".replace("-", "−")


def interval(low: float, high: float, digits: int = 3, sign: bool = False) -> str:
    """An interval: `[0.52, 0.61]`."""
    write = signed if sign else plain
    return f"[{write(low, digits)}, {write(high, digits)}]"


def with_ends(difference: "Interval") -> str:
    """A difference with its interval: `+0.054 [+0.010, +0.098]`."""
    return f"{signed(difference.mean)} {interval(difference.low, difference.high, sign=True)}"


def p_value(p: float) -> str:
    """A p-value: `0.012`, or `< 0.001`."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def measure_title(name: str) -> str:
    """A measure as heads and axes have it: `nDCG@10, judged texts alone` for that of a condensed list."""
    for code, words in (("spearman", "Spearman's correlation"), ("consistency_factor", "consistency factor")):
        name = name.replace(code, words)
    return re.sub(r"\(judged_only=True\)(@\d+)?", r"\1, judged texts alone", name)


def count(value: int) -> str:
    """A count with thin separators: `200,000`."""
    return f"{value:,}"


def seconds(value: float) -> str:
    """A duration: `0.4 s`, `52 s`, `13 min`, `2.1 h`."""
    if value < 10:
        return f"{value:.1f} s"
    if value < 90:
        return f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 5400 else f"{value / 3600:.1f} h"


def joined(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


VERDICT = "verdict"  # the head of a column that a narrow screen keeps in view
LONG = 60  # characters without tags: a column with such a text keeps a width at which sentences can be read
TAG = re.compile("<[^>]*>")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")  # line ends among them; and half characters
DATA_MIME = "application/vnd.neural-ranking.data+json"  # ignored by the renderer, read by the scoreboard


@dataclass(frozen=True)
class Fragment:
    """HTML for the page; `data`, if there is any, is kept in the executed notebook for the generated pages."""

    html: str = ""
    markdown: str = ""
    data: dict[str, Any] = field(default_factory=dict)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/markdown": self.markdown} if self.markdown else {"text/html": self.html}
        return {**bundle, DATA_MIME: self.data} if self.data else bundle


@dataclass(frozen=True)
class Html:
    """Markup that a cell of a table may carry as it is."""

    text: str


def one_line(text: str) -> str:
    """A text with blanks for its control characters: after an empty line in a block of HTML, Markdown would read on."""
    return CONTROL.sub(" ", text)


def escape(text: str) -> str:
    """A text from data as HTML, in one line."""
    return html.escape(one_line(text))


def marked(text: str) -> Html:
    """A text from data with `code` and *stress*."""
    coded = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    return Html(re.sub(r"\*([^*]+)\*", r"<em>\1</em>", coded))


def cell(value: Any) -> str:
    """A table cell's content: `Html` as it is, anything else as escaped text."""
    return value.text if isinstance(value, Html) else escape(str(value))


def table(caption: str, header: Sequence[Any], rows: Iterable[Sequence[Any]], numeric_from: int = 1) -> Html:
    """An accessible HTML table in a box that scrolls on narrow screens; the first column heads the rows.

    Cells are text or `Html`; those from the column `numeric_from` on are set like numbers.
    """
    rows = [list(cells) for cells in rows]
    long = {n for cells in rows for n, c in enumerate(cells) if n < numeric_from and len(TAG.sub("", cell(c))) > LONG}

    def set_as(n: int) -> str:
        if header[n] == VERDICT:
            return ' class="nr-verdict"'
        return ' class="num"' if n >= numeric_from else ' class="nr-long"' if n in long else ""

    def line(cells: Sequence[Any]) -> str:
        first, *rest = cells
        tds = "".join(f"<td{set_as(n)}>{cell(c)}</td>" for n, c in enumerate(rest, start=1))
        return f'<tr><th scope="row"{set_as(0) if numeric_from else ""}>{cell(first)}</th>{tds}</tr>'

    heads = "".join(f'<th scope="col"{set_as(n) if n >= numeric_from or c == VERDICT else ""}>{cell(c)}</th>'
                    for n, c in enumerate(header))
    body = "\n".join(map(line, rows))
    return Html(f'<div class="nr-scroll" role="region" tabindex="0" aria-label="{escape(caption)}">'
                f'<table class="nr-table"><caption>{escape(caption)}</caption>'
                f"<thead><tr>{heads}</tr></thead><tbody>\n{body}\n</tbody></table></div>")


def linked(value: Any, step: Any) -> Html:
    """A measured value that leads to its computation's line in the page's provenance; a step is anything with a `key`."""
    return Html(f'<a class="nr-measured" href="#step-{step.key[:10]}">{cell(value)}</a>')


def explored(query_id: str, text: str) -> Html:
    """A query's text, which leads to its rankings in the explorer; from a page beside it."""
    place = quote(query_id, errors="replace")  # an id from data may hold half a character
    return Html(f'<a href="explorer.html#q={place}">{escape(text)}</a>')


def badge(text: str, kind: str) -> Html:
    """A small labelled mark; `kind` picks its colour, the text carries the meaning."""
    return Html(f'<span class="nr-badge nr-{kind}">{escape(text)}</span>')


def details(summary: str, inner: Html) -> Html:
    """A part that opens on a click."""
    return Html(f"<details class=\"nr-details\"><summary>{escape(summary)}</summary>{inner.text}</details>")
