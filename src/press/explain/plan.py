"""What making a page would compute, why, and how long that should take: `book explain`; nothing is run or written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from helpers.errors import BadInput, NetworkNeeded
from helpers.pages import numbers
from helpers.steps import fresh_since
from press import chapters, comparison, execute, variants
from press.columns import columns
from press.execute import PageRequest
from press.explain import at_scale, dry_run
from press.explain.dry_run import DryRun
from press.explain.estimates import Estimate, Expected, expect
from press.explain.known import Catalogue

LONGEST = 80  # characters of a statement, or of an error in a list


@dataclass(frozen=True)
class Plan:
    """What making a page would take.

    Args:
        request: the page.
        current: whether it is there and made from just what there is now; nothing is looked up then.
        expected: the steps that would be computed, every one after its inputs.
        run: what the dry run tells.
        overhead: seconds of the page's last execution that no step took; None if it, or its baseline page, was never executed.
    """

    request: PageRequest
    current: bool
    expected: tuple[Expected, ...]
    run: DryRun
    overhead: float | None

    @property
    def is_free(self) -> bool:
        """Whether every value is there, so that making the page computes no step."""
        return not self.expected and not self.run.stopped

    @property
    def is_large(self) -> bool:
        """Whether a step rests on a collection so large that no earlier computation tells its time."""
        return any(at_scale.is_large(one.step.recipe()) for one in self.expected)

    def count(self, source: str) -> int:
        """How many of the steps that would be used are there as `stored` or `recorded`."""
        return sum(place == source for _, place in self.run.available.values())

    def time(self) -> str:
        """The expected time of all steps in words; for a large collection that it is not known."""
        return "not known at this scale" if self.is_large else total([one.cost for one in self.expected])


def plan(chapter: str, profile: str, given: dict[str, str], catalogue: Catalogue | None = None) -> Plan:
    """What making a page would take; with `BOOK_FRESH` everything is computed anew.

    Raises:
        BadInput: for parameters that are wrong, or that the chapter would stop with.
    """
    request = execute.request(chapter, profile, given)
    if fresh_since() is None and request.is_current():
        return Plan(request, True, (), DryRun(), 0.0)
    catalogue = catalogue or Catalogue()
    run = dry_run.of_chapter(chapter, request.values, catalogue)
    expected = tuple(expect(step, catalogue.of(step.name), run.missing_inputs(step)) for step in run.missing.values())
    return Plan(request, False, expected, run, overhead(request))


def overhead(request: PageRequest) -> float | None:
    """Seconds of the last execution of a page, or of its baseline page, besides its steps: kernel, statistics, figures."""
    for page in (request.page, request.page.with_name(f"{request.chapter}.ipynb")):
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
    middle, low, high = (numbers.seconds(sum(getattr(cost, name) for cost in known)) for name in ("seconds", "low", "high"))
    return middle + (f" ({low} to {high})" if low != high else "") + (f" and {unknown} unknown" if unknown else "")


def text(plan: Plan) -> str:
    """A plan for a person."""
    request = plan.request
    if plan.current:
        return f"{request.name}: up to date, nothing would run\n{_pages(request)}"
    parts = [f"{request.name}: would run, in the profile {request.profile}", *_changes(request), ""]
    rows = [(one.step.name, one.step.key[:10], *_cost(plan, one), one.why) for one in plan.expected]
    parts += [columns([("step to compute", "key", "expected", "judged by", "why"), *rows], right=(2,)), ""] if rows else []
    parts.append(f"to compute {len(plan.expected)}, stored {plan.count('stored')}, recorded {plan.count('recorded')}")
    page = f"{numbers.seconds(plan.overhead)} for the page itself" if plan.overhead is not None else (
        "the page itself, which was never timed here")
    parts.append(f"expected: {plan.time()}, and {page}")
    parts += ["", at_scale.table(), ""] if plan.is_large else []
    return "\n".join([*parts, *_limits(plan), _pages(request)])


def _cost(plan: Plan, expected: Expected) -> tuple[str, str]:
    """The expected time of a step, and what it is judged by."""
    if plan.is_large:
        return "", ""
    return (numbers.seconds(expected.cost.seconds), expected.cost.basis) if expected.cost else ("unknown", "")


def _changes(request: PageRequest) -> list[str]:
    return [f"  {name} = {value!r}, baseline {request.baseline[name]!r}" for name, value in request.values.items()
            if value != request.baseline[name]]


def _limits(plan: Plan) -> list[str]:
    """What the plan cannot tell."""
    lines = []
    if number := len(plan.run.stand_ins):
        replaced = ("value was replaced by that of a similar step" if number == 1 else
                    "values were replaced by those of similar steps")
        lines.append(f"{number} missing {replaced} to see what follows; a step that takes a parameter from such a value may turn "
                     "out another")
    if plan.run.stopped:
        lines += ["incomplete: these statements could not be followed to their end, so there may be more steps"]
        lines += [f"  {statement.splitlines()[0][:LONGEST]}: {reason}" for statement, reason in plan.run.stopped]
    return lines


def _pages(request: PageRequest) -> str:
    if request.name == request.chapter:
        return f"page: {request.name}"
    baseline = request.page.with_name(f"{request.chapter}.ipynb")
    there = "stays as it is" if baseline.exists() else "has not been executed, and is made, too, if that computes nothing"
    return f"pages: {request.name}, {variants.comparison(request.name)}; the baseline page {request.chapter} {there}"


def whole_book(profile: str) -> str:
    """A line for each chapter of a profile, and the total, in which what chapters share counts once."""
    catalogue, plans = Catalogue(), dict[str, Plan | str]()
    for chapter in chapters.names():
        try:
            plans[chapter] = plan(chapter, profile, {}, catalogue)
        except (BadInput, NetworkNeeded) as error:
            plans[chapter] = f"cannot be told: {str(error)[:LONGEST]}"
    known = [plan for plan in plans.values() if isinstance(plan, Plan)]
    large, usual = [plan for plan in known if plan.is_large], [plan for plan in known if not plan.is_large]
    rows = [("chapter", "page", "to compute", "stored", "recorded", "expected"),
            *((chapter, *_line(plan)) for chapter, plan in plans.items())]
    costs = {one.step.key: one.cost for plan in usual for one in plan.expected}
    lines = [columns(rows, right=(2, 3, 4)), "",
             f"{'the other' if large else 'all'} chapters, each step once: {len(costs)} to compute, "
             f"expected {total(list(costs.values()))}"]
    if large:
        steps = {one.step.key for plan in large for one in plan.expected}
        lines += [f"chapters on large collections, each step once: {len(steps)} to compute", "", at_scale.table()]
    if any(plan.run.stopped for plan in known):
        lines.append("+ incomplete, there may be more steps; `make explain NAME=<chapter>` says which statements could not be "
                     "followed")
    return "\n".join(lines)


def _line(plan: Plan | str) -> tuple[Any, ...]:
    """A chapter's cells, after its name."""
    if isinstance(plan, str) or plan.current:
        return plan if isinstance(plan, str) else "up to date", *[""] * 4
    mark = "+" if plan.run.stopped else ""
    return "would run", len(plan.expected), plan.count("stored"), plan.count("recorded"), plan.time() + mark
