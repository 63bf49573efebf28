"""The front page's answer: claims by what became of them, and a picture of each effect."""

import json
import re
import xml.etree.ElementTree as ElementTree
from html import unescape

import pytest

from helpers import paths
from helpers.evaluation import published, verdicts
from helpers.pages import claims
from press import findings_picture, front_page, generated

MEAN, MAX = "bert-mean-beats-bm25", "bert-max-beats-bm25"


def line(claim, verdict, mean=0.05, low=0.01, high=0.09):
    return {"claim": claim, "verdict": verdict, "page": claims.load()[claim].chapter,
            "pair": {"mean": mean, "interval": [low, high], "detectable": 0.0625}}


def test_a_study_is_told_by_what_became_of_its_claims():
    text = front_page.in_words("steensland2021", {MEAN: line(MEAN, verdicts.AGREES), MAX: line(MAX, verdicts.OPEN)})
    own = [claim for claim in claims.load().values() if claim.study == "steensland2021"]
    assert '<em>Agrees</em>: <a href="chapters/does_it_work.html">BERT-Mean ranks better than BM25</a>.' in text
    assert f"{len(own)} claims" in text and "Cannot tell: 1." in text and f"Not tested: {len(own) - 2}." in text
    assert "Disagrees" not in text and "a true difference of 0.062 four times in five" in text


def test_the_published_effect_is_the_difference_of_printed_values():
    claim = claims.load()[MEAN]
    values = [published.value("steensland2021", "5.1", row, "MRR@10").amount for row in ("BERT-Mean", "BM25")]
    assert front_page.published_effect(claim) == pytest.approx(values[0] - values[1])
    assert all(front_page.published_effect(own) is None for own in claims.load().values() if not own.evidence.get("against"))


def test_effects_stand_on_one_axis_largest_first():
    rows = front_page.pictured("steensland2021", {MEAN: line(MEAN, verdicts.DISAGREES, -0.1, -0.5, 0.0),
                                                  MAX: line(MAX, verdicts.AGREES)})
    assert ["Max" in row[0].text for row in rows] == [True, False]
    picture = rows[1][1].text
    assert "measured -0.100, from -0.500 to +0.000; published" in picture.replace("−", "-")
    middle = float(re.search(r'circle cx="([\d.]+)"', picture)[1])
    assert middle == pytest.approx(6 + 168 * 0.15 / 0.5, abs=0.1)
    assert picture.count('fill="currentColor"/>') == 2  # the dot, and one arrow at the end that lies beyond


def test_effects_in_milliseconds_are_not_pictured():
    named = next(claim for claim in claims.load().values() if claim.unit)
    assert front_page.pictured(named.study, {named.id: line(named.id, verdicts.AGREES)}) == []


def test_the_bar_is_divided_as_the_verdicts_are_with_icon_and_word():
    tested, every = {MEAN: line(MEAN, verdicts.AGREES), MAX: line(MAX, verdicts.DISAGREES)}, len(claims.load())
    html = front_page.verdict_bar(tested)
    wide = [float(width) for width in re.findall(r'<rect x="[\d.]+" width="([\d.]+)"', html)]
    assert wide == pytest.approx([700 / every - 2, 700 / every - 2, 700 * (every - 2) / every - 2], abs=0.1)
    assert f"Verdicts on {every} claims: 1 agrees, 1 disagrees, {every - 2} not tested" in html
    assert 'nr-badge nr-yes">1 agrees' in html and f'nr-badge nr-off">{every - 2} not tested' in html


def test_the_readme_opens_with_a_picture_that_is_drawn_from_the_recorded_runs():
    root = paths.PACKAGE.parents[1]
    file = root / "book" / "_static" / findings_picture.NAME
    assert f"](book/_static/{file.name})" in (root / "README.md").read_text().split("## ")[0]
    source = json.loads(unescape(re.search(r"<metadata>(.*?)</metadata>", file.read_text())[1]))
    assert source["recorded"] == findings_picture.recorded(), "results/ has changed: `make book`, then `make record`"
    assert findings_picture.drawn(source) == file.read_text(), "claims or drawing have changed: `make book`, then `make record`"
    assert set(source["claims"]) == {claim.id for claim in claims.load().values() if (
        paths.NOTEBOOKS / f"{claim.chapter}.ipynb").exists()}


def test_the_picture_names_every_verdict_by_icon_and_word_and_has_the_pages_colours():
    source = {"recorded": "", "claims": {MEAN: line(MEAN, verdicts.AGREES), MAX: line(MAX, verdicts.DISAGREES)}}
    drawn = findings_picture.drawn(source)
    root = ElementTree.fromstring(drawn)
    texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("▲ agrees") == texts.count("▼ disagrees") == 1 and "▲ 1 agrees" in texts
    assert "prefers-color-scheme: dark" in drawn and drawn.count("--nr-paper: #") == 2
    assert set(findings_picture.ICONS) == set(verdicts.WORDS.values())
    css = (paths.PACKAGE.parents[1] / "book" / "_static" / "book.css").read_text()
    for kind, icon in findings_picture.ICONS.items():
        assert f'.nr-{kind}::before {{ content: "{icon}\\00a0"; }}' in css


def test_claims_that_were_not_tested_are_folded_on_the_scoreboard():
    html = generated.scoreboard([])
    own = [claim for claim in claims.load().values() if claim.study == "gao2021"]
    assert html.count("<details") == len(published.STUDIES) and f"{len(own)} more claims, not tested" in html
    agrees = line(MEAN, verdicts.AGREES) | {"evidence": "e", "key": ""}
    ran = generated.scoreboard([{"page": "does_it_work", "claims": [agrees]}])
    assert "Claims of Steensland (2021)</caption>" in ran and ran.index("BERT-Mean ranks better") < ran.index("<details")
    assert "1 claims of a difference were tested" in ran and "at most 5% of those given" in ran
