"""The book as a PDF: `book pdf`. Chromium prints the whole book; the page numbers of the contents come from a first printing.

    book/_build/html -> book/_build/pdf/whole.html -> book/_build/pdf/neural-ranking-reproduced.pdf
"""

import json
import shutil
from html import escape
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.steps import ledger
from press import chapters, chromium, cite, execute, whole_book

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


def publish(html: Path) -> None:
    """Copy the PDF, if there is one, to the root of a rendered book, where the pages link to it."""
    if made() is not None:
        shutil.copyfile(folder() / NAME, html / NAME)


def write() -> dict[str, Any]:
    """Print the rendered book; what `made` tells of it. BadInput without a Chromium, or if a page of the book has not been
    rendered."""
    from pypdf import PdfReader

    chromium.find()
    source = whole_book.write(paths.HTML, folder() / "whole.html", cover())
    draft = folder() / "draft.pdf"
    print_page(source, draft)
    source.write_text(whole_book.numbered(source.read_text(encoding="utf-8"), page_numbers(draft)), encoding="utf-8")
    print_page(source, draft)
    note = {"pages": len(PdfReader(draft).pages), "bytes": draft.stat().st_size, "commit": ledger.commit(),
            "date": ledger.now()[:10]}
    draft.replace(folder() / NAME)
    (folder() / "made.json").write_text(json.dumps(note), encoding="utf-8")
    return note


def print_page(source: Path, target: Path) -> None:
    """Print a local HTML page with an outline, links and page numbers; tables that are too wide are made to fit."""
    with chromium.window(WIDTH, 960) as page:
        page.set_default_timeout(300_000)  # milliseconds: some hundred pages on a busy machine
        page.emulate_media(media="print", color_scheme="light")
        page.goto(source.as_uri())
        page.evaluate(FIT, WIDTH)
        page.pdf(path=target, format="A4", margin=MARGINS, outline=True, tagged=True, print_background=True,
                 display_header_footer=True, header_template="<span></span>",
                 footer_template=FOOTER.format(title=escape(cite.citation()["title"])))


def page_numbers(pdf: Path) -> dict[str, int]:
    """On which page each of the PDF's named places lies, the first being 1."""
    from pypdf import PdfReader

    reader = PdfReader(pdf)
    places = {name.lstrip("/"): reader.get_destination_page_number(place) for name, place in reader.named_destinations.items()}
    return {name: number + 1 for name, number in places.items() if number is not None}


def cover() -> str:
    """The lines below the title: authors, version, commit, profiles, licences."""
    about = cite.citation()
    files = [paths.CHAPTERS / f"{name}.ipynb" for name in chapters.names()]
    runs = [run for file in files if file.exists() and (run := execute.run_of(file))]
    profiles = ", ".join(sorted({run["profile"] for run in runs})) or "none"
    commits = ", ".join(sorted({run["commit"] for run in runs})) or "none"
    lines = [", ".join(author.get("name") or f"{author['given-names']} {author['family-names']}" for author in about["authors"]),
             f"Version {about['version']}, printed {ledger.now()[:10]} at commit {ledger.commit()}",
             f"Profile of the runs: {profiles}; their commits: {commits}",
             "Code MIT, text and figures CC BY 4.0, the Almanac CC0 1.0",
             "Contents, references and measured numbers are links. The code of the chapters is in their notebooks."]
    return "".join(f"<p>{escape(line)}</p>" for line in lines)

