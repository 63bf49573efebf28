"""The thesis's own training: every window of every candidate, and a training that goes on where it was ended."""

import json
import shutil

import pandas as pd
import pytest
from safetensors.torch import load_file

from helpers.data.windows import WHOLE
from helpers.errors import BadInput
from helpers.networks import backbone, checkpoints
from helpers.reranking import listwise
from helpers.steps import ledger
from helpers.systems.rerankers import PointwiseReranker
from helpers.systems.testbed import Testbed
from toys import qrels_of, run_of


def test_every_window_of_the_first_candidates_has_its_documents_label(folder, store):
    bed = Testbed(str(folder), words=8, overlap=0)
    tokens, queries = bed.tokens(backbone.resolve("packaged")).value(), bed.query_frame
    run = run_of(q1=["d2", "d1", "d3"], q2=["d3", "d4"])
    frame = listwise.candidate_windows.definition.function(queries, qrels_of(q1={"d1": 1}, q2={"d2": 1}), 1, run,
                                                            bed.store.value(), tokens, 2)
    documents = frame["window_id"].str.partition("#")[0]
    assert list(dict.fromkeys(zip(frame["query_id"], documents, strict=True))) == [
        ("q1", "d2"), ("q1", "d1"), ("q2", "d3"), ("q2", "d4")]  # the third candidate is left out
    assert (documents == "d1").sum() > 1  # its windows one by one
    assert ((frame["query_id"] == "q1") & (documents == "d1")).astype(int).tolist() == frame["label"].tolist()


@pytest.fixture
def training(folder, store, tmp_path):
    """A function that trains one layer on twelve queries with two texts each; `d1` is right for all of them."""
    bed, encoder = Testbed(str(folder), splits=("train",), words=WHOLE, overlap=0), backbone.resolve("packaged:0")
    names = [f"p{number}" for number in range(12)]
    queries = pd.DataFrame({"query_id": names, "text": ["why does bread turn brown"] * 12})
    pairs = pd.DataFrame([(name, window, label) for name in names for window, label in (("d1#0", 1), ("d2#0", 0))],
                         columns=["query_id", "window_id", "label"])
    settings = PointwiseReranker(batch_size=3, epochs=1, evaluation_queries=1, evaluations=2, learning_rate=1e-3, dropout=0.0)

    def train(name, kept="none", **changes):
        for folder_name in (name, kept):
            (tmp_path / folder_name).mkdir(exist_ok=True)
        listwise.pointwise_cross_encoder.definition.function(
            pairs, queries, bed.store.value(), bed.tokens(encoder).value(), encoder, folder=tmp_path / name,
            checkpoints=tmp_path / kept, **settings.settings(listwise.PointwiseTraining) | changes)
        return tmp_path / name
    return train


@pytest.mark.slow
def test_the_loss_falls_and_the_log_counts_pairs(training):
    log = json.loads((training("model") / "log.json").read_text())
    assert (log["pairs"], log["positives"], log["evaluation_pairs"], log["steps"]) == (22, 11, 2, 7)
    assert log["log"][-1]["eval_loss"] < log["log"][0]["eval_loss"]


def test_too_few_pairs_for_a_batch_are_told(training):
    with pytest.raises(BadInput, match="22 training pairs do not fill a batch of 64"):
        training("none", batch_size=64)


@pytest.mark.slow
def test_a_training_that_was_ended_goes_on_to_the_same_weights_and_losses(training, tmp_path, monkeypatch):
    whole = training("whole")
    monkeypatch.setattr(checkpoints, "SECONDS", 0.0)
    bar = ledger.bar

    def ending(*arguments):
        shown = bar(*arguments)
        update, done = shown.update, []

        def stop(*_):
            done.append(1)
            if len(done) == 4:
                raise KeyboardInterrupt
            update()
        shown.update = stop
        return shown

    monkeypatch.setattr(ledger, "bar", ending)
    with pytest.raises(KeyboardInterrupt):
        training("resumed", "kept")
    monkeypatch.setattr(ledger, "bar", bar)
    assert list((tmp_path / "kept").glob("checkpoint-3"))
    shutil.rmtree(tmp_path / "resumed")
    again = training("resumed", "kept")
    assert (again / "log.json").read_text() == (whole / "log.json").read_text()
    first, second = (load_file(one / "model.safetensors") for one in (whole, again))
    assert all((first[name] == second[name]).all() for name in first)
