"""The glossary's terms in chapters: the first use of each meaning is a link with the meaning as its title."""

import re

import pytest
from docutils import nodes
from docutils.core import publish_doctree

from extension import load
from helpers import paths

terms = load("terms")
KNOWN = {"cross-encoder": ("t-1", "Reads both."), "cross-encoders": ("t-1", "Reads both."), "[cls]": ("t-2", "A token."),
         "ndcg": ("t-3", "Gains."), "window": ("t-4", "A stretch.")}


def marked(text):
    """The links that a page of this text has: their words, addresses and titles."""
    page = publish_doctree(text)
    before = page.astext()
    terms.mark(page, KNOWN, "../glossary.html")
    assert page.astext() == before
    return [(node.astext(), node["refuri"], node["reftitle"]) for node in page.findall(nodes.reference)
            if "nr-term" in node["classes"]]


@pytest.mark.parametrize(("text", "words"), [
    ("A cross-encoder reads [CLS] first.", ["cross-encoder", "[CLS]"]),
    ("Two cross-encoders and a cross-encoder.", ["cross-encoders"]),  # one meaning, told once
    ("nDCG, then nDCG again, not nDCG@100.", ["nDCG"]),
    ("Windows have a windowed Window.", ["Window"]),
    ("``window`` and **window** and `window <https://a.b>`_ stay.", []),
    ("Title of the window\n===================\n\nA window.", ["window"]),
    ("Nothing to see.", [])])
def test_the_first_use_in_plain_text_becomes_a_link(text, words):
    assert [word for word, *_ in marked(text)] == words


def test_a_link_has_its_place_and_its_meaning():
    assert marked("Its nDCG.") == [("nDCG", "../glossary.html#t-3", "Gains.")]


def test_terms_and_meanings_are_read_from_the_glossary():
    item = nodes.definition_list_item("", nodes.term("", "BM25", ids=["term-BM25"]), nodes.term("", "Okapi", ids=["term-Okapi"]),
                                      nodes.definition("", nodes.paragraph("", "Scores\nwords.")))
    page = nodes.document(None, None)
    page += nodes.definition_list("", item)
    assert terms.meanings(page) == {"bm25": ("term-BM25", "Scores words."), "okapi": ("term-Okapi", "Scores words.")}


def test_every_term_of_the_glossary_is_told_once_and_in_order():
    text = (paths.BOOK / "glossary.md").read_text().partition("```{glossary}\n")[2].partition("```")[0]
    entries = [entry.split("\n  ")[0].split("\n") for entry in re.split(r"\n\n(?=\S)", text.strip())]
    names = [name.lower() for entry in entries for name in entry]
    assert len(names) == len(set(names)) and len(entries) > 25
    firsts = [re.sub(r"\W", "", entry[0].lower()) for entry in entries]
    assert firsts == sorted(firsts)
