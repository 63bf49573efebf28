"""The generated pages: the scoreboard of claims, every published number, the comparisons. Written before each rendering."""

import inspect
import json
from typing import Any

from helpers import paths
from helpers.evaluation import published, verdicts
from helpers.evaluation.verdicts import AGREES, DISAGREES, NO_DIFFERENCE, NO_GAIN, UNTESTED
from helpers.pages import bm25_named, claims
from helpers.pages.fragments import Html, badge, cell, details, table
from helpers.pages.numbers import count, plain
from press import calibration, cite, compared_page, execute, front_page, launch, verdict_examples


def write_all() -> None:
    """Write the pages of `book/generated` from executed chapters and published values, and every variant's comparison."""
    paths.GENERATED.mkdir(parents=True, exist_ok=True)
    data = collected()
    pages = {"findings": front_page.findings(lines_by_claim(data)), "scoreboard": scoreboard(data),
             "numbers": numbers_page(data), "verdict_rules": inspect.getdoc(verdicts) or "",
             "verdict_words": verdict_examples.examples(), "calibration": calibration.page(),
             "divergences": divergences_page(), "bm25": bm25_page(data), "cite": cite.page()}
    for name, text in pages.items():
        (paths.GENERATED / f"{name}.md").write_text(text, encoding="utf-8")
    compared_page.write_all()
    (paths.GENERATED / "links.json").write_text(json.dumps(launch.links()), encoding="utf-8")  # a rendering notices a change


def collected() -> list[dict[str, Any]]:
    """What the fragments of all executed chapters carry, with the chapter as `page`."""
    return [item | {"page": page.stem} for page in sorted(paths.CHAPTERS.glob("*.ipynb"))
            if "--" not in page.stem and not page.stem.endswith(".failed") for item in execute.data_of(page)]


def lines_by_claim(data: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What the chapters say of each claim, with the chapter as `page`."""
    return {line["claim"]: line | {"page": item["page"]} for item in data for line in item.get("claims", [])}


def scoreboard(data: list[dict[str, Any]]) -> str:
    """All claims with their verdicts, by study."""
    tested = lines_by_claim(data)
    counts = dict.fromkeys(verdicts.WORDS, 0)
    parts = []
    for study in published.STUDIES:
        rows: list[Any] = []
        left: list[Any] = []  # not tested, behind a click
        for claim in (c for c in claims.load().values() if c.study == study):
            plan = claims.chapter_plan()[claim.chapter]
            reason = plan.get("not_run", "the chapter has not been executed")
            line = tested.get(claim.id, {"verdict": UNTESTED, "key": None, "evidence": reason})
            counts[line["verdict"]] += 1
            shown = _linked(line["page"], line["key"], line["evidence"]) if line["key"] else line["evidence"]
            chapter = f' <a href="../chapters/{line["page"]}.html">({cell(plan["title"])})</a>' if "page" in line else ""
            (left if line["verdict"] == UNTESTED else rows).append([
                Html(cell(claim.claim) + chapter), claims.published_evidence(claim), shown,
                claims.verdict_cell(line["verdict"], line.get("control"))])
        name = published.published_name(study)
        tables = [table(f"Claims of {name}", claims.HEADER, rows, numeric_from=9)] if rows else []
        if left:
            tables.append(details(f"{len(left)} more claims, not tested",
                                  table(f"Claims of {name} that were not tested, and why", claims.HEADER, left, numeric_from=9)))
        parts.append(f"## {name}\n\n" + "\n".join(own.text for own in tables) + "\n")
    summary = table("How many claims have which verdict", ("verdict", "claims"),
                    [[badge(kind, verdicts.WORDS[kind]), n] for kind, n in counts.items()]).text
    return f"# Scoreboard\n\n{SCOREBOARD_INTRO}\n\n{profiles(data)}\n\n{summary}\n\n{by_chance(tested)}\n\n" + "\n".join(parts)


def by_chance(tested: dict[str, dict[str, Any]]) -> str:
    """How many of the words on claims of a difference chance would give."""
    words = [line["verdict"] for claim, line in tested.items() if claim in claims.load() and line["verdict"] != UNTESTED
             and claims.load()[claim].direction not in (NO_DIFFERENCE, NO_GAIN)]
    decided = words.count(AGREES) + words.count(DISAGREES)
    rate = verdicts.false_discovery_rate(len(words), decided)
    return (f"{len(words)} claims of a difference were tested, each once and without correction, and {decided} of them agree or "
            f"disagree. If no difference were real, chance would give {plain(verdicts.ALPHA * len(words), 1)} such words: at "
            f"most {rate:.0%} of those given (Benjamini and Hochberg's rate).")


def profiles(data: list[dict[str, Any]]) -> str:
    """A badge for each profile and commit that the executed chapters come from."""
    runs = sorted({(item["run"]["profile"], item["run"]["commit"]) for item in data if "run" in item})
    return " ".join(badge(f"profile {profile}, commit {commit}", "profile").text for profile, commit in runs)


SCOREBOARD_INTRO = """Every conclusion of the five studies that the book tests, with what this run says of it. The rules
behind the verdicts are the same for all studies; they concern direction and effect,
because the collection here is not the studies' own. What the verdicts mean is explained in [](../reading.md), why
BM25 has several values in [](bm25.md), and what the book does otherwise than the studies in [](divergences.md)."""


def divergences_page() -> str:
    """What the book does otherwise than each study, why, and which way it may push."""
    listed = paths.listed(paths.PUBLISHED / "divergences.yaml")["divergences"]
    parts = []
    for study, own in listed.items():
        name = "All studies" if study == "all" else published.published_name(study)
        rows = [[line["what"], line["why"], line["pushes"]] for line in own]
        shown = table(f"What is done otherwise: {name}", ("here", "why", "pushes the measured effect"), rows, numeric_from=9).text
        parts.append(f"## {name}\n\n{shown}\n")
    return f"{DIVERGENCES_INTRO}\n\n" + "\n".join(parts)


DIVERGENCES_INTRO = """# Divergences from the studies

What the book does otherwise than each study, by intent or for want of a machine, and which way that may push the measured effect
beside the published one. What one chapter alone does otherwise stands in its Method."""


def bm25_page(data: list[dict[str, Any]]) -> str:
    """Every BM25 that a chapter compares with, and what makes its value another one."""
    chapters, seen = claims.chapter_plan(), {}
    for item in data:
        for line in item.get("bm25", []):
            title = chapters.get(item["page"], {}).get("title", item["page"].replace("_", " "))
            link = Html(f'<a href="../chapters/{item["page"]}.html#step-{line["key"][:10]}">{cell(title)}</a>')
            measured = [plain(line[name]) if name in line else "not measured" for name in bm25_named.KEPT]
            texts = line["texts"] + ("" if line["collection"] == "almanac" else f" of {line['collection']}")
            seen[item["page"], line["key"]] = [link, texts, f"{count(line['queries'])} {line['split']}",
                                               f"{line['k1']:g}", f"{line['b']:g}", count(line["depth"]), *measured]
    rows = sorted(seen.values(), key=lambda row: row[1:])
    header = ("chapter", "texts", "queries", "k1", "b", "list", *bm25_named.KEPT)
    return f"{BM25_INTRO}\n\n{profiles(data)}\n\n{table('BM25 by chapter', header, rows, numeric_from=3).text}\n"


BM25_INTRO = """# Why BM25 has several values

BM25 is the baseline of most chapters, and its value is not the same in all of them. Nothing random is in it: equal rows below
have equal values, and others differ for one of four reasons.

- **Texts.** A document is found by any of its words, a passage by its own alone, and where a passage is asked for, one of six
  passages of the right document is relevant. The long documents are several articles joined.
- **Queries.** Some chapters measure all test queries, most a sample of them; some take those that ask for a fact; the broad
  topics have many relevant documents each, and their judgments were pooled.
- **k1 and b.** Each chapter takes those of its study, where it names them.
- **The list.** Recall depends on how long the list is, the reciprocal rank of the first ten does not.

Every table that shows a BM25 names it below."""


def numbers_page(data: list[dict[str, Any]]) -> str:
    """Every published value, with what was measured for it where a chapter measures it."""
    measured: dict[tuple[str, ...], dict[str, Any]] = {(v["study"], v["table"], v["row"], v["column"]): v | {"page": item["page"]}
                for item in data for v in item.get("values", [])}
    parts = []
    for study in published.STUDIES:
        name = published.published_name(study)
        rows = []
        for entry in published.load(study).values():
            own = measured.get((entry.study, entry.table, entry.row, entry.column))
            rows.append([f"{'' if ' ' in entry.table else 'table '}{entry.table} | {entry.row}", entry.column, entry.measure,
                         f"{entry.shown}{entry.mark}",
                         "" if own is None else _linked(own["page"], own["key"], f"{own['measured']:.3f}"), entry.note or ""])
        heads = ("where", "column", "measure", "published", "measured here", "note")
        parts.append(f"## {name}\n\n{table(f'All values of {name}', heads, rows, numeric_from=9).text}\n")
    return f"# Numbers\n\n{NUMBERS_INTRO}\n\n{profiles(data)}\n\n{FILTER}\n\n" + "\n".join(parts)


FILTER = ('<div class="nr-filter" hidden><label>Rows with these words <input type="search" autocomplete="off"></label> '
          '<output aria-live="polite"></output></div>')


NUMBERS_INTRO = """The values of the studies' tables, and numbers of their text, as printed (percentages as shares of one),
and beside each the value that this run measured for the same cell. A measured value links to the provenance table of its
chapter. The two columns are not comparable one to one: the collection differs, recall at a thousand is recall in the
chapter's shorter lists where it keeps such, and *Re-ranking depth* reads its greatest depths for fewer queries than the
others, so that its rows are not one curve."""


def _linked(page: str, key: str, value: Any) -> Html:
    """A measured value that leads to its computation's line in a chapter's provenance."""
    return Html(f'<a class="nr-measured" href="../chapters/{page}.html#step-{key[:10]}">{cell(value)}</a>')
