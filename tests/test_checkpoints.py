"""A training whose process is ended goes on from its last checkpoint, and ends with the weights and log of one that was not."""

import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from helpers import paths
from helpers.networks import checkpoints
from helpers.networks.checkpoints import Checkpoints
from helpers.steps import registry

LEARNING = {"learning_rate": 1e-3, "batch_size": 4, "epochs": 2, "max_length": 20, "seed": 1}
QUERIES = pd.DataFrame({"query_id": [f"q{n}" for n in range(20)], "text": [f"w{n} w{n + 1}" for n in range(20)]})
QRELS = pd.DataFrame({"query_id": QUERIES["query_id"], "doc_id": [f"p{n}" for n in range(20)], "relevance": 1})
GROUPS = pd.DataFrame([(f"q{n}", f"p{n + 20 * side}#0", 1 - side, 0.5 + n / 50 - side) for n in range(20) for side in (0, 1)],
                      columns=["query_id", "window_id", "label", "teacher"])


def pretraining(texts, given, place):
    from helpers.pretraining.training import MaskedTraining, pretrained

    return pretrained, {**given, "texts": texts.value(), "early": 1, "head_layers": 2, **vars(
        MaskedTraining(**LEARNING, dropout=0.1, evaluation_texts=4))}


def bi_encoder(texts, given, place):
    from helpers.encoders.training import BiEncoderTraining, bi_encoder

    return bi_encoder, {**given, "pairs": GROUPS, "qrels": QRELS, "min_relevance": 1, "queries": QUERIES, "held_out_seed": 1,
                        **vars(BiEncoderTraining(**LEARNING, dropout=0.1, evaluations=4))}


def listwise(texts, given, place):
    from helpers.reranking.listwise import ListwiseTraining, listwise_cross_encoder

    return listwise_cross_encoder, {
        **given, "groups": GROUPS, "queries": QUERIES, "losses": {"lce": 1.0, "kl": 1.0}, "patience": 1, **vars(
            ListwiseTraining(**LEARNING, dropout=0.1, evaluations=4, query_length=6))}


def distilled_states(texts, given, place):
    from helpers.encoders.training import StateTraining, distilled_encoder

    return distilled_encoder, {**given, "queries": QUERIES, "backbone": replace(given["backbone"], layers=(0,)),
                               **vars(StateTraining(**LEARNING, dropout=0.1, evaluations=4, evaluation_texts=4))}


def parade(texts, given, place):
    from helpers.reranking import parade

    np.save(place / parade.STATES, np.random.default_rng(1).normal(size=(40, 24)).astype(np.float16))
    frame = GROUPS[["query_id"]].assign(doc_id=GROUPS["window_id"], windows=1)
    frame.to_csv(place / parade.DOCUMENTS, index=False)
    np.savez(place / parade.HEAD, weight=np.ones((1, 24), np.float32), bias=np.zeros(1, np.float32))
    return parade.parade, {"states": place, "groups": frame, "how": "transformer", "losses": {"lce": 1.0},
                                "learning_rate": 1e-3, "epochs": 4, "held_out": 4, "seed": 1}


@pytest.mark.parametrize("kind", [pretraining, bi_encoder, listwise, distilled_states, parade])
def test_an_ended_training_goes_on_bit_for_bit(kind, folder_of_texts, tmp_path, monkeypatch):
    bed, encoder, texts = folder_of_texts
    given = {"store": bed.store.value(), "tokens": bed.tokens(encoder).value(), "backbone": encoder}
    step, arguments = kind(texts, given, tmp_path)
    kept = tmp_path / "kept"

    def train(name):
        folder = tmp_path / name
        folder.mkdir()
        kept.mkdir(exist_ok=True)
        step.definition.function(**arguments, folder=folder, checkpoints=kept)
        return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}

    def ending_in_the_middle_of(ending, counted=None):
        def write(self, number, state):
            counted.append(number)
            if len(counted) == ending:
                raise KeyboardInterrupt
            return once(self, number, state)
        once, counted = Checkpoints.write, [] if counted is None else counted
        return write

    expected = train("whole")
    assert not [*kept.glob("checkpoint-*")]  # it was short
    monkeypatch.setattr(checkpoints, "SECONDS", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "write", ending_in_the_middle_of(None, counted := []))
        assert train("with-checkpoints") == expected
    shutil.rmtree(kept)
    for ending in (2, len(counted)):
        with monkeypatch.context() as patch:
            patch.setattr(Checkpoints, "write", ending_in_the_middle_of(ending))
            with pytest.raises(KeyboardInterrupt):
                train(f"ended-{ending}")
        assert [folder.name for folder in kept.glob("checkpoint-*")] == [f"checkpoint-{counted[ending - 2]}"]
        assert train(f"resumed-{ending}") == expected
        shutil.rmtree(kept)


def test_every_training_is_resumable():
    """A step that declares how its network is to be trained keeps checkpoints."""
    from press.step_digests import import_all

    import_all()
    trained = {name for name, step in registry.STEPS.items() if {"learning_rate", "epochs"} <= set(step.hints)}
    assert len(trained) == 13 and all(registry.STEPS[name].resumable for name in trained)


def test_a_checkpoint_is_there_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    clock = iter([0.0, 299.0, 300.0, 300.0, 301.0, 0.0])
    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: next(clock))
    kept = Checkpoints(tmp_path)
    assert (kept.due(), kept.due()) == (False, True) and kept.last() is None and kept.read() == {}
    (tmp_path / "checkpoint-9").mkdir()  # without what it should hold
    kept.write(2, {"loss": 0.5})
    assert not kept.due() and kept.last() == tmp_path / "checkpoint-2" and not (tmp_path / "checkpoint-9").exists()
    (tmp_path / "draft" / "checkpoint-3").mkdir()
    assert Checkpoints(tmp_path).read() == {"loss": 0.5} and not (tmp_path / "draft").exists()


def test_a_step_that_is_called_again_goes_on_and_drops_its_checkpoints(folder_of_texts, monkeypatch):
    from test_condenser import made

    monkeypatch.setattr(checkpoints, "SECONDS", 0.0)
    once, step = Checkpoints.write, made(*folder_of_texts)

    def write(self, number, state):
        once(self, number, state)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "write", write)
        with pytest.raises(KeyboardInterrupt):
            step.value()
    assert len([*paths.store().glob("pretrained/*/.checkpoints-*/checkpoint-1")]) == 1 and step.lookup()[1] == "missing"
    step.value()
    assert not [*paths.store().glob("pretrained/*/.checkpoints-*")]
