"""The comparison with other libraries: the contenders do the same work on four documents and give the same; the command.

`make bench-test` runs these tests, with the fixtures of `tests/conftest.py`; `make test` those that are not slow.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bench import __main__ as command
from bench import encode, engines, growth, lengths, machine, rerank, search, sentence_transformers, serve, sizes, train, work
from bench.sentence_transformers import TOLERANCE, Drifted, check_drift, drift
from bench.work import Work
from helpers import paths
from helpers.costs import timing
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.steps import numerics
from local_server import serving


@pytest.fixture
def scale(folder, store):
    """The work of a trial on the four documents."""
    made = work.trial(str(folder), "document")
    return replace(made, queries=3, searched=3, steps=2, model=replace(made.model, candidates=3, batch_size=2, max_length=32))


@pytest.fixture
def tiny(scale):
    """The same, with its steps computed."""
    work.prepare(scale)
    return scale


@pytest.fixture
def exact(monkeypatch):
    """Single precision, so that contenders can be compared closely."""
    monkeypatch.setattr(numerics, "dtype", lambda: "fp32")


@pytest.fixture(autouse=True)
def stand_in(monkeypatch, tmp_path):
    """In place of the other engines a script that speaks as theirs does, and values each input by its length."""
    script = tmp_path / "engine.py"
    script.write_text("""import json, pathlib, sys
import numpy
folder = pathlib.Path(sys.argv[1])
job = json.loads((folder / "job.json").read_text())
print(json.dumps(["Toy"]), flush=True)
for line in sys.stdin:
    assert line.strip() == "Toy"
    values = numpy.array([len("".join(one)) for one in job["inputs"]], dtype=float)
    numpy.save(folder / "values.npy", numpy.tile(values[:, None], 384) if job["kind"] == "SentenceTransformer" else values)
    print("Toy", flush=True)
""")
    monkeypatch.setattr(engines, "PYTHON", Path(sys.executable))
    monkeypatch.setattr(engines, "SCRIPT", script)


def test_an_engine_values_all_inputs_when_it_is_asked():
    with engines.started("CrossEncoder", "nowhere", [("a", "b"), ("a", "bcd")]) as others:
        assert list(others) == ["Toy"]
        for _ in range(2):
            assert others["Toy"]().tolist() == [2.0, 4.0]


def test_engines_that_are_not_there_or_end_are_told(monkeypatch, tmp_path):
    engines.SCRIPT.write_text("")
    with pytest.raises(BadInput, match="have ended"), engines.started("CrossEncoder", "nowhere", []):
        pass
    monkeypatch.setattr(engines, "PYTHON", tmp_path / "none")
    with pytest.raises(BadInput, match="`make bench` installs them"), engines.started("CrossEncoder", "nowhere", []):
        pass


@pytest.mark.slow
def test_pairs_of_every_length_are_timed(tiny, monkeypatch):
    monkeypatch.setattr(lengths, "TOKENS", 256)
    monkeypatch.setattr(lengths, "joules", iter(range(99)).__next__)
    section = json.loads(json.dumps(lengths.measure(tiny, rounds=2)))
    assert {length: own["pairs"] for length, own in section["lengths"].items()} == {"32": 8, "64": 4, "128": 2, "256": 1}
    assert all(own["joules"] == [1, 1] and len(own["seconds"]) == 2 for own in section["lengths"].values())


SETTING = {"dtype": "float32", "attention": "eager", "batch_size": 2}


def outcomes(contenders):
    return {name: prepare()() for name, prepare in contenders.items()}


@pytest.mark.slow
def test_the_pairs_are_the_candidates_windows(tiny, tokenizer):
    own = Work(tiny)
    assert [query for query, _ in own.pairs].count("q1") == 2  # two documents speak of bread
    assert own.text_pairs[0][0] == "why does bread turn brown"
    assert all(own.window_texts[window] == text for (_, window), (_, text) in zip(own.pairs, own.text_pairs, strict=True))
    assert list(own.queries["query_id"]) == ["q1", "q2", "q3"]
    assert own.inputs(tokenizer, from_texts=True) == own.inputs(tokenizer)


@pytest.mark.slow
def test_re_rankers_give_the_same_scores(tiny, exact):
    result = outcomes(rerank.comparison(Work(tiny)).contenders(SETTING))
    assert list(result) == [
        timing.CROSS_ENCODER, timing.CROSS_ENCODER_BEST, timing.OURS, timing.FROM_TEXTS]
    for name, scores in result.items():
        assert np.allclose(scores, result[timing.CROSS_ENCODER], atol=1e-4), name
    assert len(result[timing.OURS]) == len(Work(tiny).pairs)


@pytest.mark.slow
def test_encoders_give_the_same_vectors(tiny, exact):
    result = outcomes(encode.comparison(Work(tiny)).contenders(SETTING))
    for name, vectors in result.items():
        assert np.allclose(vectors, result[timing.SENTENCE_TRANSFORMER], atol=1e-4), name
    assert np.allclose(np.linalg.norm(result[timing.SENTENCE_TRANSFORMER_BEST], axis=1), 1, atol=1e-4)


@pytest.mark.slow
def test_a_section_is_json_with_its_rounds_and_its_drift(tiny):
    section = json.loads(json.dumps(rerank.measure(tiny, rounds=2)))
    assert all(len(rounds["seconds"]) == 2 for rounds in section["contenders"].values())
    assert set(section["contenders"]) == {timing.PRODUCTS, *section["measures"]}
    assert section["drift"][timing.OURS] == {"nDCG@10": 0.0, "RR@10": 0.0}
    assert section["items"] == len(Work(tiny).pairs)
    assert section["setting"]["batch_size"] in sentence_transformers.BATCHES["cpu"]
    assert len(section["tried"]) == 8


@pytest.mark.slow
def test_a_section_fails_if_the_scores_are_others(tiny, monkeypatch):
    monkeypatch.setattr(rerank, "probabilities", lambda _, inputs: -np.arange(len(inputs), dtype=float))
    values = iter([1.0, 1.0, 0.5, 0.5, 1.0])  # the default's, the best setting's, the book's two, and the other engine's
    monkeypatch.setattr(Work, "measured", lambda self, scores: pd.DataFrame({"nDCG@10": [next(values)]}))
    with pytest.raises(sentence_transformers.Drifted, match=r"this book: nDCG@10 -0\.5"):
        rerank.measure(tiny, rounds=1)


@pytest.mark.slow
def test_encoding_is_measured(tiny):
    section = json.loads(json.dumps(encode.measure(replace(tiny, encoded=2), rounds=1)))
    assert section["drift"][timing.OURS] == {"nDCG@10": 0.0, "RR@10": 0.0}


@pytest.mark.slow
def test_both_engines_find_the_documents(tiny):
    section = json.loads(json.dumps(search.measure(tiny, rounds=1)))
    assert set(section["contenders"]) == {timing.LUCENE, timing.BM25S, timing.BM25S_NUMBA}
    assert section["texts"] == 4
    runs = outcomes(search.contenders(Work(tiny)))
    for name, run in runs.items():
        assert run.groupby("query_id").head(1).set_index("query_id")["doc_id"].to_dict() == {"q1": "d1", "q2": "d2"}, name


@pytest.mark.slow
def test_sizes_are_timed_with_their_operations(tiny):
    section = json.loads(json.dumps(sizes.measure(tiny, rounds=1)))
    assert set(section["speed"]["sizes"]) == set(section["flops"]) == {"1/32/2", "2/32/2"}
    assert section["flops"]["2/32/2"] == 2 * section["flops"]["1/32/2"]
    own = Work(replace(tiny, queries=tiny.ranked))
    assert section["speed"]["windows"] == len(own.pairs)
    assert section["tokens"] == sum(len(ids) for ids, _ in own.inputs(own.encoder.tokenizer()))


@pytest.mark.slow
def test_trainings_take_the_same_number_of_examples(tiny, monkeypatch):
    monkeypatch.setattr(train, "LONGEST", 24)
    section = json.loads(json.dumps(train.measure(tiny, rounds=1)))
    assert set(section["contenders"]) == {timing.PRODUCTS, timing.STOCK_TRAINER, timing.OURS}
    for name in (timing.STOCK_TRAINER, timing.OURS):
        assert 32 * train.SHORTEST <= section["tokens"][name]["real"] <= section["tokens"][name]["padded"] <= 32 * 24
        assert 0 < section["tokens"][name]["loss"] < 2
    assert section["items"] == 32


@pytest.mark.parametrize("axis", growth.AXES)
def test_growth_is_measured_on_every_axis(scale, axis):
    growth.prepare(scale)
    section = growth.one(axis, scale.collection, scale.unit, 3, 1, 2)
    assert (section["size"], len(section["seconds"])) == (3, 2) and min(section["seconds"]) > 0 <= section["megabytes"]


def test_sizes_of_growth_are_what_was_asked_for(scale, monkeypatch):
    calls = []

    def run(command, **_):
        calls.append(json.loads(command[-1]))
        return CompletedProcess(command, 0, json.dumps({"size": calls[-1][3], "seconds": [1.0], "megabytes": 0}), "")

    monkeypatch.setattr(timing.subprocess, "run", run)
    section = growth.measure(replace(scale, growth=(5, 100, 7), times=(1, 10, 100)), rounds=9)["axes"]
    assert {axis: [point["size"] for point in points] for axis, points in section.items()} == {
        "queries": [5, 50, 500], "documents": [100, 1000, 10000], "candidates": [7, 70, 700]}
    assert [line[4:] for line in calls[:3]] == [[5, 5], [5, 3], [5, 1]]  # the smallest size, and how often


def test_a_size_that_fails_says_why(scale, monkeypatch):
    monkeypatch.setattr(timing.subprocess, "run", lambda command, **_: CompletedProcess(command, 1, "", "no memory"))
    with pytest.raises(RuntimeError, match="queries x 1 could not be measured: no memory"):
        growth.measure(scale, rounds=1)


def test_the_fastest_setting_is_chosen(monkeypatch):
    monkeypatch.setattr(sentence_transformers, "clocked", lambda work: (work(), None))

    def run(model, sample, batch_size):
        return 1.0 if (model["attention"], batch_size) == ("eager", 16) else 2.0

    best, tried = sentence_transformers.best_setting(lambda chosen: chosen, run, list(range(1000)))
    assert {best["attention"], best["batch_size"]} == {"eager", 16}
    assert max(one["per_second"] for one in tried) == sentence_transformers.SAMPLE
    assert len({(one["attention"], one["batch_size"]) for one in tried}) == len(tried) == 8


# ---- the service under load ----

@pytest.mark.slow
def test_every_service_answers_and_is_measured(tiny, monkeypatch):
    serve.prepare(tiny)
    monkeypatch.setattr(serve, "find_spec", lambda name: None)
    section = serve.measure(tiny, 1)
    assert section["missing"] == ["LanceDB with its cross-encoder re-ranker"]
    assert list(section["contenders"]) == list(serve.NAMES[:3])
    for loads in section["contenders"].values():
        assert list(loads) == ["1", "4"]
        assert all(one["answers"] >= 1 and one["refused"] == 0 < one["p50"] <= one["p99"] for one in loads.values())
        assert all(0 < one["per_second"] <= one["answers"] / 0.5 for one in loads.values())  # it lasts half a second and more
    assert len(section["memory"]["MiB"]) == 2


@pytest.mark.slow
def test_lancedb_answers_too(tiny, tmp_path):
    pytest.importorskip("lancedb", reason="LanceDB is compared if it is installed")
    from transformers import AutoModelForSequenceClassification

    backbone.resolve("packaged:0").build(AutoModelForSequenceClassification, num_labels=1).save_pretrained(tmp_path)
    backbone.resolve("packaged").tokenizer().save_pretrained(tmp_path)
    with serve.served(serve.NAMES[-1], tiny, str(tmp_path)) as port:
        assert serve.load(port, ["why does bread turn brown", "iron"], 2, requests=4)["refused"] == 0


# ---- drift ----

def test_the_drift_is_that_of_means_and_another_ranking_fails_loudly():
    first, second = pd.DataFrame({"a": [0.5, 0.7], "b": [1.0, 0.0]}), pd.DataFrame({"a": [0.7, 0.5], "b": [0.0, 0.5]})
    assert drift(first, second) == pytest.approx({"a": 0.0, "b": 0.25})
    drifts = {"fast": {"nDCG@10": 0.0005, "RR@10": -0.002}, "other": {"nDCG@10": 0.9, "RR@10": 0.9}}
    with pytest.raises(Drifted, match=r"fast: RR@10 -0\.00200$"):
        check_drift(drifts, ["fast"])
    with pytest.raises(Drifted, match="nan"):
        check_drift({"fast": {"nDCG@10": float("nan")}}, ["fast"])
    assert TOLERANCE == 0.001
    check_drift({"fast": {"nDCG@10": 0.001, "RR@10": -0.001}, "unchecked": {"nDCG@10": 1.0}}, ["fast"])


def test_sections_are_added_one_by_one_and_the_file_of_another_machine_is_left_alone(places, monkeypatch):
    places("BENCH")
    here = {"cpu": "AMD EPYC", "threads": None, "device": "cpu", "flags": ["avx512_bf16"], "gpu": None}
    monkeypatch.setattr(timing, "describe", lambda: here)
    file = machine.file_of("")
    assert file == paths.BENCH / "amd-epyc-avx512-bf16.json"
    machine.add(file, "rerank", {"rounds": 2})
    machine.add(file, "train", {"rounds": 3})
    machine.add(file, "rerank", {"rounds": 4})
    content = timing.read(file)
    assert content["machine"] == {key: here[key] for key in here if key != "threads"}
    assert {name: section["rounds"] for name, section in content["sections"].items()} == {"rerank": 4, "train": 3}
    assert all({"measured", "commit", "versions"} <= set(section) for section in content["sections"].values())
    assert [path.name for path in paths.BENCH.iterdir()] == [file.name]
    before = file.read_text()
    monkeypatch.setattr(timing, "describe", lambda: {**here, "cpu": "Xeon"})
    with pytest.raises(BadInput, match="AMD EPYC.*give another file by --out"):
        machine.add(file, "rerank", {"rounds": 9})
    assert file.read_text() == before


# ---- the command ----

@pytest.fixture
def sections(places, monkeypatch):
    """Sections that need no work; the one called train fails. What was run is noted."""
    places("BENCH")
    monkeypatch.setattr(timing, "describe", lambda: {"cpu": "X", "device": "cpu", "flags": [], "gpu": None})
    monkeypatch.setattr(machine.ledger, "commit", lambda: "unknown")
    ran = []

    def run(arguments, **_):
        name, rounds, small, cores = json.loads(arguments[-1])
        ran.append((name, rounds, small, cores))
        result = {"rounds": rounds, "small": small, "of": name}
        return SimpleNamespace(returncode=int(name == "train"), stdout=f"noise\n{json.dumps(result)}\n")

    monkeypatch.setattr(command.subprocess, "run", run)
    monkeypatch.setattr(command, "module", lambda name: SimpleNamespace(prepare=lambda scale: ran.append(f"prepare {name}")))
    monkeypatch.setattr(work, "prepare", lambda scale: ran.append("prepare what sections share"))
    monkeypatch.setattr(numerics, "device", lambda: "cpu")
    return ran


def test_every_section_is_made_ready_and_measured_in_a_process_of_its_own(sections):
    two = "rerank on two cores"
    assert command.main(["--only", two, "--only", "growth", "--rounds", "7", "--small"]) == 0
    assert sections == ["prepare what sections share", (two, 7, True, 2), "prepare growth", ("growth", 7, True, 1)]
    measured = timing.read(machine.file_of(""))["sections"]
    assert {name: section["of"] for name, section in measured.items()} == {two: two, "growth": "growth"}


def test_more_cores_than_there_are_are_refused():
    with pytest.raises(BadInput, match="10000 cores are wanted"):
        machine.keep_to(10_000)


def test_a_section_that_fails_does_not_stop_the_others(sections, tmp_path):
    out = tmp_path / "other.json"
    assert command.main(["--out", str(out)]) == 1
    assert [line[0] for line in sections if isinstance(line, tuple)] == list(command.SECTIONS)
    assert set(timing.read(out)["sections"]) == set(command.SECTIONS) - {"train"}


def test_a_gpu_leaves_the_cores_free_and_no_rounds_are_refused(sections, monkeypatch, capsys):
    assert command.main(["--rounds", "0"]) == 2
    assert "0 rounds" in capsys.readouterr().err
    assert sections == []
    monkeypatch.setattr(numerics, "device", lambda: "cuda")
    command.main(["--only", "search"])
    assert sections[-1] == ("search", command.ROUNDS, False, 0)


def test_a_load_counts_answers_and_refusals_with_their_seconds():
    with serving({"search": b"{}"}) as served:
        served.status, port = [503], int(served.url.rpartition(":")[2])
        told = serve.load(port, ["a"], 1, requests=4)
        assert (told["answers"], told["refused"]) == (3, 1)
        assert 0 < told["p50"] <= told["p99"] < 3 / told["per_second"]
        served.status = [503] * 4
        assert serve.load(port, ["a"], 1, requests=4)["per_second"] == 0


# ---- training's counts ----

def test_examples_are_of_all_lengths_alike():
    data = train.examples(2000)
    lengths = [len(example["input_ids"]) for example in data]
    assert (min(lengths), max(lengths)) == (train.SHORTEST, train.LONGEST)
    assert np.mean(lengths) == pytest.approx((train.SHORTEST + train.LONGEST) / 2, rel=0.03)
    assert all(len(one["token_type_ids"]) == len(one["input_ids"]) for one in data)
    assert train.examples(5) == train.examples(5)


def test_tokens_are_counted_as_a_batch_is_made():
    from transformers import DataCollatorWithPadding

    from helpers.networks.backbone import resolve

    collator = train.Counting(DataCollatorWithPadding(resolve("packaged").tokenizer(), pad_to_multiple_of=4))
    batch = collator([{"input_ids": [1, 2, 3]}, {"input_ids": [1, 2, 3, 4, 5]}])
    assert batch["input_ids"].shape == (2, 8)
    collator([{"input_ids": [1, 2]}])
    assert collator.batches == [(8, 16), (2, 4)]
