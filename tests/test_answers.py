from helpers.data.answers import find, holding
from helpers.data.collection_base import Text

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
    from helpers.data.collection import open_collection

    almanac = open_collection("almanac")
    articles = {text.doc_id: text for text in almanac.texts("document")}
    for number, section in enumerate(almanac.texts("passage")):
        if number % 37 == 0:
            assert holding(articles[section.doc_id.split(".")[0]], section.body, 150, 50), section.doc_id
