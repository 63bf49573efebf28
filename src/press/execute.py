"""Executing a chapter: papermill runs the template, and the result becomes a page.

    template + parameters -> papermill -> page notebook in book/chapters/

A chapter whose template, parameters, imported code, published values and recorded runs are what they were is not run again. A
chapter with other parameters than its profile's is a variant: a page of its own beside the baseline.
"""

import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from helpers import paths
from helpers.errors import BadInput
from helpers.steps import recipe
from press import chapters, dependencies
from press.page_header import DATA_KEY, as_page


def fingerprint(chapter: str, values: dict[str, Any], profile: str) -> str:
    """The digest of all that a chapter's page depends on."""
    sources = [chapters.template(chapter), *sorted(paths.PUBLISHED.glob("*.yaml")), *sorted(paths.RESULTS.rglob("manifest.json")),
               *sorted(paths.BENCH.glob("*.json")), paths.ROOT / "requirements.lock"]
    digests = [[str(f.relative_to(paths.ROOT)) if f.is_relative_to(paths.ROOT) else f.name, recipe.sha256(f.read_bytes())]
               for f in sources if f.exists()]
    settings = {name: os.environ.get(name) for name in ("BOOK_DEVICE", "BOOK_DTYPE", "BOOK_STORE")}
    return recipe.sha256(recipe.canonical([dependencies.of_chapter(chapter), digests, values, profile, settings]))


def variant_name(chapter: str, values: dict[str, Any], baseline: dict[str, Any]) -> str:
    """The chapter's name, with a short digest of what differs if anything does."""
    changed = {name: value for name, value in values.items() if value != baseline[name]}
    return chapter if not changed else f"{chapter}--{recipe.sha256(recipe.canonical(changed))[:6]}"


@dataclass(frozen=True)
class PageRequest:
    """A page to be made.

    Args:
        chapter: its chapter.
        profile: the profile's name.
        values: of all parameters.
        baseline: their values without those from the command line.
    """

    chapter: str
    profile: str
    values: dict[str, Any]
    baseline: dict[str, Any]

    @property
    def name(self) -> str:
        """The page's name: the chapter's, or the variant's."""
        return variant_name(self.chapter, self.values, self.baseline)

    @property
    def page(self) -> Path:
        """Its notebook."""
        return paths.CHAPTERS / f"{self.name}.ipynb"

    @property
    def stamp(self) -> Path:
        """Where the digest of all that it was made from is kept."""
        return paths.CHAPTERS / f"{self.name}.stamp"

    def is_current(self) -> bool:
        """Whether the page was made from just what there is now."""
        mark = fingerprint(self.chapter, self.values, self.profile)
        return self.page.exists() and self.stamp.exists() and self.stamp.read_text() == mark


def request(chapter: str, profile: str, given: dict[str, str]) -> PageRequest:
    """The page of a chapter in a profile, with parameters from the command line, as texts.

    Raises:
        BadInput: for an unknown chapter, profile or parameter, or a value of the wrong type.
    """
    return PageRequest(chapter, profile, chapters.resolve(chapter, profile, given), chapters.resolve(chapter, profile, {}))


def run(chapter: str, profile: str, given: dict[str, str], fresh: bool = False) -> tuple[Path, bool]:
    """Execute a chapter if anything that it depends on has changed.

    Args:
        chapter: its name.
        profile: the profile's name.
        given: parameters from the command line, as texts.
        fresh: execute in any case, and let no step use an older value.

    Returns:
        The page notebook, and whether it was executed.
    """
    page = request(chapter, profile, given)
    if not fresh and page.is_current():
        return page.page, False
    mark = fingerprint(chapter, page.values, profile)  # of what the run begins with
    paths.CHAPTERS.mkdir(parents=True, exist_ok=True)
    page.stamp.unlink(missing_ok=True)
    started = time.perf_counter()
    ran = executed(chapters.template(chapter), page.values)
    notebook = as_page(ran, chapter, page.name, profile, page.values, page.baseline, time.perf_counter() - started)
    draft = page.page.with_suffix(".part")
    nbformat.write(notebook, draft)
    draft.replace(page.page)
    page.stamp.write_text(mark)
    return page.page, True


def executed(source: Path, values: dict[str, Any]) -> nbformat.NotebookNode:
    """A template, executed with these parameters; no page is written."""
    import papermill
    from papermill.exceptions import PapermillExecutionError

    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "executed.ipynb"
        try:
            papermill.execute_notebook(str(source), str(target), parameters=values, cwd=str(paths.ROOT),
                                       kernel_name="python3", progress_bar=True, log_output=False, stderr_file=None)
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
