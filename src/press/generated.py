"""The generated pages: the scoreboard of claims, every published number, the comparisons. Written before each rendering."""

import contextlib
import inspect
import io
import json
import re
from dataclasses import dataclass, replace
from html import escape
from statistics import median
from typing import Any

import yaml

from helpers import paths
from helpers.costs import timing
from helpers.errors import BadInput
from helpers.evaluation import published, verdicts
from helpers.evaluation.significance import Interval
from helpers.evaluation.verdicts import AGREES, DISAGREES, OPEN, SMALL, UNTESTED
from helpers.pages import claims, page
from helpers.pages.fragments import Html, badge, cell, count, details, marked, plain, table, with_ends
from helpers.pages.results import verdict_badge
from press import chapters, cite, comparison, execute, front_page, launch, repository
from press.edited import filled

SOURCE = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")  # an issue or a pull request on GitHub


def write_all() -> None:
    """Write the pages of `book/generated` from executed chapters and published values, and every variant's comparison."""
    paths.GENERATED.mkdir(parents=True, exist_ok=True)
    data = collected()
    pages = {study: study_page(study, data) for study in published.STUDIES} | {
             "sentences": front_page.sentences(lines_by_claim(data), data), "explored": front_page.explored(data),
             "findings": front_page.findings(lines_by_claim(data), data), "five_findings": five_findings(data),
             "scoreboard": scoreboard(data), "numbers": numbers_page(data), "verdict_rules": inspect.getdoc(verdicts) or "",
             "verdict_words": examples(), "calibration": calibration_page(), "python_here": python_page(data),
             "divergences": divergences_page(), "bm25": bm25_page(data), "cite": cite_page()}
    for name, text in pages.items():
        (paths.GENERATED / f"{name}.md").write_text(text, encoding="utf-8")
    comparison.write_all()
    (paths.GENERATED / "links.json").write_text(json.dumps(launch.links()), encoding="utf-8")  # a rendering notices a change


def collected() -> list[dict[str, Any]]:
    """What the fragments of all executed chapters carry, with the chapter as `page`."""
    pages = [paths.CHAPTERS / f"{name}.ipynb" for name in sorted(chapters.names())]
    return [item | {"page": page.stem} for page in pages if page.exists() for item in execute.data_of(page)]


def lines_by_claim(data: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What the chapters say of each claim, with the chapter as `page`."""
    return {line["claim"]: line | {"page": item["page"]} for item in data for line in item.get("claims", [])}


def scoreboard(data: list[dict[str, Any]]) -> str:
    """All claims by study: each with its effect as a picture, and its word."""
    tested, parts = lines_by_claim(data), []
    for study in published.STUDIES:
        name, shown = published.published_name(study), front_page.sorted_claims(study, tested)
        rows = [[Html(front_page.link(claim, tested, "../")), front_page.picture(
            claim.claim, front_page.effect_of(line), front_page.published_effect(claim), verdicts.WORDS[line["verdict"]]),
            verdict_badge(line["verdict"])] for claim, line in shown]
        rows += [[Html(front_page.link(claim, tested, "../")), line["evidence"], verdict_badge(line["verdict"])]
                 for claim, line in front_page.claims_with_lines(tested, study) if claim.unit and line["verdict"] != UNTESTED]
        parts.append(f"## {name}\n\nThe evidence: [{name}]({study}.md).\n\n" + "\n".join(
            [table(f"Claims of {name} with a measured effect", ("claim", "published and measured", "word"), rows, 9).text,
             waits(study, tested)]) + "\n")
    of = [front_page.words_counted(tested, study) for study in (*published.STUDIES, "")]
    counts = [[verdict_badge(kind), *(own.get(kind, 0) for own in of)] for kind in verdicts.WORDS]
    summary = table("How many claims of each study have which verdict",
                    ("verdict", *map(published.published_name, published.STUDIES), "all"), counts).text
    return filled("scoreboard.md", profiles=profiles(data), summary=summary + front_page.KEY, by_chance=by_chance(tested),
                studies="\n".join(parts))


def waits(study: str, tested: dict[str, dict[str, Any]]) -> str:
    """A study's claims that are not tested, by the reason that they share; nothing if it has none."""
    why: dict[str, list[str]] = {}
    for claim, line in front_page.claims_with_lines(tested, study):
        if line["verdict"] == UNTESTED:
            why.setdefault(line["reason"], []).append(front_page.link(claim, tested, "../"))
    number, head = sum(map(len, why.values())), ("why, or what they wait for", "claims")
    shown = table("Claims that are not tested", head, [[cause, Html("<br>".join(own))] for cause, own in why.items()], 9)
    said = "claim is not tested, and what it waits" if number == 1 else "claims are not tested, and what they wait"
    return details(f"{number} {said} for", shown).text if why else ""


def five_findings(data: list[dict[str, Any]]) -> str:
    """The findings of the front page one after another, each with its chapter's answer."""
    answers = {item["page"]: item["in_short"] for item in data if "in_short" in item}
    return filled("five_findings.md", findings="\n\n".join(
        f"## {card['title']}\n\n{body}\n\n**The chapter's answer.** {answers.get(card['chapter'], '')}"
        for card, body in front_page.cards_that_hold(lines_by_claim(data), data, "../")))


def python_page(data: list[dict[str, Any]]) -> str:
    """A page whose Python readers can change: a measure over the explorer's rankings, with its result as computed now."""
    shown = next((item["explored"] for item in data if "grades" in item.get("explored", ())), None)
    if shown is None:
        return "# A measure, in Python, in this page\n\nIts rankings are the query explorer's, which was not run.\n"
    code, printed = (paths.BOOK / "templates" / "measure.txt").read_text(encoding="utf-8"), io.StringIO()
    runs = {name: [list(map(int, grades)) for grades in rows] for name, rows in shown["grades"].items()}
    with contextlib.redirect_stdout(printed):
        exec(code, {"runs": runs, "relevant_from": shown["min_relevance"]})  # noqa: S102 - the book's own file
    return filled("python_here.md", code=escape(code), result=escape(printed.getvalue().strip()), queries=shown["queries"],
                  systems=" and ".join(runs), relevant=shown["min_relevance"], grades=escape(json.dumps(shown["grades"])))


def study_page(study: str, data: list[dict[str, Any]]) -> str:
    """What a study asked and how, what became of each of its claims, and what the book could not test."""
    tested, name = lines_by_claim(data), published.published_name(study)
    known = front_page.claims_with_lines(tested, study)
    about, title = paths.listed(paths.PUBLISHED / "studies.yaml")[study], paths.listed(paths.PUBLISHED / f"{study}.yaml")["title"]
    rows, left = list[list[Any]](), list[list[Any]]()
    for claim, line in known:
        shown = _linked(line["page"], line["key"], line["evidence"]) if line["key"] else line["evidence"]
        (left if line["verdict"] == UNTESTED else rows).append([
            Html(front_page.link(claim, tested, "../")), claims.published_evidence(claim), shown,
            verdict_badge(line["verdict"], line.get("control"))])
    seen = [line["pair"]["detectable"] for claim, line in known if line["verdict"] != UNTESTED and not claim.unit]
    sees = (f"Half of its tests would find a true difference of {plain(median(seen))} in the claim's measure, or a smaller one, "
            f"four times in five. {about.get('judged', '')}" if seen else "")
    return filled("study.md", study=name, title=title, cite=study, asked=about["asked"], how=about["how"], sees=sees,
                tested=table(f"Claims of {name}", claims.HEADER, rows, numeric_from=9).text if rows else (
                    "None of its claims could be tested here; the reasons stand below."),
                left=table(f"Claims of {name} that are not tested", claims.HEADER, left, 9).text if left else "None.",
                queue=to_compute(study, tested), others=measured_by_others(study, tested),
                chapters=", ".join(dict.fromkeys(f"[](../chapters/{claim.chapter}.ipynb)" for claim, _ in known
                                                 if claim.chapter in chapters.names())))


@dataclass(frozen=True)
class Other:
    """One value that somebody else measured, as text, with its source; see the head of `published/others.yaml`."""

    study: str
    claims: list[str]
    what: str
    value: str
    source: str
    cell: dict[str, str] | None = None
    measure: str = ""
    stated: str = ""

    @property
    def expected(self) -> str:
        """The value that was to come out, with its measure."""
        if self.cell is None:
            return f"{self.stated} {self.measure}, as its authors state"
        entry = published.value(self.study, **self.cell)
        return f"{entry.shown} {entry.measure} ({entry.where})"


def others() -> list[Other]:
    """All entries; BadInput for one that lacks a field or a source, names no study, claim or cell, or whose value is no share."""
    file, entries = paths.PUBLISHED / "others.yaml", []
    for number, raw in enumerate(yaml.load(file.read_text(encoding="utf-8"), yaml.BaseLoader)["others"], start=1):
        try:
            entry = Other(**raw)
            wrong = [f"no claim {name!r} of {entry.study}" for name in entry.claims
                     if name not in claims.load() or claims.load()[name].study != entry.study]
            wrong += ["neither `cell` nor `measure` with `stated`"] * (not entry.cell and not (entry.measure and entry.stated))
            wrong += ["no source such as owner/name#12"] * (not SOURCE.fullmatch(entry.source))
            wrong += [f"{value} is no share of one" for value in (entry.value, entry.stated or 0) if not 0 <= float(value) <= 1]
            entry.expected  # noqa: B018 - a cell that does not exist is an error
        except (TypeError, ValueError) as error:
            wrong = [str(error)]
        if wrong:
            raise BadInput(f"entry {number}: {wrong[0]}", file=file, mend="see the head of the file")
        entries.append(entry)
    return entries


def measured_by_others(study: str, tested: dict[str, dict[str, Any]]) -> str:
    """What others measured of a study: printed, theirs with its source, and this run's word and effect on the same claims."""
    rows = []
    for entry in (entry for entry in others() if entry.study == study):
        here = []
        for name in entry.claims:
            line = tested.get(name, front_page.UNRUN)
            effect = f", {with_ends(front_page.effect_of(line))}" if "pair" in line else ""
            here.append(f"{front_page.link(claims.load()[name], tested, '../')}: {line['verdict']}{effect}")
        address = SOURCE.sub(r"https://github.com/\1/issues/\2", entry.source)  # which leads to a pull request, too
        rows.append([entry.what, entry.expected, Html(f'<a href="{address}">{cell(entry.value)}, {cell(entry.source)}</a>'),
                     Html("<br>".join(here))])
    return table(f"What others measured of {published.published_name(study)}", ("what was run", "printed or stated",
                 "measured by others", "the claim here"), rows, numeric_from=9).text if rows else "We know of none."


def to_compute(study: str, tested: dict[str, dict[str, Any]]) -> str:
    """What of `profiles/queue.yaml` bears on a study's claims: the time that it takes, or what it lacks."""
    rows = list[list[Any]]()
    for line in paths.listed(paths.PROFILES / "queue.yaml"):
        if own := {claim.declared: replace(claim, claim=claim.claim.removesuffix(f": {claim.rival}")) for claim in
                   claims.load().values() if claim.study == study and claim.declared in line["claims"]}:
            takes = f"lacks {line['lacks']}" if "lacks" in line else (
                f"{plain(line['seconds'] / 1800, 1)} core hours, or {count(max(1, round(line['seconds'] / 3000)))} min of a GPU")
            rows.append([line["what"], takes, Html("<br>".join(front_page.link(claim, tested, "../") for claim in own.values()))])
    title = f"Not computed yet, and what it would take: {len(rows)}"
    return details(title, table(title, ("what", "it takes, or lacks", "claims that it bears on"), rows, 9)).text


def by_chance(tested: dict[str, dict[str, Any]]) -> str:
    """How many of the words on claims of a difference chance would give."""
    words = [line["verdict"] for claim, line in front_page.claims_with_lines(tested)
             if line["verdict"] != UNTESTED and not claim.level]
    decided = words.count(AGREES) + words.count(DISAGREES)
    return (f"{len(words)} claims of a difference were tested, each once and without correction, and {decided} of them agree or "
            f"disagree. If no difference were real, chance would give {plain(verdicts.ALPHA * len(words), 1)} such words: at "
            f"most {verdicts.false_discovery_rate(len(words), decided):.0%} of those given (Benjamini and Hochberg's rate).")


def profiles(data: list[dict[str, Any]]) -> str:
    """A badge for each profile and commit that the executed chapters come from."""
    runs = sorted({(item["run"]["profile"], item["run"]["commit"]) for item in data if "run" in item})
    return " ".join(badge(f"profile {profile}, commit {commit}", "profile").text for profile, commit in runs)


def divergences_page() -> str:
    """What the book does otherwise than each study, why, and which way it may push."""
    listed, parts = paths.listed(paths.PUBLISHED / "divergences.yaml")["divergences"], list[str]()
    for study, own in listed.items():
        name = "All studies" if study == "all" else published.published_name(study)
        rows = [[marked(line["what"]), marked(line["why"]), line["pushes"]] for line in own]
        shown = table(f"What is done otherwise: {name}", ("here", "why", "pushes the measured effect"), rows, numeric_from=9).text
        parts.append(f"## {name}\n\n{shown}\n")
    return filled("divergences.md", studies="\n".join(parts))


def bm25_page(data: list[dict[str, Any]]) -> str:
    """Every BM25 that a chapter compares with, and what makes its value another one."""
    seen: dict[tuple[str, str], list[Any]] = {}
    for item in data:
        for line in item.get("bm25", []):
            measured = [plain(line[name]) if name in line else "not measured" for name in page.MEANS]
            texts = line["texts"] + ("" if line["collection"] == "almanac" else f" of {line['collection']}")
            link = _linked(item["page"], line["key"], chapters.chapter(item["page"]).title)
            seen[item["page"], line["key"]] = [link, texts, f"{count(line['queries'])} {line['split']}", f"{line['k1']:g}",
                                               f"{line['b']:g}", count(line["depth"]), *measured]
    rows = sorted(seen.values(), key=lambda row: row[1:])
    header = ("chapter", "texts", "queries", "k1", "b", "list", *page.MEANS)
    return filled("bm25.md", profiles=profiles(data), table=table("BM25 by chapter", header, rows, numeric_from=3).text)


def numbers_page(data: list[dict[str, Any]]) -> str:
    """Every published value, with what was measured for it where a chapter measures it."""
    measured: dict[tuple[str, ...], dict[str, Any]] = {(v["study"], v["table"], v["row"], v["column"]): v | {"page": item["page"]}
                for item in data for v in item.get("values", [])}
    parts = []
    for study in published.STUDIES:
        name, rows = published.published_name(study), list[Any]()
        for entry in published.load(study).values():
            own = measured.get((entry.study, entry.table, entry.row, entry.column))
            rows.append([f"{'' if ' ' in entry.table else 'table '}{entry.table} | {entry.row}", entry.column, entry.measure,
                         f"{entry.shown}{entry.mark}",
                         "" if own is None else _linked(own["page"], own["key"], f"{own['measured']:.3f}"), entry.note or ""])
        heads = ("where", "column", "measure", "published", "measured here", "note")
        parts.append(f"## {name}\n\n{table(f'All values of {name}', heads, rows, numeric_from=9).text}\n")
    return filled("numbers.md", profiles=profiles(data), studies="\n".join(parts))


def cite_page() -> str:
    """How to cite the book and each chapter."""
    place = repository.here()
    address = ("This copy of the book has no public address yet, so the entries have no `url`: it comes from `repository.url` "
               "in `book/_config.yml`, or from the place that a clone came from.") if place.is_placeholder else (
        f"The repository is <{place.url}>, with a [CITATION.cff]({place.url}/blob/{place.branch}/CITATION.cff).")
    sections = (f"(cite-{chapter})=\n### {chapters.chapter(chapter).title}\n\n```bibtex\n{cite.bibtex(chapter)}\n```"
                for chapter in chapters.names())
    return filled("cite.md", address=address, book=f"```bibtex\n{cite.bibtex()}\n```", sections="\n\n".join(sections))


def calibration_page() -> str:
    """How often verdicts are wrong in simulated experiments, a row for each; without a simulation it says how to make one."""
    file, rows = timing.no_machines("verdicts"), []
    if not file.exists():
        return "# How far verdicts can be trusted\n\nNot simulated yet: `python -m bench --only verdicts` does it.\n"
    simulated = timing.read(file)["sections"]["verdicts"]
    for line in simulated["rows"]:
        seeds = [f"{number} seed{'s' * (number > 1)}" if number else "nothing trained" for number in line["seeds"]]
        told = [" and ".join(dict.fromkeys(seeds) if not any(line["seeds"]) else seeds) + ", paired" * line["paired"],
                f"{count(line['queries'])} queries", *[f"scatter {plain(line['scatter'])}"] * any(line["seeds"]),
                *[f"{plain(line['wider'], 1)} times as much as is known"] * (line["wider"] != 1)]
        rates = ("detectable", "false", "false_queries_alone", "equal", "power")
        rows.append([", ".join(told), *(plain(line[name]) for name in rates)])
    header = ("experiment", "detectable difference", "false", "false, queries alone", "equal", "power")
    return filled("calibration.md", repetitions=count(simulated["repetitions"]), margin=plain(simulated["margin"], 2),
                **{name: plain(value, 3) for name, value in simulated["components"].items()},
                table=table("Errors of verdicts in simulated experiments", header, rows).text)


def _linked(page: str, key: str, value: Any) -> Html:
    """A measured value that leads to its computation's line in a chapter's provenance."""
    return Html(f'<a class="nr-measured" href="../chapters/{page}.html#step-{key[:10]}">{cell(value)}</a>')


MARGIN = 0.03  # of the examples' claim, which is that the first system ranks better
EXAMPLES: dict[str, tuple[Interval | None, str]] = {
    AGREES: (Interval(0.06, 0.03, 0.09), "The interval lies on the side of zero that the study claims."),
    DISAGREES: (Interval(-0.05, -0.08, -0.02), "The interval lies on the other side of zero."),
    SMALL: (Interval(0.004, -0.016, 0.024),
            f"The 90 % interval lies within the margin, here {MARGIN} on either side of zero: so small a difference changes "
            "nothing. This word comes before agrees and disagrees."),
    OPEN: (Interval(0.02, -0.03, 0.07), "The interval holds zero, and differences that would matter. The smallest that "
                                        "would have been seen stands beside the word."),
    UNTESTED: (None, "Not run, not trained, no treatment, or another thing was measured: the reason stands beside the word.")}


def examples() -> str:
    """A row for each word: an interval that leads to it, and why; and sliders that give an interval its word."""
    rows = [[front_page.picture("the first less the second", own) if own else "any, or none", verdict_badge(word), why]
            for word, (own, why) in EXAMPLES.items()]
    return table("Of a claim that one system ranks better than another", ("difference and its interval", "word", "why"), rows,
                 numeric_from=3).text + "\n\n" + filled("word_of.html")
