"""The whole book in the mini profile, in a copy of the project, as a newcomer would run it."""

import json
import re
from pathlib import Path

import pytest

from mini_book import TESTED, book
from press import chapters

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]  # the first test waits for the whole book
CHAPTERS = chapters.names()


def ledger(root: Path, page: str) -> list[dict]:
    data = json.loads((root / "book" / "chapters" / f"{page}.ipynb").read_text())["metadata"]["neural_ranking"]
    return [line for item in data for line in item.get("ledger", [])]


def test_every_page_of_the_contents_is_rendered_and_prints_no_class(project):
    html = project / "book" / "_build" / "html"
    for page in ("index", "reading", *(f"chapters/{name}" for name in CHAPTERS), "generated/scoreboard", "generated/numbers",
                 "generated/cite"):
        assert not re.search(r"Html\(text=|Fragment\(html=", (html / f"{page}.html").read_text()), page


def test_a_fresh_mini_book_computes_everything_live(project):
    for page in TESTED:
        assert {line["source"] for line in ledger(project, page)} <= {"computed", "stored"}


def test_a_second_run_executes_nothing(project):
    again = book(project, "build", "--profile", "mini", "--only", ",".join(TESTED))
    assert again.returncode == 0, again.stderr[-3000:]
    assert re.findall(r"^(\w+): up to date$", again.stdout, re.M) == [*TESTED]
    assert "book: up to date" in again.stdout


def test_every_measured_number_leads_to_its_provenance_and_values_and_verdicts_name_a_step_of_the_page(project):
    for page in TESTED:
        html = (project / "book" / "_build" / "html" / "chapters" / f"{page}.html").read_text()
        links = set(re.findall(r'class="nr-measured" href="#(step-\w+)"', html))
        assert links
        assert links <= set(re.findall(r'id="(step-\w+)"', html))
    data = json.loads((project / "book/chapters/does_it_work.ipynb").read_text())["metadata"]["neural_ranking"]
    known = {line["key"] for line in ledger(project, "does_it_work")}
    lines = [line for item in data for kind in ("values", "claims") for line in item.get(kind, [])]
    assert len(lines) >= 15
    assert {line["key"] for line in lines if line["key"]} <= known  # a claim without a verdict names no step


def test_the_parameters_stand_in_a_table_and_not_in_a_cell(project):
    html = (project / "book/_build/html/chapters/does_it_work.html").read_text()
    assert "Parameters of this run" in html
    assert "packaged:0" in html
    assert "# Parameters" not in html


def test_changed_prose_computes_no_step(project):
    template = project / "notebooks" / "collection.ipynb"
    notebook = json.loads(template.read_text())
    notebook["cells"][0]["source"] = "# A title\n\nAnother opening."
    template.write_text(json.dumps(notebook))
    done = book(project, "chapter", "collection", "--profile", "mini", "--no-render")
    assert done.returncode == 0, done.stderr[-3000:]
    assert {line["source"] for line in ledger(project, "collection")} == {"stored"}


def test_one_more_seed_trains_one_model_and_takes_the_rest_as_it_is(project):
    done = book(project, "chapter", "seeds", "--profile", "mini", "-p", "seeds", "[1, 2, 7]", "--no-render")
    assert done.returncode == 0, done.stderr[-3000:]
    variant = re.search(r"seeds--\w+", done.stdout)[0]
    computed = sorted(line["step"] for line in ledger(project, variant) if line["source"] == "computed")
    assert computed == ["aggregated", "listwise_cross_encoder", "run_measures", "training_log", "window_scores"]


@pytest.mark.parametrize("pages", [("recipe", "candidates"), ("candidates", "distillation")])
def test_chapters_share_a_trained_model(project, pages):
    keys = [{line["key"] for line in ledger(project, page) if line["step"] == "training_log"} for page in pages]
    assert len(set.intersection(*keys)) == 1
