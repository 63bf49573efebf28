"""Opening a chapter elsewhere: addresses on Binder and Colab, the lines below each page's title, and what other sites read.

Buttons point at the clean templates in `notebooks/`, never at executed pages. `book/_ext/launch.py` puts the lines into the pages
when they are rendered, so a new address or a new PDF needs no chapter to run again.
"""

import re
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from helpers import paths
from press import chapters, printed, repository, variants
from press.edited import filled


def addresses(place: repository.Repository, chapter: str) -> dict[str, str]:
    """Where a chapter's template opens: on Binder in JupyterLab, in Colab, and as a file of the repository."""
    file, branch = f"notebooks/{chapter}.ipynb", quote(place.branch, safe="")
    colab = f"https://colab.research.google.com/github/{place.owner}/{place.name}"
    return {"Run on Binder": f"https://mybinder.org/v2/gh/{place.owner}/{place.name}/{branch}?labpath={quote(file, safe='')}",
            "Run in Colab": f"{colab}/blob/{branch}/{quote(file)}", "Template": f"{place.url}/blob/{branch}/{quote(file)}"}


def links() -> dict[str, Any]:
    """All that the lines below the titles are made of, besides the page's name."""
    return {"place": repository.here(), "pdf": printed.made()}


def lines_for(page: str, known: dict[str, Any]) -> str:
    """The HTML below the title of a page such as `chapters/candidates` or `reading`, by what `links` gives; empty for pages that
    are not the book's own."""
    if page in ("search", "genindex") or page.endswith(variants.COMPARED):
        return ""
    place: repository.Repository = known["place"]
    chapter = variants.chapter_of(Path(page).name) if page.startswith("chapters/") else ""
    buttons, folded, up = dict[str, str](), "", "../" * page.count("/")
    if chapter in chapters.templates():
        buttons, elsewhere = ({}, "") if place.is_placeholder else (addresses(place, chapter), filled("launch_elsewhere.html"))
        folded = filled("launch.html", name=escape(chapter), elsewhere=elsewhere)
    if chapter in chapters.names():
        buttons["Cite this page"] = f"{up}generated/cite.html#cite-{chapter.replace('_', '-')}"
    elif page != "generated/cite":
        buttons["Cite"] = f"{up}generated/cite.html"
    if pdf := known["pdf"]:
        buttons[f"PDF of the book ({pdf['date']}, commit {pdf['commit']})"] = f"{up}{printed.NAME}"
    row = " ".join(f'<a class="nr-button" href="{escape(url)}">{escape(text)}</a>' for text, url in buttons.items())
    return f'<div class="nr-launch"><p class="nr-buttons">{row}</p>{folded}</div>' if buttons else ""


def preview(page: str, title: str, known: dict[str, Any]) -> str:
    """What another site shows of a link to a page, as HTML's meta elements; without a public address no more than its title."""
    said = {"title": re.sub("<.*?>", "", title), "type": "article"}
    said |= {} if known["place"].is_placeholder else {"url": f"{known['place'].pages}{page}.html"}
    return "".join(f'<meta property="og:{name}" content="{escape(unescape(text))}">' for name, text in said.items())


def write_sitemap() -> None:
    """Write what search engines read beside the rendered pages; without a public address nothing."""
    place, file = repository.here(), paths.HTML / "sitemap.xml"
    file.unlink(missing_ok=True)
    if not place.is_placeholder:
        pages = sorted(str(page.relative_to(paths.HTML)) for page in paths.HTML.rglob("*.html"))
        urls = "".join(f"<url><loc>{escape(place.pages + page)}</loc></url>\n" for page in pages if not page.startswith("_"))
        file.write_text(filled("sitemap.xml", urls=urls), encoding="utf-8")
