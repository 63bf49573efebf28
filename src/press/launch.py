"""Opening a chapter elsewhere: addresses on Binder and Colab, the templates' setup cell, and the lines below each page's title.

Buttons point at the clean templates in `notebooks/`, never at executed pages. `book/_ext/launch.py` puts the lines into the pages
when they are rendered, so a new address or a new PDF needs no chapter to run again.
"""

import json
import re
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from helpers import paths
from press import chapters, cite, printed, variants
from press.cite import Repository
from press.edited import filled

SETUP_CELL = """# @title Colab: fetches the book and installs what is missing; where the book is installed, it does nothing
import importlib.util
import os
import subprocess
import sys

if importlib.util.find_spec("helpers") is None:
    clone = "git clone -q --depth 1 {url} book"
    subprocess.run("test -d book || " + clone, shell=True, check=True)
    subprocess.run([sys.executable, "book/colab.py"], check=True)
    sys.path.insert(0, os.path.abspath("book/src"))"""


def addresses(place: Repository, chapter: str) -> dict[str, str]:
    """Where a chapter's template opens: on Binder in JupyterLab, in Colab, and as a file of the repository."""
    file, branch = f"notebooks/{chapter}.ipynb", quote(place.branch, safe="")
    colab = f"https://colab.research.google.com/github/{place.owner}/{place.name}"
    return {"Run on Binder": f"https://mybinder.org/v2/gh/{place.owner}/{place.name}/{branch}?labpath={quote(file, safe='')}",
            "Run in Colab": f"{colab}/blob/{branch}/{quote(file)}", "Template": f"{place.url}/blob/{branch}/{quote(file)}"}


def links() -> dict[str, Any]:
    """All that the lines below the titles are made of, besides the page's name."""
    return {**cite.repository()._asdict(), "pdf": printed.made()}


def promise() -> str:
    """What the front page says of Binder and Colab: where their buttons are, or how they come to be there."""
    nowhere = cite.repository().is_placeholder
    return ("`make address URL=...` gives each chapter buttons for Binder and Colab." if nowhere else
            "Each chapter opens in Binder and in Colab by the buttons of its page.")


def lines_for(page: str, known: dict[str, Any]) -> str:
    """The HTML below the title of a page such as `chapters/candidates` or `reading`; empty for pages that are not the book's own.

    What is `known` is what `links` gives.
    """
    if page in ("search", "genindex") or page.endswith("--compared"):
        return ""
    place = Repository(known["owner"], known["name"], known["branch"])
    chapter = variants.chapter_of(Path(page).name) if page.startswith("chapters/") else ""
    buttons, folded, up = dict[str, str](), "", "../" * page.count("/")
    if chapter in chapters.templates():
        buttons = {} if place.is_placeholder else addresses(place, chapter)
        elsewhere = "" if place.is_placeholder else filled("launch_elsewhere.html")
        folded = filled("launch.html", name=escape(chapter), elsewhere=elsewhere)
    if chapter in chapters.names():
        buttons["Cite this page"] = f"{up}generated/cite.html#cite-{chapter.replace('_', '-')}"
    elif page != "generated/cite":
        buttons["Cite"] = f"{up}generated/cite.html"
    if pdf := known["pdf"]:
        buttons[f"PDF of the book ({pdf['date']}, commit {pdf['commit']})"] = f"{up}{printed.NAME}"
    row = " ".join(f'<a class="nr-button" href="{escape(url)}">{escape(text)}</a>' for text, url in buttons.items())
    return f'<div class="nr-launch"><p class="nr-buttons">{row}</p>{folded}</div>' if buttons else ""


def setup_cell(place: Repository) -> dict[str, Any]:
    """The first code cell of every template, as it stands in the file: it makes the book importable in a bare Colab runtime."""
    return {"cell_type": "code", "id": "setup",
            "metadata": {"cellView": "form", "jupyter": {"source_hidden": True}, "tags": ["setup"]},
            "source": SETUP_CELL.format(url=place.url).splitlines(keepends=True), "execution_count": None, "outputs": []}


def put_setup_cells(place: Repository) -> list[str]:
    """Put the setup cell into every template, below the title, in place of an older one; the names of those that changed."""
    changed = []
    for chapter in chapters.templates():
        file = chapters.template(chapter)
        notebook = json.loads(file.read_text(encoding="utf-8"))
        cells = [cell for cell in notebook["cells"] if "setup" not in cell["metadata"].get("tags", [])]
        notebook["cells"] = [cells[0], setup_cell(place), *cells[1:]]
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        if text != file.read_text(encoding="utf-8"):
            file.write_text(text, encoding="utf-8")
            changed.append(chapter)
    return changed


def address(url: str) -> str:
    """Write the repository's address, or without one the present one, into `book/_config.yml`, where all else finds it, and into
    every template; what was done. BadInput if it is no repository on GitHub."""
    place = cite.configured()
    if url:
        place = cite.parsed(url, place.branch, "the command line")
        file = paths.BOOK / "_config.yml"
        text = re.sub(r"^(repository:\n  url: ).*$", rf"\g<1>{place.url}", file.read_text(encoding="utf-8"), count=1, flags=re.M)
        file.write_text(text, encoding="utf-8")
    return f"{place.url}: {len(put_setup_cells(place))} setup cells changed"
