"""The discussion: a paragraph stands beside the results that it was written for, and nowhere else."""

import re

import numpy as np
import pandas as pd
import pytest

from helpers import paths
from helpers.evaluation.verdicts import AGREES, DISAGREES, UNTESTED, WORDS
from helpers.pages import claims
from helpers.pages.claims import EFFECTS, discussion, effect, failed, paragraphs
from helpers.pages.fragments import Fragment
from helpers.systems.evaluated import Evaluation
from press import page_header
from toys import Value, system

NOTEBOOKS = {file.stem: file.read_text() for file in paths.NOTEBOOKS.glob("*.ipynb")}

every_chapter = pytest.mark.parametrize("chapter", NOTEBOOKS)


def shown(interval):
    claim = {"claim": "bert-max-beats-bm25", "verdict": AGREES if interval[0] > 0 else DISAGREES, "pair": {"interval": interval}}
    known = {"bm25": system(), "mean": system(), "max": system(), "sections": system(0.25), "before": system(0.25)}
    return discussion("does_it_work", Fragment(data={"claims": [claim]}), "RR@10", **known).markdown


def test_a_paragraph_is_shown_beside_its_verdicts_alone():
    assert "The maximum beats BM25" in shown([0.1, 0.2])
    other = shown([-0.2, -0.1])
    assert "The maximum beats BM25" not in other and "**Threats.**" in other
    assert "another outcome of *BERT-Max ranks better than BM25*" in other


@pytest.mark.parametrize(("interval", "stands"), [([-0.3, -0.1], True), ([-0.3, 0.1], False), ([0.1, 0.3], False)])
def test_a_paragraph_on_an_effect_looks_at_the_intervals_and_not_at_the_verdict(interval, stands):
    line = {"claim": "distilbert-not-different-from-bert", "verdict": UNTESTED, "pair": {"interval": interval}}
    text = discussion("significance", Fragment(data={"claims": [line]}), mostly_agree=True).markdown
    assert ("A model that was cut" in text) == stands


def test_an_effect_is_where_the_interval_lies_and_open_without_one():
    assert [effect({"pair": {"interval": own}}) for own in ([0.1, 0.2], [-0.2, -0.1], [-0.1, 0.2])] == ["higher", "lower", "open"]
    assert effect({}) == "open"


def test_the_answer_in_short_is_carried_for_the_top_of_the_page(monkeypatch):
    answer = {"short": True, "rests_on": {}, "when": "it_holds", "text": "Yes.\n"}
    monkeypatch.setattr("helpers.pages.claims.paragraphs", lambda: {"any": [answer, {"rests_on": {}, "text": "Why.\n"}]})
    fragment = discussion("any", it_holds=True)
    assert fragment.markdown == "Why." and page_header.in_short([{"claims": []}, fragment.data]) == "\n\n**In short.** Yes.\n"
    assert discussion("any", it_holds=False).data["in_short"].endswith("another outcome of *it_holds*.")
    assert page_header.in_short([{"claims": []}]) == ""


@every_chapter
def test_paragraphs_rest_on_claims_of_their_chapter_and_on_names_that_its_notebook_hands_over(chapter):
    own = {claim.id for claim in claims.load().values() if claim.chapter == chapter}
    for paragraph in paragraphs()[chapter]:
        for name, outcome in paragraph["rests_on"].items():
            assert name in own and outcome in (*WORDS, *EFFECTS)
        names = re.findall(r"[^\W\d]\w*", re.sub(r"\bin \S+", "", paragraph.get("when", "")))
        parts = [part for name in names if name not in ("and", "not") for part in name.split("_")]  # some are put together
        assert [part for part in parts if part not in NOTEBOOKS[chapter]] == []
    words = {part: sum(len(paragraph["text"].split()) for paragraph in paragraphs()[chapter] if paragraph.get("part") == part)
             for part in (paragraph.get("part") for paragraph in paragraphs()[chapter])}
    assert words[None] >= 150 and max(words.values()) <= 480
    assert all(f'discussion(\\"{chapter}/{part}\\"' in NOTEBOOKS[chapter] for part in words if part)


@every_chapter
def test_a_chapter_shows_its_discussion_before_its_provenance(chapter):
    text = NOTEBOOKS[chapter]
    assert 0 < text.index('"## Discussion"') < text.index(f'discussion(\\"{chapter}\\"') < text.index("page.provenance(")


# ---- conditions: comparisons of evaluations, each seen to hold and not to hold ----

NOISE = np.random.default_rng(0).normal(0, 0.2, 400)


def level(shift, noise=0.0):
    values = pd.DataFrame({"RR@10": 0.3 + shift + noise * NOISE, "R@10": 0.5 - shift}, index=[str(n) for n in range(400)])
    return Evaluation("any", pd.DataFrame(), values, Value())


SYSTEMS = {"low": level(0.0), "high": level(0.2), "a_little": level(0.001, noise=1.0), "level": True, "steep": False}


@pytest.mark.parametrize(("text", "moved"), [
    ("high > low", []), ("low > high", ["low > high"]), ("low !> high", []), ("high !> low", ["high !> low"]),
    ("high >~ low", []), ("low >~ high", ["low >~ high"]),
    ("a_little > low", ["a_little > low"]), ("a_little !> low", []),
    ("high > low and low > high and high !> low", ["low > high", "high !> low"]),
    ("high > lost", ["high > lost"]), ("high !> lost", ["high !> lost"]),
    ("low !>~ high", []), ("high !>~ low", ["high !>~ low"]),
    ("high >~ low + .19", []), ("high >~ low + .21", ["high >~ low + .21"]), ("high > low + .21", ["high > low + .21"]),
    ("level and not steep", []), ("steep", ["steep"]), ("not level", ["not level"]), ("lost", ["lost"]),
    ("not lost", ["not lost"]),
    ("high > low in R@10", ["high > low in R@10"]), ("low > high in R@10", [])])
def test_a_condition_follows_the_interval_or_the_means(text, moved):
    assert failed(text, SYSTEMS, "RR@10") == moved


def test_a_paragraph_of_another_outcome_names_the_condition_that_failed(monkeypatch):
    paragraph = {"rests_on": {}, "when": "low > high and high > low", "text": "Why.\n"}
    monkeypatch.setattr("helpers.pages.claims.paragraphs", lambda: {"any": [paragraph]})
    assert discussion("any", None, "RR@10", **SYSTEMS).markdown.endswith("another outcome of *low > high*.")
    other = SYSTEMS | {"low": SYSTEMS["high"], "high": SYSTEMS["low"]}
    assert "another outcome of *high > low*" in discussion("any", None, "RR@10", **other).markdown
