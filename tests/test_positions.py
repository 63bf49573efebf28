import pandas as pd
import pytest

from helpers.data.answers import answer_positions
from helpers.data.collection_base import Text


@pytest.fixture
def places(monkeypatch):
    """`answer_positions` over texts given as dictionaries."""
    monkeypatch.setattr("helpers.data.answers.Texts", lambda texts: texts)

    def find(documents, passages, document_qrels, passage_qrels, min_relevance=1):
        def frame(rows):
            return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
        return answer_positions.definition.function(
            {d: Text(d, *t) for d, t in documents.items()}, {p: Text(p, "", t) for p, t in passages.items()},
            frame(document_qrels), frame(passage_qrels), min_relevance)
    return find


DOCUMENTS = {"d": ("Two words", "a b c d e f g"), "e": ("", "c d")}
PASSAGES = {"d.0": "a b", "d.1": "c d", "d.2": "g", "x": "z"}


def test_title_words_count(places):
    located = places(DOCUMENTS, PASSAGES, [("q", "d", 3)], [("q", "d.1", 3)])
    assert located.to_dict("records") == [{"query_id": "q", "doc_id": "d", "begins": 4, "length": 2, "words": 9}]


def test_the_first_of_several_passages_counts(places):
    located = places(DOCUMENTS, PASSAGES, [("q", "d", 3)], [("q", "d.2", 3), ("q", "d.1", 3), ("q", "d.0", 1)], min_relevance=2)
    assert located["begins"].tolist() == [4]


def test_every_relevant_document_that_holds_the_passage_has_a_row(places):
    located = places(DOCUMENTS, PASSAGES, [("q", "d", 3), ("q", "e", 3)], [("q", "d.1", 3)])
    assert dict(zip(located["doc_id"], located["begins"], strict=True)) == {"d": 4, "e": 0}


def test_a_passage_of_no_relevant_document_has_none(places):
    assert places(DOCUMENTS, PASSAGES, [("q", "d", 0)], [("q", "d.1", 3)]).empty
    assert places(DOCUMENTS, PASSAGES, [("q", "d", 3)], [("q", "x", 3)]).empty
