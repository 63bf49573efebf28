"""The arithmetic of measurements: turns, medians, intervals, files, growth. Nothing is timed here. Names of models by their
shapes, and rates beside the study's."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.numpy import save

from dry_steps import ship
from helpers import paths
from helpers.costs import timing
from helpers.costs.timing import Measurements, always, busy, chosen, exponent, interleave, per_item, ratio, spread
from helpers.errors import BadInput
from helpers.networks.backbone import encoder_flops
from helpers.pages import page, rates
from helpers.pages.rates import SPOT_CHECK, spot_check
from helpers.steps import ledger, step
from helpers.steps.store import Store
from tables import cells
from toys import Value

# ---- turns ----

@pytest.fixture
def clock():
    """A clock that stands still unless work takes time: `clock.now += 1`."""
    made = SimpleNamespace(now=0.0)
    made.read = lambda: made.now
    return made


def test_contenders_take_turns_and_another_one_begins_each_round():
    order = []
    timings = interleave({name: always(lambda name=name: order.append(name)) for name in "abc"}, rounds=3)
    assert "".join(order) == "abc" + "bca" + "cab" + "abc"
    assert {name: len(values) for name, values in timings.seconds.items()} == {"a": 3, "b": 3, "c": 3}


def test_the_first_round_does_not_count_and_making_ready_is_not_timed(clock):
    spent = {"a": iter([100.0, 1.0, 2.0]), "b": iter([200.0, 3.0, 4.0])}

    def contender(name):
        def make_ready():
            clock.now += 1000.0

            def work():
                clock.now += next(spent[name])
                return name.upper()

            return work
        return make_ready

    timings = interleave({name: contender(name) for name in spent}, rounds=2, clock=clock.read)
    assert timings.seconds == {"a": [1.0, 2.0], "b": [3.0, 4.0]}
    assert timings.given == {"a": "A", "b": "B"}


def test_waiting_for_a_gpu_is_timed_after_the_work_and_not_before(monkeypatch, clock):
    waits = iter([50.0, 1.0, 60.0, 2.0])

    def wait():
        clock.now += next(waits)

    monkeypatch.setattr(timing, "wait", wait)
    assert interleave({"a": always(lambda: None)}, rounds=1, clock=clock.read).seconds == {"a": [2.0]}
    with pytest.raises(ValueError, match="0 rounds"):
        interleave({"a": always(lambda: None)}, rounds=0)


# ---- medians and intervals ----

@pytest.mark.parametrize("n, low, high", [(1, 0, 0), (2, 0, 1), (5, 0, 4), (6, 0, 5), (8, 0, 7), (9, 1, 7), (20, 5, 14)])
def test_the_interval_of_a_median(n, low, high):
    """By hand: of 5 rounds all lie on one side of the median with probability 2/32; of 9, at most one on one side with 20/512."""
    values = np.random.default_rng(n).permutation(n).tolist()
    interval = spread(values)
    assert (interval.median, interval.low, interval.high) == (np.median(values), low, high)


def test_a_ratio_is_taken_within_each_round():
    interval = ratio([2.0, 40.0, 9.0], [1.0, 10.0, 3.0])
    assert (interval.median, interval.low, interval.high) == (3.0, 2.0, 4.0)
    with pytest.raises(ValueError, match="zip"):
        ratio([1.0], [1.0, 2.0])


# ---- operations ----

def test_operations_are_counted_from_the_configuration():
    config = SimpleNamespace(num_hidden_layers=2, hidden_size=3, intermediate_size=5)
    linear = 2 * (4 * 3 * 3 + 2 * 3 * 5)  # of one token in a layer: 132
    attention = 2 * 2 * 3  # of one pair of tokens: the product of query and key, and the weighted sum
    assert encoder_flops(config, [4]) == 2 * (4 * linear + 16 * attention)
    assert encoder_flops(config, [4, 1], layers=1) == 5 * linear + 17 * attention
    base = SimpleNamespace(num_hidden_layers=12, hidden_size=768, intermediate_size=3072)
    assert encoder_flops(base, [1]) == pytest.approx(2 * 85_000_000, rel=0.01)  # two for each weight of its layers


# ---- the machine ----

INTEL = "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz"


@pytest.mark.parametrize("cpu, flags, gpu, kind, name", [
    ("AMD EPYC", ["avx2", "avx512_bf16", "avx512f"], None, "CPU without AMX", "amd-epyc-avx512-bf16"),
    ("AMD EPYC", ["amx_bf16", "avx2", "avx512_bf16"], None, "CPU with AMX", "amd-epyc-amx-bf16"),
    ("AMD EPYC", ["avx2"], "NVIDIA H200", "GPU", "nvidia-h200"),
    (INTEL, [], None, "CPU without AMX", "intel-xeon-platinum-8481c")])
def test_machines_are_told_apart(cpu, flags, gpu, kind, name):
    of = {"device": "cuda" if gpu else "cpu", "flags": flags, "gpu": gpu, "cpu": cpu}
    assert (Measurements("", {"machine": of}).kind, timing.name_of(of)) == (kind, name)


# ---- files ----

@pytest.fixture
def here(monkeypatch, places):
    """This machine is an AMD EPYC with AVX512-BF16, and its files lie in a folder of the test's."""
    own = {"cpu": "AMD EPYC", "cores": 2, "threads": None, "memory_gib": 24, "system": "Linux", "python": "3.11", "device": "cpu",
           "dtype": "bf16", "flags": ["avx512_bf16"], "gpu": None}
    monkeypatch.setattr(timing, "describe", lambda: own)
    places("BENCH")
    return own


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"machine": {}, "sections": {}, "more": 1}'])
def test_a_file_that_holds_no_measurements_is_refused(here, text):
    file = paths.BENCH / "a.json"
    file.write_text(text)
    with pytest.raises(BadInput):
        timing.read(file)
    assert file.read_text() == text


def test_the_latest_measurements_come_first(here):
    assert timing.all_machines() == []
    for name, date in (("old", "2026-01-01"), ("new", "2026-03-01"), ("middle", "2026-02-01")):
        sections = {"a": {"measured": date}, "b": {"measured": "2025"}}
        (paths.BENCH / f"{name}.json").write_text(json.dumps({"machine": {}, "sections": sections}))
    assert [one.name for one in timing.all_machines()] == ["new", "middle", "old"]


# ---- what a file says ----

def measured(**sections):
    return Measurements("x", {"machine": {"device": "cpu", "flags": ["amx_bf16"], "gpu": None, "cpu": "X"}, "sections": sections})


SECTION = {"small": False, "items": 10, "contenders": {
    timing.OURS: {"seconds": [8.0, 10.0]}, timing.CROSS_ENCODER: {"seconds": [32.0, 60.0]}}}


def test_a_rate_is_that_of_an_item_or_a_real_token_and_ratios_are_taken_within_each_round():
    assert per_item(SECTION, timing.OURS) == [0.8, 1.0]
    training = {**SECTION, "steps": 2, "tokens": {timing.OURS: {"real": 4, "padded": 8}}}
    assert per_item(training, timing.OURS) == [2.0, 2.5]
    interval = measured(rerank=SECTION).against_ours("rerank", timing.CROSS_ENCODER)
    assert (interval.median, interval.low, interval.high) == (5.0, 4.0, 6.0)


@pytest.mark.parametrize("sections, told", [
    ({"rerank": {**SECTION, "small": True}}, None), ({"rerank": SECTION}, SECTION), ({}, None)])
def test_a_trial_is_no_measurement(sections, told):
    assert measured(**sections).section("rerank") == told


def test_the_machine_at_hand_is_chosen_else_the_latest_else_none(here):
    other, own = (Measurements(name, {"machine": {**here, "cpu": cpu}, "sections": {}})
                  for name, cpu in (("a", "Xeon"), ("b", "AMD EPYC")))
    assert chosen([other, own], "") is own
    assert chosen([other], "") is other
    assert chosen([other, own], "a") is other
    assert chosen([], "").content["sections"] == {}
    with pytest.raises(BadInput, match="no measurements of a machine 'c'.*choose from a, b"):
        chosen([other, own], "c")


# ---- growth ----

def grown(seconds, megabytes=(9.0, 9.0)):
    """A cost at two sizes, the second ten times the first."""
    return [{"size": size, "seconds": [spent], "megabytes": [held]}
            for size, spent, held in zip((10, 100), seconds, megabytes, strict=True)]


def test_the_exponent_of_growth_is_one_in_proportion():
    assert exponent(grown((1.0, 10.0)), "seconds") == pytest.approx(1.0)
    assert exponent(grown((1.0, 100.0)), "seconds") == pytest.approx(2.0)
    assert math.isnan(exponent(grown((1.0, 10.0), (0.0, 9.0)), "megabytes"))  # a point without memory does not count


def test_other_programs_are_named_where_the_load_exceeds_the_cores():
    assert (busy([1.0, 2.5], 2), busy([2.6], 2)[:14]) == ("", "Other programs")


def timed(rates):
    """A timing of 4 queries in three rounds: retrieval takes no time, and each size has its queries a minute."""
    sizes = {size: {"parameters": 1, "seconds": [240 / value for value in values]} for size, values in rates.items()}
    return {"queries": 4, "windows": 9, "device": "cpu", "retrieval": [0.0, 0.0, 0.0], "sizes": sizes}


@pytest.mark.parametrize("spec, shape, label", [("packaged", "6/384/12", "L6-H384"), ("packaged:0,1,2", "3/384/12", "L3-H384"),
                                                ("packaged:5,0", "2/384/12", "L2-H384"), ("packaged/256", "6/256/8", "L6-H256"),
                                                ("packaged:0,1/96", "2/96/3", "L2-H96")])
def test_the_packaged_backbone_has_a_shape_and_a_label(spec, shape, label):
    assert rates.shape(spec) == shape
    assert rates.label(spec) == label


def bert_of(folder, layers, dimensions):
    """A folder as a backbone of that shape, without weights."""
    folder.mkdir(parents=True)
    config = {"model_type": "bert", "num_hidden_layers": layers, "hidden_size": dimensions, "num_attention_heads": 2}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").write_bytes(save({}))
    return str(folder)


@pytest.mark.parametrize("layers, dimensions, label", [(2, 128, "BERT-Tiny"), (8, 512, "BERT-Medium"), (4, 768, "L4-H768"),
                                                       (3, 128, "L3-H128")])
def test_a_shape_of_the_study_has_the_studys_name(tmp_path, layers, dimensions, label):
    folder = bert_of(tmp_path / "own", layers, dimensions)
    assert (rates.shape(folder), rates.label(folder)) == (f"{layers}/{dimensions}/2", label)


def test_backbones_of_one_shape_are_told_apart_by_their_names(tmp_path):
    folders = [bert_of(tmp_path / where / "mine", 2, 128) for where in "ab"]
    assert rates.labels(["packaged:0,1", "packaged:2,3", "packaged"]) == {
        "L2-H384 MiniLM (layers 0,1)": "packaged:0,1", "L2-H384 MiniLM (layers 2,3)": "packaged:2,3", "L6-H384": "packaged"}
    assert list(rates.labels(folders)) == [f"BERT-Tiny {folder}" for folder in folders]  # of one name, too


def test_rates_stand_beside_the_studys_and_relative_to_bert_base():
    recorded = {size: [1.0, 2.0, 3.0] for size in rates.studied_shapes().values()} | {"2/128/2": [90.0, 100.0, 110.0]}
    rows = rates.rates_beside_published([(timed(recorded), Value()), (timed(dict.fromkeys(recorded, [8.0] * 3)), None)])
    assert list(rows) == list(rates.studied_shapes().values())
    shown = page.show_table("", [str(n) for n in range(8)], [*rows.values()], 2)
    base, *_, tiny = cells(shown)[1:]
    assert base == ["BERT-Base", "12/768/12", "0.41", "1.0×", "2.00 1.00 to 3.00", "1.0×", "8.00 8.00 to 8.00", "1.0×"]
    assert tiny == ["BERT-Tiny", "2/128/2", "24.3", "59.3×", "100 90.0 to 110", "50.0×", "8.00 8.00 to 8.00", "1.0×"]
    assert shown.html.count('href="#step-0123456789"') == 6


# ---- recorded times have a short measurement of this machine beside them ----

@step(version=1, form="json", timing=True)
def toy_seconds(names: list[str], rounds: int) -> dict[str, list[float]]:
    """So many rounds of each, all of two seconds."""
    return {name: [2.0] * rounds for name in names}


def record(timing, seconds):
    """As if another machine had measured it."""
    def fill(folder):
        (folder / "value.json").write_text(seconds)

    manifest = {"step": timing.name, "form": "json", "numerics": "measured", "recipe": timing.recipe(),
                "seconds": 60.0, "finished": "2026-01-01T00:00:00Z",
                "inputs": [], "machine": {"cpu": "The reference", "cores": 8, "threads": 1}}
    Store(paths.store()).write(timing.name, timing.key, manifest, fill)
    ship(timing.name)


def test_a_recorded_time_is_checked_by_a_short_measurement(own_store):
    timing = toy_seconds(["a", "b"], 5)
    record(timing, '{"a": [8.0, 1.0, 4.0], "b": [0.99]}')
    shown = spot_check(timing, dict, "seconds", names=["a"], rounds=1)
    assert [row[0] for row in cells(shown)[1:]] == ["a"]
    assert [text.strip() for text in cells(shown)[1][1:]] == ["4.000", "2.000", "0.50×"]
    assert "recorded on The reference, 1 thread of 8 cores" in shown.html
    assert shown.data == {SPOT_CHECK: toy_seconds(["a"], 1).key}
    assert "no order" not in shown.html  # twice, and not more
    apart = [spot_check(timing, dict, "seconds", names=names, rounds=1).html for names in (["b"], ["a", "b"])]  # .5 and 2.02
    assert "lie 2.0 times apart" in apart[0] and "lie 4.0 times apart" in apart[1]
    with pytest.raises(TypeError, match="unexpected keyword argument 'sizes'"):
        spot_check(timing, dict, "seconds", sizes=[])


def test_where_the_times_are_of_this_machine_nothing_is_measured_again(own_store):
    timing = toy_seconds(["a", "b"], 5).here()
    record(timing, '{"a": [8.0], "b": [8.0]}')
    assert timing.value() == {"a": [2.0] * 5, "b": [2.0] * 5}
    shown = spot_check(timing, dict, "seconds", names=["a"], rounds=1)
    assert "measured on the machine that executed it" in shown.markdown
    assert list(ledger.USED) == [timing.key]
