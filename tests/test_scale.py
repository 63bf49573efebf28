"""Facts on collections and networks: their file, and what is computed from them."""

import re

import pytest
import yaml

from helpers import paths
from helpers.data.irds import IrDatasets
from helpers.networks.backbone import resolve
from press.forecast import scale
from press.forecast.scale import Gpu, Network, TextFacts, Unknown

NETWORK = Network(layers=2, dimensions=4, heads=2, inner=8, vocabulary=10, parameters=1000)
PROFILE = (paths.PROFILES / "msmarco.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("collection", [name for name in scale.facts()["collections"] if name.startswith("irds:")])
def test_counts_are_those_of_ir_datasets(collection):
    source = IrDatasets(collection)
    for unit in scale.facts()["collections"][collection]:
        assert unit in source.units
        assert scale.texts(collection, unit).texts == source.size("docs")


def test_lengths_fit_together():
    for collection, units in scale.facts()["collections"].items():
        for unit in units:
            found = scale.texts(collection, unit)
            assert 5 < found.bytes / found.words < 7
            assert 1.3 < found.pieces / found.words < 1.4
            assert found.candidate_words == 0 or found.candidate_words > found.words


@pytest.mark.parametrize("name", list(scale.facts()["models"]))
def test_networks_are_sound(name):
    found = scale.network(name)
    assert found.dimensions % found.heads == 0
    assert found.inner == 4 * found.dimensions
    matrices = found.layers * 12 * found.dimensions**2
    assert found.parameters > matrices or name.startswith("albert/")  # whose layers share theirs
    if match := re.search(r"L-(\d+)_H-(\d+)_A-(\d+)", name):
        assert (found.layers, found.dimensions, found.heads) == tuple(map(int, match.groups()))


def test_what_the_profile_names_has_facts():
    for spec in set(re.findall(r'"(hub:[^"]+)"', PROFILE)) - {"hub:sentence-transformers/stsb@main"}:
        scale.network(resolve(spec).source)
    for collection in set(re.findall(r'"(irds:[^"]+)"', PROFILE)):
        for unit in IrDatasets(collection).units:
            scale.texts(collection, unit)


def test_the_packaged_network_is_as_it_is_told():
    from transformers import AutoConfig

    config, found = AutoConfig.from_pretrained(resolve("packaged").source), scale.network("packaged")
    assert (config.num_hidden_layers, config.hidden_size) == (found.layers, found.dimensions)
    assert config.num_attention_heads == found.heads
    assert (config.intermediate_size, config.vocab_size) == (found.inner, found.vocabulary)


def test_numbers_are_numbers():
    for name in scale.facts()["assumed"]:
        assert scale.assumed(name) > 0
    assert 0 < scale.gpu().share < 1
    assert scale.gpu().flops == 312e12


@pytest.mark.parametrize("ask", [lambda: scale.texts("irds:msmarco-passage", "document"),
                                 lambda: scale.texts("nowhere", "passage"), lambda: scale.network("owner/name")])
def test_what_is_unknown_is_said_to_be(ask):
    with pytest.raises(Unknown):
        ask()


def test_every_line_of_the_file_is_read():
    content = yaml.safe_load((paths.PUBLISHED / "scale.yaml").read_text(encoding="utf-8"))
    assert list(content) == ["collections", "models", "gpu", "assumed"]


@pytest.mark.parametrize(("words", "overlap", "windows", "pieces"), [
    (100, 0, 1, 60), (40, 10, 1, 60), (20, 10, 3, 30), (1_000_000, 0, 1, 60)])
def test_windows(words, overlap, windows, pieces):
    facts = TextFacts(texts=1, bytes=200, words=40, pieces=60)
    assert facts.windows(words, overlap) == windows
    assert facts.window_pieces(words, overlap) == pieces


def test_a_candidate_may_be_longer():
    facts = TextFacts(texts=1, bytes=200, words=40, pieces=60, candidate_words=100)
    assert facts.windows(20, 10) == 3
    assert facts.windows(20, 10, candidate=True) == 9
    assert TextFacts(1, 200, 40, 60).windows(20, 10, candidate=True) == 3


def test_fewer_layers_and_a_window():
    assert NETWORK.with_layers(1).parameters == 1000 - (4 * 16 + 2 * 32)
    assert NETWORK.with_layers(1).forward(10) == NETWORK.forward(10) / 2
    longformer = NETWORK.as_longformer(8)
    assert longformer.parameters == 1000 + 2 * 3 * 16
    assert longformer.forward(8, 2) == NETWORK.forward(8)  # all tokens fit into the window
    assert longformer.forward(100, 2) == 2 * (256 * 100 + 16 * 100 * (8 + 4) + 64 * 100)


def test_a_gpu():
    assert Gpu("G", flops=1000.0, mlm_probability=0.5).hours(3.6e6) == 2.0
