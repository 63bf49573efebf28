"""The front page's answer: three sentences, one query of the explorer, the bar of words, and a card for each of the five best
findings that still hold."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from helpers import paths
from helpers.evaluation import published
from helpers.evaluation.significance import Interval
from helpers.evaluation.verdicts import UNTESTED, WORDS
from helpers.pages import claims
from helpers.pages.claims import HIGHER, LOWER, UNCLEAR
from helpers.pages.fragments import Html, badge, cell, signed, with_ends
from press import chapters
from press.edited import filled

Lines = Mapping[str, Mapping[str, Any]]  # what a chapter's data say of each claim, by its name, with the chapter as `page`
Data = Iterable[Mapping[str, Any]]  # what the fragments of chapters carry
WHY = "its chapter was not run"
UNRUN = {"verdict": UNTESTED, "key": None, "evidence": WHY, "reason": WHY}  # of a claim that no executed chapter has judged
BAR, CARDS, SENTENCES = 700, 5, 3  # pixels: the width of the bar of verdicts; cards and sentences on the front page
WIDTH, HEIGHT, REACH = 180, 16, 0.25  # of a row's picture, in pixels, and the largest effect that it shows
KEY = ('<p class="nr-said">A line is the 95 % interval of the measured effect, its dot the mean; a diamond is what the study '
       f"printed. The scale runs from {-REACH:+g} to {REACH:+g} in the claim's measure, the vertical line is no difference; what "
       "lies beyond ends in an arrow. The word follows from this interval and the claim's margin, if it is tested.</p>")


def findings(tested: Lines, data: Data = ()) -> str:
    """What the index page includes."""
    cards = "".join(f'<div class="nr-card"><h3>{cell(card["title"])}</h3>{body}</div>'
                    for card, body in cards_that_hold(tested, data))
    lines = []  # on each study: its page, what it is about, and how many of its claims have which word
    for study, about in paths.listed(paths.PUBLISHED / "studies.yaml").items():
        words = ", ".join(f"{number} {verdict}" for verdict, number in words_counted(tested, study).items())
        lines.append(f"- [{published.published_name(study)}](generated/{study}.md), {about['subject']}: {words}.\n")
    return f'{verdict_bar(tested)}\n\n<div class="nr-cards">{cards}</div>{KEY}\n\n{"".join(lines)}'


def sentences(tested: Lines, data: Data) -> str:
    """What was found, in three sentences with numbers: the first three that still hold, each a link to its chapter."""
    outcomes, written = Outcomes(tested, data), []
    for number, line in enumerate(outcomes.that_hold("sentences")[:SENTENCES], start=1):
        effects = {name: with_ends(measured) for name, rests_on in line["numbers"].items()
                   if (measured := outcomes.effect(rests_on, line["chapter"]))}
        written.append(f"{number}. {line['text'].format(**effects)} ([](chapters/{line['chapter']}.ipynb))")
    return "\n".join(written)


def explored(data: Data) -> str:
    """The explorer's first query, and a field for one of the reader's own; nothing if its chapter was not run."""
    shown = next((item["explored"] for item in data if item.get("page") == "explorer" and "explored" in item), None)
    if shown is None:
        return ""
    columns = "".join(
        f'<div><h3 class="nrx-name">{cell(name)}</h3><ol>' + "".join(
            f'<li class="nrx-card"><small>{cell(grade)}</small> <strong>{cell(title)}</strong>'
            f'<p class="nrx-text">{cell(body)}</p></li>' for title, body, grade in rows) + "</ol></div>"
        for name, rows in shown["columns"])
    ranks = ", ".join(f"{rank} by {name}" for rank, name in zip(shown["ranks"], shown["systems"], strict=True))
    return filled("explored.html", text=cell(shown["text"]), ranks=cell(ranks), queries=shown["queries"], columns=columns,
                  ask=filled("ask.html") if shown["whole"] else "", **{name: quote(shown[name]) for name in ("id", "hurt_most")})


def cards_that_hold(tested: Lines, data: Data, root: str = "") -> list[tuple[Mapping[str, Any], str]]:
    """The first five cards whose conditions hold, each with its text, its effects and its link; `root` is the way to pages."""
    outcomes, drawn = Outcomes(tested, data), []
    for card in outcomes.that_hold("findings")[:CARDS]:
        rows = []
        for name, label in card["shown"].items():
            measured, claim = outcomes.effect(name, card["chapter"]), claims.load().get(name)
            if measured is not None:
                printed = published_effect(claim) if claim else None
                words = cell(in_words(label, measured, printed))
                rows.append(f"<p>{picture(label, measured, printed).text}<small>{words}</small></p>")
        link = f'<a href="{root}chapters/{card["chapter"]}.html">{cell(chapters.chapter(card["chapter"]).title)}</a>'
        drawn.append((card, f'<p>{cell(card["text"])}</p>{"".join(rows)}<p>{link}</p>'))
    return drawn


class Outcomes:
    """What came out of the executed chapters: of claims, and of the comparisons that the chapters' discussions make."""

    def __init__(self, tested: Lines, data: Data):
        self._tested = tested
        self._compared = {(item["page"], pair): line for item in data for pair, line in item.get("compared", {}).items()}

    def that_hold(self, kind: str) -> list[Mapping[str, Any]]:
        """The `findings` or `sentences` that rest on nothing that has changed since they were written."""
        return [card for card in paths.listed(paths.PUBLISHED / "findings.yaml")[kind]
                if all(wanted in self.words(name, card["chapter"]) for name, wanted in card["rests_on"].items())]

    def words(self, name: str, chapter: str) -> set[str]:
        """What can be said of a claim, its word and its side, or of a comparison, its side; nothing of what was not measured."""
        measured = self.effect(name, chapter)
        side = set() if measured is None else {HIGHER if measured.low > 0 else LOWER if measured.high < 0 else UNCLEAR}
        return side | ({self._tested.get(name, UNRUN)["verdict"]} if name in claims.load() else set())

    def effect(self, name: str, chapter: str) -> Interval | None:
        """The measured difference of a claim, or of a comparison of a chapter's discussion; None if there is none."""
        if name in claims.load():
            return effect_of(self._tested[name]) if "pair" in self._tested.get(name, ()) else None
        line = self._compared.get((chapter, name))
        return Interval(*line[2:]) if line else None


def effect_of(line: Mapping[str, Any]) -> Interval:
    """The measured difference of a claim, from its line in its chapter's data."""
    return Interval(line["pair"]["mean"], *line["pair"]["interval"])


def claims_with_lines(tested: Lines, study: str = "") -> list[tuple[claims.Claim, Mapping[str, Any]]]:
    """The claims, of one study if it is named, each with its line of its chapter's data."""
    return [(claim, tested.get(name, UNRUN)) for name, claim in claims.load().items() if study in ("", claim.study)]


def words_counted(tested: Lines, study: str = "") -> dict[str, int]:
    """How many claims, of one study if it is named, have which verdict, those that some have."""
    verdicts = [line["verdict"] for _, line in claims_with_lines(tested, study)]
    return {verdict: verdicts.count(verdict) for verdict in WORDS if verdict in verdicts}


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


def verdict_bar(tested: Lines) -> str:
    """The bar of all verdicts, and below it what its parts are."""
    counts = words_counted(tested)
    words = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    named = " ".join(badge(f"{number} {verdict}", WORDS[verdict]).text for verdict, number in counts.items())
    return (f'<svg class="nr-bar" role="img" aria-label="Verdicts on {sum(counts.values())} claims: {words}" '
            f'viewBox="0 0 {BAR} {HEIGHT + 8}">{bar(counts, BAR, HEIGHT + 8)}</svg><p>{named}</p>')


def link(claim: claims.Claim, tested: Lines, root: str = "") -> str:
    """A claim in its own words, which lead to its chapter; `root` is the way to the book's."""
    text = cell(claim.claim)
    return f'<a href="{root}chapters/{tested[claim.id]["page"]}.html">{text}</a>' if claim.id in tested else text


def sorted_claims(study: str, tested: Lines) -> list[tuple[claims.Claim, Mapping[str, Any]]]:
    """The claims with a measured effect, largest first, but for effects in a unit of their own (milliseconds)."""
    shown = [(claim, line) for claim, line in claims_with_lines(tested, study) if "pair" in line and not claim.unit]
    return sorted(shown, key=lambda one: -one[1]["pair"]["mean"])


def published_effect(claim: claims.Claim) -> float | None:
    """The difference of the two printed values that a claim rests on, or of two such differences; None where there are none."""
    differences = [one.amount - other.amount for one, other in zip(claim.printed[::2], claim.printed[1::2], strict=False)]
    return differences[0] - sum(differences[1:]) if differences else None


def in_words(label: str, effect: Interval, printed: float | None) -> str:
    """An effect with its interval and the printed one: what its picture says to those who do not see it."""
    return f"{label}: {with_ends(effect)}" + (f"; published {signed(printed)}" if printed is not None else "")


def picture(label: str, effect: Interval, printed: float | None = None, kind: str = "") -> Html:
    """An effect with its interval and the printed one, drawn on one axis."""
    words = cell(in_words(label, effect, printed))
    attributes = f'class="nr-effect nr-{kind}" role="img" aria-label="{words}"'
    return Html(f'<svg {attributes} width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">'
                f'<title>{words}</title>{marks_of(effect, printed)}</svg>')


def marks_of(effect: Interval, printed: float | None) -> str:
    """The marks of such a picture."""
    y, low, high = HEIGHT / 2, _x(effect.low), _x(effect.high)
    marks = [f'<line x1="{_x(0):.1f}" x2="{_x(0):.1f}" y1="0" y2="{HEIGHT}" stroke="currentColor" opacity=".35"/>',
             f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" stroke="currentColor" stroke-width="2"/>',
             *[f'<circle cx="{_x(effect.mean):.1f}" cy="{y}" r="3.5" fill="currentColor"/>'] * (abs(effect.mean) <= REACH)]
    marks += [_arrow(side) for side, end in ((-1, effect.low), (1, effect.high)) if side * end > REACH]
    if abs(effect.mean) > REACH:  # the value itself lies beyond: in figures
        x, anchor = _x(effect.mean), "end" if effect.mean > 0 else "start"
        marks.append(f'<text x="{x - 10 if effect.mean > 0 else x + 10:.1f}" y="{y}" dy=".35em" font-size="11" '
                     f'text-anchor="{anchor}">{signed(effect.mean)}</text>')
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
