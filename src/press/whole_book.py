"""The whole book as one HTML page, for printing: every page's article in the order of the contents, with links that stay inside.

A page's ids get its name in front, since two pages may use the same one; links between pages become links within this one, and
what needs a screen (buttons, folded code, heading links) goes.
"""

import os
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag

from helpers import paths
from helpers.errors import BadInput
from press.edited import filled, yaml_of

if TYPE_CHECKING:
    from bs4 import Tag

DROPPED = ("script", "noscript", "a.headerlink", "div.toctree-wrapper", "div.cell_input", "details.above-input", ".nr-launch",
           "metadata")
URL = re.compile(r"url\(\s*['\"]?#([^'\")]+)['\"]?\s*\)")


def contents() -> list[tuple[str, list[str]]]:
    """The book's parts in order, each with the names of its pages; the first part holds the first page alone.

    Variants are not among them: the printed book is the baseline.
    """
    toc = yaml_of(paths.BOOK / "_toc.yml")
    return [("", [toc["root"]]), *((part["caption"], [page["file"] for page in part["chapters"]]) for part in toc["parts"])]


def write(html: Path, target: Path, front: str) -> Path:
    """Write the whole book of a folder of rendered pages into a file; `front` is HTML below the title: authors, version, commit.

    BadInput if a page of the contents has not been rendered.
    """
    parts, rendered = contents(), os.path.relpath(html, target.parent)
    known = {page for _, pages in parts for page in pages}
    body, entries = [], []
    for caption, pages in parts:
        for page in pages:
            article = article_of(html / f"{page}.html")
            heading = article.find("h1")
            inside(article, page, known, rendered)
            label = f'<p class="nr-part">{escape(caption)}</p>' if caption and page == pages[0] else ""
            body.append(f'<section class="nr-page" id="{anchor(page)}">{label}{article.decode_contents()}</section>')
            if page != "index":  # its page number is known once the book has been printed, see `numbered`
                entries.append(ENTRY.format(label=label, anchor=anchor(page),
                                            title=escape(heading.get_text().strip() if heading else "")))
    css = "".join(f'<link rel="stylesheet" href="{rendered}/_static/{name}.css">' for name in ("pygments", "book", "print"))
    title = escape(yaml_of(paths.BOOK / "_config.yml")["title"])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(filled("whole_book.html", title=title, css=css, front=front, contents="".join(entries), body="".join(body)),
                      encoding="utf-8")
    return target


ENTRY = """{label}<p class="nr-line"><a href="#{anchor}">{title}</a><span class="nr-number" data-page="{anchor}"></span></p>"""


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

    Pictures are found by `rendered`, the way from the whole book's folder to the rendered book.
    """
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


def numbered(text: str, numbers: dict[str, Any]) -> str:
    """The whole book with the page numbers of the contents filled in, by page anchor."""
    return re.sub(r'(<span class="nr-number" data-page="([^"]+)">)[^<]*(</span>)',
                  lambda match: f"{match[1]}{numbers.get(match[2], '')}{match[3]}", text)
