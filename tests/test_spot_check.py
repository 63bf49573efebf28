"""Recorded times have a short measurement of this machine beside them."""

import pytest

from dry_steps import ship
from helpers import paths
from helpers.pages.rates import SPOT_CHECK, spot_check
from helpers.steps import ledger, step
from helpers.steps.store import Store
from tables import cells


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
    record(timing, '{"a": [8.0, 1.0, 4.0], "b": [1.0]}')
    shown = spot_check(timing, dict, "seconds", names=["a"], rounds=1)
    assert [row[0] for row in cells(shown)[1:]] == ["a"]
    assert [text.strip() for text in cells(shown)[1][1:]] == ["4.000", "2.000", "0.50×"]
    assert "recorded on The reference, 1 thread of 8 cores" in shown.html
    assert shown.data == {SPOT_CHECK: toy_seconds(["a"], 1).key}


def test_where_the_times_are_of_this_machine_nothing_is_measured_again(own_store):
    timing = toy_seconds(["a", "b"], 5).here()
    record(timing, '{"a": [8.0], "b": [8.0]}')
    assert timing.value() == {"a": [2.0] * 5, "b": [2.0] * 5}
    shown = spot_check(timing, dict, "seconds", names=["a"], rounds=1)
    assert "measured on the machine that executed it" in shown.markdown
    assert list(ledger.USED) == [timing.key]


def test_another_measurement_has_known_arguments_alone():
    with pytest.raises(TypeError, match="toy_seconds has no argument 'sizes'"):
        toy_seconds(["a"], 1).again(sizes=[])
