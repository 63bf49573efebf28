"""Executing a chapter: papermill runs the template with its parameters, and the result becomes a page in `book/chapters`.

A chapter whose template, parameters, code, data, published values and recorded runs are what they were is not run again.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import nbformat

from helpers import paths
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.steps import digests, fresh_since, recipe
from press import chapters, edited, page_header, terminal
from press.fetching import texts_in
from press.variants import PageRequest

QUIET = "--IPKernelApp.log_level=50"  # a kernel warns of TCP on this machine, and of being stopped


def fingerprint(chapter: str, values: dict[str, Any], profile: str) -> str:
    """The digest of all that a chapter's page depends on: code, data, what is published and recorded, settings. Of the code it is
    the whole package: a chapter reads most of its modules."""
    package = [file for file in sorted(paths.PACKAGE.rglob("*")) if "__pycache__" not in file.parts]
    sources = [chapters.template(chapter), *sorted(paths.PUBLISHED.glob("*.yaml")), *sorted(paths.RESULTS.glob("*.zip")),
               *sorted(paths.BENCH.glob("*.json")), paths.ROOT / "requirements.lock", Path(page_header.__file__), *package,
               paths.BOOK / "templates" / "exercise.md"]
    known = [[os.path.relpath(file, paths.ROOT), digests.sha256(file)] for file in sources if file.is_file()]
    named = [[text, contents(text)] for text in sorted(set(texts_in(list(values.values()))))]
    settings = {name: os.environ.get(name) for name in ("BOOK_DEVICE", "BOOK_DTYPE", "BOOK_STORE")}
    return recipe.sha256(recipe.canonical([known, named, values, profile, settings]))


def contents(text: str) -> Any:
    """The digests of the file, folder or packaged backbone that a parameter names; None for any other text."""
    place = paths.ROOT / os.path.expanduser(text)
    if text and os.path.exists(place):
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        return [[os.path.relpath(file, place), digests.sha256(file)] for file in files if file.is_file()]
    packaged, _ = backbone.width_of(text)
    return backbone.resolve(packaged).digest() if packaged.partition(":")[0] == "packaged" else None


def request(chapter: str, profile: str, given: dict[str, str]) -> PageRequest:
    """The page of a chapter in a profile, with parameters from the command line, as texts; BadInput for an unknown chapter,
    profile or parameter, a value of the wrong type, or a name of nothing."""
    page = PageRequest(chapter, profile, chapters.resolve(chapter, profile, given), chapters.resolve(chapter, profile, {}))
    if given:
        from press import names  # what opens them takes a second to import

        names.check(chapter, {name: page.values[name] for name in given}, page.baseline)
    return page


def is_current(page: PageRequest) -> bool:
    """Whether a page was made from just what there is now, and no older value is to be replaced."""
    return fresh_since() is None and page.page.exists() and page.stamp.exists() and (
        page.stamp.read_text() == fingerprint(page.chapter, page.values, page.profile))


def run(page: PageRequest, tell: Callable[[str], None] | None = None) -> tuple[Path, bool]:
    """Execute a chapter, see `executed`, unless its page is current. The page notebook, and whether it was executed."""
    if is_current(page):
        return page.page, False
    mark = fingerprint(page.chapter, page.values, page.profile)  # of what the run begins with
    paths.CHAPTERS.mkdir(parents=True, exist_ok=True)
    page.stamp.unlink(missing_ok=True)
    started = time.perf_counter()
    notebook = executed(chapters.template(page.chapter), page.values, tell)
    draft = page.page.with_suffix(".part")
    nbformat.write(page_header.as_page(notebook, page, time.perf_counter() - started), draft)
    draft.replace(page.page)
    page.stamp.write_text(mark)
    return page.page, True


def executed(source: Path, values: dict[str, Any], tell: Callable[[str], None] | None = None) -> nbformat.NotebookNode:
    """A template, executed with these parameters; no page is written. How it goes is told in a line, by default at a terminal."""
    import papermill
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    if paths.CHAPTERS.is_dir():
        tempfile.TemporaryFile(dir=paths.CHAPTERS).close()  # an error now, not after hours
    with (tempfile.TemporaryDirectory() as folder, terminal.on_terminal() if tell is None else nullcontext(tell) as told,
          ThreadPoolExecutor(1) as thread):  # in this one, nbclient would catch Ctrl-C
        target, lines = Path(folder) / "executed.ipynb", ["", ""]  # the bar of cells, and the kernel's standard error
        cells, steps = (terminal.LastLine(told, lines, place) for place in range(2))
        bar = {"file": cells, "desc": source.stem, **terminal.CELLS}
        try:
            thread.submit(papermill.execute_notebook, str(source), str(target), parameters=values, cwd=str(paths.ROOT),
                          kernel_name="python3", progress_bar=bar, log_output=False, stderr_file=steps,
                          extra_arguments=[QUIET]).result()
        except KeyboardInterrupt:
            terminal.end_children()
            raise
        except DeadKernelError:
            raise BadInput("the chapter's process died", file=source,
                           mend="most often there is too little memory; finished steps are kept") from None
        except PapermillExecutionError as error:
            kept = paths.CHAPTERS / f"{source.stem}.failed.ipynb"
            kept.write_bytes(target.read_bytes())
            raise BadInput(f"the chapter stopped in cell {error.exec_count}: {error.ename}: {error.evalue}", file=kept,
                           mend="open it to see the whole traceback; finished steps are kept") from None
        return edited.notebook_of(target)


def run_of(page: Path) -> dict[str, Any]:
    """Profile, parameters, commit, date and seconds of a page's execution; empty for a page that keeps nothing of it."""
    return next((item["run"] for item in data_of(page) if "run" in item), {})


def data_of(page: Path) -> list[dict[str, Any]]:
    """The data that the fragments of a page carry: verdicts, measured values, the ledger."""
    try:
        return json.loads(page.read_text(encoding="utf-8"))["metadata"].get(page_header.DATA_KEY, [])
    except (ValueError, KeyError, TypeError):
        raise BadInput("the page is damaged", file=page, mend="remove it and execute the chapter again") from None
