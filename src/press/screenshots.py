"""Pictures of every page for a person to look through: wide, on a phone, in dark mode, and one sheet that shows them all.

    book/_build/html/*.html -> book/_build/screenshots/<page>.<kind>.png + index.html
"""

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from helpers import paths
from helpers.errors import BadInput
from press import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

TALLEST = 12_000  # CSS pixels: a longer page is cut there, which the sheet says
NO_PAGES = {"_static", "_sources", "_images", "_downloads"}


@dataclass(frozen=True)
class Kind:
    """A way of looking at a page: its name, the window's width in CSS pixels, and the colours asked for."""

    name: str
    width: int
    colours: Literal["light", "dark"]


KINDS = (Kind("light", 1250, "light"), Kind("phone", 390, "light"), Kind("dark", 1250, "dark"))


def folder() -> Path:
    """Where the pictures go: `BOOK_SCREENSHOTS`, or beside the rendered book."""
    return Path(os.environ.get("BOOK_SCREENSHOTS", paths.BOOK / "_build" / "screenshots"))


def pages(html: Path) -> list[str]:
    """The names of a rendered book's pages, such as `chapters/seeds`; the first page comes first.

    Raises:
        BadInput: if there is no rendered book.
    """
    if not (html / "index.html").exists():
        raise BadInput("no rendered book", file=html, mend="`make book` renders it")
    found = (file.relative_to(html) for file in html.rglob("*.html"))
    names = [place.with_suffix("").as_posix() for place in found if not NO_PAGES & set(place.parts)]
    return sorted(names, key=lambda name: (name != "index", name))


def take(html: Path, target: Path) -> Path:
    """Photograph every page in every kind.

    Args:
        html: a rendered book.
        target: the folder for the pictures; older ones of the same page are replaced.

    Returns:
        The sheet, an HTML page that shows them all.
    """
    names = pages(html)
    target.mkdir(parents=True, exist_ok=True)
    cut: set[str] = set()
    with chromium.browser() as browser:
        for kind in KINDS:
            with browser.new_context(viewport={"width": kind.width, "height": 900}, color_scheme=kind.colours,
                                     reduced_motion="reduce", offline=True) as window:
                page = window.new_page()
                cut |= {name for name in names
                        if photograph(page, html / f"{name}.html", target / picture(name, kind), kind.width)}
    sheet = target / "index.html"
    sheet.write_text(contact_sheet(names, cut), encoding="utf-8")
    return sheet


def photograph(page: "Page", file: Path, target: Path, width: int) -> bool:
    """Photograph a page from its top, with its folds closed; whether it was cut after `TALLEST` pixels."""
    page.goto(file.as_uri())
    height = page.evaluate("document.documentElement.scrollHeight")
    page.screenshot(path=target, full_page=True, clip={"x": 0, "y": 0, "width": width, "height": min(height, TALLEST)})
    return height > TALLEST


def picture(name: str, kind: Kind) -> str:
    """The file name of a page's picture."""
    return f"{name.replace('/', '_')}.{kind.name}.png"


def contact_sheet(names: list[str], cut: set[str]) -> str:
    """The sheet: a row for each page, its pictures side by side, each a link to its full size."""
    rows = []
    for name in names:
        shots = "".join(f'<a href="{escape(picture(name, kind))}"><img loading="lazy" src="{escape(picture(name, kind))}" '
                        f'alt="{escape(name)}, {kind.name}, {kind.width} px wide"></a>' for kind in KINDS)
        note = f" (cut after {TALLEST:,} px)" if name in cut else ""
        rows.append(f"<section><h2>{escape(name)}{note}</h2><div>{shots}</div></section>")
    return SHEET.format(kinds=", ".join(f"{kind.name} ({kind.width} px)" for kind in KINDS), rows="\n".join(rows))


SHEET = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Every page</title>
<style>body {{ font-family: sans-serif; margin: 1rem; background: #888; }}
div {{ display: grid; grid-template-columns: 3fr 1fr 3fr; gap: .5rem; max-height: 48rem; overflow: auto; align-items: start; }}
img {{ display: block; width: 100%; }} h2 {{ font-size: 1rem; }}</style>
</head><body><h1>Every page: {kinds}</h1>
{rows}
</body></html>
"""
