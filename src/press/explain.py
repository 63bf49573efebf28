"""What making a page would compute, and how long that should take: `book explain`; nothing is run or written."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from helpers import paths
from helpers.errors import BadInput, NetworkNeeded
from helpers.pages.fragments import seconds
from helpers.steps import Step
from press import chapters, dry_run, execute, fetching, variants
from press.terminal import columns

LONGEST = 80  # characters of a statement, or of an error in a list


@dataclass(frozen=True)
class Plan:
    """What making a page would take."""

    request: variants.PageRequest  # the page
    current: bool  # whether it is there and made from just what there is now; nothing is looked up then
    absent: tuple[str, ...] = ()  # collections and models that are still to be fetched; nothing is looked up then
    # the steps that would be computed, every one after its inputs, and the seconds that the nearest computation took, if any did
    expected: dict[Step, float | None] = field(default_factory=dict)
    run: dry_run.DryRun = field(default_factory=dry_run.DryRun)  # what the dry run tells

    def count(self, source: str) -> int:
        """How many of the steps that would be used are there as `stored` or `recorded`."""
        return sum(place == source for _, place in self.run.available.values())


def plan(chapter: str, profile: str, given: dict[str, str], catalogue: dry_run.Catalogue | None = None) -> Plan:
    """What making a page would take if it is out of date; with `BOOK_FRESH` everything is computed anew. `catalogue` is
    given if it has been read already. BadInput for parameters that are wrong, or stop the chapter."""
    request = execute.request(chapter, profile, given)
    if execute.is_current(request):
        return Plan(request, True)
    if absent := fetching.absent(request.values):
        return Plan(request, False, tuple(absent))
    catalogue = dry_run.catalogue() if catalogue is None else catalogue
    run, expected = dry_run.of_chapter(chapter, request.values, catalogue), dict[Step, float | None]()
    collections = paths.listed(paths.PUBLISHED / "scale.yaml")["collections"]  # so large that no earlier one tells the time
    large = any(text.partition("[")[0] in collections for text in fetching.texts_in(request.values))
    for step in run.missing.values():
        near = dry_run.nearest(step.recipe(), catalogue.get(step.name, []))
        expected[step] = None if large or near is None else near.seconds
    return Plan(request, False, (), expected, run)


def total(costs: Collection[float | None]) -> str:
    """The sum of what steps will take, and how many are left out because nothing is known of them."""
    known = [cost for cost in costs if cost is not None]
    unknown = f"{len(costs) - len(known)} unknown" if len(known) < len(costs) else ""
    return " and ".join(part for part in (seconds(sum(known)) if known or not unknown else "", unknown) if part)


def text(plan: Plan) -> str:
    """A plan for a person."""
    request, run = plan.request, plan.run
    page = f"page: {request.name}"
    if request.changed:
        there = "stays as it is" if (paths.CHAPTERS / f"{request.chapter}.ipynb").exists() else "has not been executed"
        page = f"pages: {request.name}, {request.name}{variants.COMPARED}; the baseline page {request.chapter} {there}"
    if plan.current:
        return f"{request.name}: up to date, nothing would run\n{page}"
    lines = [f"{request.name}: would run, in the profile {request.profile}"]
    lines += [f"  {name} = {value!r}, baseline {request.baseline[name]!r}" for name, value in request.changed.items()]
    if plan.absent:
        lines.append(f"its steps are not known before these are here: {', '.join(plan.absent)}; `make fetch` gets a profile's")
    else:
        rows = [(step.name, step.key[:10], total([cost])) for step, cost in plan.expected.items()]
        lines += ["", columns([("step to compute", "key", "nearest took"), *rows], right=(2,))] if rows else []
        lines += ["", f"to compute {len(rows)}, stored {plan.count('stored')}, recorded {plan.count('recorded')}",
                  f"expected: {'at least ' if run.stopped else ''}{total(plan.expected.values())}, and the page itself"]
    if run.stand_ins:
        lines.append(f"missing values replaced by those of similar steps to see what follows: {len(run.stand_ins)}; a step that "
                     "takes a parameter from such a value may turn out another")
    if run.stopped:
        lines.append("incomplete: these statements could not be followed to their end, so there may be more steps")
        lines += [f"  {statement.splitlines()[0][:LONGEST]}: {reason}" for statement, reason in run.stopped]
    return "\n".join([*lines, page])


def explain(name: str, given: dict[str, str], profile: str) -> str:
    """What a chapter, or without a name the whole book, would run; BadInput as `plan`, or for parameters without a chapter."""
    if given and not name:
        raise BadInput("parameters belong to one chapter", mend="name it: make explain NAME=candidates ARGS=...")
    return text(plan(name, profile, given)) if name else whole_book(profile)


def whole_book(profile: str) -> str:
    """A line for each chapter of a profile, and the total, in which what chapters share counts once."""
    rows: list[tuple[Any, ...]] = [("chapter", "page", "to compute", "stored", "recorded", "expected")]
    catalogue, costs, incomplete = dry_run.catalogue(), dict[str, float | None](), False
    for chapter in chapters.names():
        try:
            planned = plan(chapter, profile, {}, catalogue)
        except (BadInput, NetworkNeeded) as error:
            rows.append((chapter, f"cannot be told: {str(error)[:LONGEST]}", *[""] * 4))
            continue
        if planned.current or planned.absent:
            state = "up to date" if planned.current else f"would run, with {', '.join(planned.absent)}"
            rows.append((chapter, state[:LONGEST], *[""] * 4))
        else:
            rows.append((chapter, "would run", len(planned.expected), planned.count("stored"), planned.count("recorded"),
                         total(planned.expected.values()) + "+" * bool(planned.run.stopped)))
        costs |= {step.key: cost for step, cost in planned.expected.items()}
        incomplete = incomplete or bool(planned.run.stopped or planned.absent)
    lines = [columns(rows, right=(2, 3, 4)), "",
             f"all chapters, each step once: {len(costs)} to compute, expected {total(costs.values())}"]
    if incomplete:
        lines.append("+ incomplete, there may be more steps; `make explain NAME=<chapter>` says what could not be followed")
    return "\n".join(lines)
