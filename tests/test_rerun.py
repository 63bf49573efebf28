"""Rerunning a chapter with changed parameters, as a reader does it, in a tiny book of its own: explain, run, compare, clean."""

import json
import re
import shutil

import nbformat
import pytest

from helpers import paths
from mini_book import book as done
from test_comparison import files_of as snapshot

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
PARAMETERS = """collection: str = "almanac"  # what is ranked
run: str = "a.trec"  # the run that is measured
depth: int = 3  # texts kept for each query"""
CELLS = ("from helpers.systems.evaluated import evaluate\nfrom helpers.pages import page\n"
         "from helpers.pages.results import Results\nfrom helpers.systems.testbed import Testbed",
         'bed = Testbed(collection, "document")\nstep = bed.first_stage(run, 0.9, 0.4, depth)\n'
         'system = evaluate("first stage", step, bed, ["RR@10", "R@10"])',
         'Results({"first stage": system}).table("What was measured", ["RR@10", "R@10"])', "page.provenance(system)")
GOOD, BAD = (("d1", "d2", "d3"), ("d2", "d1", "d3")), (("d4", "d3", "d1"), ("d2", "d3", "d1"))  # rankings for q1 and q2


@pytest.fixture(scope="module")
def book(tmp_path_factory, folder):
    """A book of one chapter, `tiny`, which measures a run file on the tiny collection: executed and rendered."""
    root = tmp_path_factory.mktemp("rerun")
    for name in ("notebooks", "profiles", "book", "results"):
        (root / name).mkdir()
    shutil.copytree(paths.PUBLISHED, root / "published")
    (root / "published" / "findings.yaml").write_text("findings: []\nsentences: []\n")  # those of chapters that are not here
    shutil.copy(paths.ROOT / "CITATION.cff", root)
    for name in ("_config.yml", "_static", "_ext", "templates", "references.bib"):
        source = paths.BOOK / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, root / "book" / name)
    for name, rankings in {"a": GOOD, "b": BAD}.items():
        (root / f"{name}.trec").write_text("".join(f"q{query} Q0 {doc} {rank} {10 - rank} x\n"
                                                   for query, docs in enumerate(rankings, start=1)
                                                   for rank, doc in enumerate(docs, start=1)))
    cells = [nbformat.v4.new_markdown_cell("# Tiny\n\nA chapter."),
             nbformat.v4.new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}), *map(nbformat.v4.new_code_cell, CELLS)]
    kernel = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), root / "notebooks" / "tiny.ipynb")
    usual = {"collection": str(folder), "run": str(root / "a.trec")}
    (root / "profiles" / "almanac.yaml").write_text(json.dumps({"shared": usual}))
    (root / "profiles" / "queue.yaml").write_text("[]")
    (root / "book" / "_toc.yml").write_text("format: jb-book\nroot: index\nparts:\n  - caption: All\n    chapters:\n"
                                            "      - file: chapters/tiny\n")
    (root / "book" / "index.md").write_text("# Book\n\nOf one chapter.\n")
    made = done(root, "chapter", "tiny")
    assert made.returncode == 0, made.stderr[-3000:]
    return root


def test_a_rerun_from_its_explanation_to_its_removal(book):
    chapters, html = book / "book" / "chapters", book / "book" / "_build" / "html" / "chapters"
    baseline = snapshot(chapters)
    assert set(baseline) == {"tiny.ipynb", "tiny.stamp"}
    stored = snapshot(book / "store")

    told = done(book, "explain", "tiny", "-p", "run", str(book / "b.trec"))
    assert told.returncode == 0, told.stderr
    assert re.search(r"trec_run +\w+ +\S+ s\b", told.stdout), told.stdout
    assert "to compute 2" in told.stdout  # the run, and its measures
    assert "the baseline page tiny stays as it is" in told.stdout
    assert (snapshot(chapters), snapshot(book / "store")) == (baseline, stored)

    ran = done(book, "chapter", "tiny", "-p", "run", str(book / "b.trec"))
    assert ran.returncode == 0, ran.stderr[-3000:]
    name = re.search(r"tiny--\w{6}", ran.stdout)[0]
    assert {key: value for key, value in snapshot(chapters).items() if "--" not in key} == baseline
    lines = [line for item in json.loads((chapters / f"{name}.ipynb").read_text())["metadata"]["neural_ranking"]
             for line in item.get("ledger", [])]
    assert [line["step"] for line in lines if line["source"] == "computed"] == ["trec_run", "run_measures"]
    assert f'href="{name}--compared.html"' in (html / f"{name}.html").read_text()
    compared = (html / f"{name}--compared.html").read_text()
    assert re.findall(r"<code>[^<]*/([ab])\.trec&quot;</code>", compared) == ["a", "b"]
    row = re.search(r'<th scope="row"[^>]*>first stage</th>(.*?)</tr>', compared)[1]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
    assert cells[:2] == ["0.667", "0.444"]  # RR@10: (1 + 1 + 0) / 3 and (1/3 + 1 + 0) / 3
    assert cells[2].startswith("−0.222")
    assert cells[4] == "0 / 2 / 1"

    assert "up to date, nothing would run" in done(book, "explain", "tiny", "-p", "run", str(book / "b.trec")).stdout
    assert f"{name}: up to date" in done(book, "chapter", "tiny", "-p", "run", str(book / "b.trec")).stdout

    cleaned = done(book, "clean-variants")
    assert cleaned.returncode == 0, cleaned.stderr[-3000:]
    assert snapshot(chapters) == baseline
    assert list((book / "book").rglob("*--*")) == []
    assert name not in (html / "tiny.html").read_text()
