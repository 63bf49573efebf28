"""The front page's answer: claims by what became of them, and a picture of each effect."""

import json
import re
import xml.etree.ElementTree as ElementTree
from html import unescape

import pytest

from helpers import paths
from helpers.evaluation import published, verdicts
from helpers.evaluation.significance import Interval
from helpers.pages import claims
from press import findings_picture, front_page, generated

MEAN, MAX = "bert-mean-beats-bm25", "bert-max-beats-bm25"


def line(claim, verdict, mean=0.05, low=0.01, high=0.09):
    return {"claim": claim, "verdict": verdict, "page": claims.load()[claim].chapter,
            "pair": {"mean": mean, "interval": [low, high], "detectable": 0.0625}}


CARD = {"title": "The best window", "chapter": "does_it_work", "rests_on": {MAX: verdicts.AGREES}, "shown": {MAX: "best window"},
        "text": "It ranks above BM25."}


@pytest.fixture
def cards(monkeypatch):
    listed = [CARD | {"title": title, **more} for title, more in {
        "agrees": {}, "disagrees": {"rests_on": {MAX: verdicts.DISAGREES}}, "higher": {"rests_on": {MAX: "higher"}},
        "lower": {"rests_on": {MAX: "lower"}}, "unmeasured": {"rests_on": {MEAN: "open"}},
        "compared": {"rests_on": {"a - b in RR@10": "open"}, "shown": {"a - b in RR@10": "a less b"}},
        "elsewhere": {"chapter": "fusion", "rests_on": {"a - b in RR@10": "open"}}}.items()]
    real = paths.listed
    monkeypatch.setattr(front_page.paths, "listed", lambda file: (
        {"findings": listed} if file.name == "findings.yaml" else real(file)))


def test_a_card_stands_while_what_it_rests_on_holds(cards):
    data = [{"page": "does_it_work", "compared": {"a - b in RR@10": [0.5, 0.4, 0.1, -0.1, 0.3]}}]
    shown = front_page.cards_that_hold({MAX: line(MAX, verdicts.AGREES)}, data)
    assert [card["title"] for card, _ in shown] == ["agrees", "higher", "compared"]
    assert "best window: +0.050 [+0.010, +0.090]; published +0.043" in shown[0][1]
    assert "a less b: +0.100 [−0.100, +0.300]" in shown[2][1]
    assert front_page.cards_that_hold({}, []) == []


def test_the_first_sentences_that_hold_are_told_with_their_numbers():
    tested = {MAX: line(MAX, verdicts.AGREES), MEAN: line(MEAN, verdicts.UNTESTED, -0.05, -0.09, -0.01)}
    text = front_page.sentences(tested, [])
    assert text.startswith("1. A re-ranker of documents") and "best window, +0.050 [+0.010, +0.090] in RR@10" in text
    assert text.endswith("(chapters/does_it_work.ipynb))") and "\n" not in text
    assert front_page.sentences({MAX: line(MAX, verdicts.AGREES)}, []) == ""


def test_the_explorers_first_query_is_in_view_with_its_ranks_and_texts_stay_texts():
    shown = {"id": "7", "text": "<why>", "ranks": [19, 1], "systems": ["BM25", "re-ranking"], "hurt_most": "8", "whole": True,
             "queries": 400, "columns": [["BM25", [["<t>", "body", "● answers fully"]]], ["re-ranking", []]]}
    html = front_page.explored([{"page": "explorer", "explored": shown}])
    assert "is 19 by BM25, 1 by re-ranking. It is the largest gain by re-ranking among 400 test queries" in html
    assert "{" not in html and "&lt;why&gt;" in html and "<why>" not in html and "<strong>&lt;t&gt;</strong>" in html
    assert 'href="chapters/explorer.html#q=8"' in html and "<form" in html
    part = front_page.explored([{"page": "explorer", "explored": shown | {"whole": False}}])
    assert "<form" not in part and front_page.explored([]) == ""


def test_the_cards_and_sentences_name_claims_and_comparisons_that_their_chapters_make():
    read = paths.listed(paths.PUBLISHED / "findings.yaml")
    assert len(read["findings"]) > front_page.CARDS and len(read["sentences"]) > front_page.SENTENCES
    written = read["findings"] + [own | {"shown": own["numbers"].values()} for own in read["sentences"]]
    for own in read["sentences"]:
        assert set(re.findall(r"{(\w+)}", own["text"])) == set(own["numbers"])
    for card in written:
        whens = [paragraph.get("when", "") for paragraph in claims.paragraphs()[card["chapter"]]]
        for name in {*card["rests_on"], *card["shown"]}:
            assert name in claims.load() or any(set(re.findall(r"\w+", name.partition(" in ")[0])) <= set(
                re.findall(r"\w+", when)) for when in whens), name


def test_a_study_has_a_page_with_its_question_its_verdicts_and_what_was_left():
    data = [{"page": "does_it_work", "claims": [line(MAX, verdicts.AGREES) | {"key": "abcdef", "evidence": "+0.050"}]}]
    text = generated.study_page("steensland2021", data)
    found, left = text.split("## What we could not test")
    assert "**It asked.** Does BERT" in found and "BERT-Max ranks better than BM25" in found
    assert front_page.published_effect(claims.load()["first-stages-converge-at-depth"]) == pytest.approx(0.082)  # .087 - .005
    assert "BERT-Mean ranks better than BM25" in left and "5.0 core hours, or 3 min of a GPU" in left and "lacks seeds" in left
    assert "difference of 0.062 in the claim's measure, or a smaller one, four times in five" in found
    assert set(paths.listed(paths.PUBLISHED / "studies.yaml")) == set(published.STUDIES)


def test_effects_stand_on_one_axis_largest_first():
    tested = {MEAN: line(MEAN, verdicts.DISAGREES, -0.1, -0.5, 0.0), MAX: line(MAX, verdicts.AGREES)}
    assert [claim.id for claim, _ in front_page.sorted_claims("steensland2021", tested)] == [MAX, MEAN]
    picture = front_page.picture("mean", front_page.effect_of(tested[MEAN]), -0.01).text
    assert "mean: -0.100 [-0.500, +0.000]; published -0.010" in picture.replace("−", "-")
    middle = float(re.search(r'circle cx="([\d.]+)"', picture)[1])
    assert middle == pytest.approx(6 + 168 * 0.15 / 0.5, abs=0.1)
    assert picture.count('fill="currentColor"/>') == 2  # the dot, and one arrow at the end that lies beyond
    beyond = front_page.picture("mean", Interval(-0.433, -0.45, -0.41)).text
    assert "<circle" not in beyond and ">−0.433</text>" in beyond


def test_effects_in_milliseconds_are_not_pictured():
    named = next(claim for claim in claims.load().values() if claim.unit)
    assert front_page.sorted_claims(named.study, {named.id: line(named.id, verdicts.AGREES)}) == []


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
    assert html.count("<details") == len(published.STUDIES)
    assert f"{len(own)} claims are not tested, and what they wait for" in html
    agrees = line(MEAN, verdicts.AGREES) | {"evidence": "e", "key": ""}
    ran = generated.scoreboard([{"page": "does_it_work", "claims": [agrees]}])
    assert "Claims of Steensland (2021) with a measured effect</caption>" in ran
    assert ran.index("BERT-Mean ranks better") < ran.index("<details")
    assert "1 claims of a difference were tested" in ran and "at most 5% of those given" in ran


def test_the_page_with_python_shows_what_its_code_gives():
    explored = {"grades": {"BM25": ["0300", "0010"], "re-ranking": ["2000", "0000"]}, "min_relevance": 2, "queries": 2}
    text = generated.python_page([{"page": "explorer", "explored": explored}])
    assert "BM25: 0.250 over 2 queries\nre-ranking: 0.500 over 2 queries" in text  # 1/2 and 0; 1 and 0
    assert "&quot;0300&quot;" in text and "if grade &gt;= relevant_from:\n" in text
    assert "was not run" in generated.python_page([])
