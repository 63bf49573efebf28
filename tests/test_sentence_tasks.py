"""Tasks over sentences: what is trained on what, and which trainings stand behind a correlation."""

from types import SimpleNamespace

import pytest

from helpers.data import stsb
from helpers.errors import BadInput
from helpers.networks.fine_tuning import Schedule
from helpers.systems import tasks
from helpers.systems.starting_points import START, starting_weights


def test_the_pairs_to_train_on_are_counted():
    assert tasks.training_pairs("almanac") == 400  # two thirds of six hundred
    assert tasks.training_pairs("data/stsb") == 5749


def test_pairs_of_the_almanac_are_cross_validated(monkeypatch):
    asked = []
    monkeypatch.setattr(tasks, "rank_correlations", lambda predictions, truth: asked.append(predictions) or "step")
    monkeypatch.setattr(tasks, "correlations", lambda step: {name: name for name in asked[0]})
    starts = starting_weights([START], "study", "almanac[:9]", "packaged:0,1", [1, 2])
    systems, known = tasks.similarity("almanac", starts, "packaged:0,1", [8], Schedule(steps=4))
    folds = asked[0][systems[START, 8]][0]
    assert [step.arguments["test"].arguments["number"] for step in folds] == [0, 1, 2] and folds[0].arguments["steps"] == 4
    untrained = asked[0]["zero-shot MiniLM (layers 0,1)"]
    assert (untrained[0][0].arguments["epochs"], untrained[0][0].arguments["pooling"], len(untrained)) == (0, "mean", 2)
    assert list(known) == ["zero-shot MiniLM (layers 0,1)", "start, as it is"]


def test_trainings_of_a_correlation_are_those_of_its_own_label():
    source = SimpleNamespace(arguments={"predicted": {"a": [["a1", "a2"], ["b1", "b2"]], "b": [["c"]]}})
    assert tasks.fine_tunings(SimpleNamespace(label="a", source=source)) == ["a1", "a2", "b1", "b2"]


def test_missing_benchmark_files_are_known_by_their_digest_and_asked_for_when_needed(tmp_path):
    with pytest.raises(BadInput, match="STS benchmark is not here"):
        stsb.StsbFile("train", tmp_path).path  # noqa: B018
    assert stsb.StsbFile("train", tmp_path).recipe() == {"data": ["stsb", "train"], "digest": stsb.PUBLISHED["train"]}
    (tmp_path / "sts-train.csv").write_text("x")
    assert stsb.StsbFile("train", tmp_path).recipe()["digest"] != stsb.PUBLISHED["train"]
    with pytest.raises(BadInput, match="no revision"):
        stsb.pairs("hub:owner/name", "train")
