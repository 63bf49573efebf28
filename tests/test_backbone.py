import shutil
from pathlib import Path

import pytest

from helpers import backbone
from helpers.errors import BadInput


def test_specs_resolve_to_source_layers_and_revision():
    whole, part = backbone.resolve("packaged"), backbone.resolve("packaged:0,2")
    assert (whole.layers, part.layers) == (None, (0, 2))
    assert part.whole() == whole
    hub = backbone.resolve("hub:google/bert@abc123")
    assert (hub.source, hub.revision) == ("google/bert", "abc123")


@pytest.mark.parametrize("spec, words", [
    ("hub:google/bert", "no revision"), ("nothing", "no backbone"), ("packaged:a", "no backbone"), ("packaged:", "no backbone")])
def test_other_specs_are_refused_with_the_mend(spec, words):
    with pytest.raises(BadInput, match=words):
        backbone.resolve(spec)


def test_a_folder_of_pickled_weights_is_refused(tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(BadInput, match="no safetensors"):
        backbone.resolve(str(tmp_path))


def test_a_local_folder_is_known_by_its_files_and_not_by_its_path(tmp_path):
    places = [tmp_path / name for name in ("a", "b")]
    for place in places:
        place.mkdir()
        (place / "model.safetensors").write_bytes(b"weights")
        (place / "config.json").write_text("{}")
    first, second = (backbone.resolve(str(place)).digest() for place in places)
    assert first == second
    (places[1] / "model.safetensors").write_bytes(b"other weights")
    assert backbone.resolve(str(places[1])).digest() != first


def test_layers_change_the_digest():
    assert backbone.resolve("packaged").digest() != backbone.resolve("packaged:0,1,2,3,4").digest()


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
    with pytest.raises(BadInput, match="layer 6 of a model with 6 layers"):
        backbone.resolve("packaged:6").build(AutoModel)
