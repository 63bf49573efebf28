"""The Vespa package: its files, names that exist, the model's scores, and the feed."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from helpers.data.runs import adhoc_queries
from helpers.data.windows import WindowTokens, pair_ids, query_ids
from helpers.networks import backbone
from helpers.systems.testbed import Testbed
from press import vespa
from press.cli import main

pytest.importorskip("vespa", reason="the extra `vespa` is not installed")
pytest.importorskip("onnx", reason="the extra `vespa` is not installed")


@pytest.fixture
def bed(folder, store):
    return Testbed(str(folder), adhoc_queries=adhoc_queries([]))


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    model = tmp_path_factory.mktemp("model") / vespa.FILE
    model.write_bytes(b"onnx")
    place = tmp_path_factory.mktemp("application")
    vespa.package(place, model)
    return place


def schemas(written):
    return {file.stem: file.read_text() for file in (written / "schemas").iterdir()}


def test_every_name_that_a_schema_refers_to_exists(written):
    for name, text in schemas(written).items():
        fields, functions = re.findall(r"field (\w+) type", text), re.findall(r"function (\w+)\(", text)
        assert f"schema {name} {{" in text and text.count("{") == text.count("}")
        named = set(re.findall(r"(?:attribute|bm25|matchCount)\((\w+)\)", text))
        assert named and named <= set(fields)
        assert set(re.findall(r"query\((\w+)\)", text)) == set(re.findall(r"query\((\w+)\) tensor", text))
        assert set(re.findall(r"fields: (\w+)", text)) <= set(fields)
        assert set(re.findall(r"input \w+: (\w+)", text)) <= set(functions)
        assert set(re.findall(r"onnx\((\w+)\)", text)) == set(re.findall(r"onnx-model (\w+)", text))
        assert set(re.findall(r"onnx\(\w+\)\.(\w+)", text)) == set(re.findall(r"output \w+: (\w+)", text))
        assert all((written / file).exists() for file in re.findall(r"file: (\S+)", text))
    services = (written / "services.xml").read_text()
    assert set(re.findall(r'document type="(\w+)"', services)) == set(schemas(written)) == {vespa.DOCUMENTS, vespa.WINDOWS}


@pytest.mark.slow
def test_the_feed_fits_the_schemas(bed, tmp_path, written, tokenizer):
    assert vespa.feed(bed, tmp_path / "feed.jsonl") == 8
    lines = [json.loads(line) for line in (tmp_path / "feed.jsonl").read_text().splitlines()]
    assert [line["put"] for line in lines][3:6] == ["id:study:doc::d4", "id:study:window::d1%230", "id:study:window::d2%230"]
    for line in lines:
        text = schemas(written)[line["put"].split(":")[2]]
        assert set(line["fields"]) == set(re.findall(r"field (\w+) type", text))
    tokens = lines[4]["fields"]["tokens"]
    assert f"tensor<float>(d0[{len(tokens)}])" in schemas(written)["window"]
    assert tokenizer.decode([n for n in tokens if n]).startswith("bread why bread turns brown")
    assert (tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id) == (101, 102, 0)  # what Vespa puts between


def padded(inputs):
    """Pairs as ids and types in the model's inputs, padded with zeros to its length."""
    arrays = {name: np.zeros((len(inputs), vespa.LENGTH), np.int64) for name in vespa.INPUTS}
    for row, (ids, types) in enumerate(inputs):
        for name, values in zip(vespa.INPUTS, (ids, types, [1] * len(ids)), strict=True):
            arrays[name][row, :len(values)] = values
    return arrays


@pytest.mark.slow
def test_onnx_scores_as_pytorch_does(bed, tmp_path, tokenizer):
    """The base re-ranker, on every query with every window of the tiny collection, and on the longest input."""
    import onnxruntime
    import torch

    from helpers.networks.inference import load_scorer, logits
    from helpers.systems.rerankers import WarmUp

    base = WarmUp().model.value()
    reader = WindowTokens(bed.tokens(backbone.resolve("packaged")).value(), bed.store.value())
    queries = ["why does bread turn brown", "how to stop iron rusting", "", "word " * 99]
    texts = query_ids(tokenizer, queries, vespa.QUERY_LENGTH)
    inputs = [pair_ids(tokenizer, query, vespa.LENGTH, reader[f"d{n}#0"]) for query in texts for n in range(1, 5)]
    inputs.append(pair_ids(tokenizer, texts[0], vespa.LENGTH, np.arange(2000, 2000 + 300)))
    built = vespa.export(base, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_inputs()] == list(vespa.INPUTS) and session.get_outputs()[0].name == vespa.OUTPUT
    with torch.inference_mode():
        expected = built(**{name: torch.from_numpy(values) for name, values in padded(inputs).items()}).logits.numpy()
    assert np.abs(session.run(None, padded(inputs))[0] - expected).max() < 1e-3
    one = session.run(None, padded(inputs[:1]))[0]  # as Vespa asks: one window at a time
    assert one.shape == (1, 1)
    assert abs(one[0, 0] - logits(load_scorer(base), inputs[:1])[0]) < 0.1  # ours may be in bfloat16


def test_what_is_missing_is_told_with_its_command(monkeypatch, tmp_path, capsys):
    (tmp_path / "there").write_text("x")
    assert main(["vespa", str(tmp_path)]) == 2
    assert "not empty" in capsys.readouterr().err
    monkeypatch.setattr(vespa, "find_spec", lambda name: None if name == "onnx" else name)
    assert main(["vespa", str(Path(tmp_path) / "new")]) == 2
    assert "not installed: onnx. Mend: .venv/bin/pip install pyvespa" in capsys.readouterr().err
