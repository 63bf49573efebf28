"""The safety net: pages of the recorded default book show the numbers that `tests/pages.tsv` has; a change of one is named."""

import pytest

import page_numbers
from dry_steps import write_page
from helpers.errors import BadInput
from press import chapters, side_by_side

VALUE = {"study": "s", "table": "1", "row": "a", "column": "MRR@10", "measure": "RR@10", "measured": 0.123456, "verdict": None}
CLAIM = {"claim": "c", "evidence": "+0.1", "verdict": "agrees"}
SYSTEMS = {"queries": ["1\n2"], "systems": [{"label": "BM25", "key": "k", "queries": 0, "values": [["RR@10", "1 0.5"]]}]}


def test_a_page_shows_its_published_cells_its_claims_and_the_means_of_its_systems():
    data = [{"values": [VALUE]}, {"claims": [CLAIM]}, {"evaluations": SYSTEMS}]
    assert list(page_numbers.shown("seeds", data)) == [
        "seeds\ts\t1\ta\tMRR@10\tRR@10\t0.1235\t", "seeds\tclaim\tc\t+0.1\tagrees", "seeds\tmean\tBM25\tRR@10\t0.75"]


def test_a_page_of_another_profile_is_not_compared(places):
    places("CHAPTERS")
    write_page("seeds", {"run": {"profile": "mini", "changed": {}}})
    with pytest.raises(BadInput, match="the page is of mini"):
        list(page_numbers.lines_of("seeds"))


def test_a_number_that_moved_is_shown_before_and_now():
    assert page_numbers.differences(["a\t1", "b\t3"], ["a\t1", "b\t2"]) == ["- b\t2", "+ b\t3"]


def test_the_file_has_lines_of_every_chapter_that_measures():
    pages = {line.partition("\t")[0] for line in page_numbers.known()}
    assert {page.partition(" ")[0] for page in pages} <= set(chapters.names())
    assert len(pages) >= len(chapters.names()) + 1


@pytest.mark.slow
def test_pages_made_from_recorded_runs_show_these_numbers(places):
    """Of seeds and of lengths, whose kernels import the libraries once; `campaigns/page_numbers.py` compares every page."""
    places("CHAPTERS")
    with side_by_side.available():
        for chapter in ("seeds", "sequence_length"):
            made = list(page_numbers.lines_of_variant(chapter))
            assert page_numbers.differences(made, page_numbers.known(made[0].partition("\t")[0])) == []
