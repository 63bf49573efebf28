"""A hostile collection on rendered pages, in a browser: no script runs, no file is included, and the console stays empty.

One page holds every kind of fragment, one the explorer, one the comparison of a variant and what is generated of runs.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import nbformat
import pandas as pd
import pytest

from helpers import paths
from helpers.data.texts import Text
from helpers.evaluation.verdicts import UNTESTED, as_label
from helpers.pages import explorer, plots
from helpers.pages import page as pages
from helpers.pages.fragments import Fragment, Html, badge, details, linked, table
from helpers.pages.fragments import explored as query_link
from looking import Look, context, listen
from press import chapters, comparison, page_header
from press.edited import notebook_of
from press.variants import PageRequest
from test_explorer import RUNS, Texts, bed_of, systems_of
from toys import Value

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(900)]
SECRET = "the content of a file that no page names"
SCRIPTS = ["<script>window.hit=1;document.title='hit'</script>", "<img src=x onerror=window.hit=1>",
           "</table></div><svg onload=window.hit=1>", '" autofocus onfocus="window.hit=1', "[x](javascript:window.hit=1)",
           "<!--", "--> <b>", "javascript:window.hit=1"]
MARKDOWN = ["x\r\r<script>window.hit=1</script>\r\r", "\n\n```{include} SECRET\n```\n\n",
            "\n\n~~~{raw} html\n<script>window.hit=1</script>\n~~~\n",
            "\r:::{include} SECRET\r:::\r", "{raw}`html`", "{include}`SECRET`", "$$\\frac{1}{", "% comment", "`" * 5,
            "\n# heading\n"]
ODD = ["word" * 200, "\u202egnirts\u202c", "zero\u200bwidth", "\x00\x0b\x85\u2028", "\ud800", "\\", "|a|b|", "&lt;script&gt;"]
ACTING = ", ".join(f"article {part}" for part in (
    "script", "[onerror]", "[onload]", "[onfocus]", "iframe", 'a[href^="javascript:"]'))
TEXTS = [*SCRIPTS, *MARKDOWN, *ODD]


def fragments(texts: list[str]) -> list[Fragment]:
    """Of every kind, with these texts wherever data may stand."""
    frame = pd.DataFrame({as_label(text): [0.1 * n, 0.2] for n, text in enumerate(["up", *texts[:4]])}, index=[1, 2])
    return [pages.show_table(text, (text, "value"), [[text, text], [Html(badge(text, "x").text), linked(text, Value())]])
            for text in texts] + [
        pages.records_table("records", ({"text": text, "value": 1} for text in texts)),
        Fragment(details("all", table("texts", ("text",), [[text] for text in texts])).text),
        *(pages.prose(f"A system called {as_label(text)} is measured.") for text in texts),
        plots.curves({name: frame[name] for name in frame}, "depth", "recall", f"Curves of {as_label(texts[0])}.")]


def explored(texts: list[str], book: Path) -> list[Fragment]:
    """The explorer: every text is part of a query, a title, a passage and a label."""
    bed, systems = bed_of(), systems_of(RUNS)
    bed.query_frame["text"] = labels = ["".join(texts[n::5]) for n in range(5)]
    known = Texts({doc: Text(doc, text, text) for doc, text in zip("abcdef", [*labels, labels[0]], strict=True)})
    with patch.object(explorer, "Texts", lambda folder: known), patch.object(paths, "BOOK", book):
        content = explorer.collect(bed, systems, pd.DataFrame({"style": labels}), 3, 0)
        return [explorer.show(content, systems), explorer.examples(content, 3), explorer.by_label(content)]


def with_outputs(title: str, outputs: list[Fragment]) -> nbformat.NotebookNode:
    """An executed notebook that shows fragments."""
    cells = [nbformat.v4.new_markdown_cell(f"# {title}")]
    for fragment in outputs:
        shown = {mime: own for mime, own in fragment._repr_mimebundle_().items() if mime.startswith("text/")}
        output = nbformat.v4.new_output("display_data", json.loads(json.dumps(shown)))
        cells.append(nbformat.v4.new_code_cell("1", outputs=[output]))
    return nbformat.v4.new_notebook(cells=cells, metadata=notebook_of(paths.NOTEBOOKS / "cost.ipynb").metadata)


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile")
    secret = root / "secret.txt"
    secret.write_text(SECRET)
    texts = [text.replace("SECRET", str(secret)) for text in TEXTS]
    typed = [text.replace("\ud800", "") for text in texts]  # parameters are Unicode
    book = root / "book"
    (book / "chapters").mkdir(parents=True)
    for name in ("_static", "_ext"):
        shutil.copytree(paths.BOOK / name, book / name)
    for name in ("_config.yml", "references.bib"):
        shutil.copy(paths.BOOK / name, book)
    values = {**chapters.resolve("cost", "mini", {}), "models": typed}
    request = PageRequest("cost", "mini", values, chapters.resolve("cost", "mini", {}))
    page = page_header.as_page(with_outputs("Hostile", fragments(texts)), request, 1.0)
    claims = [{"claims": [{"reason": text, "verdict": UNTESTED, "pair": {}}]} for text in texts]
    page.cells.insert(1, nbformat.v4.new_markdown_cell(page_header.warning(claims)))
    (book / "chapters" / "page.ipynb").write_text(nbformat.writes(page), encoding="utf-8")
    nbformat.write(with_outputs("Explorer", explored(typed, book)), book / "chapters" / "explorer.ipynb")
    labels = [f"Only here: {'; '.join(map(comparison.as_text, texts))}."]
    rows = [[query_link(text, text), 1] for text in texts]
    parts = ["# Compared", *labels, details("queries", table("queries", ("query", "value"), rows)).text]
    (book / "compared.md").write_text("\n\n".join(parts), encoding="utf-8")
    (book / "index.md").write_text("# Index\n")
    title = f"page: {json.dumps(typed)[:60]}"  # as a variant is called in the contents
    files = [{"file": "chapters/page", "title": title}, {"file": "chapters/explorer"}, {"file": "compared"}]
    (book / "_toc.yml").write_text(json.dumps({"format": "jb-book", "root": "index", "parts": [
        {"caption": "All", "chapters": files}]}))
    env = {**os.environ, "PYTHONWARNINGS": "ignore", "BOOK_ROOT": str(root)}
    command = [str(Path(sys.executable).parent / "jupyter-book"), "build", str(book), "-W", "--keep-going", "-q"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return book / "_build" / "html"


@pytest.mark.parametrize("name", ["chapters/page", "chapters/explorer", "compared"])
def test_no_text_of_the_data_acts(browser, html, name):
    with context(browser) as window:
        seen, page = Look(name), window.new_page()
        listen(page, seen)
        page.goto((html / f"{name}.html").as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
        page.wait_for_timeout(500)
        state = page.evaluate("[typeof window.hit, document.title, document.body.innerText]")
        inside = page.evaluate("acting => [...document.querySelectorAll(acting)].map(part => part.outerHTML)", ACTING)
    assert state[0] == "undefined"
    assert state[1] != "hit"
    assert SECRET not in state[2] and SECRET not in (html / f"{name}.html").read_text(encoding="utf-8")
    assert [part for part in inside if "hit" in part or not part.startswith("<script")] == []  # the theme has scripts of its own
    assert "window.hit" in state[2], "the texts are there, as texts"
    assert (seen.errors, seen.outside) == ([], [])
