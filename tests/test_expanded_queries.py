import pandas as pd
import pytest

from helpers.retrieval.feedback import expanded_texts, surface_words, words_of, written
from helpers.retrieval.indexes import text_index

QUERIES = pd.DataFrame({"query_id": ["q1", "q2"], "text": ["why does bread turn brown?", "rust"]})
WEIGHTS = pd.DataFrame([("q1", "bread", 1.8, False), ("q1", "oven", 0.9, True), ("q1", "sugar", 0.4, True)],
                       columns=["query_id", "term", "weight", "added"])
WORDS = pd.DataFrame([("q1", "oven", "ovens"), ("q1", "sugar", "sugars")], columns=["query_id", "term", "word"])


def texts(form: str, words: pd.DataFrame | None = None) -> list[str]:
    return expanded_texts.definition.function(QUERIES, WEIGHTS, form, words)["text"].tolist()


def test_the_best_terms_stand_behind_the_query():
    assert expanded_texts.definition.function(QUERIES, WEIGHTS.assign(best=True), "best")["text"][0].endswith("bread oven sugar")


def test_words_stand_for_their_terms_and_only_the_added_ones():
    assert texts("words", WORDS) == ["why does bread turn brown? ovens sugars", "rust"]


def test_a_sentence_lists_the_terms():
    for terms, listed in ((["oven"], "oven"), (["oven", "heat", "salt"], "oven, heat and salt")):
        assert written("why? ", terms, "sentence") == f"why? The answer speaks of {listed}."


def test_words_lose_case_and_outer_punctuation():
    assert words_of("“Bread” (the hot, DRY oven)… a-b ? 5%") == ["bread", "the", "hot", "dry", "oven)…", "a-b", "5%"]


@pytest.mark.slow
def test_the_most_frequent_word_of_the_feedback_documents_stands_for_a_term(bed):
    run = bed.bm25(0.9, 0.4, 4)
    best = run.value().groupby("query_id")["doc_id"].first()
    weights = pd.DataFrame([("q1", term, 1.0, True) for term in ("react", "heat", "unheard")],
                           columns=["query_id", "term", "weight", "added"])
    expanded = surface_words.definition.function(text_index(bed.store).value(), weights, run.value(), bed.store.value(), 1)
    words = dict(zip(expanded["term"], expanded["word"], strict=True))
    assert best["q1"] == "d1"
    assert words["unheard"] == "unheard"  # no word of the document: the term stands for itself
    assert words["react"].startswith("react") and words["heat"].startswith("heat")
