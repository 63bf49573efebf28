"""Verdicts: their rules, their pictures, and the words recomputed with numpy alone."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import yaml

import independent_verdicts
from bench import verdicts as simulation
from helpers.evaluation import hierarchical, verdicts
from helpers.evaluation.significance import Interval, Paired, holm
from helpers.evaluation.verdicts import AGREES, DISAGREES, HIGHER, OPEN, SMALL, UNTESTED, WORDS, Verdict, judge
from helpers.pages import claims
from helpers.pages.claims import evidence
from helpers.pages.fragments import Fragment
from helpers.systems.evaluated import together
from press import generated, page_header
from tables import cells
from toys import of_values

# ---- rules ----

TURNED = {"higher": "lower", "lower": "higher", "no-difference": "no-difference"}


def trial(low, high):
    """A comparison by its 95 % interval; the 90 % interval is one hundredth narrower on either side."""
    mean = (low + high) / 2
    return Paired(Interval(mean, low, high), Interval(mean, low + 0.01, high - 0.01), 0.9, 0.5, (200,), (high - low) / 4)


# Each rule of the module's table, with a margin of .05: direction, the 95 % interval, the word.
RULES = {
    "on the claimed side": ("higher", (0.001, 0.10), AGREES),
    "on the claimed side, by however little of the margin": ("higher", (0.001, 0.07), AGREES),
    "on the claimed side, and within the margin": ("higher", (0.001, 0.055), SMALL),
    "on the other side": ("higher", (-0.10, -0.001), DISAGREES),
    "on the other side, and within the margin": ("higher", (-0.055, -0.001), SMALL),
    "zero and a gain beyond the margin": ("higher", (-0.001, 0.10), OPEN),
    "zero and a loss beyond the margin": ("higher", (-0.10, 0.001), OPEN),
    "no more than zero": ("higher", (0.0, 0.10), OPEN),
    "within the margin": ("higher", (-0.02, 0.03), SMALL),
    "no difference: within the margin": ("no-difference", (-0.02, 0.03), AGREES),
    "no difference: within the margin, though not zero": ("no-difference", (0.001, 0.055), AGREES),
    "no difference: beyond it, and zero": ("no-difference", (-0.02, 0.08), OPEN),
    "no difference: beyond it, and not zero": ("no-difference", (0.01, 0.08), DISAGREES),
    "no difference: beyond it below, and not zero": ("no-difference", (-0.08, -0.01), DISAGREES)}


@pytest.mark.parametrize("direction, interval, word", RULES.values(), ids=RULES)
def test_each_rule_and_its_mirror_image(direction, interval, word):
    low, high = interval
    assert judge(direction, trial(low, high), 0.05) == word
    assert judge(TURNED[direction], trial(-high, -low), 0.05) == word


@pytest.mark.parametrize("interval, word", [
    ((-0.30, -0.10), AGREES),  # a loss is no gain
    ((-0.20, 0.05), AGREES), ((0.001, 0.055), AGREES), ((-0.02, 0.08), OPEN), ((0.01, 0.08), DISAGREES)])
def test_that_nothing_is_gained_is_judged_on_one_side(interval, word):
    assert judge("no-gain", trial(*interval), 0.05) == word


def test_the_margin_itself_is_not_within_the_margin():
    for low, high in ((-0.05, 0.04), (-0.04, 0.05)):
        edge = replace(trial(-0.06, 0.06), narrow=Interval(0.0, low, high))
        assert (judge("no-difference", edge, 0.05), judge("no-difference", edge, 0.0501)) == (OPEN, AGREES)


def test_what_chance_would_give():
    # two of forty, of twenty that were decided
    assert [verdicts.false_discovery_rate(*two) for two in ((40, 20), (40, 1), (10, 0))] == pytest.approx([0.1, 1.0, 0.0])


def test_the_smallest_difference_that_would_be_seen_stands_where_the_run_cannot_tell():
    assert "would be seen" in evidence(Verdict(OPEN, trial(-0.01, 0.05)))
    assert "would be seen" not in evidence(Verdict(AGREES, trial(0.01, 0.05)))
    untested = Verdict(UNTESTED, trial(-0.01, 0.05))  # sees .042, with a margin of .01
    assert "would be seen" in evidence(untested, level=True) and "would be seen" not in evidence(untested)


def test_holm_against_hand_computed_values():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize("values, ratio, delta", [((0.6, 0.5, 0.6, 0.5), 1.0, 0.0), ((0.55, 0.5, 0.6, 0.5), 0.5, 0.1),
                                                  ((0.45, 0.5, 0.6, 0.5), -0.5, 0.3), ((0.5, 0.5, 0.6, 0.5), 0.0, 0.2)])
def test_effect_ratio_and_relative_improvement(values, ratio, delta):
    assert verdicts.effect_ratio(*values) == pytest.approx(ratio)
    assert verdicts.delta_relative_improvement(*values) == pytest.approx(delta)
    assert verdicts.effect_ratio(0.6, 0.5, 0.5, 0.5) is None
    assert verdicts.delta_relative_improvement(0.6, 0.0, 0.5, 0.4) is None


# ---- pictures of them ----

@pytest.mark.parametrize("word", [word for word in WORDS if word != UNTESTED])
def test_an_interval_leads_to_its_word(word):
    whole, _ = generated.EXAMPLES[word]
    narrow = Interval(whole.mean, *(whole.mean + (end - whole.mean) * 1.645 / 1.96 for end in (whole.low, whole.high)))
    assert judge(HIGHER, Paired(whole, narrow, math.nan, math.nan, (400,), 0.01), generated.MARGIN) == word


def test_all_five_words_are_drawn_with_their_numbers_for_those_who_do_not_see():
    shown = generated.examples()
    assert [row[1] for row in cells(Fragment(shown))[1:]] == list(WORDS)
    assert "the first less the second: +0.060 [+0.030, +0.090]" in shown and "any, or none" in shown


# ---- recomputed with numpy alone ----

KIND = "re-rankers of passages"
SHIFTS = {"sure": ("higher", 0.1, AGREES), "weak": ("higher", 0.015, OPEN), "nothing": ("higher", 0.0, SMALL),
          "against": ("higher", -0.1, DISAGREES), "lower": ("lower", -0.1, AGREES), "equal": ("no-difference", 0.0, AGREES),
          "unequal": ("no-difference", 0.08, DISAGREES), "no gain": ("no-gain", -0.1, AGREES),
          "a gain": ("no-gain", 0.08, DISAGREES)}


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page of nine claims, executed; their file."""
    rng, raw, measured = np.random.default_rng(3), [], {}
    base = rng.random(300)
    for name, (direction, shift, _) in SHIFTS.items():
        noise = rng.normal(0, 0.25 if name == "weak" else 0.05, 300)
        centred = noise - noise.mean()
        ours, theirs = (together(f"{name} {role}", [
            of_values(base + moved + centred * moves) for moved in (shift * moves - 0.001, shift * moves + 0.001)])
            for role, moves in (("x", 1), ("base", 0)))
        raw.append({"id": name, "study": "david2020", "claim": name, "evidence": {"section": "1"}, "measure": "RR@10",
                    "direction": direction, "significant": None, "test": "paired", "chapter": "one",
                    "margin": {"value": 0.02, "because": "a test"}})
        measured[name] = (ours, theirs)
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump({"claims": raw}), encoding="utf-8")
    (tmp_path / "seed_noise.yaml").write_text(hierarchical.FILE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(claims.paths, "PUBLISHED", tmp_path)
    monkeypatch.setattr(claims.published, "published_name", lambda study: study)
    monkeypatch.setattr(independent_verdicts, "PUBLISHED", tmp_path)
    claims.load.cache_clear()
    data = claims.judge("one", measured).data
    claims.load.cache_clear()
    file = tmp_path / "one.ipynb"
    file.write_text(json.dumps({"cells": [], "metadata": {page_header.DATA_KEY: [data]}}), encoding="utf-8")
    return file


def test_all_kinds_of_verdicts_are_recomputed(page, capsys):
    assert independent_verdicts.main([page.parent]) == 0  # the folder, as anyone would call it
    printed = {name: line.split("|")[1].strip() for line in capsys.readouterr().out.splitlines()[:-1]
               for name in SHIFTS if f" {name}  " in line}
    assert printed == {name: word for name, (*_, word) in SHIFTS.items()}


def test_an_altered_verdict_is_seen(page, capsys):
    page.write_text(page.read_text(encoding="utf-8").replace(f'"verdict": "{SMALL}"', f'"verdict": "{AGREES}"'), encoding="utf-8")
    assert independent_verdicts.main([page]) == 1
    assert "9 verdicts recomputed, 1 differ" in capsys.readouterr().out


@pytest.mark.parametrize("seeds, trained, paired", [((((1,), (2,)), ((1,), (2,))), (1, 1), True),
                                                    ((((1,), (2,)), ((3,), (4,))), (1, 1), False),
                                                    ((((1,), (2,)), ((1,), (2,))), (2, 1), False)])
def test_the_noise_is_the_books_for_paired_seeds_and_others(seeds, trained, paired):
    known = {kind: {way: {name: vars(own) for name, own in measures.items()} for way, measures in ways.items()}
             for kind, ways in hierarchical.measured_noise().items()}
    values = np.random.default_rng(5).random((2, 2, 50))
    rows = [hierarchical.Rows(values[n], trained[n], (), KIND, seeds[n]) for n in (0, 1)]
    pair = {"trained": list(trained), "kind": [KIND] * 2, "seeds": list(seeds), "groups": [(), ()], "shared": False,
            "measure": "RR@10", "drawn": True}
    assert hierarchical.are_paired(*rows) == paired
    noise = hierarchical.training_noise(*rows, "RR@10")
    assert independent_verdicts.noise(pair, *values, known) == pytest.approx((noise.variance, noise.freedom))


@pytest.mark.parametrize("paired", [False, True])
def test_simulated_rates_are_kept(paired):
    result = simulation.row(np.random.default_rng(5), simulation.Setting((2, 2), 100, simulation.MUCH, paired), 120)
    assert result["false"] <= 0.05 + 2 * 0.02  # two standard errors of a share of .05 in 120
    assert result["equal"] <= 0.05 + 2 * 0.02
    assert 0.70 < result["power"] < 0.90
    assert result["false_queries_alone"] > result["false"]
