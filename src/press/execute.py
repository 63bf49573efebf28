"""Executing a chapter: papermill runs the template, and the result becomes a page.

    template + parameters -> papermill -> page notebook in book/chapters/

A chapter whose template, parameters, imported code, published values and recorded runs are what they were is not run again. A
chapter with other parameters than its profile's is a variant: a page of its own beside the baseline.
"""

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat

from helpers import paths
from helpers.errors import BadInput
from helpers.steps import fresh_since, recipe
from press import chapters, dependencies
from press.page_header import DATA_KEY, as_page
from press.variants import PageRequest


def fingerprint(chapter: str, values: dict[str, Any], profile: str) -> str:
    """The digest of all that a chapter's page depends on."""
    sources = [chapters.template(chapter), *sorted(paths.PUBLISHED.glob("*.yaml")), *sorted(paths.RESULTS.rglob("manifest.json")),
               *sorted(paths.BENCH.glob("*.json")), paths.ROOT / "requirements.lock"]
    digests = [[os.path.relpath(file, paths.ROOT), recipe.sha256(file.read_bytes())] for file in sources if file.exists()]
    settings = {name: os.environ.get(name) for name in ("BOOK_DEVICE", "BOOK_DTYPE", "BOOK_STORE")}
    return recipe.sha256(recipe.canonical([dependencies.of_chapter(chapter), digests, values, profile, settings]))


def request(chapter: str, profile: str, given: dict[str, str]) -> PageRequest:
    """The page of a chapter in a profile, with parameters from the command line, as texts.

    Raises:
        BadInput: for an unknown chapter, profile or parameter, or a value of the wrong type.
    """
    return PageRequest(chapter, profile, chapters.resolve(chapter, profile, given), chapters.resolve(chapter, profile, {}))


def is_current(page: PageRequest) -> bool:
    """Whether a page was made from just what there is now, and no older value is to be replaced."""
    return fresh_since() is None and page.page.exists() and page.stamp.exists() and (
        page.stamp.read_text() == fingerprint(page.chapter, page.values, page.profile))


def run(chapter: str, profile: str, given: dict[str, str], progress: bool = True) -> tuple[Path, bool]:
    """Execute a chapter if anything that it depends on has changed; with `BOOK_FRESH` in any case. For arguments see `request`;
    with `progress` a bar shows its cells.

    Returns:
        The page notebook, and whether it was executed.
    """
    page = request(chapter, profile, given)
    if is_current(page):
        return page.page, False
    mark = fingerprint(chapter, page.values, profile)  # of what the run begins with
    paths.CHAPTERS.mkdir(parents=True, exist_ok=True)
    page.stamp.unlink(missing_ok=True)
    started = time.perf_counter()
    notebook = executed(chapters.template(chapter), page.values, progress)
    draft = page.page.with_suffix(".part")
    nbformat.write(as_page(notebook, page, time.perf_counter() - started), draft)
    draft.replace(page.page)
    page.stamp.write_text(mark)
    return page.page, True


def executed(source: Path, values: dict[str, Any], progress: bool = True) -> nbformat.NotebookNode:
    """A template, executed with these parameters; no page is written."""
    import papermill
    from papermill.exceptions import PapermillExecutionError

    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "executed.ipynb"
        try:
            papermill.execute_notebook(str(source), str(target), parameters=values, cwd=str(paths.ROOT),
                                       kernel_name="python3", progress_bar=progress, log_output=False, stderr_file=None)
        except PapermillExecutionError as error:
            kept = paths.CHAPTERS / f"{source.stem}.failed.ipynb"
            kept.write_bytes(target.read_bytes())
            raise BadInput(f"the chapter stopped in cell {error.exec_count}: {error.ename}: {error.evalue}", file=kept,
                           mend="open it to see the whole traceback; finished steps are kept") from None
        return nbformat.read(target, as_version=4)


def run_of(page: Path) -> dict[str, Any]:
    """Profile, parameters, commit, date and seconds of a page's execution; empty for a page that keeps nothing of it."""
    return next((item["run"] for item in data_of(page) if "run" in item), {})


def data_of(page: Path) -> list[dict[str, Any]]:
    """The data that the fragments of a page carry: verdicts, measured values, the ledger."""
    return json.loads(page.read_text(encoding="utf-8"))["metadata"].get(DATA_KEY, [])
