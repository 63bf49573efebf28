"""What a command would run, why, and how long that should take; nothing is run or written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from helpers.errors import BadInput, NetworkNeeded
from helpers.pages import numbers
from helpers.steps import fresh_since
from press import chapters, comparison, execute, variants
from press.execute import PageRequest
from press.forecast import dry_run, scale_report, workload
from press.forecast.dry_run import DryRun
from press.forecast.estimates import Estimate, Expected, expect
from press.forecast.known import Catalogue

LONGEST = 80  # characters of a statement, or of an error in a list


@dataclass(frozen=True)
class Plan:
    """What making a page would take.

    Args:
        wanted: the page.
        current: whether it is there and made from just what there is now; nothing is looked up then.
        expected: the steps that would be computed, every one after its inputs.
        found: what the dry run found.
        overhead: seconds of the page's last execution that no step took; None if it, or its baseline page, was never executed.
    """

    wanted: PageRequest
    current: bool
    expected: tuple[Expected, ...]
    found: DryRun
    overhead: float | None

    @property
    def is_free(self) -> bool:
        """Whether every value is there, so that making the page computes no step."""
        return not self.expected and not self.found.stopped

    def count(self, source: str) -> int:
        """How many of the steps that would be used were found as `stored` or `recorded`."""
        return sum(each == source for _, each in self.found.found.values())


def plan(chapter: str, profile: str, given: dict[str, str], catalogue: Catalogue | None = None) -> Plan:
    """What making a page would take; with `BOOK_FRESH` everything is computed anew.

    Raises:
        BadInput: for parameters that are wrong, or that the chapter would stop with.
    """
    wanted = execute.wanted(chapter, profile, given)
    if fresh_since() is None and wanted.is_current():
        return Plan(wanted, True, (), DryRun(), 0.0)
    catalogue = catalogue or Catalogue()
    found = dry_run.of_chapter(chapter, wanted.values, catalogue)
    expected = tuple(expect(step, catalogue.of(step.name), found.missing_inputs(step)) for step in found.missing.values())
    return Plan(wanted, False, expected, found, overhead(wanted))


def overhead(wanted: PageRequest) -> float | None:
    """Seconds of the last execution of a page, or of its baseline page, besides its steps: kernel, statistics, figures."""
    for page in (wanted.page, wanted.page.with_name(f"{wanted.chapter}.ipynb")):
        if page.exists():
            read = comparison.read(page)
            steps = sum(line["seconds"] for line in read.ledger if line["source"] == "computed")
            if "seconds" in read.run:
                return max(0.0, read.run["seconds"] - steps)
    return None


def total(costs: Sequence[Estimate | None]) -> str:
    """The sum of what steps will cost, with its range and how many are left out because nothing is known of them."""
    known = [cost for cost in costs if cost is not None]
    unknown = len(costs) - len(known)
    if not known and unknown:
        return "unknown"
    said = numbers.seconds(sum(cost.seconds for cost in known))
    low, high = (numbers.seconds(sum(getattr(cost, name) for cost in known)) for name in ("low", "high"))
    return said + (f" ({low} to {high})" if low != high else "") + (f" and {unknown} unknown" if unknown else "")


def text(plan: Plan) -> str:
    """A plan for a person."""
    wanted = plan.wanted
    if plan.current:
        return f"{wanted.name}: up to date, nothing would run\n{_pages(wanted)}"
    parts = [f"{wanted.name}: would run, in the profile {wanted.profile}", *_changes(wanted), ""]
    rows, right, below = _at_scale(plan) if scale_report.is_large(plan.expected) else _as_before(plan)
    parts += [columns(rows, right), ""] if plan.expected else []
    parts.append(f"to compute {len(plan.expected)}, stored {plan.count('stored')}, recorded {plan.count('recorded')}")
    parts.append(below)
    parts += _limits(plan)
    return "\n".join([*parts, _pages(wanted)])


def _at_scale(plan: Plan) -> tuple[list[tuple[Any, ...]], tuple[int, ...], str]:
    """The steps with what they take, the columns set to the right, and the sum."""
    rows, below = scale_report.table(plan.expected)
    return rows, (2, 3, 4, 5), f"{below}\n{scale_report.assumptions()}"


def _as_before(plan: Plan) -> tuple[list[tuple[Any, ...]], tuple[int, ...], str]:
    """The steps with how long they took before, the columns set to the right, and the sum."""
    rows = [(each.step.name, each.step.key[:10], numbers.seconds(each.cost.seconds) if each.cost else "unknown",
             each.cost.basis if each.cost else "", each.why) for each in plan.expected]
    page = f"{numbers.seconds(plan.overhead)} for the page itself" if plan.overhead is not None else (
        "the page itself, which was never timed here")
    below = f"expected: {total([each.cost for each in plan.expected])}, and {page}"
    return [("step to compute", "key", "expected", "judged by", "why"), *rows], (2,), below


def _changes(wanted: PageRequest) -> list[str]:
    return [f"  {name} = {value!r}, baseline {wanted.baseline[name]!r}" for name, value in wanted.values.items()
            if value != wanted.baseline[name]]


def _limits(plan: Plan) -> list[str]:
    """What the plan cannot tell."""
    said = []
    if plan.found.stand_ins:
        number = len(plan.found.stand_ins)
        replaced = ("value was replaced by that of a similar step" if number == 1 else
                    "values were replaced by those of similar steps")
        said.append(f"{number} missing {replaced} to see what follows; a step that takes a parameter from such a value may turn "
                    "out another")
    if plan.found.stopped:
        said += ["incomplete: these statements could not be followed to their end, so there may be more steps"]
        said += [f"  {statement.splitlines()[0][:LONGEST]}: {reason}" for statement, reason in plan.found.stopped]
    return said


def _pages(wanted: PageRequest) -> str:
    if wanted.name == wanted.chapter:
        return f"page: {wanted.name}"
    baseline = wanted.page.with_name(f"{wanted.chapter}.ipynb")
    there = "stays as it is" if baseline.exists() else "has not been executed, and is made, too, if that computes nothing"
    return f"pages: {wanted.name}, {variants.comparison(wanted.name)}; the baseline page {wanted.chapter} {there}"


def whole_book(profile: str) -> str:
    """A line for each chapter of a profile, and the total, in which what chapters share counts once."""
    catalogue, plans = Catalogue(), dict[str, Plan | str]()
    for chapter in chapters.names():
        try:
            plans[chapter] = plan(chapter, profile, {}, catalogue)
        except (BadInput, NetworkNeeded) as error:
            plans[chapter] = f"cannot be told: {str(error)[:LONGEST]}"
    found = [each for each in plans.values() if isinstance(each, Plan)]
    at_scale = [each for each in found if scale_report.is_large(each.expected)]
    heads = scale_report.HEADS if at_scale else ()
    rows: list[tuple[Any, ...]] = [("chapter", "page", "to compute", "stored", "recorded", *heads, "expected")]
    rows += [(chapter, *_line(each, each in at_scale, len(heads))) for chapter, each in plans.items()]
    lines = [columns(rows, right=tuple(range(2, 5 + len(heads)))), "",
             *_totals([each for each in found if each not in at_scale], bool(heads)), *_scale_totals(at_scale)]
    if any(each.found.stopped for each in found):
        lines.append("+ incomplete, there may be more steps; `make explain NAME=<chapter>` says which statements could not be "
                     "followed")
    return "\n".join(lines)


def _line(plan: Plan | str, at_scale: bool, further: int) -> tuple[Any, ...]:
    """A chapter's cells, after its name."""
    if isinstance(plan, str) or plan.current:
        return plan if isinstance(plan, str) else "up to date", *[""] * (4 + further)
    mark = "+" if plan.found.stopped else ""
    number, found = len(plan.expected), (plan.count("stored"), plan.count("recorded"))
    if at_scale:
        steps = scale_report.loads([each.step for each in plan.expected])
        return "would run", f"{number}{mark}", *found, *scale_report.cells(workload.together(steps.values())), ""
    return "would run", number, *found, *[""] * further, total([each.cost for each in plan.expected]) + mark


def _totals(plans: Sequence[Plan], others: bool) -> list[str]:
    """The sum over the chapters whose steps were computed before, or their like."""
    steps = {each.step.key: each.cost for plan in plans for each in plan.expected}
    which = "the other chapters" if others else "all chapters"
    return [f"{which}, each step once: {len(steps)} to compute, expected {total(list(steps.values()))}"]


def _scale_totals(plans: Sequence[Plan]) -> list[str]:
    """The sum over the chapters on large collections, and what it rests on."""
    steps = {each.step.key: each.step for plan in plans for each in plan.expected}
    said = f"chapters on large collections, each step once: {len(steps)} to compute, "
    return [said + scale_report.told(scale_report.loads(list(steps.values()))), scale_report.assumptions()] if plans else []


def columns(rows: Sequence[Sequence[Any]], right: Sequence[int] = ()) -> str:
    """Rows as text in columns, those named set to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
    lines = [[cell.rjust(width) if place in right else cell.ljust(width)
              for place, (cell, width) in enumerate(zip(row, widths, strict=True))] for row in cells]
    return "\n".join("  ".join(line).rstrip() for line in lines)
