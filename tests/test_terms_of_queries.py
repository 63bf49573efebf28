"""Terms that queries and texts lack: their weights, recall, expansions."""

import math

import pandas as pd
import pytest

from helpers.retrieval.feedback import Sizes, bo1, common, expanded, expansion, kl, printed
from helpers.retrieval.term_weights import first_pieces, share, term_recall, words_of
from helpers.systems.testbed import Testbed
from toys import qrels_of

# ---- recall of terms ----

@pytest.mark.parametrize("text, words", [
    ("Why bread turns brown.", ["why", "bread", "turns", "brown"]), ("", []), ("... -- !", []),
    ("the oven's 3.5 hours, U.S made", ["the", "oven's", "3.5", "hours", "u.s", "made"]),
    ("(bread) and cake/pie", ["bread", "and", "cake", "pie"]), ("Crème brûlée", ["crème", "brûlée"])])
def test_words_are_those_of_the_index(text, words):
    assert [word for word, _, _ in words_of(text)] == words
    assert all(text[start:end].lower() == word for word, start, end in words_of(text))


def test_a_word_is_known_by_its_first_piece():
    # "Rusting, iron": [CLS] rust ##ing , iron [SEP]
    offsets = [(0, 0), (0, 4), (4, 7), (7, 8), (9, 13), (0, 0)]
    assert list(first_pieces("Rusting, iron", offsets)) == [("rusting", 1), ("iron", 4)]
    with_blank = [(0, 0), (0, 3), (3, 7), (0, 0)]  # a piece may begin with the blank before its word
    assert list(first_pieces("wet air", with_blank)) == [("wet", 1), ("air", 2)]


@pytest.mark.parametrize("terms, expected", [({"iron"}, 0.5), ({"rust"}, 1.0), ({"iron", "rust"}, 1.0), ({"air"}, 0.0),
                                             (set(), 0.0)])
def test_the_share_of_queries(terms, expected):
    assert share(terms, [{"iron", "rust"}, {"rust"}]) == expected


@pytest.fixture
def bed(folder, store):
    return Testbed(str(folder), splits=("train",))


def recalls(table, doc_id):
    part = table[table["doc_id"] == doc_id]
    return dict(zip(part["word"], part["recall"], strict=True))


@pytest.mark.slow
def test_the_target_is_the_share_of_the_passages_queries_that_hold_the_word(bed):
    # q1 "why does bread turn brown" and one more query for d1; q2 "how to stop iron rusting" for d2; q3, of stop words, for d3
    texts = ["why does bread turn brown", "how to stop iron rusting", "the of and", "browning of breads in heat"]
    queries = pd.DataFrame({"query_id": ["q1", "q2", "q3", "q4"], "text": texts})
    qrels = qrels_of(q1={"d1": 1, "d4": 0}, q4={"d1": 2}, q2="d2", q3="d3", q9="d2")
    table = term_recall.definition.function(queries, qrels, 1, bed.store.value())
    assert list(dict.fromkeys(table["doc_id"])) == ["d1", "d2", "d3"]  # d4 is judged irrelevant
    # "Bread / Why bread turns brown in the oven. Sugars and proteins react in the heat."; stems: turns ~ turn, heat ~ heat
    assert recalls(table, "d1") == {"bread": 1.0, "why": 0.5, "turns": 0.5, "brown": 1.0, "in": 0.0, "the": 0.0, "oven": 0.0,
                                    "sugars": 0.0, "and": 0.0, "proteins": 0.0, "react": 0.0, "heat": 0.5}
    assert {word for word, recall in recalls(table, "d2").items() if recall} == {"iron", "rusts"}
    assert set(recalls(table, "d3").values()) == {0.0}  # "the" stands in query and passage, but is a stop word
    assert table.groupby("doc_id")["queries"].first().to_dict() == {"d1": 2, "d2": 1, "d3": 1}  # q9 is no training query


@pytest.mark.slow
def test_the_level_decides_what_is_relevant_and_a_missing_passage_is_left_out(bed):
    queries = pd.DataFrame({"query_id": ["q1"], "text": ["iron"]})
    table = term_recall.definition.function(queries, qrels_of(q1={"d1": 1, "d2": 2, "gone": 2}), 2, bed.store.value())
    assert set(table["doc_id"]) == {"d2"}
    assert term_recall.definition.function(queries, qrels_of(), 1, bed.store.value()).empty
    assert list(table.columns) == ["doc_id", "word", "recall", "queries"]


# ---- expansion terms ----

SIZES = Sizes(documents=15, words=120, trusted=8)


def test_bo1_by_hand():
    # lambda = 1: log2(2) + 3 log2(2) = 4 bits
    assert bo1(3, 10, Sizes(10, 100, 9)) == 4.0
    # lambda = 1/3: log2(4/3) + 2 log2(4)
    assert bo1(2, 5, SIZES) == pytest.approx(math.log2(4 / 3) + 4)


def test_kl_by_hand():
    # p = 2/8, q = 5/120: 1/4 log2(6)
    assert kl(2, 5, SIZES) == pytest.approx(math.log2(6) / 4)
    assert kl(1, 15, SIZES) == 0.0  # p = q: no more often than anywhere
    assert kl(1, 30, SIZES) == 0.0


def test_the_printed_formula_by_hand():
    # lambda = 5/15, of the feedback documents: log2(4/3) - 5 (1/3) / (4/3)
    assert printed(5, 5, SIZES) == pytest.approx(math.log2(4 / 3) - 1.25)
    assert printed(5, 5, SIZES) == printed(5, 99, SIZES)  # whether a term is rare does not count
    assert printed(1, 9, SIZES) > printed(2, 9, SIZES)  # and the more often it occurs, the less it weighs


def test_the_most_informative_terms_come_first_ties_by_the_alphabet_and_none_that_tells_nothing():
    weights = expansion({"oven": 2, "bread": 2, "heat": 1, "air": 1}, {"oven": 5, "bread": 5, "heat": 5, "air": 15}, SIZES, 3)
    assert list(weights) == ["bread", "oven", "heat"]
    assert expansion({"water": 1}, {"water": 30}, SIZES, 3, "KL") == expansion({}, {}, SIZES, 3) == {}


def test_weights_are_over_the_bound_of_a_term_that_is_nowhere_else():
    weights = expansion({"bread": 2, "heat": 1}, {"bread": 5, "heat": 5}, SIZES, 2)
    bound = math.log2(1 + 2 / 15) + 2 * math.log2((1 + 2 / 15) / (2 / 15))  # lambda = 2/15: both occurrences are here
    assert weights["bread"] == pytest.approx((math.log2(4 / 3) + 4) / bound)
    assert weights["heat"] == pytest.approx((math.log2(4 / 3) + 2) / bound)
    assert expansion({"bread": 2}, {"bread": 2}, SIZES, 1) == {"bread": 1.0}
    # KL: 1/4 log2(6), over 1/4 log2(120 / 8)
    assert expansion({"bread": 2}, {"bread": 5}, SIZES, 1, "KL")["bread"] == pytest.approx(math.log2(6) / math.log2(15))


def test_bo1_of_two_documents_by_hand_with_terms_of_both_or_of_the_query():
    documents = {"bread": 3, "oven": 1, "crust": 4}, {"bread": 2, "oven": 3, "brown": 1}
    both = common(documents, ["brown"], 2)
    assert both == {"bread": 5, "oven": 4, "brown": 1}  # crust is of one document, and the query lacks it
    weights = expansion(both, {"bread": 5, "oven": 4, "brown": 1}, Sizes(4, 99, 14), 3)
    # lambda = 5/4, 4/4, 1/4: log2(9/4) + 5 log2(9/5) = 5.4099; 1 + 4 = 5; log2(5/4) + log2(5) = 2.6439; the bound is bread's
    assert weights == pytest.approx({"bread": 1.0, "oven": 5 / 5.4099, "brown": 2.6439 / 5.4099}, abs=1e-4)
    assert expanded(["brown"], weights)["brown"] == pytest.approx(1.4887, abs=1e-4)  # its count, and its weight besides


def test_the_expanded_query_adds_the_weights():
    assert expanded(["brown", "bread", "bread"], {"bread": 1.0, "oven": 0.5}) == {"brown": 0.5, "bread": 2.0, "oven": 0.5}
