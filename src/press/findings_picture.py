"""The front page's picture as one file, which the README opens with: the bar of verdicts and every claim's effect, in an SVG.

It is drawn by `record`, from the executed pages of the default profile, and carries what it was drawn from; so a test can tell,
without executing anything, that neither the recorded runs nor the drawing have changed since.
"""

import json
import re
from collections.abc import Mapping
from textwrap import wrap
from typing import Any

from helpers import paths
from helpers.evaluation import published, verdicts
from helpers.pages.fragments import cell
from helpers.steps import recipe
from press import chapters, execute, front_page, generated

NAME = "findings.svg"
WIDTH, LINE, CLAIM = 880, 16, 60  # pixels of the picture and of a line; characters of a claim's line
EFFECT, VERDICT = 465, 665  # pixels: where a row's effect and its verdict begin
ICONS = {"yes": "▲", "weak": "△", "none": "▬", "no": "▼", "off": "○"}
STYLE = """{colours} @media (prefers-color-scheme: dark) {{ {dark} }}
svg {{ background: var(--nr-paper); color: var(--nr-pen); font: 13px sans-serif; }} text:not([fill]) {{ fill: currentColor; }}
.head {{ font-weight: bold; }} {classes}"""


def write() -> None:
    """Draw the file anew, if every chapter has been executed in the default profile."""
    pages = [paths.CHAPTERS / f"{name}.ipynb" for name in chapters.names()]
    if all(page.exists() and execute.run_of(page).get("profile") == "almanac" for page in pages):
        kept = {claim: {"verdict": line["verdict"]} | ({"pair": {name: line["pair"][name] for name in ("mean", "interval")}}
                                                       if "pair" in line else {})
                for claim, line in generated.lines_by_claim(generated.collected()).items()}
        (paths.BOOK / "_static" / NAME).write_text(drawn({"recorded": recorded(), "claims": kept}), encoding="utf-8")


def recorded() -> str:
    """The digest of the recorded runs: each pack's name has its own."""
    return recipe.sha256(" ".join(sorted(file.name for file in paths.RESULTS.glob("*.zip"))))


def drawn(source: Mapping[str, Any]) -> str:
    """The picture of claims as `lines_by_claim` has them, with its source in it and the pages' own colours, by day and night."""
    tested, y = source["claims"], 30
    counts = front_page.words_counted(tested)
    parts = [f'<text x="10" y="18" class="head">What held: {sum(counts.values())} claims of five studies</text>',
             f'<g transform="translate(10 {y})">{front_page.bar(counts, WIDTH - 20, 24)}</g>']
    x, y = 10, y + 44
    for verdict, number in counts.items():
        text = f"{ICONS[verdicts.WORDS[verdict]]} {number} {verdict}"
        x, y = (x, y) if x + 7 * len(text) < WIDTH else (10, y + LINE)
        parts.append(f'<text x="{x}" y="{y}" class="nr-{verdicts.WORDS[verdict]}">{text}</text>')
        x += 7 * len(text) + 20
    for study in published.STUDIES:
        y += 2 * LINE
        parts.append(f'<text x="10" y="{y}" class="head">{cell(published.published_name(study))}</text>')
        for claim, line in front_page.sorted_claims(study, tested):
            kind, rows = verdicts.WORDS[line["verdict"]], wrap(claim.claim, CLAIM)
            parts += [f'<text x="10" y="{y + LINE * (n + 1) + 4}">{cell(row)}</text>' for n, row in enumerate(rows)]
            parts.append(f'<g class="nr-{kind}"><g transform="translate({EFFECT} {y + 8})">'
                         f'{front_page.marks_of(front_page.effect_of(line), front_page.published_effect(claim))}</g>'
                         f'<text x="{VERDICT}" y="{y + LINE + 4}">{ICONS[kind]} {line["verdict"]}</text></g>')
            y += LINE * len(rows) + 5
    key = re.sub(r"<[^>]*>", "", front_page.KEY)
    parts += [f'<text x="10" y="{y + LINE * (n + 2)}">{cell(row)}</text>' for n, row in enumerate(wrap(key, 120))]
    height, words = y + LINE * (len(wrap(key, 120)) + 2), ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    size = f'width="{WIDTH}" height="{height}"'
    light, dark = re.findall(r"\{ (--nr-yes[^}]*)\}", (paths.BOOK / "_static" / "book.css").read_text(encoding="utf-8"))
    style = STYLE.format(colours=f":root {{ {light} }}", dark=f":root {{ {dark} }}",
                         classes=" ".join(f".nr-{kind} {{ color: var(--nr-{kind}); }}" for kind in ICONS))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{words}">'
            f'<metadata>{cell(json.dumps(source, sort_keys=True))}</metadata><style>{style}</style>'
            f'<rect {size} rx="6" fill="var(--nr-paper)"/>{"".join(parts)}</svg>\n')
