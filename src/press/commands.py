"""The commands of `book` that put the press's parts together: run, render, print, export, clean, pack, unpack, list source."""

import ast
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from helpers import paths
from helpers.errors import BadInput
from helpers.networks import encoder
from helpers.pages import carried
from helpers.steps import Step, fresh_since
from helpers.steps import pack as packs
from helpers.systems.evaluated import Evaluation
from press import build as building
from press import chapters, dry_run, execute, explain, generated, printed, side_by_side, variants
from press.step_digests import import_all


def build(profile: str, only: str = "") -> Iterator[str]:
    """Run all chapters, or only some, with commas between, and render the book."""
    for name, seconds in side_by_side.run_all(only.split(",") if only else chapters.names(), profile):
        yield f"{name}: {'up to date' if seconds is None else f'run in {seconds:.0f} s'}"
    generated.write_all()
    changed = building.render()
    yield f"book: {'rendered' if changed else 'up to date'} -> {(paths.HTML / 'index.html').relative_to(paths.ROOT)}"


def chapter(name: str, profile: str, given: dict[str, str], no_render: bool) -> Iterator[str]:
    """Run one chapter and render it, with its comparison if it is a variant. BadInput for what a dry run stops with, such as a
    split that a collection lacks, before anything is computed; the default page is sound."""
    costs = explain.plan(name, profile, given) if given or profile != "almanac" or fresh_since() else None
    if costs and (costs.expected or costs.run.stopped):
        more = " or more" if costs.run.stopped else ""
        yield (f"{costs.request.name}: {len(costs.expected)} steps{more} to compute, expected: "
               f"{explain.total(costs.expected.values())}; `make explain` lists them")
    page, executed = execute.run(execute.request(name, profile, given))
    yield f"{page.stem}: {'run' if executed else 'up to date'}"
    if not no_render:
        generated.write_all()
        building.render()
        pages = [page.stem, *[page.stem + variants.COMPARED] * (page.stem != name)]
        yield from (f"page -> {(paths.HTML / 'chapters' / shown).relative_to(paths.ROOT)}.html" for shown in pages)


def pdf() -> Iterator[str]:
    """Print the rendered book and link the PDF from its pages."""
    made = printed.write()
    generated.write_all()
    building.render()  # the pages now have a PDF to link to
    yield f"{made['pages']} pages, {made['bytes'] / 1e6:.1f} MB -> {(printed.folder() / printed.NAME).relative_to(paths.ROOT)}"


def export(chapter: str, profile: str, given: dict[str, str], names: Sequence[str], folder: Path,
           models: bool = False) -> Iterator[str | Path]:
    """Write runs of a chapter's systems, named as the page calls them, all if none is named; the files. The chapter's statements
    are executed for that, with the values that are there (a model that is not kept is trained again). BadInput for a system that
    is not the chapter's, before anything is computed where the systems can be named without."""
    values = execute.request(chapter, profile, given).values
    if (seen := dry_run.of_chapter(chapter, values, dry_run.catalogue())).shown:
        _chosen(chapter, seen, names)
    dry_run.execute(chapter, values, whole := dry_run.DryRun())
    chosen = _chosen(chapter, whole, names)
    folder.mkdir(parents=True, exist_ok=True)
    for name, system in chosen.items():
        file = folder / f"{chapter}.{name}.run"
        carried.write_run(file, system, whole.used[system.source.key], f"book export {chapter} --profile {profile}")
        if models:
            encoder.write_of(system.source, file.with_suffix(""))
        yield file


def _chosen(chapter: str, run: dry_run.DryRun, names: Sequence[str]) -> dict[str, Evaluation]:
    """The systems with a run, a seed each, by the names of their files; those chosen by name if any are."""
    made = {carried.tag(one).replace("/", "_"): one for system in run.shown for number, own in enumerate(system.runs, 1)
            for one in [replace(own, name=f"{own.name or own.label} seed {number}") if system.seeds else own]
            if one.source.key in run.used and (isinstance(one.ranking, Step) or len(one.ranking))}
    chosen = ["-".join(name.split()).replace("/", "_") for name in names]
    if not made:
        raise BadInput(f"{chapter} exports no runs: it keeps the measures of its systems alone", mend="take another chapter; "
                       "`book measure` measures a re-ranker on any collection")
    if unknown := [name for name in chosen if name not in made]:
        raise BadInput(f"no system {unknown[0]!r} in {chapter}", mend=f"choose from {', '.join(sorted(made))}")
    return {name: made[name] for name in chosen or sorted(made)}


def clean_variants(no_render: bool) -> Iterator[str]:
    """Remove the variants, their comparisons and what was rendered of them; the baseline pages stay."""
    folders = (paths.CHAPTERS, paths.HTML / "chapters", paths.HTML / "_sources" / "chapters",
               paths.HTML.parent / "jupyter_execute" / "chapters")
    removed = [file for folder in folders for file in folder.glob("*--*")]
    for file in removed:
        file.unlink()
    yield f"removed {len(removed)} files"
    if removed:
        shutil.rmtree(paths.HTML.parent / ".doctrees", ignore_errors=True)
        if (paths.HTML / "index.html").exists() and not no_render:
            building.render()  # the contents beside every page list the variants
            yield "book: rendered without them"


def pack(name: str, folder: Path, profile: str, given: dict[str, str], part: int, only_list: bool = False) -> Iterator[str]:
    """Write a pack of what a chapter lacks that wants a network; with `only_list` say which steps it would hold. Values that need
    no network are computed here in either case. A statement that needs a missing value stops the search there."""
    run = dry_run.of_chapter(name, execute.request(name, profile, given).values, dry_run.catalogue())
    below = {part.key for step in run.missing.values() for part in step.inputs()}
    wanted = [step for key, step in run.missing.items() if key not in below and not _measures(step)]
    if only_list:
        plan = packs.Plan.of(wanted)
        yield from (f"{step.name} {key[:10]}" + " comes back" * (key in plan.wanted) for key, step in plan.steps.items())
        return
    steps = packs.pack(wanted, folder, part * 2**20)["steps"]
    size = sum(file.stat().st_size for file in folder.iterdir())
    yield (f"{len(steps)} steps, {sum(step['wanted'] for step in steps)} of which come back, in {size / 2**20:.0f} MiB: {folder}."
           " There: tar xf code.tar; PYTHONPATH=src python -m helpers.steps.work part-*.tar --minutes 12 --out done")
    if run.stopped:
        yield f"{len(run.stopped)} statements wait for these values: pack again when they are back"


def _measures(step: Step) -> bool:
    """Whether a step measures time, or rests on one that is missing and does."""
    return step.definition.timing or any(part.lookup()[0] is None and _measures(part) for part in step.inputs())


def unpack(folder: Path) -> Iterator[str]:
    """Put into the store what `helpers.steps.work` wrote into a folder."""
    import_all()
    yield from packs.unpack(folder)


def files(word: str = "") -> Iterator[str]:
    """A line for each file of the packages whose path or description has a word."""
    for file in sorted(paths.PACKAGE.parent.rglob("*.py")):
        said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        line = f"{file.relative_to(paths.PACKAGE.parent)}: {' '.join(said.split(chr(10) * 2)[0].split())}"
        if word.lower() in line.lower():
            yield line
