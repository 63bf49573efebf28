"""The method in view: the package's own source."""

import pytest

from helpers.pages import page
from helpers.systems.testbed import Testbed
from press import generated
from toys import Value, of_values


class Loss:
    """Says what it is."""

    def value(self, score):
        """Its value."""
        return -score  # the negative


def test_a_source_stands_on_the_page_as_code_without_its_docstring():
    assert page.source(Loss.value).markdown == ("```python\ndef value(self, score):\n    return -score  # the negative\n```")


def test_several_sources_follow_each_other():
    assert page.source(Loss.value, Loss).markdown.count("```python\n") == 2
    assert "Says what it is" not in page.source(Loss).markdown


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


def test_the_page_of_all_bm25s(passages):
    line, = page.described([measured(passages.bm25(0.9, 0.4, 100), 1.0, 0.5)])
    text = generated.bm25_page([{"page": "repbert", "bm25": [line]}, {"page": "repbert", "bm25": [line]}])
    assert text.count(f"chapters/repbert.html#step-{line['key'][:10]}") == 1
    assert "0.750" in text and "not measured" in text
