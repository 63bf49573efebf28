"""`book queue`, `book pack` and `book unpack`: what is to be computed, goes to a GPU elsewhere, and enters the store."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.errors import BadInput, NetworkNeeded
from helpers.pages import fragments
from helpers.steps import Step
from helpers.steps.pack import Plan
from helpers.steps.pack import pack as written
from helpers.steps.pack import unpack as entered
from press import commands, dry_run, execute, explain
from press.dry_run import catalogue
from press.step_digests import import_all


def queue(work: int = 0) -> Iterator[str]:
    """The lines of the queue, each once its chapter's dry run is through, which takes seconds: what is done, what is missing, and
    what comes next. With minutes to `work`, its pages are made here, best first."""
    if work:
        yield from _worked(60 * work)
        return
    known, following = catalogue(), ""
    for number, item in enumerate(queued(), start=1):
        claims = ", ".join(item["claims"])
        if "lacks" in item:
            yield f"{number:2} {item['what']}: not expressed: {item['lacks']}; {claims}"
            continue
        given, done = _given(item), False
        try:
            plan = explain.plan(item["chapter"], "almanac", given, known)
        except (BadInput, NetworkNeeded) as error:
            state = f"lacks what is not here ({error})"
        else:
            networks = sum(one.step.definition.network for one in plan.expected)
            done = plan.current or plan.is_free
            state = "done" if done else f"missing {len(plan.expected)}{'+' * bool(plan.run.stopped)}, {networks} of networks"
            if not done and not following:
                values = "".join(f" -p {name} '{value}'" for name, value in given.items())
                following = f"next: book pack {number}, or here: book chapter {item['chapter']}{values}"
        yield f"{number:2} {item['what']}: {state}; {fragments.seconds(item['seconds'])} on two cores; {claims}"
    yield following or "nothing is missing that can be computed here"


def _worked(seconds: int) -> Iterator[str]:
    """Make the queue's pages with low priority until the time is over; what was finished by then is kept, and a training goes on
    at the next call."""
    os.nice(19)
    signal.signal(signal.SIGALRM, signal.default_int_handler)  # as Ctrl-C ends a chapter
    signal.alarm(seconds)
    try:
        for item in (item for item in queued() if "lacks" not in item):
            try:
                yield from commands.chapter(item["chapter"], "almanac", _given(item), no_render=True)
            except (BadInput, NetworkNeeded) as error:
                yield f"{item['what']}: {error}"
    except KeyboardInterrupt:
        if signal.alarm(0):  # it was Ctrl-C
            raise
        yield "the time is over: finished steps are kept, training runs go on at the next call"
    signal.alarm(0)


def queued() -> list[dict[str, Any]]:
    """The lines of `profiles/queue.yaml`, best first: `what`, `claims`, and `chapter`, `given` parameters, `seconds`, or what it
    `lacks`, where no parameters express it."""
    return paths.listed(paths.PROFILES / "queue.yaml")


def _given(item: dict[str, Any]) -> dict[str, str]:
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in item["given"].items()}


def pack(name: str, folder: Path, profile: str, given: dict[str, str], part: int, only_list: bool = False) -> Iterator[str]:
    """Write a pack of what a chapter lacks that wants a network; with `only_list` say which steps it would hold.

    Values that need no network are computed here in either case. A statement of the chapter that needs a missing value stops the
    search there: pack again when the first values are back.

    Args:
        name: of a chapter, or the number of a line of the queue, which has its own parameters.
        part: megabytes of a part, at most.
    """
    if name.isdigit():
        if given or not 0 < int(name) <= len(queued()):
            raise BadInput(f"no line {name} of the queue that takes parameters", mend="`book queue` numbers its lines")
        item = queued()[int(name) - 1]
        if "lacks" in item:
            raise BadInput(f"no chapter's parameters express {item['what']!r}: {item['lacks']}", mend="pack another line")
        name, given = item["chapter"], _given(item)
    run = dry_run.of_chapter(name, execute.request(name, profile, given).values, catalogue())
    below = {part.key for step in run.missing.values() for part in step.inputs()}
    wanted = [step for key, step in run.missing.items() if key not in below and not _measures(step)]
    if only_list:
        plan = Plan.of(wanted)
        yield from (f"{step.name} {key[:10]}" + " comes back" * (key in plan.wanted) for key, step in plan.steps.items())
        return
    steps = written(wanted, folder, part * 2**20)["steps"]
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
    yield from entered(folder)
