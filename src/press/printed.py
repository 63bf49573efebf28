"""The book as a PDF, in `book/_build/pdf`: `book pdf`. Chromium prints the whole book.

The whole book is one HTML page: every page's article in the order of the contents, with links that stay inside. A page's ids get
its name in front, since two pages may use the same one, and what needs a screen (buttons, folded code, heading links) goes.
"""

import json
import os
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag

from helpers import paths
from helpers.errors import BadInput
from helpers.steps import ledger
from press import chapters, chromium, cite, execute
from press.edited import filled, yaml_of

if TYPE_CHECKING:
    from bs4 import Tag

NAME = "neural-ranking-reproduced.pdf"
WIDTH = 673  # CSS pixels between the margins of an A4 page
MARGINS: Any = {"top": "16mm", "bottom": "18mm", "left": "16mm", "right": "16mm"}
FOOTER = """<div style="width: 100%; font: 8pt sans-serif; color: #444; text-align: center;">{title} ·
<span class="pageNumber"></span></div>"""
FIT = """width => { for (const box of document.querySelectorAll('.nr-scroll')) {
  const table = box.querySelector('table');
  if (table && table.scrollWidth > width) table.style.zoom = width / table.scrollWidth; } }"""


def folder() -> Path:
    """Where the PDF is made."""
    return paths.BOOK / "_build" / "pdf"


def made() -> dict[str, Any] | None:
    """What is known of the PDF: pages, bytes, commit and date; None if there is no PDF."""
    note = folder() / "made.json"
    return json.loads(note.read_text(encoding="utf-8")) if note.exists() and (folder() / NAME).exists() else None


def write() -> dict[str, Any]:
    """Print the rendered book; what `made` tells of it. BadInput without a Chromium, or if a page has not been rendered."""
    from pypdf import PdfReader

    with chromium.browser() as running, running.new_context(viewport={"width": WIDTH, "height": 960}, offline=True,
                                                            reduced_motion="reduce") as context:
        source, draft = write_whole(paths.HTML, folder() / "whole.html", cover()), folder() / "draft.pdf"
        page = context.new_page()
        page.set_default_timeout(300_000)  # milliseconds: some hundred pages on a busy machine
        page.emulate_media(media="print", color_scheme="light")
        page.goto(source.as_uri())
        page.evaluate(FIT, WIDTH)  # tables that are too wide
        page.pdf(path=draft, format="A4", margin=MARGINS, outline=True, tagged=True, print_background=True,
                 display_header_footer=True, header_template="<span></span>",
                 footer_template=FOOTER.format(title=escape(cite.citation()["title"])))
    note = {"pages": len(PdfReader(draft).pages), "bytes": draft.stat().st_size, "commit": ledger.commit(),
            "date": ledger.now()[:10]}
    draft.replace(folder() / NAME)
    (folder() / "made.json").write_text(json.dumps(note), encoding="utf-8")
    return note


def cover() -> str:
    """The lines below the title: authors, version, commit, profiles, licences."""
    about = cite.citation()
    files = [paths.CHAPTERS / f"{name}.ipynb" for name in chapters.names()]
    runs = [run for file in files if file.exists() and (run := execute.run_of(file))]
    profiles = ", ".join(sorted({run["profile"] for run in runs})) or "none"
    commits = ", ".join(sorted({run["commit"] for run in runs})) or "none"
    lines = [", ".join(author["name"] for author in about["authors"]),
             f"Version {about['version']}, printed {ledger.now()[:10]} at commit {ledger.commit()}",
             f"Profile of the runs: {profiles}; their commits: {commits}",
             "Code MIT, text and figures CC BY 4.0, the Almanac CC0 1.0",
             "Contents, references and measured numbers are links. The code of the chapters is in their notebooks."]
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


DROPPED = ("script", "noscript", "a.headerlink", "div.toctree-wrapper", "div.cell_input", "details.above-input", ".nr-launch",
           "metadata")
URL = re.compile(r"url\(\s*['\"]?#([^'\")]+)['\"]?\s*\)")


def write_whole(html: Path, target: Path, front: str) -> Path:
    """Write the whole book of a folder of rendered pages, without variants, into a file; `front` is HTML below the title.
    BadInput if a page of the contents has not been rendered."""
    toc, rendered = yaml_of(paths.BOOK / "_toc.yml"), os.path.relpath(html, target.parent)
    parts = [("", [toc["root"]]), *((part["caption"], [page["file"] for page in part["chapters"]]) for part in toc["parts"])]
    known = {page for _, pages in parts for page in pages}
    body, entries = [], []
    for caption, pages in parts:
        for page in pages:
            article = article_of(html / f"{page}.html")
            title = article.find("h1")
            inside(article, page, known, rendered)
            label = f'<p class="nr-part">{escape(caption)}</p>' if caption and page == pages[0] else ""
            body.append(f'<section class="nr-page" id="{anchor(page)}">{label}{article.decode_contents()}</section>')
            if page != "index":
                heading = escape(title.get_text().strip() if title else "")
                entries.append(f'{label}<p class="nr-line"><a href="#{anchor(page)}">{heading}</a></p>')
    css = "".join(f'<link rel="stylesheet" href="{rendered}/_static/{name}.css">' for name in ("pygments", "book", "print"))
    book = escape(yaml_of(paths.BOOK / "_config.yml")["title"])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(filled("whole_book.html", title=book, css=css, front=front, contents="".join(entries), body="".join(body)),
                      encoding="utf-8")
    return target


def article_of(file: Path) -> "Tag":
    """The article of a rendered page, without what needs a screen."""
    from bs4 import BeautifulSoup, Tag

    if not file.exists():
        raise BadInput("the page has not been rendered", file=file, mend="`make book` renders it")
    article = BeautifulSoup(file.read_text(encoding="utf-8"), "lxml").find("article")
    if not isinstance(article, Tag):
        raise BadInput("the page has no article", file=file, mend="render it with the book's own theme")
    for selector in DROPPED:
        for element in article.select(selector):
            element.decompose()
    for element in article.select("details"):
        element["open"] = ""
    return article


def anchor(page: str, fragment: str = "") -> str:
    """The id that stands for a page, or for a place on it, in the whole book."""
    return f"{page.replace('/', '.')}{f'--{fragment}' if fragment else ''}"


def inside(article: "Tag", page: str, known: set[str], rendered: str) -> None:
    """Make a page's ids unique and its links lead to the whole book, in place; a link to a local page that is not `known` goes.
    Pictures are found by `rendered`, the way from the whole book's folder to the rendered book."""
    for element in article.find_all(True):
        for name, value in list(element.attrs.items()):
            if not isinstance(value, str):
                continue
            if name == "id":
                element[name] = anchor(page, value)
            elif name in ("href", "xlink:href"):
                if (target := moved(value, page, known)) is not None:
                    element[name] = target
                else:
                    del element[name]
            elif name == "src" and "://" not in value and not value.startswith("data:"):
                element[name] = f"{rendered}/{os.path.normpath(Path(page).parent / value)}"
            elif "url(" in value:
                element[name] = URL.sub(lambda match: f"url(#{anchor(page, match[1])})", value)


def moved(link: str, page: str, known: set[str]) -> str | None:
    """Where a page's link leads in the whole book; None if nowhere."""
    if "://" in link or link.startswith("mailto:"):
        return link
    path, fragment = urldefrag(link)
    target = page if not path else os.path.normpath(Path(page).parent / unquote(path)).removesuffix(".html")
    return f"#{anchor(target, fragment)}" if target in known else None
