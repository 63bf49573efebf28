"""The book's own extensions of Sphinx: accessible pages, lean pages, formulas, the glossary's terms."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
import yaml
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.core import publish_doctree

from extension import load
from helpers import paths
from press import chapters

accessible = load("accessible")
CONTENTS = """<ul><li><a href="a.html">A &amp; B</a>
<details><summary><span></span></summary><ul><li><a href="c.html">C</a></li></ul></details></li>
<li><a href="d.html">D</a></li></ul>"""


def test_every_arrow_of_the_contents_says_what_it_opens():
    context = {"generate_toctree_html": lambda kind, **options: BeautifulSoup(CONTENTS, "html.parser")}
    accessible.mend(None, "page", "page.html", context, None)
    arrows = context["generate_toctree_html"]("sidebar", maxdepth=1).select("summary")
    assert [arrow["aria-label"] for arrow in arrows] == ["Pages below A & B"]


lean = load("lean")
KEPT = ('<link rel="stylesheet" type="text/css" href="_static/book.css" />\n<script src="_static/doctools.js"></script>\n'
        '<script defer="defer" src="_static/sliders.js?v=1"></script>\n')
OWN = '<script defer src="../_static/explorer/ab.js?v=1"></script>\n'
DROPPED = ('<script src="_static/sliders.js?v=1"></script>\n<script src="../_static/explorer/ab.js?v=1"></script>\n'
           '<script>const thebe_selector = ".thebe"</script>\n<script defer src="_static/scripts/fontawesome.js?d=5"></script>\n'
           '<link rel="stylesheet" type="text/css" href="_static/sphinx-design.min.css?v=6">\n')
SEARCH = '<script src="searchindex.js"></script>\n<script src="_static/searchtools.js"></script>\n'


def test_what_a_page_does_not_use_is_left_out_and_the_rest_stays():
    assert lean.lean(f"<head>{KEPT}{DROPPED}{SEARCH}</head>{OWN}", "index") == f"<head>{KEPT}</head>{OWN}"
    assert lean.lean(f"{KEPT}{DROPPED}{SEARCH}", "search") == KEPT + SEARCH


def test_the_book_uses_them_all():
    settings = yaml.safe_load((paths.BOOK / "_config.yml").read_text())["sphinx"]
    assert {"accessible", "lean", "mathml", "terms"} <= set(settings["local_extensions"])
    assert settings["config"]["html_math_renderer"] == "mathml"


FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\s](?:[^$\n]*[^$\s])?)\$(?![$\d])", re.DOTALL)
mathml = load("mathml")


def formulas():
    """Every formula in the templates' prose, with the template's name."""
    result = []
    for chapter in chapters.templates():
        for cell in json.loads(chapters.template(chapter).read_text())["cells"]:
            if cell["cell_type"] == "markdown":
                text = re.sub(r"`[^`]*`", "", "".join(cell["source"]))
                result += [(chapter, block or inline) for block, inline in FORMULA.findall(text)]
    return result


@pytest.mark.parametrize(("chapter", "latex"), formulas())
def test_every_formula_of_the_book_becomes_well_formed_mathml(chapter, latex):
    tree = ElementTree.fromstring(mathml.markup(latex, "block"))
    assert tree.tag == "{http://www.w3.org/1998/Math/MathML}math"
    assert tree.get("alttext") == latex.strip()
    assert not re.search(r"\\[a-zA-Z]", "".join(tree.itertext())), "a command was not understood"


def test_markup_in_a_formula_is_refused():
    with pytest.raises(ValueError, match="markup"):
        mathml.markup(r"\text{<script>}", "inline")


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
