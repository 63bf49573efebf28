"""The comparison page of a variant: what was changed, what that did to each system and to which queries."""

from pathlib import Path

from helpers import paths
from helpers.pages.compare import test_cells
from helpers.pages.fragments import Html, badge, details, escape, explored, one_line, table
from helpers.pages.numbers import count, plain, seconds, signed
from helpers.steps import recipe, values
from helpers.steps.store import Store
from press import chapters, comparison, dependencies, variants
from press.columns import shortened
from press.comparison import Page, Pair
from press.page_header import code

MOST = 5  # queries shown that gained, and as many that lost
LONGEST = 90  # characters shown of a query
MARK = "<!-- made from {} -->"
NOTHING_SHARED = "No system was measured on both pages on two queries or more: there is nothing to compare."
NO_BASELINE = """The baseline page {why}. `make chapter NAME={chapter} PROFILE={profile}` executes it, and what it measures will
be compared here with the variant."""
HOW = """The difference is variant less baseline on the same queries, with its 95 % bootstrap interval. p is the permutation
test's, over queries."""


def write_all() -> list[Path]:
    """Write the comparison of every variant that has been executed; one whose two pages are what they were stays as it is."""
    written = []
    sources = dependencies.digests(["press.compared_page"])
    for page in variants.pages():
        baseline = page.with_name(f"{variants.chapter_of(page.stem)}.ipynb")
        digests = [recipe.sha256(file.read_bytes()) if file.exists() else "" for file in (baseline, page)]
        mark = MARK.format(recipe.sha256(recipe.canonical([digests, sources])))
        target = page.with_name(f"{variants.comparison(page.stem)}.md")
        if not target.exists() or not target.read_text(encoding="utf-8").startswith(mark):
            before = comparison.read(baseline) if baseline.exists() else None
            draft = target.with_suffix(".part")  # a page that was cut short would have the mark too
            draft.write_text(f"{mark}\n{text(before, comparison.read(page))}", encoding="utf-8")
            draft.replace(target)
            written.append(target)
    return written


def text(baseline: Page | None, variant: Page) -> str:
    """The page as Markdown; `baseline` is None while that page has not been executed."""
    chapter = variants.chapter_of(variant.name)
    parts = [f"# {variants.title(chapter)}: variant and baseline", links(chapter, variant.name)]
    if baseline is None or not baseline.systems:
        why = "has not been executed" if baseline is None else "carries no values for each query"
        parts.append(NO_BASELINE.format(why=why, chapter=chapter, profile=variant.run.get("profile", "almanac")))
    else:
        pairs = comparison.pairs(baseline, variant)
        parts += [*origins(baseline, variant), parameters(chapter, baseline, variant), steps(baseline, variant),
                  *(systems(pairs) if pairs else [f"## Systems\n\n{NOTHING_SHARED}"]),
                  *alone(baseline, variant, pairs), *queries(pairs, texts_of(baseline, variant))]
    return "\n\n".join(parts) + "\n"


def links(chapter: str, name: str) -> str:
    """The links to both pages; a chapter that the contents do not list has no baseline page to link."""
    listed = chapter in chapters.names()
    both = [f'<a href="{name}.html">the variant</a>'] + [f'<a href="{chapter}.html">the baseline page</a>'] * listed
    return f'<div class="nr-run"><span>Compares {" with ".join(both)}.</span></div>'


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


def steps(baseline: Page, variant: Page) -> str:
    """What the change made the variant compute, and what it shares with the baseline."""
    known = {line["key"] for line in baseline.ledger}
    own = [line for line in variant.ledger if line["key"] not in known]
    live = [line["seconds"] for line in own if line["source"] == "computed"]
    total, shared = count(len(variant.ledger)), count(len(variant.ledger) - len(own))
    sentence = f"The variant rests on {total} steps: {shared} of the baseline page and {count(len(own))} of its own."
    spent = f" Computed for its page: {count(len(live))}, in {seconds(sum(live))}." if live else ""
    caption = "Steps that only the variant uses"
    keys = [f'<a class="nr-measured" href="{variant.name}.html#step-{line["key"][:10]}"><code>{line["key"][:10]}</code></a>'
            for line in own]
    rows = [[line["step"], Html(key), line["source"], seconds(line["seconds"])] for key, line in zip(keys, own, strict=True)]
    inner = table(caption, ("step", "key", "source", "seconds"), rows, numeric_from=3)
    return sentence + spent + (f"\n\n{details(caption, inner).text}" if own else "")


def systems(pairs: list[Pair]) -> list[str]:
    """A table for each measure; the systems that the change cannot have touched are named and not tested."""
    moved = [pair for pair in pairs if not pair.is_unchanged]
    parts = [f"## Systems\n\n{HOW}"]
    if same := [_plain(pair.label) for pair in pairs if pair.is_unchanged]:
        parts.append(f"The same step with the same values on both pages, and so not tested: {'; '.join(same)}.")
    groups: dict[tuple[int, int, int], list[str]] = {}  # systems that the pages measured on different queries
    for pair in moved:
        if set(pair.measured) != {len(pair.variant)}:
            groups.setdefault((*pair.measured, len(pair.variant)), []).append(_plain(pair.label))
    parts += [f"Compared on the {count(common)} queries that both pages measured (baseline {count(before)}, variant "
              f"{count(after)}): {'; '.join(names)}." for (before, after, common), names in groups.items()]
    return parts + [measure_table(moved, name) for name in dict.fromkeys(name for pair in moved for name in pair.measures)]


def measure_table(pairs: list[Pair], measure: str) -> str:
    """One measure of every system."""
    rows = [[row.pair.label, plain(float(row.pair.baseline[measure].mean())), plain(float(row.pair.variant[measure].mean())),
             *test_cells(row.test), " / ".join(map(str, row.counts))] for row in comparison.tested(pairs, measure)]
    heads = ("system", "baseline", "variant", "difference", "p", "queries won / tied / lost")
    return table(f"{measure} of the systems on both pages", heads, rows).text


def alone(baseline: Page, variant: Page, pairs: list[Pair]) -> list[str]:
    """The systems that only one page has, or that share no two queries."""
    both, shared = set(baseline.systems) & set(variant.systems), {pair.label for pair in pairs}
    kinds = {"Only on the baseline page": [name for name in baseline.systems if name not in both],
             "Only on the variant": [name for name in variant.systems if name not in both],
             "On both pages, without two queries in common": [name for name in variant.systems if name in both - shared]}
    return [f"{kind}: {'; '.join(map(_plain, names))}." for kind, names in kinds.items() if names]


def queries(pairs: list[Pair], texts: dict[str, str]) -> list[str]:
    """The queries with the largest gain and loss of each system, by its first measure."""
    parts = []
    for pair in (pair for pair in pairs if pair.measures):
        extremes = comparison.extremes(pair, pair.measures[0], MOST)
        rows = [[_query(str(query), texts), plain(line["baseline"]), plain(line["variant"]), signed(line["difference"])]
                for query, line in extremes.iterrows()]
        caption = f"{pair.measures[0]} of {pair.label}: queries that gained and lost most"
        if rows:
            parts.append(details(caption, table(caption, ("query", "baseline", "variant", "difference"), rows)).text)
    return ["## Queries", *parts] if parts else []


def texts_of(*pages: Page) -> dict[str, str]:
    """The texts of the queries, as far as the steps that the pages drew them with are stored here."""
    texts: dict[str, str] = {}
    for line in (line for page in pages for line in page.ledger if line["step"] == "queries"):
        entries = (Store(root).find(line["step"], line["key"], line["numerics"]) for root in (paths.store(), paths.RESULTS))
        if (entry := next(filter(None, entries), None)) is not None:
            frame = values.load(entry.manifest["form"], entry.folder)
            texts |= dict(zip(frame["query_id"].astype(str), frame["text"], strict=True))
    return texts


def _query(query: str, texts: dict[str, str]) -> Html:
    shown = shortened(texts.get(query, ""), LONGEST)
    return Html(f"{explored(query, shown).text} <small>{escape(query)}</small>" if shown else escape(query))


def _plain(label: str) -> str:
    """A label in a Markdown sentence, whatever characters it has."""
    return "".join(f"\\{sign}" if sign in r"\`*_{}[]<>#|$" else sign for sign in one_line(label))
