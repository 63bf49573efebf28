"""From an executed notebook to a page: badge line, answer, picture first, folded code, and what only some want below *More*.

The template says by tags what is where: a code cell tagged `picture` stands below the answer, a section whose heading is tagged
`more` is folded at the end, below the exercise. Cells are executed in the template's order, whatever the page's is. The exercise
(what to `change`, the values by parameter, the `task`, the commands, the folded `answer`) is from `published/exercises.yaml`.
"""

import copy
import itertools
import json
import re
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_markdown_cell as markdown

from helpers import paths
from helpers.evaluation.verdicts import UNTESTED, WORDS
from helpers.pages import fragments
from helpers.pages.claims import load
from helpers.pages.fragments import DATA_MIME, Html, badge, details, escape, marked, table
from helpers.pages.page import below_tables
from helpers.steps import ledger
from press import chapters, variants
from press.edited import filled

HIDDEN = {"setup", "parameters", "injected-parameters"}
# tags of what is folded at the end, of what stands below the answer, and of code that stays in view
MORE, PICTURE, EXPERIMENT = "more", "picture", "experiment"
COMPARED, MOST = {"values", "claims"}, 5  # what the data of a published table's fragment has; lines on what is done otherwise
HEADING = re.compile(r"\A#{2,3} (.+?)\s*(?:\n|\Z)")
SWITCH = '<button class="nr-button nr-all-code" type="button" hidden aria-pressed="false">Show all code</button>'
DATA_KEY = "neural_ranking"  # where a page keeps the data of its fragments, for the generated pages


def as_page(executed: nbformat.NotebookNode, page: variants.PageRequest, seconds: float) -> nbformat.NotebookNode:
    """The page of an executed chapter: the parameter cells give way to a table at the end, code is folded but for what makes the
    experiment, progress on standard error goes, and the data that fragments carry moves to the notebook's metadata."""
    notebook = copy.deepcopy(executed)
    cells = [cell for cell in notebook.cells if not HIDDEN & set(cell.metadata.get("tags", []))]
    data: list[Any] = []
    default = page.values == chapters.resolve(page.chapter, ANSWERED, {})
    outputs = [output for cell in cells for output in cell.get("outputs", []) if "text/html" in output.get("data", {})]
    compared = next((output for output in outputs if COMPARED & set(output.data.get(DATA_MIME, ()))), None)
    if default and compared:
        compared.data["text/html"] += otherwise(page.chapter)
    for cell in (cell for cell in cells if cell.cell_type == "code"):
        cell.metadata["tags"] = sorted({*(tags := cell.metadata.get("tags", [])), *["hide-input"] * (EXPERIMENT not in tags)})
        cell.outputs = [output for output in cell.outputs if output.output_type != "stream"]
        data += [output.data.pop(DATA_MIME) for output in cell.outputs if DATA_MIME in output.get("data", {})]
    known = [line for part in data for line in part.get("bm25", [])]
    for output in outputs:
        output.data["text/html"] = below_tables(output.data["text/html"], known)
    run = {"profile": page.profile, "parameters": page.values, "commit": ledger.commit(), "date": ledger.now(),
           "seconds": round(seconds, 1), "changed": page.changed}
    task = "" if page.changed else exercise(page.chapter, default)
    notebook.cells = arranged(cells, header(page, run, data) + in_short(data) + warning(data), task, parameters(page))
    number_figures(notebook)
    notebook.metadata.pop("papermill", None)
    notebook.metadata[DATA_KEY] = [{"run": run}, *data]
    return notebook


def number_figures(notebook: nbformat.NotebookNode) -> None:
    """Give the figures of a page the ids `figure-1` and so on, in the page's order, by which they are cited."""
    numbers = itertools.count(1)
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    for data in (output.data for output in outputs if "text/html" in output.get("data", {})):
        data["text/html"] = re.sub('<figure class="nr-figure"', lambda found: f'{found[0]} id="figure-{next(numbers)}"',
                                   data["text/html"])


def arranged(cells: list[nbformat.NotebookNode], top: str, exercise: str, parameters: str) -> list[nbformat.NotebookNode]:
    """The cells in the page's order: title, what is above all, pictures, the sections in view, the exercise, and below *More*
    a fold for each other section, the parameters and the provenance, which the last cell of a chapter has."""
    title, *body, provenance = cells
    seen, folds, folded = list[Any](), list[Any](), False
    pictures = [cell for cell in body if PICTURE in cell.metadata.get("tags", [])]
    for cell in (cell for cell in body if cell not in pictures):
        if cell.cell_type == "markdown" and (found := HEADING.match(cell.source)):
            folds += [markdown("</details>")] * folded  # a fold is the cells between the two ends of one piece of HTML
            if folded := MORE in cell.metadata.get("tags", []):
                text = cell.source[found.end():]
                cell = markdown(f'<details class="nr-details"><summary>{escape(found[1])}</summary>\n\n{text}')
        (folds if folded else seen).append(cell)
    folds += [markdown("</details>")] * folded
    return [title, markdown(top), *pictures, *seen, *map(markdown, filter(None, [exercise])), markdown("## More"), *folds,
            markdown(parameters), provenance]


def warning(data: list[Any]) -> str:
    """What stands at the top of a page some of whose measurements decide nothing, as Markdown: the reasons, and, where the page
    decides other claims, of which claims; empty for others."""
    measured = [line for part in data for line in part.get("claims", []) if "pair" in line]
    barred: dict[str, list[str]] = {}
    for line in measured:
        if line["verdict"] == UNTESTED:
            barred.setdefault(line["reason"], []).append(line.get("claim", ""))
    known = load() if any(line["verdict"] != UNTESTED for line in measured) else {}
    named = {why: "; ".join(known[name].claim for name in own if name in known) for why, own in barred.items()}
    said = "; ".join(f"{why} ({names})" if names else why for why, names in named.items())
    return f"\n\n<p>{badge(UNTESTED, WORDS[UNTESTED]).text} {escape(said)}</p>\n" if barred else ""


def in_short(data: list[Any]) -> str:
    """The answer that the chapter's discussion carries, as Markdown; empty without one."""
    texts = [part["in_short"] for part in data if "in_short" in part]
    return f"\n\n**In short.** {' '.join(texts)}\n" if texts else ""


def otherwise(chapter: str) -> str:
    """What the default page of a chapter does otherwise than its study, in at most `MOST` lines, folded; empty where
    `published/divergences.yaml` names it nowhere."""
    listed = paths.listed(paths.PUBLISHED / "divergences.yaml")["divergences"]
    own = [line for lines in listed.values() for line in lines if chapter in line.get("chapters", ())]
    rows = [[marked(line["what"]), marked(line["why"]), line["pushes"]] for line in [*own, *listed["all"]][:MOST]]
    title = "What is done otherwise than in the study, and which way it pushes"
    return details(title, table(title, ("here", "why", "pushes the measured effect"), rows, numeric_from=9)).text if own else ""


def header(page: variants.PageRequest, run: dict[str, Any], data: list[Any]) -> str:
    """The badge line and what counts as relevant, as Markdown that holds HTML; `book/_static/folds.js` shows the switch."""
    marks = [badge(f"profile: {Path(page.profile).name}", "profile").text]
    if page.changed:
        marks += [badge("variant of the baseline page", "variant").text,
                  f'<a href="{page.name}{variants.COMPARED}.html">compared with the baseline page</a>']
    origin = f"run {run['date'][:10]} at commit {run['commit']}, {fragments.seconds(run['seconds'])}"
    if rules := [rule for part in data for rule in part.get("relevance", ())]:
        origin += f"; what counts as relevant: {escape('; '.join(rules))}"
    return f'<div class="nr-run">{" ".join(marks)} <span class="nr-said">{origin}</span> {SWITCH}</div>\n'


def parameters(page: variants.PageRequest) -> str:
    """The table of parameters, folded, as Markdown that holds HTML."""
    rows = [[parameter.name, code(page.values[parameter.name]),
             code(page.baseline[parameter.name]) if parameter.name in page.changed else "", marked(parameter.meaning)]
            for parameter in chapters.schema(page.chapter).values()]
    inner = table("Parameters of this run", ("parameter", "value", "baseline, if other", "meaning"), rows, numeric_from=9)
    return details("Parameters of this run", inner).text


def code(value: Any) -> Html:
    """A parameter's value as code."""
    return Html(f"<code>{escape(json.dumps(value, ensure_ascii=False))}</code>")


ANSWERED = "almanac"  # of the pages that the exercises and their answers were written for


def exercise(chapter: str, default: bool) -> str:
    """The exercise as Markdown; empty for a chapter without one. Only the page of the default profile has the answer."""
    own = paths.listed(paths.PUBLISHED / "exercises.yaml").get(chapter)
    if own is None:
        return ""
    answered = default and "answer" in own
    answer = "\n" + details("What came out", Html(f"<p>{marked(own['answer']).text}</p>")).text + "\n" if answered else ""
    given = {name: value if isinstance(value, str) else json.dumps(value) for name, value in own["change"].items()}
    change = " ".join(f"-p {name} '{value}'" for name, value in given.items()).replace('"', '\\"')
    return filled("exercise.md", task=own["task"], chapter=chapter, change=change, answer=answer)
