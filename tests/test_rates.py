"""Names of models by their shapes, and rates beside the study's."""

import json

import pytest
from safetensors.numpy import save

from dry_steps import ship
from helpers import paths
from helpers.pages import page, rates
from helpers.pages.rates import SPOT_CHECK, spot_check
from helpers.steps import ledger, step
from helpers.steps.store import Store
from tables import cells
from toys import Value


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
