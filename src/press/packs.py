"""`book pack` and `book unpack`: what a chapter lacks goes to a GPU elsewhere, and what came back enters the store."""

from collections.abc import Iterator
from pathlib import Path

from helpers.steps import Step
from helpers.steps.pack import Plan, write
from helpers.steps.pack import unpack as entered
from press import execute
from press.explain import dry_run
from press.explain.known import catalogue
from press.step_digests import import_all


def pack(name: str, folder: Path, profile: str, given: dict[str, str], part: int, only_list: bool = False) -> Iterator[str]:
    """Write a pack of what a chapter lacks that wants a network; with `only_list` say which steps it would hold.

    Values that need no network are computed here in either case. A statement of the chapter that needs a missing value stops the
    search there: pack again when the first values are back.

    Args:
        part: megabytes of a part, at most.
    """
    run = dry_run.of_chapter(name, execute.request(name, profile, given).values, catalogue())
    below = {part.key for step in run.missing.values() for part in step.inputs()}
    wanted = [step for key, step in run.missing.items() if key not in below and not _measures(step)]
    plan = Plan.of(wanted)
    if only_list:
        yield from (f"{step.name} {key[:10]}" + " comes back" * (key in plan.wanted) for key, step in plan.steps.items())
        return
    described = write(plan, folder, part * 2**20)
    size = sum(file.stat().st_size for file in folder.iterdir())
    yield (f"{len(described['steps'])} steps, {len(plan.wanted)} of which come back, in {size / 2**20:.0f} MiB: {folder}. There: "
           "tar xf code.tar; PYTHONPATH=src python -m helpers.steps.work part-*.tar --minutes 12 --out done")
    if run.stopped:
        yield f"{len(run.stopped)} statements wait for these values: pack again when they are back"


def _measures(step: Step) -> bool:
    """Whether a step measures time, or rests on one that is missing and does."""
    return step.definition.timing or any(part.lookup()[0] is None and _measures(part) for part in step.inputs())


def unpack(folder: Path) -> Iterator[str]:
    """Put into the store what `helpers.steps.work` wrote into a folder."""
    import_all()
    yield from entered(folder)
