"""Formulas are MathML in the page itself: no script and no network, by any renderer's choice."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
import yaml

from extension import load
from helpers import paths
from press import chapters

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


def test_a_fraction_is_a_fraction_and_display_is_kept():
    tree = ElementTree.fromstring(mathml.markup(r"\frac{1}{2}", "inline"))
    fraction = tree.find(".//{*}mfrac")
    assert ["".join(part.itertext()) for part in fraction] == ["1", "2"]
    assert tree.get("display") == "inline"


def test_quotes_and_comparisons_stay_text():
    assert ElementTree.fromstring(mathml.markup(r'a < "b" \text{ and }', "inline")).get("alttext") == r'a < "b" \text{ and }'


def test_markup_in_a_formula_is_refused():
    with pytest.raises(ValueError, match="markup"):
        mathml.markup(r"\text{<script>}", "inline")


def test_the_book_uses_it():
    settings = yaml.safe_load((paths.BOOK / "_config.yml").read_text())["sphinx"]
    assert settings["config"]["html_math_renderer"] == "mathml"
    assert "mathml" in settings["local_extensions"]
