"""A page: its header, its sources, its numbers, its exercises."""

import re
import shlex

import nbformat
import pytest
from nbformat.v4 import new_code_cell as code
from nbformat.v4 import new_markdown_cell as markdown

from helpers.data.downloads import bytes_text
from helpers.pages import page
from helpers.pages.fragments import count, interval, p_value, plain, seconds, signed
from helpers.systems.testbed import Testbed
from press import chapters, execute, page_header
from press.page_header import arranged
from toys import Value, of_values

# ---- sources, and the line of BM25 ----

class Loss:
    """Says what it is."""

    def value(self, score):
        """Its value."""
        return -score  # the negative


def test_a_source_stands_on_the_page_as_code_without_its_docstring():
    assert page.source(Loss.value).markdown == ("```python\ndef value(self, score):\n    return -score  # the negative\n```")


# ---- every table names the BM25 that it shows: read off the recipe, not typed ----

@pytest.fixture
def passages():
    return Testbed("almanac", "passage", queries=20)


def measured(source, *values):
    return of_values(values, "BM25", source=source)


def test_a_bm25_is_described_by_its_recipe(passages):
    source = passages.bm25(0.9, 0.4, 100)
    line, = page.described([measured(source, 1.0, 0.5)])
    assert line == {"collection": "almanac", "texts": "passages", "split": "test queries", "k1": 0.9, "b": 0.4, "depth": 100,
                    "queries": 2, "label": "BM25", "RR@10": 0.75, "key": source.key}
    assert page.sentence(line) == "BM25 over passages: 2 test queries, k1 0.9, b 0.4, lists of 100."


def test_windows_are_named_and_their_list_is_that_of_the_documents():
    windows = Testbed("almanac", "document", queries=20).bm25(1.2, 0.75, 50, windows=True)
    line, = page.described([measured(windows, 1.0)])
    assert (line["texts"], line["depth"]) == ("documents, each by its best window", 50)


def test_other_systems_are_not_bm25(passages):
    assert page.described([measured(passages.query_step, 1.0), measured(Value(), 1.0)]) == []


def test_the_line_stands_below_the_tables_that_link_to_it_and_no_other(passages):
    line, = page.described([measured(passages.bm25(0.9, 0.4, 100), 1.0)])
    box = '<div class="nr-scroll"><table><a href="#step-{}">1</a></table></div>'
    own, other = box.format(line["key"][:10]), box.format("0" * 10)
    shown = page.below_tables(own + other, [line])
    assert shown == f"{own}<p><small>{page.sentence(line)}</small></p>{other}"


# ---- the order of a page ----

def test_a_page_has_its_picture_first_and_sections_that_only_some_want_folded_below_more():
    cells = [markdown("# Title"), code("1"), markdown("## Method\n\nSo."), code("2"),
             markdown("## Costs & hours\n\nDear.", metadata={"tags": ["more"]}), code("3"),
             code("4", metadata={"tags": ["picture"]}), markdown("## Discussion"), code("5"), code("provenance")]
    assert [cell.source for cell in arranged(cells, "top", "## Try this", "parameters")] == [
        "# Title", "top", "4", "1", "## Method\n\nSo.", "2", "## Discussion", "5", "## Try this", "## More",
        '<details class="nr-details"><summary>Costs &amp; hours</summary>\n\nDear.', "3", "</details>", "parameters",
        "provenance"]


# ---- exercises ----

EXERCISES = page_header.paths.listed(page_header.paths.PUBLISHED / "exercises.yaml")


@pytest.mark.parametrize("chapter", chapters.templates())
def test_each_chapter_has_an_exercise_that_changes_something_by_commands_as_a_shell_hands_them_on(chapter):
    commands = re.findall(r"^make (?:explain|chapter) NAME=(\w+) ARGS=(.*?)   #", page_header.exercise(chapter, False), re.M)
    assert [name for name, _ in commands] == [chapter] * 2
    for _, arguments in commands:
        (own,) = shlex.split(arguments)
        words = shlex.split(own)
        given = dict(zip(words[1::3], words[2::3], strict=True))
        assert execute.request(chapter, "almanac", given).changed == EXERCISES[chapter]["change"]


def test_the_answer_is_folded_below_the_exercise_of_the_page_that_it_was_written_for():
    text = page_header.exercise("seeds", True)
    assert text.index("make chapter") < text.index("<summary>What came out</summary>")
    assert "What came out" not in page_header.exercise("seeds", False)
    assert set(EXERCISES) == set(chapters.templates()) and page_header.exercise("nowhere", True) == ""


# ---- numbers ----

@pytest.mark.parametrize("write, value, text", [
    (plain, 0.571, "0.571"), (plain, 0.57, "0.570"), (plain, 0.5714, "0.571"), (plain, 1, "1.000"),
    (signed, 0.054, "+0.054"), (signed, -0.01, "−0.010"), (signed, 0, "+0.000"),  # a true minus, not the hyphen
    (p_value, 0.012, "0.012"), (p_value, 0.0009, "< 0.001"), (p_value, 0.001, "0.001"), (p_value, 1, "1.000"),
    (count, 200000, "200,000"), (count, 999, "999"), (count, 1000, "1,000"), (count, 8841823, "8,841,823"),
    (seconds, 0.4, "0.4 s"), (seconds, 9.94, "9.9 s"), (seconds, 10, "10 s"), (seconds, 52, "52 s"), (seconds, 89, "89 s"),
    (seconds, 90, "2 min"),  # 1.5 min, to the even minute
    (seconds, 780, "13 min"), (seconds, 5399, "90 min"), (seconds, 5400, "1.5 h"), (seconds, 7560, "2.1 h"),
    (bytes_text, 0, "0 B"), (bytes_text, 812, "812 B"), (bytes_text, 999, "999 B"), (bytes_text, 1000, "1.0 kB"),
    (bytes_text, 999_949, "999.9 kB"), (bytes_text, 999_950, "1.0 MB"), (bytes_text, 18_882_551, "18.9 MB"),
    (bytes_text, 25_525_613_395, "25.5 GB"), (bytes_text, 4_000_000_000_000, "4000.0 GB")])
def test_a_number_is_written_with_its_digits_sign_and_unit(write, value, text):
    assert write(value) == text


def test_both_ends_of_an_interval_are_written_alike():
    assert interval(0.52, 0.61, digits=2) == "[0.52, 0.61]"
    assert interval(0.52, 0.61) == "[0.520, 0.610]"
    assert interval(-0.01, 0.02, sign=True) == "[−0.010, +0.020]"


def test_figures_are_numbered_in_the_pages_order():
    shown = [nbformat.v4.new_output("display_data", data={"text/html": '<figure class="nr-figure" tabindex="0">' * figures})
             for figures in (1, 2)]
    notebook = nbformat.v4.new_notebook(cells=[code(outputs=[output]) for output in shown])
    page_header.number_figures(notebook)
    html = "".join(cell.outputs[0]["data"]["text/html"] for cell in notebook.cells)
    assert re.findall('class="nr-figure" id="figure-(.)"', html) == ["1", "2", "3"]
