import pytest

from helpers.costs.length_cost import KINDS, length_cost, reader
from helpers.networks.backbone import resolve

pytestmark = pytest.mark.slow


def test_every_kind_and_length_is_measured(store):
    result = length_cost(resolve("packaged:0"), [96, 32], 16, 2, "cpu").value()
    assert list(result) == list(KINDS)
    for rows in result.values():
        assert [row["length"] for row in rows] == [32, 96]
        assert all(len(row["seconds"]) == 2 and min(row["seconds"]) > 0 for row in rows)
        assert rows[0]["megabytes"] > 20  # the embeddings alone are twelve million values of two bytes or more


def test_the_kinds_differ_in_attention_alone():
    full, windowed = (reader(kind, resolve("packaged:0"), 64, 16) for kind in KINDS[::-1])
    assert full.config.model_type == "bert" and windowed.config.model_type == "longformer"
    assert full.config.num_hidden_layers == windowed.config.num_hidden_layers == 1


def test_a_measurement_that_fails_says_so(store):
    with pytest.raises(RuntimeError, match="even number"):
        length_cost(resolve("packaged:0"), [32], 15, 1, "cpu").value()


def test_a_backbone_with_a_small_vocabulary_is_measured(store, small_vocabulary):
    result = length_cost(resolve(small_vocabulary), [32], 16, 1, "cpu").value()
    assert [len(rows) for rows in result.values()] == [1, 1]
