"""The independent recomputation agrees with the book's own verdicts, and sees one that was altered."""

import json

import numpy as np
import pytest
import yaml

import independent_verdicts
from helpers.evaluation import hierarchical
from helpers.evaluation.verdicts import AGREES, DISAGREES, OPEN, SMALL
from helpers.pages import claims
from helpers.systems.evaluated import over_seeds
from press import execute
from toys import of_values

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
        ours, theirs = (over_seeds(f"{name} {role}", [
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
    file.write_text(json.dumps({"cells": [], "metadata": {execute.DATA_KEY: [data]}}), encoding="utf-8")
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


def test_two_intervals_are_alike_within_the_error_of_the_draws():
    assert independent_verdicts.alike([0.052, 0.149], [0.05, 0.15])  # an interval of .1 may move by .005
    assert not independent_verdicts.alike([0.056, 0.15], [0.05, 0.15])
