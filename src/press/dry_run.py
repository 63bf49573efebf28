"""A dry run: the statements of a template executed with the values that are there, and what takes a moment; nothing is stored.

Every step that the chapter needs is looked up by its recipe; a missing one is listed, with all that is missing below it. The
nearest value of the same step for other parameters stands in for it, so that the run reaches what follows; a step that then reads
a parameter off that value, such as a tuned k1, may be listed with another one. Without a stand-in the statement stops, and so
does every later one that uses a name which it would have set.
"""

import ast
import contextlib
import functools
import io
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from helpers import paths
from helpers.errors import BadInput, NetworkNeeded
from helpers.pages import carried, page
from helpers.steps import Step, ledger, recipe
from helpers.steps.recorded import Recorded
from helpers.steps.store import Entry, Store
from helpers.systems.evaluated import Evaluation
from press import chapters

MANY = 50_000_000  # bytes of texts that are no longer read in a moment
QUICK = ("queries", "qrels", "text_store", "trec_run", "aggregated", "z_scored", "run_measures")


@dataclass(frozen=True)
class Computation:
    """A computation that was made before."""

    recipe: dict[str, Any]  # of its step
    key: str  # of the recipe
    seconds: float | None  # it took, without its inputs; None if nobody noted it
    kept: Store | Recorded | None  # where its entry is, unread; None if only a later step names it

    @functools.cached_property
    def arguments(self) -> dict[tuple[str, str], str]:
        """Its own and those of all below it."""
        return arguments(self.recipe)


Catalogue = dict[str, list[Computation]]  # by the name of the step


def catalogue() -> Catalogue:
    """All known computations; an entry itself goes before what a later step tells of it."""
    found = list[Computation]()
    for kept in (Recorded(paths.RESULTS), Store(paths.store())):
        for manifest in kept.manifests():
            with contextlib.suppress(LookupError, TypeError):  # a damaged entry holds nothing
                found += _computations(manifest["recipe"], manifest, kept)
    found.sort(key=lambda made: (made.kept is not None, made.seconds is not None))
    by_step = defaultdict(list)
    for made in {made.key: made for made in found}.values():
        by_step[made.recipe["step"]].append(made)
    return by_step


def _computations(whole: dict[str, Any], line: dict[str, Any], kept: Store | Recorded | None = None) -> Iterator[Computation]:
    """A computation and those below it, whose lines stand in the recipe's order."""
    yield Computation(whole, line["key"], line.get("seconds"), kept)
    for part, below in zip(recipe.input_steps(whole), line.get("inputs") or [], strict=False):
        if below["step"] == part["step"]:
            yield from _computations(part, below)


def arguments(whole: dict[str, Any]) -> dict[tuple[str, str], str]:
    """The plain arguments of a recipe's step, and of all steps below it, with the data: values by step and argument."""
    values: dict[tuple[str, str], set[str]] = defaultdict(set)
    for part in recipe.parts(whole):
        if "data" in part:
            values["data", "/".join(map(str, part["data"]))].add(f"{part.get('collection', '')} {part.get('digest', '')}".strip())
            continue
        values[part["step"], "version"].add(str(part.get("version")))
        for name, value in part["arguments"].items():
            if not any(recipe.parts_in(value)):
                values[part["step"], name].add(recipe.canonical(value))
    return {place: ", ".join(sorted(found)) for place, found in values.items()}


def nearest(missing: dict[str, Any], computations: Iterable[Computation]) -> Computation | None:
    """The known computation that differs from a missing one in the fewest arguments; among equals one of the Almanac."""
    ours = arguments(missing)

    def distance(made: Computation) -> tuple[int, int, str]:
        away = sum(step == "data" and not value.startswith("almanac") for (step, _), value in made.arguments.items())
        return sum(ours.get(place) != made.arguments.get(place) for place in {*ours, *made.arguments}), away, made.key

    return min(computations, default=None, key=distance)


class NoValue(Exception):
    """A value that is missing, and nothing to stand in for it."""


@dataclass
class DryRun:
    """What a dry run tells."""

    missing: dict[str, Step] = field(default_factory=dict)  # what would be computed, by key, every step after its inputs
    available: dict[str, tuple[Entry, str]] = field(default_factory=dict)  # what would be used, as `stored` or `recorded`
    stand_ins: set[str] = field(default_factory=set)  # the keys of missing steps for which another one's value stood in
    stopped: list[tuple[str, str]] = field(default_factory=list)  # statements not executed to their end, with the reason
    shown: list[Evaluation] = field(default_factory=list)  # what the last cell, `page.provenance`, was given
    used: dict[str, dict[str, Any]] = field(default_factory=dict)  # the ledger's lines by key

    def visit(self, step: Step) -> None:
        """Look a step up, and those below it as far as they would be needed; BadInput where what it would read is not here."""
        if step.key in self.available or step.key in self.missing:
            return
        entry, source = step.lookup()
        if entry is not None:
            self.available[step.key] = entry, source
            return
        for part in step.inputs():
            self.visit(part)
        for data in recipe.parts_in(list(step.arguments.values())):
            if not getattr(data, "makeable", getattr(data, "is_here", True)) and hasattr(data, "load"):
                next(data.load()) if data.kind == "texts" else data.load()
        self.missing[step.key] = step

    def at_hand(self, step: Step, folder: str) -> Entry | None:
        """What takes a moment, of what is there: read or put together in the folder, to be forgotten; None for all else."""
        if not self._quick(step):
            return None
        with patch.dict(os.environ, BOOK_STORE=folder):
            return step.lookup()[0] or step._compute()[0]

    def _quick(self, step: Step) -> bool:
        data = [part for part in recipe.parts_in(list(step.arguments.values())) if hasattr(part, "sources")]
        return step.key in self.available or (
            step.name in QUICK and all(map(self._quick, step.inputs()))
            and all(part.is_here for part in data)
            and sum(file.stat().st_size for part in data for file in part.sources()) < MANY)


def of_chapter(chapter: str, values: dict[str, Any], catalogue: Catalogue) -> DryRun:
    """Execute a chapter's template dry; BadInput if it would stop with these parameters before anything is computed."""
    run = DryRun()

    def look_up(step: Step) -> Entry:
        run.visit(step)
        if step.key in run.available:
            entry, source = run.available[step.key]
        else:
            entry, source = run.at_hand(step, folder) or _stand_in(step, catalogue), "computed"
            if entry.manifest["key"] != step.key:  # else it is the step's own value, which is to be computed anew
                run.stand_ins.add(step.key)
        ledger.note({**entry.manifest, "key": step.key}, source)
        return entry

    with (tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()),
          patch.object(Step, "entry", look_up)):
        execute(chapter, values, run)
        for step in [step for step in run.missing.values() if not step.inputs() or step.name == "trec_run"]:
            run.at_hand(step, folder)  # a folder's texts, or a run, are found wrong now, and not after the trainings
    return run


def _stand_in(step: Step, catalogue: Catalogue) -> Entry:
    near = nearest(step.recipe(), [made for made in catalogue.get(step.name, []) if made.kept is not None])
    entry = near.kept.find(step.name, near.key, "") if near is not None and near.kept is not None else None
    if entry is None or entry.manifest["form"] != step.definition.form:
        raise NoValue(f"needs the value of {step.name}")
    return entry


def execute(chapter: str, values: dict[str, Any], run: DryRun) -> None:
    """Execute a template's statements in this process; nothing is printed, no page is made, and what it used and shows is noted
    in `run` alone. By itself it computes what is missing."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    with (patch.object(ledger, "USED", run.used), contextlib.redirect_stdout(io.StringIO()), patch.object(
            page, "provenance", lambda *systems: run.shown.extend(carried.evaluations(*systems)))):
        for cell in chapters.chapter(chapter).code:
            for statement in ast.parse(cell.source).body:
                if reason := _problem(statement, scope, run):
                    run.stopped.append((ast.unparse(statement), reason))
                    for node in ast.walk(statement):
                        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                            scope.pop(node.id, None)
            if "parameters" in cell.metadata.get("tags", []):
                scope.update(values)


def _problem(statement: ast.stmt, scope: dict[str, Any], run: DryRun) -> str:
    """Execute a statement; why it stopped, or nothing. An error while nothing is missing is the chapter's own: BadInput."""
    try:
        exec(compile(ast.Module([statement], []), "<chapter>", "exec"), scope)  # noqa: S102 - the book's own template
    except NoValue as missing:
        return str(missing)
    except Exception as error:
        if isinstance(error, NameError) and run.stopped:
            return f"needs {error.name}"
        of_a_name = isinstance(getattr(error, "file", None), Path) or (isinstance(error, OSError) and error.errno) or (
            getattr(error, "mend", "").startswith("choose from"))
        if run.missing and not of_a_name and (run.stand_ins or not isinstance(error, BadInput | NetworkNeeded)):
            return f"does not work without the missing values ({type(error).__name__})"
        if isinstance(error, BadInput | NetworkNeeded):
            raise
        raise BadInput(f"the chapter would stop at `{ast.unparse(statement)}`: {type(error).__name__}: {error}",
                       mend="give other parameters") from error
    return ""
