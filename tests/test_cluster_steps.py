"""Steps on a real local cluster of two workers: the same results, the same ledger; one worker killed loses one step."""

import os
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dask
import numpy as np
import pytest
from distributed import LocalCluster

import cluster_toys as toys
from helpers.encoders import embeddings
from helpers.errors import BadInput
from helpers.steps import cluster, ledger
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.testbed import Testbed

pytestmark = pytest.mark.slow  # starting two workers takes seconds


@pytest.fixture(scope="module")
def address():
    """Two workers. A task may lose one of them, not two; the first has a GPU, or says so."""
    with pytest.MonkeyPatch.context() as patch, dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        patch.setattr(cluster, "visible_gpus", lambda: ["GPU-7"])
        patch.setenv("BOOK_STORE", "/nowhere")  # a worker takes the store of whoever asks
        with cluster.started("local", workers=2):
            yield os.environ[cluster.VARIABLE]


@pytest.fixture
def on_cluster(address, here, monkeypatch):
    monkeypatch.setenv(cluster.VARIABLE, address)
    workers = cluster.client(address).scheduler_info  # those killed before are back, and the one with the GPU has said so
    toys.wait_until(lambda: len(found := workers()["workers"]) == 2 and any(own["resources"] for own in found.values()))
    return here


@pytest.fixture
def in_one_process(tmp_path, monkeypatch):
    """What follows is computed in this process, into another store."""
    def begin():
        monkeypatch.delenv(cluster.VARIABLE)
        monkeypatch.setenv("BOOK_STORE", str(tmp_path / "other"))
        monkeypatch.setattr(ledger, "USED", {})
    return begin


def calls(here):
    """How often each step was called."""
    file = Path(here) / "calls"
    return Counter(line.split()[0] for line in file.read_text().splitlines()) if file.exists() else Counter()


def pids(here, name):
    return [int(line.split()[1]) for line in (Path(here) / "calls").read_text().splitlines() if line.split()[0] == name]


def content(store):
    return {str(file.relative_to(store)): file.read_bytes() for file in sorted(store.rglob("*"))
            if file.is_file() and file.name != "manifest.json"}


def used():
    return [(line["step"], line["key"], line["source"], line["numerics"]) for line in ledger.USED.values()]


def test_values_files_ledger_and_manifest_are_those_of_one_process(on_cluster, tmp_path, in_one_process):
    toys.toy_numbers(on_cluster, 5).value()  # is there already, and stays as it is
    whole = toys.toy_whole(on_cluster)
    far = whole.entry().manifest
    there, noted = content(tmp_path / "store"), used()
    assert calls(on_cluster) == Counter(numbers=1, table=1, run=1, folder=1)
    assert os.getpid() not in {pid for name in calls(on_cluster) for pid in pids(on_cluster, name)}
    in_one_process()
    toys.toy_numbers(on_cluster, 5).value()
    near = toys.toy_whole(on_cluster).entry().manifest
    assert far.keys() == near.keys() and far["files"] == near["files"]
    assert [(part["step"], part["key"]) for part in far["inputs"]] == [(part["step"], part["key"]) for part in near["inputs"]]
    assert content(tmp_path / "other") == there
    assert used() == noted
    assert len(noted) == 4


def test_what_is_there_goes_to_no_worker(here, monkeypatch):
    toys.toy_whole(here).value()
    monkeypatch.setenv(cluster.VARIABLE, "tcp://127.0.0.1:1")  # where nobody answers
    toys.toy_whole(here).value()
    assert sum(calls(here).values()) == 4


def test_independent_steps_are_computed_side_by_side(on_cluster):
    met = toys.toy_both(on_cluster, [toys.toy_meeting(on_cluster, "a", "b"), toys.toy_meeting(on_cluster, "b", "a")])
    assert met.value() == ["a", "b"]


def test_a_worker_killed_in_the_middle_loses_the_step_it_computed_and_nothing_else(on_cluster, tmp_path, in_one_process):
    numbers = toys.toy_numbers(on_cluster, 4)
    slow, table = toys.toy_slow(on_cluster, numbers), toys.toy_table(on_cluster, numbers)
    both = toys.toy_both(on_cluster, [slow, toys.toy_numbers(on_cluster, 3)])
    with ThreadPoolExecutor(1) as background:
        asked = background.submit(lambda: (table.value(), both.value())[1])
        toys.wait_until(lambda: calls(on_cluster)["slow"] == 1)
        os.kill(pids(on_cluster, "slow")[0], signal.SIGKILL)
        toys.wait_until(lambda: calls(on_cluster)["slow"] == 2)
        (tmp_path / "go").touch()
        assert asked.result(60) == [6, [0, 1, 2]]
    assert calls(on_cluster) == Counter(numbers=2, table=1, slow=2, both=1)  # of numbers there are two: 4 and 3
    assert len(set(pids(on_cluster, "slow"))) == 2
    assert not list(tmp_path.rglob(".work-*"))
    far = content(tmp_path / "store")
    in_one_process()
    table.value(), both.value()
    assert content(tmp_path / "other") == far


def test_a_step_that_kills_its_workers_is_named_and_the_rest_is_kept(on_cluster):
    numbers = toys.toy_numbers(on_cluster, 4)
    with pytest.raises(BadInput, match="2 workers died while they computed toy_deadly.*Mend: "):
        toys.toy_deadly(on_cluster, numbers).value()
    assert calls(on_cluster) == Counter(numbers=1, deadly=2)
    assert toys.toy_table(on_cluster, numbers).value()["half"].tolist() == [0.0, 0.5, 1.0, 1.5]  # the workers are back
    assert calls(on_cluster)["numbers"] == 1


def test_an_error_of_a_step_is_the_error_of_the_call(on_cluster):
    numbers = toys.toy_numbers(on_cluster, 4)
    with pytest.raises(ZeroDivisionError, match="4 numbers"):
        toys.toy_failing(on_cluster, numbers).value()
    assert numbers.lookup()[1] == "stored"


def test_a_timing_is_measured_in_the_asking_process_and_its_inputs_are_not(on_cluster):
    timing = toys.toy_timing(on_cluster, toys.toy_numbers(on_cluster, 4))
    assert toys.toy_both(on_cluster, [timing, 1]).value() == [os.getpid(), 1]
    assert pids(on_cluster, "numbers") != [os.getpid()]
    assert pids(on_cluster, "both") != [os.getpid()]


def test_network_steps_go_to_the_worker_with_a_gpu(on_cluster):
    networks = [toys.toy_network(on_cluster, number) for number in range(4)]
    assert toys.toy_both(on_cluster, networks).value() == ["GPU-7"] * 4
    assert len(set(pids(on_cluster, "network"))) == 1


def test_a_share_is_part_of_the_machine(on_cluster, address):
    own = sorted(os.sched_getaffinity(0))
    workers = list(cluster.client(address).run(lambda: (sorted(os.sched_getaffinity(0)), os.environ["OMP_NUM_THREADS"],
                                                        os.environ["CUDA_VISIBLE_DEVICES"])).values())
    assert len(workers) == 2
    assert sorted(cuda for _, _, cuda in workers) == ["", "GPU-7"]
    assert all(int(threads) == len(cores) for cores, threads, _ in workers)
    assert sorted({core for cores, _, _ in workers for core in cores}) == own


def test_fresh_computes_again_on_the_cluster(on_cluster, monkeypatch):
    toys.toy_numbers(on_cluster, 4).value()
    monkeypatch.setenv("BOOK_FRESH", str(time.time() + 0.1))
    time.sleep(0.3)  # a file's time may lag behind the clock by some milliseconds
    assert [toys.toy_numbers(on_cluster, 4).value() for _ in range(2)] and calls(on_cluster) == {"numbers": 2}


def test_shards_give_the_bytes_and_the_record_of_the_whole(on_cluster, tmp_path, in_one_process):
    whole = toys.toy_sharded(on_cluster, toys.toy_numbers(on_cluster, 7))
    (tmp_path / "go").touch()
    manifest, noted = whole.entry().manifest, used()
    assert calls(on_cluster) == Counter(numbers=1, shard0=1, shard2=1, shard4=1, shard6=1)
    assert not list((tmp_path / "store" / "toy_shard").rglob("manifest.json"))
    far = (tmp_path / "store" / "toy_sharded").rglob("*.gz")
    far = {file.name: file.read_bytes() for file in far}
    in_one_process()
    assert whole.entry().manifest["files"] == manifest["files"]
    assert {file.name: file.read_bytes() for file in (tmp_path / "other" / "toy_sharded").rglob("*.gz")} == far
    assert used() == noted
    assert calls(on_cluster)["sharded"] == 1


def test_a_collection_of_one_shard_is_computed_as_a_whole(on_cluster):
    assert len(toys.toy_sharded(on_cluster, toys.toy_numbers(on_cluster, 2)).value()) == 2
    assert calls(on_cluster) == Counter(numbers=1, sharded=1)


def test_the_embeddings_of_a_collection_are_the_same_in_shards(here, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(embeddings, "SHARD", 2)
    encoder = BiEncoder(collection=str(folder), unit="document", loss="none", backbone="packaged:0")
    whole = encoder.embeddings(Testbed(str(folder), "document"))
    near = whole.entry().manifest
    monkeypatch.setenv("BOOK_STORE", str(tmp_path / "other"))
    shards = whole.definition.shards.split(whole, {
        name: part.value() for name, part in whole.arguments.items() if hasattr(part, "definition")})
    for shard in shards:
        shard.value()
    far = whole.joined([(shard.name, shard.key) for shard in shards]).manifest
    assert len(shards) == 2 and near["files"] == far["files"] != {}
    assert near["numerics"] == far["numerics"] != "exact"
    assert np.load(whole.value() / embeddings.PASSAGES).shape == (4, 384)


def test_a_cluster_that_goes_away_is_said_to(here, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as own:
        monkeypatch.setenv(cluster.VARIABLE, own.scheduler_address)
        with ThreadPoolExecutor(1) as background:
            asked = background.submit(toys.toy_slow(here, toys.toy_numbers(here, 3)).value)
            toys.wait_until(lambda: calls(here)["slow"] == 1)
            own.close()
            with pytest.raises(BadInput, match="the cluster went away.*Mend: "):
                asked.result(60)
