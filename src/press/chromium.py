"""The browser: the system's Chromium, which the browser tests, the screenshots and the PDF use. Nothing downloads one.

`book screenshots` takes pictures of every page for a person to look through: wide, on a phone, in dark mode, and one sheet.

    book/_build/html/*.html -> book/_build/screenshots/<page>.<kind>.png + index.html
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from helpers import paths
from helpers.errors import BadInput
from press.edited import filled

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = ("/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
MEND = "`make browser` installs it on Debian and Ubuntu; BOOK_CHROMIUM=/path/to/it names another one"


def find() -> Path:
    """The path of Chromium or Chrome: `BOOK_CHROMIUM` if it is set, else the first on the path; BadInput if there is none."""
    named = os.environ.get("BOOK_CHROMIUM")
    program = next(filter(None, map(shutil.which, [named] if named else [*NAMES, *MAC])), None)
    if program is None and named:
        raise BadInput(f"BOOK_CHROMIUM names no program: {named}", mend="correct it, or unset it")
    if program is None:
        raise BadInput("no Chromium was found", mend=MEND)
    return Path(program)


@contextmanager
def browser() -> Iterator["Browser"]:
    """A running headless browser, driven by Playwright and closed in the end; BadInput if Chromium or Playwright is missing."""
    path = find()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise BadInput("Playwright, which drives Chromium, is not installed", mend="`make env`") from None
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=path) as running:
        yield running


@contextmanager
def window(width: int, height: int = 900, colours: Literal["light", "dark"] = "light") -> Iterator["Page"]:
    """A window of a browser, without the network; width and height in CSS pixels."""
    with browser() as running, running.new_context(viewport={"width": width, "height": height}, color_scheme=colours,
                                                   reduced_motion="reduce", offline=True) as context:
        yield context.new_page()


TALLEST = 12_000  # CSS pixels: a longer page is cut there, which the sheet says
NO_PAGES = {"_static", "_sources", "_images", "_downloads"}


class Kind(NamedTuple):
    """A way of looking at a page: its name, the window's width in CSS pixels, and the colours."""

    name: str
    width: int
    colours: Literal["light", "dark"]


KINDS = (Kind("light", 1250, "light"), Kind("phone", 390, "light"), Kind("dark", 1250, "dark"))


def pages(html: Path) -> list[str]:
    """The names of a rendered book's pages, such as `chapters/seeds`, the first page first; BadInput if there is no rendered
    book."""
    if not (html / "index.html").exists():
        raise BadInput("no rendered book", file=html, mend="`make book` renders it")
    places = (file.relative_to(html) for file in html.rglob("*.html"))
    names = [place.with_suffix("").as_posix() for place in places if not NO_PAGES & set(place.parts)]
    return sorted(names, key=lambda name: (name != "index", name))


def take(html: Path = paths.HTML, to: Path = paths.BOOK / "_build" / "screenshots") -> Path:
    """Photograph every page of a rendered book in every kind, into a folder; older pictures of the same page are replaced. The
    sheet, an HTML page that shows them all."""
    names = pages(html)
    to.mkdir(parents=True, exist_ok=True)
    cut: set[str] = set()
    for kind in KINDS:
        with window(kind.width, colours=kind.colours) as page:
            cut |= {name for name in names
                    if photograph(page, html / f"{name}.html", to / picture(name, kind.name), kind.width)}
    (to / "index.html").write_text(contact_sheet(names, cut), encoding="utf-8")
    return to / "index.html"


def photograph(page: "Page", file: Path, target: Path, width: int) -> bool:
    """Photograph a page from its top, with its folds closed; whether it was cut after `TALLEST` pixels."""
    page.goto(file.as_uri())
    height = page.evaluate("document.documentElement.scrollHeight")
    page.screenshot(path=target, full_page=True, clip={"x": 0, "y": 0, "width": width, "height": min(height, TALLEST)})
    return height > TALLEST


def picture(name: str, kind: str) -> str:
    """The file name of a page's picture."""
    return f"{name.replace('/', '_')}.{kind}.png"


def contact_sheet(names: list[str], cut: set[str]) -> str:
    """The sheet: a row for each page, its pictures side by side."""
    title = f"Every page: {', '.join(f'{kind.name} ({kind.width} px)' for kind in KINDS)}"
    rows = []
    for name in names:
        files = {kind.name: escape(picture(name, kind.name)) for kind in KINDS}
        shots = [f'<figure><figcaption>{kind}</figcaption><a href="{file}"><img loading="lazy" src="{file}" '
                 f'alt="{escape(name)}, {kind}"></a></figure>' for kind, file in files.items()]
        heading = escape(f"{name} (cut after {TALLEST:,} px)" if name in cut else name)
        rows.append(f"<section><h2>{heading}</h2><div>{''.join(shots)}</div></section>")
    return filled("screenshots.html", title=escape(title), rows="\n".join(rows))
