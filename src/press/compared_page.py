"""The comparison page of a variant: what was changed, what that did to each system and to which queries."""

import json
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import paths
from helpers.pages.compare import test_cells
from helpers.pages.fragments import Html, badge, details, table
from helpers.pages.numbers import count, plain, seconds, signed
from helpers.steps import recipe, values
from helpers.steps.store import Store
from press import chapters, comparison, dependencies, variants
from press.comparison import Page, Pair, Tested

MOST = 5  # queries shown that gained, and as many that lost
LONGEST = 90  # characters shown of a query
MARK = "<!-- made from {} -->"


def write_all() -> list[Path]:
    """Write the comparison of every variant that has been executed; one whose two pages are what they were stays as it is."""
    written = []
    code = dependencies.digests(["press.compared_page"])
    for page in variants.pages():
        baseline = page.with_name(f"{variants.chapter_of(page.stem)}.ipynb")
        digests = [recipe.sha256(file.read_bytes()) if file.exists() else "" for file in (baseline, page)]
        mark = MARK.format(recipe.sha256(recipe.canonical([digests, code])))
        target = page.with_name(f"{variants.comparison(page.stem)}.md")
        if not target.exists() or not target.read_text(encoding="utf-8").startswith(mark):
            before = comparison.read(baseline) if baseline.exists() else None
            target.write_text(f"{mark}\n{text(before, comparison.read(page))}", encoding="utf-8")
            written.append(target)
    return written


def text(baseline: Page | None, variant: Page) -> str:
    """The page as Markdown; `baseline` is None while that page has not been executed."""
    chapter = variants.chapter_of(variant.name)
    title = f"# {variants.title(chapter)}: variant and baseline"
    if baseline is None or not baseline.systems:
        return f"{title}\n\n{links(chapter, variant.name)}\n\n{no_baseline(chapter, baseline, variant)}\n"
    pairs = comparison.pairs(baseline, variant)
    parts = [title, header(chapter, baseline, variant), parameters(chapter, baseline, variant), steps(baseline, variant)]
    parts += systems(pairs) if pairs else [f"## Systems\n\n{NOTHING_SHARED}"]
    parts += [alone(baseline, variant, pairs), queries(pairs, texts_of(baseline, variant))]
    return "\n\n".join(part for part in parts if part) + "\n"


NOTHING_SHARED = "No system was measured on both pages on two queries or more: there is nothing to compare."


def no_baseline(chapter: str, baseline: Page | None, variant: Page) -> str:
    """Why there is no comparison, and how to get it."""
    why = "has not been executed" if baseline is None else "carries no values for each query"
    profile = variant.run.get("profile", "almanac")
    return (f"The baseline page {why}. `make chapter NAME={chapter} PROFILE={profile}` executes it, and what it measures will be "
            "compared here with the variant.")


def links(chapter: str, name: str) -> str:
    """The links to both pages; a chapter that the contents do not list has no baseline page to link."""
    listed = chapter in chapters.names()
    both = [f'<a href="{name}.html">the variant</a>'] + [f'<a href="{chapter}.html">the baseline page</a>'] * listed
    return f'<div class="nr-run"><span>Compares {" with ".join(both)}.</span></div>'


def header(chapter: str, baseline: Page, variant: Page) -> str:
    """Badges, links, and what the reader must know of the two runs."""
    runs = {"variant": variant.run, "baseline": baseline.run}
    marks = badge(f"profile: {variant.run['profile']}", "profile").text
    origin = ", ".join(f"{name} of {run.get('date', 'unknown')[:10]} at commit {run['commit']}" for name, run in runs.items())
    notes = []
    if variant.run["profile"] != baseline.run["profile"]:
        notes.append(f"The baseline page is of the profile {baseline.run['profile']}, the variant of {variant.run['profile']}: "
                     "every parameter in which they differ is listed.")
    if variant.run["commit"] != baseline.run["commit"]:
        notes.append("The two pages were made at different commits: a difference may come from the code, too.")
    line = f'<div class="nr-run">{marks} <span class="nr-said">{origin}</span></div>'
    return "\n\n".join([links(chapter, variant.name), line, *notes])


def parameters(chapter: str, baseline: Page, variant: Page) -> str:
    """The parameters in which the two differ."""
    known, before, after = chapters.schema(chapter), baseline.run["parameters"], variant.run["parameters"]
    rows = [[name, _code(before.get(name)), _code(after.get(name)), known[name].meaning if name in known else ""]
            for name in {**known, **before, **after} if before.get(name) != after.get(name)]
    return "## What was changed\n\n" + table("Parameters that differ", ("parameter", "baseline", "variant", "meaning"), rows,
                                             numeric_from=9).text


def steps(baseline: Page, variant: Page) -> str:
    """What the change made the variant compute, and what it shares with the baseline."""
    known = {line["key"] for line in baseline.ledger}
    own = [line for line in variant.ledger if line["key"] not in known]
    live = [line for line in own if line["source"] == "computed"]
    shared = count(len(variant.ledger) - len(own))
    all_steps = count(len(variant.ledger))
    sentence = f"The variant rests on {all_steps} steps: {shared} of the baseline page and {count(len(own))} of its own."
    spent = f" Computed for its page: {count(len(live))}, in {seconds(sum(line['seconds'] for line in live))}." if live else ""
    rows = [[line["step"], _key(variant.name, line["key"]), line["source"], seconds(line["seconds"])] for line in own]
    inner = table("Steps that only the variant uses", ("step", "key", "source", "seconds"), rows, numeric_from=3)
    return sentence + spent + (f"\n\n{details('Steps that only the variant uses', inner).text}" if own else "")


def systems(pairs: list[Pair]) -> list[str]:
    """A table for each measure; the systems that the change cannot have touched are named and not tested."""
    same, moved = [pair for pair in pairs if pair.is_unchanged], [pair for pair in pairs if not pair.is_unchanged]
    parts = [f"## Systems\n\n{HOW}"]
    if same:
        parts.append("The same step with the same values on both pages, and so not tested: "
                     f"{'; '.join(_plain(pair.label) for pair in same)}.")
    parts += different_queries(moved)
    names = list(dict.fromkeys(name for pair in moved for name in pair.measures))
    return parts + [measure_table(comparison.tested(moved, name)) for name in names]


HOW = """The difference is variant less baseline on the same queries, with its 95 % bootstrap interval. The first p is the paired
t-test's, the second the permutation test's, corrected by Holm's method over the rows of its table."""


def different_queries(pairs: list[Pair]) -> list[str]:
    """A sentence for each group of systems that the pages measured on different queries."""
    groups: dict[tuple[int, int, int], list[str]] = {}
    for pair in pairs:
        if set(pair.measured) != {len(pair.variant)}:
            groups.setdefault((*pair.measured, len(pair.variant)), []).append(_plain(pair.label))
    return [f"Compared on the {count(common)} queries that both pages measured (baseline {count(before)}, variant "
            f"{count(after)}): {'; '.join(names)}." for (before, after, common), names in groups.items()]


def measure_table(rows: list[Tested]) -> str:
    """One measure of every system."""
    measure = rows[0].measure
    cells = [[row.pair.label, plain(float(row.pair.baseline[measure].mean())), plain(float(row.pair.variant[measure].mean())),
              *test_cells(row.test, row.p), f"{row.won} / {row.tied} / {row.lost}"] for row in rows]
    return table(f"{measure} of the systems on both pages", ("system", "baseline", "variant", "difference", "p (t, perm.)",
                                                            "queries won / tied / lost"), cells).text


def alone(baseline: Page, variant: Page, pairs: list[Pair]) -> str:
    """The systems that only one page has, or that share no two queries."""
    both, shared = set(baseline.systems) & set(variant.systems), {pair.label for pair in pairs}
    kinds = {"Only on the baseline page": [name for name in baseline.systems if name not in both],
             "Only on the variant": [name for name in variant.systems if name not in both],
             "On both pages, without two queries in common": [name for name in variant.systems if name in both - shared]}
    return "\n\n".join(f"{kind}: {'; '.join(map(_plain, names))}." for kind, names in kinds.items() if names)


def queries(pairs: list[Pair], texts: dict[str, str]) -> str:
    """The queries with the largest gain and loss of each system, by its first measure."""
    parts = []
    for pair in pairs:
        if not pair.measures or not (extremes := comparison.extremes(pair, pair.measures[0], MOST)).size:
            continue
        rows = [[_query(str(query), texts), plain(line["baseline"]), plain(line["variant"]), signed(line["difference"])]
                for query, line in extremes.iterrows()]
        caption = f"{pair.measures[0]} of {pair.label}: queries that gained and lost most"
        parts.append(details(caption, table(caption, ("query", "baseline", "variant", "difference"), rows)).text)
    return "## Queries\n\n" + "\n\n".join(parts) if parts else ""


def texts_of(*pages: Page) -> dict[str, str]:
    """The texts of the queries, as far as the steps that the pages drew them with are stored here."""
    texts: dict[str, str] = {}
    for line in (line for page in pages for line in page.ledger if line["step"] == "queries"):
        for root in (paths.store(), paths.RESULTS):
            entry = Store(root).find(line["step"], line["key"], line["numerics"])
            if entry is not None:
                frame: pd.DataFrame = values.load(entry.manifest["form"], entry.folder)
                texts |= dict(zip(frame["query_id"].astype(str), frame["text"], strict=True))
                break
    return texts


def _query(query: str, texts: dict[str, str]) -> Html:
    text = texts.get(query, "")
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
    return Html(f"{escape(shown)} <small>{escape(query)}</small>" if shown else escape(query))


def _key(page: str, key: str) -> Html:
    return Html(f'<a class="nr-measured" href="{page}.html#step-{key[:10]}"><code>{key[:10]}</code></a>')


def _code(value: Any) -> Html:
    return Html(f"<code>{escape(json.dumps(value, ensure_ascii=False))}</code>")


def _plain(label: str) -> str:
    """A label in a Markdown sentence, whatever characters it has."""
    return "".join(f"\\{sign}" if sign in r"\`*_{}[]<>#|$" else sign for sign in label)
