"""One query through several rankings: which query it is, and what its table says."""

import pytest

from helpers.data.collection_base import Text
from helpers.pages import documents as shown
from toys import Bed, Value, of_values, run_of

FIRST, LAST = run_of(q="abc", r="abcd", s="abcd"), run_of(q="abc", r="dbca", s="dcab")


@pytest.fixture
def systems():
    return {"first": of_values([0.5], run=FIRST), "last": of_values([0.5], run=LAST)}


@pytest.mark.parametrize(("relevant", "query"), [
    ({"q": "a", "r": "b", "s": "c"}, "s"),  # at one place in both rankings, at one place again, third and second
    ({"q": "a", "r": "d"}, "r"), ({"q": "a", "r": "b"}, "q"), ({"q": "z", "r": "z"}, "q")])
def test_it_is_one_whose_relevant_text_moves(systems, relevant, query):
    assert shown.chosen(systems, Bed(**relevant), ["first", "last"]) == query


def test_pages_of_other_rankings_show_other_queries():
    many = {name: of_values([0.5], run=run_of(**{f"q{n}": texts for n in range(20)})) for name, texts in (
        ("first", "ab"), ("last", "ba"), ("other", "ba"), ("third", "ba"))}
    bed = Bed(**{f"q{n}": "a" for n in range(20)})
    assert len({shown.chosen(many, bed, ["first", name]) for name in ("last", "other", "third")}) > 1


def test_the_texts_stand_in_the_last_order_with_place_and_score(systems, monkeypatch):
    texts = {name: Text(name, title, f"{name} " + "word " * length) for name, length, title in (
        ("a", 40, ""), ("b", 1, "Title"), ("c", 1, ""), ("d", 1, ""))}
    monkeypatch.setattr(shown, "Texts", lambda folder: texts)
    systems["empty"], bed = of_values([0.5], run=run_of(q="a")), Bed(q="a", r="d")
    bed.store = Value()
    text = shown.one_query(systems, bed, ["first", "empty", "last"]).html
    rows = [row.split("</tr>")[0] for row in text.split('<th scope="row"')[1:]]
    assert ["d word <span" in rows[0] and ">relevant<" in rows[0], "Title: b word<" in rows[1], "…" in rows[3]] == [True] * 3
    assert "4. (−3.00)" in rows[0] and "1. (0.00)" in rows[0] and "–" in rows[0]
