"""From an executed notebook to a page: badge line, parameter table, folded code, links to the template."""

import copy
import json
from html import escape
from typing import Any

import nbformat

from helpers.pages import bm25_named, numbers
from helpers.pages.fragments import DATA_MIME, Html, badge, details, table
from helpers.steps import provenance
from press import chapters, variants

HIDDEN = {"setup", "parameters", "injected-parameters"}
DATA_KEY = "neural_ranking"  # where a page keeps the data of its fragments, for the generated pages


def as_page(executed: nbformat.NotebookNode, chapter: str, name: str, profile: str, values: dict[str, Any],
            baseline: dict[str, Any], seconds: float) -> nbformat.NotebookNode:
    """The page of an executed chapter.

    The parameter cells give way to a table below the title, all other code is folded, progress on standard error goes,
    and the data that fragments carry moves to the notebook's metadata.
    """
    notebook = copy.deepcopy(executed)
    cells = [cell for cell in notebook.cells if not HIDDEN & set(cell.metadata.get("tags", []))]
    data: list[Any] = []
    for cell in cells:
        if cell.cell_type == "code":
            cell.metadata["tags"] = sorted({*cell.metadata.get("tags", []), "hide-input"})
            cell.outputs = [output for output in cell.outputs if output.output_type != "stream"]
            data += [output.data.pop(DATA_MIME) for output in cell.outputs if DATA_MIME in output.get("data", {})]
    known = [line for part in data for line in part.get("bm25", [])]
    for output in (output for cell in cells for output in cell.get("outputs", []) if "text/html" in output.get("data", {})):
        output.data["text/html"] = bm25_named.below_tables(output.data["text/html"], known)
    top = header(chapter, name, profile, values, baseline, seconds)
    cells.insert(1, nbformat.v4.new_markdown_cell(top))
    notebook.cells = cells
    notebook.metadata.pop("papermill", None)
    run = {"profile": profile, "parameters": values, "commit": provenance.commit(), "date": provenance.now(),
           "seconds": round(seconds, 1),
           "changed": {key: value for key, value in values.items() if value != baseline[key]}}
    notebook.metadata[DATA_KEY] = [{"run": run}, *data]
    return notebook


def header(chapter: str, name: str, profile: str, values: dict[str, Any], baseline: dict[str, Any],
           seconds: float) -> str:
    """Badge line and parameter table, as Markdown that holds HTML."""
    kind = "variant" if name != chapter else "profile"
    marks = [badge(f"profile: {profile}", "profile")]
    if kind == "variant":
        marks.append(badge("variant of the baseline page", "variant"))
        marks.append(Html(f'<a href="{variants.comparison(name)}.html">compared with the baseline page</a>'))
    origin = f"run {provenance.now()[:10]} at commit {provenance.commit()}, {numbers.seconds(seconds)}"
    rows = []
    for parameter in chapters.schema(chapter).values():
        value, usual = values[parameter.name], baseline[parameter.name]
        shown = Html(f"<code>{_code(value)}</code>")
        rows.append([parameter.name, shown, "" if value == usual else Html(f"<code>{_code(usual)}</code>"), parameter.meaning])
    inner = table("Parameters of this run", ("parameter", "value", "baseline, if other", "meaning"), rows, numeric_from=9)
    line = " ".join(mark.text for mark in marks)
    folded = details("Parameters of this run", inner).text
    return f'<div class="nr-run">{line} <span class="nr-said">{origin}</span></div>\n\n{folded}'


def _code(value: Any) -> str:
    return escape(json.dumps(value, ensure_ascii=False))
