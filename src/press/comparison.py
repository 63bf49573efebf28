"""The comparison page of a variant: what was changed, and what that did to each system."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from helpers.evaluation.significance import paired
from helpers.pages import carried
from helpers.pages.fragments import badge, count, one_line, p_value, plain, table
from helpers.pages.results import difference_cell
from press import chapters, execute, variants
from press.page_header import code

NOTHING_SHARED = "No system was measured on both pages on two queries or more: there is nothing to compare."
NO_BASELINE = """The baseline page {why}. `make chapter NAME={chapter} PROFILE={profile}` executes it, and what it measures will
be compared here with the variant."""
HOW = """The difference is variant less baseline on the queries that both pages measured, with its 95 % bootstrap interval. p is
the permutation test's, over queries."""


class Page(NamedTuple):
    """What an executed page carries in its metadata."""

    name: str  # its name
    run: dict[str, Any]  # profile, parameters, commit, date and seconds of its execution
    systems: dict[str, carried.System]  # what it measured, by label; empty for a page that carries no values


def read(page: Path) -> Page:
    """What an executed page carries."""
    bundles = (item["evaluations"] for item in execute.data_of(page) if "evaluations" in item)
    packed: dict[str, Any] = next(bundles, {"queries": [], "systems": []})
    return Page(page.stem, execute.run_of(page), carried.unpacked(packed))


def write_all() -> list[Path]:
    """Write the comparison of every variant that has been executed."""
    written = []
    for page in variants.pages():
        baseline = page.with_name(f"{variants.chapter_of(page.stem)}.ipynb")
        written.append(target := page.with_name(f"{page.stem}{variants.COMPARED}.md"))
        draft = target.with_suffix(".part")
        draft.write_text(text(read(baseline) if baseline.exists() else None, read(page)), encoding="utf-8")
        draft.replace(target)
    return written


def text(baseline: Page | None, variant: Page) -> str:
    """The page as Markdown; `baseline` is None while that page has not been executed."""
    chapter, profile = variants.chapter_of(variant.name), variant.run.get("profile", "almanac")
    both = [f'<a href="{variant.name}.html">the variant</a>',
            *[f'<a href="{chapter}.html">the baseline page</a>'] * (chapter in chapters.names())]
    parts = [f"# {chapters.chapter(chapter).title}: variant and baseline",
             f'<div class="nr-run"><span>Compares {" with ".join(both)}.</span></div>']
    if baseline is None or not baseline.systems:
        why = "has not been executed" if baseline is None else "carries no values for each query"
        parts.append(NO_BASELINE.format(why=why, chapter=chapter, profile=profile))
    else:
        parts += [*origins(baseline, variant), parameters(chapter, baseline, variant),
                  *systems(baseline, variant)]
    return "\n\n".join(parts) + "\n"


def origins(baseline: Page, variant: Page) -> list[str]:
    """Badge, dates and commits, and what the reader must know of the two runs."""
    ours, theirs = variant.run, baseline.run
    origin = ", ".join(f"{name} of {run.get('date', 'unknown')[:10]} at commit {run['commit']}"
                       for name, run in (("variant", ours), ("baseline", theirs)))
    mark = badge(f"profile: {ours['profile']}", "profile").text
    notes = [f'<div class="nr-run">{mark} <span class="nr-said">{origin}</span></div>']
    if ours["profile"] != theirs["profile"]:
        notes.append(f"The baseline page is of the profile {theirs['profile']}, the variant of {ours['profile']}: "
                     "every parameter in which they differ is listed.")
    if ours["commit"] != theirs["commit"]:
        notes.append("The two pages were made at different commits: a difference may come from the code, too.")
    return notes


def parameters(chapter: str, baseline: Page, variant: Page) -> str:
    """The parameters in which the two differ."""
    known, before, after = chapters.schema(chapter), baseline.run["parameters"], variant.run["parameters"]
    rows = [[name, code(before.get(name)), code(after.get(name)), known[name].meaning if name in known else ""]
            for name in {**known, **before, **after} if before.get(name) != after.get(name)]
    return "## What was changed\n\n" + table("Parameters that differ", ("parameter", "baseline", "variant", "meaning"), rows,
                                             numeric_from=9).text


def pairs(baseline: Page, variant: Page) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """The values of the systems that both pages measured on two queries or more, by label in the variant's order: on the baseline
    and on the variant, of the queries and the measures that both have."""
    shared: dict[str, tuple[pd.DataFrame, pd.DataFrame]] = {}
    for label, after in variant.systems.items():
        if label in baseline.systems:
            new, old = after.values.align(baseline.systems[label].values, join="inner")
            shared |= {label: (old, new)} if len(new) >= 2 else {}
    return shared


def systems(baseline: Page, variant: Page) -> list[str]:
    """A table for each measure; systems that the change cannot have touched, or that one page has, are named and not tested."""
    matched, both = pairs(baseline, variant), baseline.systems.keys() & variant.systems.keys()
    same = [name for name, (old, new) in matched.items()
            if baseline.systems[name].key == variant.systems[name].key and old.equals(new)]
    named = {"The same step with the same values on both pages, and so not tested": same,
             "Only on the baseline page": [name for name in baseline.systems if name not in both],
             "Only on the variant": [name for name in variant.systems if name not in both],
             "On both pages, without two queries in common": [name for name in variant.systems if name in both - matched.keys()]}
    moved = {name: values for name, values in matched.items() if name not in same}
    return [f"## Systems\n\n{HOW if matched else NOTHING_SHARED}",
            *(measure_table(moved, name) for name in dict.fromkeys(str(name) for _, new in moved.values() for name in new)),
            *(f"{kind}: {'; '.join(map(as_text, names))}." for kind, names in named.items() if names)]


def measure_table(moved: dict[str, tuple[pd.DataFrame, pd.DataFrame]], measure: str) -> str:
    """One measure of every system that has it."""
    rows = []
    for label, before, after in ((label, old[measure], new[measure]) for label, (old, new) in moved.items() if measure in new):
        test, signs = paired(after, before), np.sign(after - before).tolist()
        rows.append([label, plain(float(before.mean())), plain(float(after.mean())), difference_cell(test.difference),
                     p_value(test.p_permutation), " / ".join(str(signs.count(sign)) for sign in (1, 0, -1)), count(len(after))])
    heads = ("system", "baseline", "variant", "difference", "p", "queries won / tied / lost", "of")
    return table(f"{measure} of the systems on both pages", heads, rows).text


def as_text(label: str) -> str:
    """A label in a Markdown sentence, whatever characters it has."""
    return "".join(f"\\{sign}" if sign in r"\`*_{}[]<>#|$" else sign for sign in one_line(label))
