"""Rendering: Jupyter Book over the executed chapters, the prose pages and the generated pages."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import yaml

from helpers import paths
from helpers.errors import BadInput
from helpers.steps import recipe
from press import chapters, edited, execute, launch, variants
from press.terminal import shortened

SKIPPED = {"_build", "__pycache__"}  # folders that rendering writes itself
LONGEST = 60  # characters of what was changed, in the contents


@contextmanager
def stand_ins() -> Iterator[None]:
    """While a book is rendered, a page for each chapter that has not been executed, since others link to it: it says so."""
    missing = [page for name in chapters.names() if not (page := paths.CHAPTERS / f"{name}.ipynb").exists()]
    for page in missing:
        title, run = chapters.chapter(page.stem).title, f"make chapter NAME={page.stem}"
        text = f"# {title}\n\nThis chapter has not been run here. `{run}` runs it."
        nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text, id="title")]), page)
    try:
        yield
    finally:
        for page in missing:
            page.unlink()


@stand_ins()
def render() -> bool:
    """Render the book into `book/_build/html`; False if nothing had changed. BadInput if Jupyter Book fails or warns."""
    toc = write_toc()
    files = sorted(f for f in paths.BOOK.rglob("*") if f.is_file() and f.suffix not in (".stamp", ".part")
                   and not SKIPPED & set(f.relative_to(paths.BOOK).parts))
    mark = recipe.sha256(recipe.canonical([[str(f.relative_to(paths.BOOK)), recipe.sha256(f.read_bytes())] for f in files]))
    stamp = paths.BOOK / "_build" / "stamp"
    if stamp.exists() and stamp.read_text() == mark and (paths.HTML / "index.html").exists():
        return False
    stamp.unlink(missing_ok=True)
    starting = "import press, jupyter_book.cli.main as jupyter_book; jupyter_book.main()"  # the press makes the start faster
    command = [sys.executable, "-c", starting, "build", str(paths.BOOK), "--toc", str(toc), "-W", "--keep-going", "-q"]
    bib, cited = paths.BOOK / "references.bib", paths.BOOK / "_build" / "references.bib"  # and as all pages cite it
    if not cited.exists() or cited.read_bytes() != bib.read_bytes():
        command.append("--all")  # a new entry numbers the anchors of all others anew
    done = subprocess.run(command, cwd=paths.ROOT, env={**os.environ, "PYTHONWARNINGS": "ignore"},
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise BadInput(f"Jupyter Book stopped:\n{(done.stdout + done.stderr)[-4000:]}",
                       mend="mend what it names above, then `make book` again")
    launch.write_sitemap()
    stamp.write_text(mark)
    cited.write_bytes(bib.read_bytes())
    return True


def write_toc() -> Path:
    """The table of contents with the variant pages that exist appended, titled by what was changed, with their comparisons."""
    toc, entries = edited.yaml_of(paths.BOOK / "_toc.yml"), list[dict[str, Any]]()
    for page in variants.pages():
        changed = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}"
                            for name, value in execute.run_of(page).get("changed", {}).items())
        title = chapters.chapter(variants.chapter_of(page.stem)).title
        below = {"file": f"chapters/{page.stem}{variants.COMPARED}", "title": "Compared with the baseline"}
        entries.append({"file": f"chapters/{page.stem}", "title": f"{title}: {shortened(changed, LONGEST)}", "sections": [below]})
    if entries:
        toc = toc | {"parts": [*toc["parts"], {"caption": "Variants", "chapters": entries}]}
    paths.GENERATED.mkdir(parents=True, exist_ok=True)
    target = paths.GENERATED / "_toc.yml"
    target.write_text(yaml.safe_dump(toc, sort_keys=False))
    return target
