"""The Almanac's long documents: which articles they join, where judgments go, and that both collections differ in place alone."""

from collections import Counter
from itertools import product
from random import Random

import pytest

from helpers.data.almanac import PARTS, Almanac, joined, sizes
from helpers.data.collection import open_collection
from helpers.data.texts import splits_of
from helpers.systems.recipe import document_reader, recipe

SPREAD, EARLY = "almanac/long", "almanac/long-early"
ALL = [SPREAD, EARLY, "almanac/4/long", "almanac/4/long-early"]
SPECS = [SPREAD, "almanac/4/long-early"]
ORDINARY = ("train", "dev", "test")


@pytest.fixture(scope="module")
def opened():
    return {spec: open_collection(spec) for spec in ALL}


@pytest.fixture(scope="module")
def almanac():
    return Almanac()


def article(domain, number, words=600):
    """One of so many words, title and heading among them."""
    sections = [{"heading": "H", "text": "w " * (words - 2)}]
    return {"doc_id": f"{domain}-{number:03}", "domain": domain, "title": "T", "sections": sections}


def ids(documents):
    return [(one.doc_id, [part["doc_id"] for part in one.parts]) for one in documents]


# ---- the rule, by hand ----

def test_sizes_are_drawn_until_nothing_is_left():
    assert {tuple(sizes([600] * 7, Random(seed))) for seed in range(20)} == {(3, 4), (4, 3)}  # not 5, which leaves 2
    assert sizes([600] * 6, Random(1)) == [3, 3]
    assert sizes([600] * 2, Random(1)) is None
    assert sizes([500] * 3, Random(1)) is None  # 1,500 words are too few
    assert sizes([600] * 5, Random(1)) is None  # 3,000 are too many
    assert sizes([580] * 5, Random(1)) == [5]


def test_what_domains_leave_over_is_joined_within_the_split():
    articles = [article(domain, number) for domain in "abcd" for number in range(5)]
    splits = {one["doc_id"]: "dev" if one["domain"] == "d" else "train" for one in articles}
    assert ids(joined(articles, splits, seed=1)) == [
        ("long-a-01", [f"a-00{n}" for n in range(4)]), ("long-b-01", [f"b-00{n}" for n in range(4)]),
        ("long-c-01", [f"c-00{n}" for n in range(4)]), ("long-d-01", [f"d-00{n}" for n in range(4)]),
        ("long-mixed-01", ["a-004", "b-004", "c-004"])]  # d-004 is of another split, and left out


def test_documents_are_numbered_by_their_first_article_whatever_its_split():
    articles = [article("a", number) for number in range(6)]
    splits = {one["doc_id"]: ("dev", "train")[number % 2] for number, one in enumerate(articles)}
    splits["a-009"] = "dev"
    assert ids(joined([*articles, article("a", 7)], splits, seed=1)) == [  # of a-007 no split is known
        ("long-a-01", ["a-000", "a-002", "a-004"]), ("long-a-02", ["a-001", "a-003", "a-005"])]


# ---- on the Almanac ----

@pytest.mark.parametrize("spec", SPECS)
def test_every_article_stands_in_one_document_of_its_split_and_domain(spec, opened, almanac):
    splits = splits_of(almanac)
    of = splits_of(opened[spec])
    seen = Counter(part["doc_id"] for one in opened[spec].documents for part in one.parts)
    assert set(seen.values()) == {1}
    assert set(seen) == {one["doc_id"] for one in opened[spec].articles()}  # nor is one left out, here
    for one in opened[spec].documents:
        assert len(one.parts) in PARTS
        assert {splits[part["doc_id"]] for part in one.parts} == {of[one.doc_id]}
        assert one.domain == "mixed" or {part["domain"] for part in one.parts} == {one.domain}
    assert set(of) == {one.doc_id for one in opened[spec].documents}


@pytest.mark.parametrize("home", ["almanac", "almanac/4"])
def test_both_collections_have_the_same_parts_in_another_order(home, opened):
    spread, early = opened[f"{home}/long"], opened[f"{home}/long-early"]
    assert [(one.doc_id, one.domain, {part["doc_id"] for part in one.parts}, one.parts[one.lead]["doc_id"])
            for one in spread.documents] == [
           (one.doc_id, one.domain, {part["doc_id"] for part in one.parts}, one.parts[0]["doc_id"]) for one in early.documents]
    assert [text.title for text in spread.texts("document")] == [text.title for text in early.texts("document")]
    assert sorted((text.title, text.body) for text in spread.texts("passage")) == sorted(
        (text.title, text.body) for text in early.texts("passage"))
    for split in spread.splits:
        assert spread.queries(split).equals(early.queries(split))
        assert spread.qrels("document", split).equals(early.qrels("document", split))


@pytest.mark.parametrize("home", ["almanac", "almanac/4"])
def test_places_of_leads_are_balanced_or_all_first(home, opened):
    spread, early = opened[f"{home}/long"], opened[f"{home}/long-early"]
    of = splits_of(spread)
    for split, parts in product(ORDINARY, PARTS):
        counts = Counter(one.lead for one in spread.documents if of[one.doc_id] == split and len(one.parts) == parts)
        seen = [counts[place] for place in range(parts)]
        assert max(seen) - min(seen) <= 1
    assert {one.lead for one in early.documents} == {0}


# ---- queries and judgments ----

@pytest.mark.parametrize(("spec", "split"), product(SPECS, ("test", "topics")))
def test_a_documents_grade_is_its_best_parts(spec, split, opened):
    collection = opened[spec]
    home = open_collection(collection.home)
    grades = {(query, article): grade for query, article, grade in home.qrels("document", split).itertuples(index=False)}
    kept = set(collection.queries(split)["query_id"])
    expected = {(query, one.doc_id): max(judged) for query in kept for one in collection.documents
                if (judged := [grades[query, part["doc_id"]] for part in one.parts if (query, part["doc_id"]) in grades])}
    found = collection.qrels("document", split)
    assert {(query, doc): grade for query, doc, grade in found.itertuples(index=False)} == expected
    assert len(found) == len(expected) and found.columns.tolist() == ["query_id", "doc_id", "relevance"]


# ---- digests ----

def test_texts_are_told_apart_from_each_other_and_from_the_almanacs(opened, almanac):
    for unit in almanac.units:
        digests = {own.part("texts", unit).digest for own in (almanac, open_collection("almanac/4"), *opened.values())}
        assert len(digests) == 6


# ---- in use ----

@pytest.mark.parametrize("spec", SPECS)
def test_a_warm_up_is_the_almanacs_own(spec):
    """It reads articles of the same splits, and is recorded."""
    home = spec.rpartition("/")[0]
    assert open_collection(home).home == open_collection(spec).home == home
    assert recipe(spec).start == recipe(home).start
    assert document_reader(spec).start == document_reader(home).start
    assert recipe(spec).collection == document_reader(spec).collection == spec
