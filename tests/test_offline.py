"""Dry runs without the network: no socket is opened; stand-ins for ir_datasets and for configurations of hub models."""

import socket

import pytest

from helpers.data.almanac import Almanac
from helpers.data.irds import IrDatasets
from helpers.networks import backbone
from helpers.networks.backbone import layers, resolve
from press import dry_run, execute
from press.known import catalogue

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
    with dry_run.offline():
        assert collection.queries("dev").equals(Almanac().queries("dev"))
        assert collection.qrels("passage", "test").equals(Almanac().qrels("passage", "test"))
        assert len(list(collection.texts("passage"))) == dry_run.TEXTS


def test_a_hub_model_that_is_not_here_has_the_shape_of_its_name_or_bert_base(sealed):
    with dry_run.offline():
        assert layers(resolve(BERT)) == 12
        assert layers(resolve("hub:google/bert_uncased_L-4_H-512_A-8@main")) == 4
        assert layers(resolve("packaged")) == 6  # from its own folder


def test_the_network_is_refused_and_given_back():
    before = socket.getaddrinfo, IrDatasets.queries, backbone.configuration, "connect" in vars(socket.socket)
    with dry_run.offline():
        with pytest.raises(OSError, match="does not use the network"):
            socket.getaddrinfo("localhost", 80)
        with socket.socket() as one, pytest.raises(OSError, match="does not use the network"):
            one.connect(("127.0.0.1", 9))
    assert (socket.getaddrinfo, IrDatasets.queries, backbone.configuration, "connect" in vars(socket.socket)) == before


@pytest.mark.slow
@pytest.mark.parametrize("chapter", ["collection", "condenser", "pipeline", "long_inputs"])
def test_chapters_of_the_large_profile_open_no_socket(sealed, chapter):
    plan = dry_run.of_chapter(chapter, execute.request(chapter, "msmarco", {}).values, catalogue())
    assert plan.missing
