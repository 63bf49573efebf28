import resource
import sys

import numpy as np
import pytest

from helpers.costs import peak_memory
from helpers.costs.peak_memory import inference_memory, peak, reset_peak, resident
from helpers.networks.backbone import resolve

MEGABYTE = 10**6
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def measured(specs, precision="fp32", backbones=()):
    return inference_memory.definition.function(specs, list(backbones), 2, 8, 1, precision, "cpu")


@pytest.fixture(scope="module")
def sizes():
    """A small and a larger model, measured while this process holds 300 MB, then without them."""
    ballast = np.ones(300 * MEGABYTE // 8)
    beside = measured(["BERT/1/32/2", "BERT/2/512/8"], backbones=[resolve("packaged:0")])
    assert ballast.sum() > 0
    del ballast
    return beside


@pytest.mark.slow
def test_a_larger_model_takes_more(sizes):
    small, large, _ = sizes.values()
    assert all(large[kind] > small[kind] for kind in ("weights", "model", "whole"))


@pytest.mark.slow
def test_the_weights_are_part_of_the_model_and_the_model_of_the_whole(sizes):
    large = sizes["BERT/2/512/8"]
    assert large["weights"] == 4 * ((30522 + 512 + 2) * 512 + 1024 + 2 * (4 * 513 * 512 + 1024 + 513 * 2048 + 2049 * 512 + 1024))
    assert large["weights"] <= large["model"] < large["weights"] + 60 * MEGABYTE
    assert large["model"] < large["whole"]


@linux
@pytest.mark.slow
def test_the_memory_of_the_process_that_asks_does_not_count(sizes):
    alone = measured(["BERT/1/32/2"])["BERT/1/32/2"]
    assert abs(sizes["BERT/1/32/2"]["whole"] - alone["whole"]) < 60 * MEGABYTE


@pytest.mark.slow
def test_half_the_precision_takes_half_the_weights(sizes):
    result = measured(["BERT/2/512/8"], "bf16")["BERT/2/512/8"]
    assert 2 * result["weights"] == sizes["BERT/2/512/8"]["weights"]
    assert result["model"] < sizes["BERT/2/512/8"]["model"] - 20 * MEGABYTE


@pytest.mark.slow
def test_what_went_wrong_is_said():
    with pytest.raises(RuntimeError, match="no backbone 'nothing'"):
        measured(["BERT/1/32/2", "nothing"])


@linux
def test_the_high_water_mark_sees_what_is_gone_until_it_is_reset():
    block = np.ones(200 * MEGABYTE // 8)
    assert resident() > 200 * MEGABYTE
    del block
    assert peak() > resident() + 150 * MEGABYTE
    reset_peak()
    assert peak() < resident() + 50 * MEGABYTE


@pytest.mark.parametrize("platform, unit", [("darwin", 1), ("linux", 1024)])
def test_without_that_account_the_peak_of_the_whole_life_counts(tmp_path, monkeypatch, platform, unit):
    monkeypatch.setattr(peak_memory, "STATUS", tmp_path / "none")
    monkeypatch.setattr(peak_memory, "CLEAR", tmp_path / "none" / "either")
    monkeypatch.setattr(peak_memory.sys, "platform", platform)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert peak() == most * unit
    reset_peak()  # nothing to reset, and no error
