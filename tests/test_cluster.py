"""Clusters: which there are, what is refused, and what of a step on a cluster can be seen without one."""

import itertools
import json
import os
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

import cluster_toys as toys
from helpers import paths
from helpers.data import collection
from helpers.data.texts import text_store
from helpers.data.windows import window_tokens
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.steps import cluster, computation, rebuild, registry
from helpers.steps.store import Store
from press import cli


@pytest.fixture
def made(here, folder):
    """A step of data of two kinds."""
    return window_tokens(text_store(collection.open_collection(str(folder)).part("texts", "document")),
                         backbone.resolve("packaged"), 10, 0)


def test_visible_gpus_keep_their_names(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert cluster.visible_gpus() == ["0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,GPU-5")
    assert cluster.visible_gpus() == ["3", "GPU-5"]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert cluster.visible_gpus() == []


def test_shards_are_joined_with_their_seconds_and_not_those_of_different_arithmetic(here, tmp_path, monkeypatch):
    numbers = toys.toy_numbers(here, 4)
    (tmp_path / "go").touch()
    shards = [toys.toy_shard(here, numbers, start, start + 2) for start in (0, 2)]
    shards[0].value()
    with pytest.raises(BadInput, match="1 of 2 shards of toy_sharded are gone"):
        toys.toy_sharded(here, numbers).joined([(shard.name, shard.key) for shard in shards])
    store = Store(paths.store())
    manifest = {"step": shards[1].name, "numerics": "cpu-fp32", "form": "table"}
    store.write(shards[1].name, shards[1].key, manifest, lambda folder: None)
    with pytest.raises(BadInput, match="cpu-fp32, exact"):
        toys.toy_sharded(here, numbers).joined([(shard.name, shard.key) for shard in shards])
    assert [shard.lookup()[0] for shard in shards] == [None, None]
    monkeypatch.setattr(computation, "time", SimpleNamespace(perf_counter=itertools.count(0, 10).__next__))
    parts, whole = [(shard.name, shard.entry().manifest["key"]) for shard in shards], toys.toy_sharded(here, numbers)
    joined = whole.joined(parts).manifest
    store.remove(whole.name, whole.key)
    alone = whole.entry().manifest
    assert (joined["seconds"], alone["seconds"]) == (30, 10) and joined["files"] == alone["files"]  # 10 of each, and 10 to join


def test_a_store_that_is_not_shared_and_another_version_of_a_step_are_told(here, monkeypatch):
    monkeypatch.setattr(cluster, "LATE", 0.1)
    numbers = toys.toy_numbers(here, 4)
    task = {"recipe": numbers.recipe(), "modules": ["cluster_toys"], "settings": {"BOOK_STORE": here}, "shards": []}
    with pytest.raises(BadInput, match="does not see .*Mend: set BOOK_STORE"):
        computation.work(task)
    with pytest.raises(BadInput, match="toy_numbers, but it is not in .*Mend: set BOOK_STORE"):
        cluster._seen(numbers)

    with pytest.raises(BadInput, match="another version of the book: toy_numbers is at version 1, not 2"):
        computation.work(task | {"recipe": {**numbers.recipe(), "version": 2}})


def test_a_described_step_is_the_step_and_reads_no_data(made):
    again = rebuild(made.recipe(), lazily=True)
    assert (again.name, again.key, again.recipe()) == (made.name, made.key, made.recipe())
    assert [part.key for part in again.inputs()] == [part.key for part in made.inputs()]
    assert again.arguments["words"] == 10
    assert again.arguments["backbone"] == made.arguments["backbone"]
    changed = {**made.recipe(), "arguments": {**made.recipe()["arguments"], "backbone": {"data": ["backbone", "packaged"],
                                                                                         "digest": "0"}}}
    assert rebuild(changed, lazily=True).lookup() == (None, "missing")
    with pytest.raises(BadInput, match="has changed since"):
        rebuild(changed, lazily=True).value()


@pytest.mark.slow
def test_a_process_that_knows_nothing_makes_a_step_again_from_its_task(made):
    """A worker imports what registers the steps, their forms and the kinds of data in the recipe, and no more."""
    needed = registry.modules(made.recipe())
    assert needed == {f"helpers.{name}" for name in ("data.collection", "data.texts", "data.windows", "networks.backbone")}
    Store(paths.store()).lock_file(made.name, made.key).touch()
    task = {"recipe": made.recipe(), "modules": sorted(needed), "settings": {"BOOK_STORE": str(paths.store())}, "shards": []}
    script = "import json, sys; from helpers.steps import computation; computation.work(json.load(sys.stdin))"
    subprocess.run([sys.executable, "-c", script], input=json.dumps(task), text=True, check=True)
    assert made.lookup()[1] == "stored"


def test_an_address_without_a_scheduler_is_refused_and_nothing_is_left(own_store, monkeypatch, capsys):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"  # bound, so that nobody else listens there
        assert cli.main(["build", "--cluster", address]) == 2
    assert f"no Dask scheduler answers at {address}" in capsys.readouterr().err
    assert cluster.VARIABLE not in os.environ


def test_slurm_is_refused_where_there_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match="`sbatch` is not found. Mend: "), cluster.started("slurm"):
        pass
