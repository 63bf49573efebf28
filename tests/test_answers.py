import pytest

from helpers.data.answers import answer_positions, find, holding
from helpers.data.collection import open_collection
from helpers.data.collection_base import Text
from toys import qrels_of

BODY = " ".join(f"w{n}" for n in range(12))


def test_a_sequence_is_found_where_it_begins():
    assert find(["a", "b", "a", "c"], ["a", "c"]) == 2
    assert find(["a", "b"], ["b", "a"]) is None
    assert find(["a"], []) is None


def test_the_windows_that_hold_half_of_a_passage():
    # a title of 2 words leaves 4 of 6; 2 are shared, the step is 2: body words 0-3, 2-5, 4-7, 6-9, 8-11
    document = Text("d", "A title", BODY)
    assert holding(document, "w4 w5 w6 w7", words=6, overlap=2) == ["d#1", "d#2", "d#3"]  # 2, 4 and 2 of its 4 words
    assert holding(document, "w0 w1 w2", words=6, overlap=2) == ["d#0"]  # 3 of 3; the next has 1 of 3


def test_every_almanac_answer_lies_in_a_window_of_its_article():
    almanac = open_collection("almanac")
    articles = {text.doc_id: text for text in almanac.texts("document")}
    for number, section in enumerate(almanac.texts("passage")):
        if number % 37 == 0:
            assert holding(articles[section.doc_id.split(".")[0]], section.body, 150, 50), section.doc_id


DOCUMENTS = {"d": Text("d", "Two words", "a b c d e f g"), "e": Text("e", "", "c d")}
PASSAGES = {name: Text(name, "", body) for name, body in {"d.0": "a b", "d.1": "c d", "d.2": "g", "x": "z"}.items()}


@pytest.fixture
def places(monkeypatch):
    """`answer_positions` of a query with these grades of documents and of passages."""
    monkeypatch.setattr("helpers.data.answers.Texts", lambda texts: texts)

    def located(documents, passages, least=1):
        return answer_positions.definition.function(DOCUMENTS, PASSAGES, qrels_of(q=documents), qrels_of(q=passages), least)
    return located


def test_title_words_count(places):
    (place,) = places({"d": 3}, {"d.1": 3}).to_dict("records")
    assert place == {"query_id": "q", "doc_id": "d", "begins": 4, "length": 2, "words": 9}


def test_the_first_of_several_passages_counts(places):
    assert places({"d": 3}, {"d.2": 3, "d.1": 3, "d.0": 1}, least=2)["begins"].tolist() == [4]


def test_every_relevant_document_that_holds_the_passage_has_a_row(places):
    located = places({"d": 3, "e": 3}, {"d.1": 3})
    assert dict(zip(located["doc_id"], located["begins"], strict=True)) == {"d": 4, "e": 0}


def test_a_passage_of_no_relevant_document_has_none(places):
    assert places({"d": 0}, {"d.1": 3}).empty and places({"d": 3}, {"x": 3}).empty
