"""Steps: what is computed, what is taken from a store, what makes two computations the same, and what a crash costs."""

import json
import os
import shutil
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from cluster_toys import wait_until
from dry_steps import ship
from helpers import paths, steps
from helpers.errors import BadInput
from helpers.steps import ledger, numerics, recipe, registry
from helpers.steps.computation import rebuild
from helpers.steps.ledger import told_once
from helpers.steps.store import MANIFEST

CALLS = []


@pytest.fixture(autouse=True)
def stores(own_store, monkeypatch):
    monkeypatch.setattr(registry, "STEPS", dict(registry.STEPS))
    CALLS.clear()


def scale_step(version=1, network=False):
    def scaled_for_test(value: float, factor: float = 2.0, label: str = "", depth: int = 1) -> dict:
        CALLS.append("scaled")
        return {"result": value * factor}
    return steps.step(version=version, form="json", network=network)(scaled_for_test)


def sum_step(**traits):
    def summed_for_test(parts: list) -> dict:
        CALLS.append("summed")
        return {"result": sum(part["result"] for part in parts)}
    return steps.step(version=1, form="json", **traits)(summed_for_test)


def record(entry):
    """Ship what is stored as recorded runs, and empty the store."""
    ship()
    CALLS.clear()
    ledger.USED.clear()


def start_fresh(monkeypatch):
    monkeypatch.setenv("BOOK_FRESH", str(time.time() + 0.1))
    time.sleep(0.2)  # a file's time may lag behind the clock by some milliseconds
    CALLS.clear()


def test_a_value_is_computed_when_it_is_asked_for_and_once():
    scaled = scale_step()
    scaled(3.0)
    assert CALLS == []
    assert scaled(3.0).value() == scaled(value=3.0, factor=2.0).value() == {"result": 6.0}
    assert CALLS == ["scaled"]


def test_a_changed_parameter_is_computed_and_an_int_for_a_float_is_no_change():
    scaled = scale_step()
    assert [scaled(3.0, factor=factor).value()["result"] for factor in (3.0, 4.0, 3)] == [9.0, 12.0, 9.0]
    assert CALLS == ["scaled"] * 2
    assert scaled(3, factor=2).key == scaled(3.0, factor=2.0).key != scale_step(version=2)(3.0).key


@pytest.mark.parametrize("wrong", [{"value": ""}, {"value": True}, {"label": 3}, {"depth": 1.0}, {"no": 1}])
def test_other_mismatches_of_a_plain_type_are_refused(wrong):
    with pytest.raises(TypeError):
        scale_step()(**{"value": 1.0, **wrong})


def test_inputs_are_computed_first_and_only_where_they_are_missing():
    scaled, summed = scale_step(), sum_step()
    scaled(1.0).value()
    assert summed([scaled(1.0), scaled(2.0)]).value() == {"result": 6.0}
    assert CALLS == ["scaled", "scaled", "summed"]
    shutil.rmtree(paths.store() / "scaled_for_test")
    assert summed([scaled(1.0), scaled(2.0)]).value() == {"result": 6.0}
    assert CALLS == ["scaled", "scaled", "summed"]


def test_fresh_recomputes_everything_once_and_only_once(monkeypatch):
    scaled, summed = scale_step(), sum_step()
    summed([scaled(1.0)]).value()
    start_fresh(monkeypatch)
    assert [summed([scaled(1.0)]).value()["result"] for _ in range(3)] == [2.0] * 3
    assert CALLS == ["scaled", "summed"]


def test_a_recorded_run_is_used_without_computing_unless_anything_differs(monkeypatch):
    record(scale_step()(3.0).entry())
    assert scale_step()(3.0).value()["result"] == 6.0
    assert CALLS == []
    assert [line["source"] for line in ledger.USED.values()] == ["recorded"]
    assert scale_step()(3.5).lookup() == scale_step(version=2)(3.0).lookup() == (None, "missing")
    scale_step(version=2)(3.0).value()
    assert CALLS == ["scaled"]
    start_fresh(monkeypatch)
    assert scale_step()(3.0).lookup() == (None, "missing")


def on_machine(monkeypatch, own):
    monkeypatch.setattr(numerics, "own_class", lambda: own)


def test_the_class_of_a_value_is_that_of_the_networks_below_it(monkeypatch):
    on_machine(monkeypatch, "cpu-fp32")
    scaled, summed = scale_step(network=True), sum_step()
    derived = summed([summed([scaled(1.0)]), summed([scaled(2.0)])])
    assert [step.entry().numerics for step in (scaled(1.0), summed([scaled(1.0)]), derived)] == ["cpu-fp32"] * 3
    assert [part["inputs"][0]["numerics"] for part in derived.entry().manifest["inputs"]] == ["cpu-fp32"] * 2
    assert summed([summed([scale_step()(3.0)])]).entry().numerics == "exact"
    timed = sum_step(timing=True)([scale_step(network=True)(4.0)])
    assert timed.entry().numerics == sum_step()([timed, timed]).entry().numerics == "measured"


def test_a_recorded_value_of_another_class_is_used_with_its_label_and_gives_it_to_what_is_made_of_it(monkeypatch):
    scaled, summed = scale_step(network=True), sum_step()
    on_machine(monkeypatch, "cpu-fp32")
    record(scaled(1.0).entry())
    on_machine(monkeypatch, "cuda-bf16")
    entry, source = scaled(1.0).lookup()
    assert (entry.numerics, source) == ("cpu-fp32", "recorded")
    assert summed([scaled(1.0)]).entry().numerics == "cpu-fp32"  # it was added up here, of what was computed there
    assert summed([scaled(2.0)]).entry().numerics == "cuda-bf16"
    mixed = summed([scaled(1.0), scaled(2.0)])
    assert mixed.entry().numerics == "cpu-fp32+cuda-bf16"
    assert summed([mixed, scaled(2.0)]).entry().numerics == "cpu-fp32+cuda-bf16"
    assert sum_step(network=True)([scaled(1.0), scaled(3.0)]).entry().numerics == "cpu-fp32+cuda-bf16"
    assert scaled(1.0).here().entry().numerics == scaled(1.0).entry().numerics == "cuda-bf16"  # of one's own before any other
    on_machine(monkeypatch, "cpu-fp32")
    assert scaled(1.0).lookup()[1] == "recorded"


def test_what_rests_on_data_that_is_not_here_is_taken_as_recorded_even_for_a_fresh_run(monkeypatch):
    def counted_for_test(part: dict) -> dict:
        return {"result": 1.0}

    count, data = steps.step(version=1, form="json")(counted_for_test), SimpleNamespace(
        recipe=lambda: {"data": ["texts"], "digest": "abc"}, is_here=True)
    derived = lambda: sum_step()([count(data)])
    record(derived().entry())
    start_fresh(monkeypatch)
    assert derived().lookup() == (None, "missing")
    data.is_here = False
    assert derived().lookup()[1] == "recorded"


def test_an_exception_leaves_no_entry_and_releases_the_lock():
    divisors = [1, 0]

    def failing_for_test(x: int) -> dict:
        return {"x": x // divisors.pop()}
    failing = steps.step(version=1, form="json")(failing_for_test)
    with pytest.raises(ZeroDivisionError):
        failing(1).value()
    assert list(paths.store().rglob(MANIFEST)) == list(paths.store().rglob(".work-*")) == []
    assert failing(1).value() == {"x": 1}  # would wait for ever if the lock were held


class Data:
    """A file as data: known by its content."""

    def __init__(self, file):
        self.file = file

    def recipe(self):
        return {"data": ["test"], "digest": self.file.read_text()}

    def sources(self):
        return [self.file]


def reading_step(meanwhile):
    def read_for_test(data: object) -> dict:
        meanwhile()
        return {"read": data.file.read_text()}
    return steps.step(version=1, form="json")(read_for_test)


def test_data_that_changes_while_it_is_read_gives_no_value_even_if_it_is_put_back(tmp_path):
    file = tmp_path / "data"

    def edit():
        file.write_text("other")

    def edit_and_put_back():
        edit()
        time.sleep(0.02)
        file.write_text("first")

    for meanwhile in (edit_and_put_back, edit):
        file.write_text("first")
        time.sleep(0.02)
        with pytest.raises(BadInput, match="data: what read_for_test reads was changed under way.*call again"):
            reading_step(meanwhile)(Data(file)).value()
        assert list(paths.store().rglob(MANIFEST)) == []
    file.write_text("first")
    step = reading_step(lambda: None)(Data(file))
    assert step.value() == {"read": "first"}
    assert step.lookup()[1] == "stored"
    step = reading_step(lambda: pytest.fail("it was read"))(Data(file))
    shutil.rmtree(paths.store())
    file.write_text("changed since the step was made")
    with pytest.raises(BadInput, match="was changed under way"):
        step.value()


def test_a_bad_time_of_fresh_is_told_and_an_empty_store_variable_is_none(monkeypatch):
    monkeypatch.setenv("BOOK_FRESH", "yesterday")
    with pytest.raises(BadInput, match="BOOK_FRESH='yesterday' is no time"):
        scale_step()(1.0).value()
    monkeypatch.setenv("BOOK_STORE", "")
    assert paths.store() == paths.ROOT / ".store"


def test_rebuild_gives_the_same_key_and_refuses_another_version():
    step = sum_step()([scale_step()(1.0, label="ü"), scale_step()(2)])
    recipe = json.loads(json.dumps(step.recipe()))
    assert rebuild(recipe).key == step.key
    assert rebuild(recipe).value() == {"result": 6.0}
    scale_step(version=2)
    with pytest.raises(KeyError, match="version 2, not 1"):
        rebuild(recipe)


SCRIPT = """
import sys, time
from pathlib import Path
from helpers.steps import step
HERE, END = Path(__file__).parent, time.monotonic() + 20
@step(version=1, form="folder")
def slow_for_test(n: int, *, folder: Path) -> None:
    (folder / "first.txt").write_text("first\\n" * n)
    print("called", file=(HERE / "calls").open("a"), flush=True)
    while not (HERE / "go").exists() and time.monotonic() < END:
        time.sleep(0.02)
    (folder / "second.txt").write_text("second\\n" * n)
(HERE / f"ready-{sys.argv[1]}").touch()
print((slow_for_test(1000).value() / "second.txt").read_text().count("second"))
"""


def start(tmp_path, name, store):
    (tmp_path / "script.py").write_text(SCRIPT)
    command, environment = [sys.executable, tmp_path / "script.py", name], {**os.environ, "BOOK_STORE": str(store)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_two_processes_at_once_compute_once(tmp_path):
    both = [start(tmp_path, name, tmp_path / "shared") for name in ("one", "two")]
    wait_until(lambda: all((tmp_path / name).exists() for name in ("ready-one", "ready-two", "calls")))
    time.sleep(0.3)  # the other one is now waiting for the lock
    (tmp_path / "go").touch()
    assert [process.communicate(timeout=120)[0] for process in both] == ["1000\n"] * 2
    assert (tmp_path / "calls").read_text() == "called\n"


def test_what_is_below_a_step_is_told_at_its_first_place_alone():
    index = {"step": "i", "key": "index", "seconds": 1.0, "inputs": [{"step": "s", "key": "store", "seconds": 2.0, "inputs": []}]}
    run = {"step": "r", "key": "run", "seconds": 3.0, "inputs": [index, {"step": "q", "key": "queries", "inputs": []}]}
    assert told_once([run, index], set()) == [run, index | {"inputs": []}]
    again = {"step": "n", "key": "n", "seconds": 1.0, "inputs": [index]}
    assert told_once([run, again], set()) == [run, again | {"inputs": [{"step": "i", "key": "index"}]}]
    costs = [ledger.cost({"key": "x", "inputs": lines}) for lines in ([run, index], told_once([run, index], set()))]
    assert costs[0] == costs[1] == 6


def test_the_first_use_counts_a_warning_is_told_once_and_memory_is_in_gib(monkeypatch, capsys):
    for source in ("computed", "stored"):
        ledger.note({"key": "k"}, source)
        ledger.warn("odd, for a test")
    assert ledger.USED["k"]["source"] == "computed" and capsys.readouterr().err == "  warning: odd, for a test\n"
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 2**12, "SC_PHYS_PAGES": 2**20}.get)  # 2**32 bytes
    assert ledger.machine.__wrapped__()["memory_gib"] == 4


def test_a_recipe_is_folded_and_comes_back_whole():
    texts = {"data": ["texts", "passage"], "digest": "d"}
    store = {"step": "text_store", "version": 1, "arguments": {"texts": texts}}
    index = {"step": "text_index", "version": 1, "arguments": {"store": store, "words": [1, {"again": 2}]}}
    whole = {"step": "run", "version": 1, "arguments": {"index": index, "stores": [store, store], "texts": texts}}
    kept = recipe.folded(whole)
    assert kept["arguments"]["index"] == index  # the first place; numbers: run 0, index 1, store 2, texts 3
    assert kept["arguments"]["stores"] == [{"$again": 2}] * 2 and kept["arguments"]["texts"] == {"$again": 3}
    assert recipe.unfolded(kept) == whole == recipe.unfolded(whole)
