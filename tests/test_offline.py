"""Dry runs without the network: nothing opens a socket, frames of ir_datasets and configurations of hub models have stand-ins."""

import socket

import pytest

from helpers.data.almanac import Almanac
from helpers.data.irds import IrDatasets
from helpers.networks.backbone import layers, resolve
from press import execute
from press.forecast import dry_run, offline
from press.forecast.known import Catalogue

BERT = "hub:google-bert/bert-base-uncased@main"


@pytest.fixture
def sealed(monkeypatch):
    """Any socket is an error that nothing catches."""
    class Opened(BaseException):
        pass

    def refuse(*_, **__):
        raise Opened

    monkeypatch.setattr(socket.socket, "__init__", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    return Opened


def test_frames_are_the_almanacs(sealed):
    collection = IrDatasets("irds:msmarco-passage")
    with offline.stand_ins(hub=False):
        assert collection.queries("dev").equals(Almanac().queries("dev"))
        assert collection.qrels("passage", "test").equals(Almanac().qrels("passage", "test"))
        assert len(list(collection.texts("passage"))) == offline.TEXTS


def test_a_hub_model_has_the_shape_of_the_facts(sealed):
    with offline.stand_ins(hub=True):
        assert layers(resolve(BERT)) == 12
        assert layers(resolve("hub:google/bert_uncased_L-4_H-512_A-8@main")) == 4
        assert layers(resolve("packaged")) == 6  # from its own folder
        with pytest.raises(LookupError):
            layers(resolve("hub:owner/unheard-of@main"))


def test_the_network_is_refused_and_given_back():
    before = socket.getaddrinfo, IrDatasets.queries, "connect" in vars(socket.socket)
    with offline.stand_ins(hub=False):
        with pytest.raises(OSError, match="does not use the network"):
            socket.getaddrinfo("localhost", 80)
        with socket.socket() as one, pytest.raises(OSError, match="does not use the network"):
            one.connect(("127.0.0.1", 9))
    assert (socket.getaddrinfo, IrDatasets.queries, "connect" in vars(socket.socket)) == before


def test_the_configuration_of_models_is_given_back():
    from transformers import AutoConfig

    before = vars(AutoConfig)["from_pretrained"]
    with pytest.raises(ZeroDivisionError), offline.stand_ins(hub=True):
        raise ZeroDivisionError
    assert vars(AutoConfig)["from_pretrained"] is before


@pytest.mark.slow
@pytest.mark.parametrize("chapter", ["collection", "condenser", "pipeline"])
def test_chapters_of_the_large_profile_open_no_socket(sealed, chapter):
    found = dry_run.of_chapter(chapter, execute.wanted(chapter, "msmarco", {}).values, Catalogue())
    assert len(found.missing) > 10
