"""The independent recomputation agrees with the book's own verdicts, and sees one that was altered."""

import json

import numpy as np
import pytest
import yaml

import independent_verdicts
from helpers.evaluation.verdicts import CONTRADICTED, EQUIVALENT, INCONCLUSIVE, INSIGNIFICANT, SUPPORTED
from helpers.pages import carried, claims
from helpers.systems.evaluated import over_seeds
from press import execute
from toys import of_values

SHIFTS = {"sure": ("higher", None, 0.1), "weak": ("higher", None, 0.015), "nothing": ("higher", None, 0.0),
          "against": ("higher", None, -0.1), "equal": ("no-difference", None, 0.0), "unequal": ("no-difference", None, 0.08),
          "small": ("higher", False, 0.004)}
EXPECTED = {"sure": SUPPORTED, "weak": INSIGNIFICANT, "nothing": EQUIVALENT, "against": CONTRADICTED, "equal": SUPPORTED,
            "unequal": CONTRADICTED, "small": SUPPORTED}


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page of seven claims, executed; their file."""
    rng, raw, measured = np.random.default_rng(3), [], {}
    base = rng.random(300)
    for name, (direction, significant, shift) in SHIFTS.items():
        noise = rng.normal(0, 0.25 if name == "weak" else 0.05, 300)
        centred = noise - noise.mean()
        ours, theirs = (over_seeds(f"{name} {role}", [
            of_values(base + moved + centred * moves) for moved in (shift * moves - 0.001, shift * moves + 0.001)])
            for role, moves in (("x", 1), ("base", 0)))
        raw.append({"id": name, "study": "david2020", "claim": name, "evidence": {"section": "1"}, "measure": "RR@10",
                    "direction": direction, "significant": significant, "test": "paired", "chapter": "one",
                    "margin": {"value": 0.02, "because": "a test"}})
        measured[name] = (ours, theirs)
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump({"claims": raw}), encoding="utf-8")
    monkeypatch.setattr(claims.paths, "PUBLISHED", tmp_path)
    monkeypatch.setattr(claims.published, "published_name", lambda study: study)
    monkeypatch.setattr(independent_verdicts, "CLAIMS", tmp_path / "claims.yaml")
    claims.load.cache_clear()
    data = [claims.judge("one", measured).data, {"evaluations": carried.packed(carried.collect(measured))}]
    claims.load.cache_clear()
    file = tmp_path / "one.ipynb"
    file.write_text(json.dumps({"cells": [], "metadata": {execute.DATA_KEY: data}}), encoding="utf-8")
    return file


def test_all_kinds_of_verdicts_are_recomputed(page, capsys):
    assert independent_verdicts.main([page.parent]) == 0  # the folder, as anyone would call it
    printed = {line.split()[2]: line.split("|")[1].strip() for line in capsys.readouterr().out.splitlines()[:-1]}
    assert printed == EXPECTED and INCONCLUSIVE not in printed.values()


def test_an_altered_verdict_is_seen(page, capsys):
    page.write_text(page.read_text(encoding="utf-8").replace(f'"verdict": "{EQUIVALENT}"', f'"verdict": "{SUPPORTED}"'),
                    encoding="utf-8")
    assert independent_verdicts.main([page]) == 1
    assert "7 verdicts recomputed, 1 differ" in capsys.readouterr().out


def test_numbers_are_the_same_within_the_error_of_the_draws():
    pair = {"mean": 0.1, "narrow": [0.05, 0.15], "p": 0.01}
    assert independent_verdicts.same_numbers((0.1, 0.052, 0.149, 0.02), pair)  # an interval of .1 may move by .005
    assert not independent_verdicts.same_numbers((0.1, 0.056, 0.15, 0.01), pair)
    assert not independent_verdicts.same_numbers((0.1, 0.05, 0.15, 0.04), pair)


def test_pages_carry_the_values_of_each_seed(page):
    systems = carried.unpacked(next(part["evaluations"] for part in execute.data_of(page) if "evaluations" in part))
    one = systems["sure x"]
    assert len(one.seeds) == 2
    assert sum(seed["RR@10"] for seed in one.seeds).to_numpy() / 2 == pytest.approx(one.values["RR@10"].to_numpy(), abs=1e-4)
