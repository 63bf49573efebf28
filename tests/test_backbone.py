import contextlib
import json
import re
import shutil
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from safetensors.numpy import save

from helpers.costs import length_cost, speed
from helpers.data import hub
from helpers.errors import BadInput, NetworkNeeded
from helpers.networks import backbone, encoder
from helpers.networks import bert as plain
from helpers.networks.inference import load_scorer, logits, probabilities, ready
from helpers.networks.packed import Packed
from toys import bert


def test_a_folder_of_pickled_weights_is_refused(tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(BadInput, match="no safetensors"):
        backbone.resolve(str(tmp_path))


def folder_with(place, **files):
    place.mkdir()
    for name, content in {"model.safetensors": save({}, {"of": "one"}), "config.json": b"{}", **files}.items():
        (place / name).write_bytes(content)
    return backbone.resolve(str(place))


def test_a_local_folder_is_known_by_its_files_and_not_by_its_path(tmp_path):
    first, same, *others = (folder_with(tmp_path / name, **files).digest() for name, files in {
        "a": {}, "b": {}, "c": {"model.safetensors": save({}, {"of": "two"})}, "d": {"spiece.model": b"1"},
        "e": {"spiece.model": b"2"}}.items())
    assert first == same
    assert len({first, *others}) == 4


@pytest.mark.slow
def test_fine_tuned_weights_are_not_put_into_a_backbone_that_has_changed(tmp_path):
    own = folder_with(tmp_path / "own")
    (tmp_path / "trained").mkdir()
    backbone.save_trained(bert(), tmp_path / "trained", own)
    trained = backbone.resolve(str(tmp_path / "trained"))
    assert trained.origin() == own
    assert set(trained.sources()) > set(own.sources())
    (tmp_path / "own" / "model.safetensors").write_bytes(save({}, {"of": "others"}))
    with pytest.raises(BadInput, match="has changed since it was fine-tuned"):
        trained.origin()


def test_a_folder_never_runs_code_of_its_own(tmp_path, monkeypatch):
    own = folder_with(tmp_path / "own", **{
        "config.json": b'{"model_type": "bert", "hidden_size": 4, "auto_map": {"AutoConfig": "evil.Config"}}',
        "evil.py": b"raise SystemExit('it ran')"})
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    assert backbone.configuration(own).hidden_size == 4


def test_altered_packaged_weights_are_refused(tmp_path, monkeypatch):
    source = Path(backbone.resolve("packaged").source)
    shutil.copytree(source, tmp_path / "model")
    with open(tmp_path / "model" / "model.safetensors", "r+b") as weights:
        weights.seek(100_000)
        weights.write(b"x")
    fake = type("Spec", (), {"origin": str(tmp_path / "__init__.py")})()
    monkeypatch.setattr(backbone, "find_spec", lambda _: fake)
    backbone._packaged.cache_clear()
    with pytest.raises(BadInput, match="not the published ones"):
        backbone.resolve("packaged")
    backbone._packaged.cache_clear()


@pytest.mark.slow
def test_a_truncated_model_has_the_named_layers():
    import torch
    from transformers import AutoModel

    whole, part = (backbone.resolve(spec).build(AutoModel) for spec in ("packaged", "packaged:5,0"))
    assert part.config.num_hidden_layers == len(part.encoder.layer) == 2
    pairs = zip(part.encoder.layer, (whole.encoder.layer[5], whole.encoder.layer[0]), strict=True)
    assert all(torch.equal(a.attention.self.query.weight, b.attention.self.query.weight) for a, b in pairs)
    with pytest.raises(BadInput, match="no backbone 'packaged:6'"):  # it has six, from 0; before anything rests on it
        backbone.resolve("packaged:6")


# ---- models of the hub, without one ----

HUB = backbone.Backbone("hub:owner/model@abc", "owner/model", revision="abc")


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    """The hub's client without network, and with a cache of its own."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.mark.parametrize("ask", [
    lambda: HUB.tokenizer(), lambda: backbone.layers(HUB), lambda: backbone.configuration(HUB),
    lambda: HUB.build(__import__("transformers").AutoModel),
    lambda: HUB.build(__import__("transformers").AutoModel, attn_implementation="sdpa"),
    lambda: encoder.build(HUB, dropout=0.1), lambda: speed.random_cross_encoder("1/32/2", HUB),
    lambda: length_cost.reader("full attention", HUB, 64, 32),
    lambda: hub.fetch("owner/model", "abc"), lambda: hub.commit("owner/model", "abc"), lambda: hub.size("owner/model", "abc")])
def test_a_model_that_is_not_here_says_how_to_get_it(no_network, ask):
    with pytest.raises(NetworkNeeded) as caught:
        ask()
    text = str(caught.value)
    assert "owner/model at revision abc" in text
    assert "hf download owner/model --revision abc" in text
    assert f"models--owner--model that this makes in its cache there into\n  {no_network}" in text


@pytest.mark.parametrize("error", [OSError("abc is not a valid git identifier (branch name, tag name or commit id)"), type(
    "ConnectError", (Exception,), {"__module__": "httpx2"})("[Errno -2] Name or service not known")])
def test_an_unknown_revision_or_an_error_of_the_hubs_client_is_a_matter_of_the_network(error):
    with pytest.raises(NetworkNeeded, match=re.escape(str(error))):
        HUB.build(Mock(from_pretrained=Mock(side_effect=error)))


def test_a_fetched_revision_without_safetensors_is_bad_input(tmp_path, monkeypatch):
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: str(tmp_path))
    with pytest.raises(BadInput, match="no safetensors"):
        hub.fetch("owner/model", "abc")
    (tmp_path / "model.safetensors").write_bytes(save({}))
    assert hub.fetch("owner/model", "abc") == tmp_path


def test_a_model_is_here_when_configuration_and_weights_are(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "cache", lambda: tmp_path)
    place = tmp_path / "models--owner--model"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text("f" * 40)
    snapshot = place / "snapshots" / ("f" * 40)
    snapshot.mkdir(parents=True)
    assert not hub.is_here("owner/model", "main")
    (snapshot / "config.json").write_text("{}")
    assert not hub.is_here("owner/model", "main")
    (snapshot / "model.safetensors").write_bytes(b"")
    assert hub.is_here("owner/model", "main")
    assert hub.is_here("owner/model", "f" * 40)
    assert not hub.is_here("owner/model", "other")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A small cross-encoder as a folder."""
    place = tmp_path_factory.mktemp("model") / "whole"
    bert(True, vocab_size=8, num_hidden_layers=2).save_pretrained(place)
    return place


def changed(content, **values):
    return lambda _: json.dumps(json.loads(content) | values).encode()


@pytest.mark.parametrize("name, change, said", [
    ("model.safetensors", lambda content: content[:-5], "SafetensorError"),
    ("model.safetensors", lambda _: b"", "SafetensorError"),
    ("config.json", lambda _: b"[]", "AttributeError"), ("config.json", lambda _: b"null", "AttributeError"),
    ("config.json", lambda content: changed(content, hidden_size=0)(None), "hidden_size is 0"),
    ("config.json", lambda _: b"{", "JSONDecodeError")])
def test_a_damaged_folder_is_told_before_anything_rests_on_it(whole, tmp_path, name, change, said):
    folder = shutil.copytree(whole, tmp_path / "own")
    (folder / name).write_bytes(change((folder / name).read_bytes()))
    with pytest.raises(BadInput, match=said) as told:
        backbone.resolve(str(folder))
    assert str(folder) in str(told.value)


@pytest.mark.parametrize("values, said", [
    ({"num_hidden_layers": 3}, "weights lack .*layer.2"), ({"vocab_size": 9}, "RuntimeError"), ({"architectures": None}, ""),
    ({"model_type": "own", "auto_map": {"AutoConfig": "evil.Config"}}, "ValueError")])
def test_what_a_folder_makes_the_libraries_raise_is_the_folder_s(whole, tmp_path, values, said):
    from transformers import AutoModelForSequenceClassification

    folder = shutil.copytree(whole, tmp_path / "own")
    (folder / "config.json").write_bytes(changed((folder / "config.json").read_bytes(), **values)(None))
    with pytest.raises(BadInput, match=said) if said else contextlib.nullcontext():
        backbone.resolve(str(folder)).build(AutoModelForSequenceClassification)


def test_a_cross_encoder_without_a_head_is_no_cross_encoder(whole, tmp_path):
    from transformers import BertForSequenceClassification

    BertForSequenceClassification.from_pretrained(whole).bert.save_pretrained(tmp_path / "own")
    with pytest.raises(BadInput, match="weights lack classifier"):
        load_scorer(tmp_path / "own")


def test_a_plain_bert_that_is_read_from_its_files_is_the_one_of_transformers(whole):
    from transformers import AutoModelForSequenceClassification

    packaged, own = backbone.resolve("packaged"), backbone.Backbone("", str(whole))
    texts = ["[SEP] Maillard\u2019s na\u00efve\tcrust \u6f22\x00", ""]
    pieces, ids = packaged.word_pieces(), packaged.tokenizer()(texts, add_special_tokens=False)["input_ids"]
    assert isinstance(pieces, plain.WordPieces) and pieces(texts)["input_ids"] == ids
    pairs = [([1, 2, 3], [0, 0, 1]), ([4, 2], [0, 1])]
    theirs = own.build(AutoModelForSequenceClassification, attn_implementation="eager")
    assert np.array_equal(*(logits(ready(model), pairs) for model in (plain.load(own, head=True), theirs)))
    models = [plain.load(packaged, head=False), encoder.build(packaged, attn_implementation="eager").eval()]
    assert np.array_equal(*(Packed(model, False)(ids[:1], [[0] * len(ids[0])]).detach().numpy() for model in models))


def test_scores_that_are_no_numbers_are_told(whole):
    import torch

    model = load_scorer(whole)
    with torch.no_grad():
        model.classifier.bias.fill_(float("nan"))
    with pytest.raises(BadInput, match="no numbers"):
        probabilities(model, [([1, 2, 3], [0, 0, 1])])
