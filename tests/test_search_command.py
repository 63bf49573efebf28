"""`book search` from the command line: an answer, an empty one, or an error that says what to do; never a traceback."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from press import search_command
from press.cli import main
from press.rerankers import RERANKERS
from press.search_command import FEEDBACK, as_text

pytestmark = pytest.mark.slow


@pytest.fixture
def search(folder, store, capsys):
    """Call `book search` without a model on the tiny collection; gives the exit code, the output and the messages."""
    def call(*arguments):
        code = main(["search", *arguments, "--reranker", "none", "--collection", str(folder)])
        return code, *capsys.readouterr()
    return call


def ranked(output):
    """The document ids of the printed lines, in their order."""
    return re.findall(r"^ *\d+ +-?\d+\.\d+ +(\S+)", output, re.MULTILINE)


def test_each_query_has_a_block_of_ranked_titles(search):
    code, output, _ = search("why does bread turn brown", "iron", "the of and")
    *blocks, said = [block.splitlines() for block in output.strip().split("\n\n")]
    assert (code, said) == (0, ["score: BM25"])
    assert [block[0] for block in blocks] == ["why does bread turn brown", "iron", "the of and"]
    assert blocks[0][1].split()[::3] == ["1", "Bread"]
    assert [ranked("\n".join(block)) for block in blocks] == [["d1", "d4"], ["d2"], []]  # only these hold a word of it
    scores = [float(score) for score in re.findall(r"^ *\d+ +(-?\d+\.\d+)", "\n".join(blocks[0]), re.MULTILINE)]
    assert scores == sorted(scores, reverse=True) and scores[-1] > 0


@pytest.mark.parametrize("feedback", ["documents", "passages"])
def test_feedback_finds_documents_that_share_no_word_with_the_query(search, feedback, monkeypatch):
    """The only document with `sugars` is about bread and ovens, which lends its terms to the query."""
    assert ranked(search("sugars")[1]) == ["d1"]
    assert ranked(search("sugars", "--feedback", feedback)[1]) == ["d1"]  # no term is one of two documents
    monkeypatch.setitem(FEEDBACK, feedback, replace(FEEDBACK[feedback], min_documents=1))
    code, output, _ = search("sugars", "--feedback", feedback)
    assert code == 0 and output.endswith("score: BM25\n")
    assert ranked(output) == ["d1", "d4"]
    assert "no document" in search("the of and", "--feedback", feedback)[1]


def test_every_choice_of_the_command_line_is_one_of_the_command(monkeypatch):
    calls, nothing = [], pd.DataFrame(columns=["query", "rank", "doc_id", "score", "title"])
    monkeypatch.setattr(search_command, "search", lambda queries, **options: calls.append(options) or nothing)
    for reranker in RERANKERS:
        for feedback in FEEDBACK:
            assert main(["search", "bread", "--reranker", reranker, "--feedback", feedback]) == 0
    assert [(one["reranker"], one["feedback"]) for one in calls] == [(name, kind) for name in RERANKERS for kind in FEEDBACK]
    assert (calls[0]["collection"], calls[0]["unit"]) == ("almanac", "")


def test_a_unit_that_is_not_there_is_named_with_those_that_are(search):
    code, output, message = search("bread", "--unit", "passage")
    assert (code, output) == (2, "") and "has no unit 'passage'. Mend: choose from document" in message


def test_a_text_is_made_of_what_was_found():
    result = pd.DataFrame({"query": ["a", "a", "b"], "rank": [1, 2, 1], "doc_id": ["d1", "d2", "d3"], "score": [2.0, 1.25, 0.5],
                           "title": ["One", "Two", "Three"], "snippet": ["some words", "", ""]})
    assert as_text(result, ["b", "a", "c"]) == (
        "b\n  1     0.500  d3               Three\n\n"
        f"a\n  1     2.000  d1               One\n{'':31}some words\n  2     1.250  d2               Two\n\n"
        "c\n  no document holds a word of this query")


def test_a_query_of_five_thousand_words(search):
    code, output, _ = search(" ".join(f"word{n}" for n in range(5000)) + " bread", "-k", "1")
    assert (code, len(ranked(output))) == (0, 1)
