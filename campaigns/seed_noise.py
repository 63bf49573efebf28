"""What another training changes, from the book's own seeds: written to `published/seed_noise.yaml`, by kind of model and recipe.

    python campaigns/seed_noise.py      # after the chapters have been executed with all their seeds

Intervals of systems with few seeds, and verdicts, rest on the file: a change of it is a commit of its own. Each training counts
once in a measure, on the page that has most of its seeds, of several on the book's first, as the first system there that is made
of it. What systems of a page that have the same seeds share cancels in their differences: twice the mean square of what remains
in the two-way table of systems and seeds (Searle, Casella & McCulloch 1992, section 4.2) is the variance of a difference.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from helpers import paths
from helpers.errors import BadInput
from helpers.evaluation.hierarchical import FILE
from helpers.pages.carried import System
from press import chapters, comparison

NOTHING = 1e-9  # a share of the variance: means that move together to the last digit are chance, and no estimate
Squares = dict[tuple[str, str, str], list[tuple[float, int, float]]]  # by kind, way and measure: sum, freedom, share of each


def text(pages: Iterable[Path]) -> str:
    """The file's content for executed pages; the comments at its head stay. BadInput if no system has two seeds."""
    squares: Squares = {}
    for group in groups(pages):
        for key, own in measured(group).items():
            squares.setdefault(key, []).extend(own)
    if not squares:
        raise BadInput("no system with two seeds", file=paths.CHAPTERS, mend="execute the chapters with several seeds")
    lines, last = ["kinds:"], ("", "")
    for (kind, way, measure), own in sorted(squares.items()):
        if max(part for _, _, part in own) < NOTHING:
            continue
        lines += [f"  {kind}:"] * (kind != last[0]) + [f"    {way}:"] * ((kind, way) != last)
        last, freedom = (kind, way), sum(count for _, count, _ in own)
        variance = sum(total for total, _, _ in own) / freedom
        share = sum(part * count for _, count, part in own) / freedom
        lines.append(f"      {measure}: {{variance: {variance:.2e}, freedom: {freedom}, share: {share:.2e}}}")
    head = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    return "\n".join([*head, *lines, ""])


def groups(pages: Iterable[Path]) -> Iterator[list[System]]:
    """The systems of a page that were trained over the same seeds, each training once in all for each measure."""
    seen: set[tuple[str, str]] = set()
    systems = [(page, system) for page in pages for system in comparison.read(page).systems.values() if len(system.seeds) > 1]
    by_place: dict[object, list[System]] = {}
    for page, system in sorted(systems, key=lambda one: -len(one[1].seeds)):
        kind, numbers, keys = system.of
        if fresh := [measure for measure in system.values if keys and (keys, measure) not in seen]:
            seen |= {(keys, measure) for measure in fresh}
            by_place.setdefault((page, kind, numbers, len(system.values), *fresh), []).append(
                replace(system, values=system.values[fresh]))
    yield from by_place.values()


def measured(group: list[System]) -> Squares:
    """The sums of squares of such systems with their degrees of freedom, and the variance as a share of that over queries."""
    found: Squares = {}
    kind, seeds = group[0].of[0], len(group[0].seeds)
    for measure in group[0].values:
        if not all(measure in system.values for system in group):
            continue
        means = np.array([[run[measure].mean() for run in system.seeds] for system in group])
        spread = float(np.mean([run[measure].var(ddof=1) for system in group for run in system.seeds]))
        centred = means - means.mean(axis=1, keepdims=True)
        parts = {"single": ((centred**2).sum(), len(group) * (seeds - 1)),
                 "paired": (2 * ((centred - centred.mean(axis=0)) ** 2).sum(), (len(group) - 1) * (seeds - 1))}
        found |= {(kind, way, str(measure)): [(float(total), freedom, float(total) / freedom / spread if spread else 0.0)]
                  for way, (total, freedom) in parts.items() if freedom}
    return found


if __name__ == "__main__":
    FILE.write_text(text(paths.CHAPTERS / f"{name}.ipynb" for name in chapters.names()), encoding="utf-8")
