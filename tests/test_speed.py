import pytest

from helpers.costs import speed
from helpers.networks import backbone
from helpers.retrieval.indexes import text_index


def parameters(layers, dimensions, vocabulary=30522, positions=512):
    """Of a BERT with one output: embeddings, layers, pooler, output layer; each layer's norm has two vectors."""
    inner, norm = 4 * dimensions, 2 * dimensions
    embeddings = (vocabulary + positions + 2) * dimensions + norm
    projections = 4 * dimensions * (dimensions + 1)
    feed_forward = inner * (dimensions + 1) + dimensions * (inner + 1)
    return embeddings + layers * (projections + norm + feed_forward + norm) + dimensions * (dimensions + 1) + dimensions + 1


def step_of(bed, sizes, timed=1, rounds=2):
    encoder = backbone.resolve("packaged")
    return speed.ranking_speed(sizes, encoder, text_index(bed.store), bed.query_step, bed.store, bed.tokens(encoder), 0.9, 0.4,
                               2, 32, 8, timed, rounds, "cpu")


# ---- rates ----

def test_queries_per_minute_count_retrieval_and_reranking():
    times = {"queries": 4, "retrieval": [1.0, 3.0], "sizes": {"small": {"seconds": [3.0, 5.0]}, "big": {"seconds": [23.0, 57.0]}}}
    assert speed.per_minute(times, "small").tolist() == [60.0, 30.0]  # 240 / 4, 240 / 8
    assert speed.per_minute(times, "big").tolist() == [10.0, 4.0]


# ---- models of a shape ----

def test_the_count_of_parameters_by_hand_is_that_of_bert_base():
    # 109,482,240 are known of bert-base-uncased, and 769 are those of the output layer
    assert parameters(12, 768) == 109_482_240 + 769
    assert parameters(1, 32) == 1_007_009


@pytest.mark.slow
@pytest.mark.parametrize("layers, dimensions, heads", [(1, 32, 2), (2, 64, 4), (3, 32, 1)])
def test_a_random_model_has_the_shape_and_its_parameters(layers, dimensions, heads):
    model = speed.random_cross_encoder(f"{layers}/{dimensions}/{heads}", backbone.resolve("packaged"))
    assert len(model.base_model.encoder.layer) == layers
    assert model.classifier.weight.shape == (1, dimensions)
    assert (model.config.hidden_size, model.config.num_attention_heads) == (dimensions, heads)
    assert model.num_parameters() == parameters(layers, dimensions)
    assert not model.training


# ---- the step ----

@pytest.mark.slow
def test_a_ranking_is_timed_whole(bed):
    result = step_of(bed, ["1/32/2"]).value()
    assert (result["queries"], result["device"]) == (1, "cpu")
    assert result["windows"] == 2  # the two candidates are of one window each
    assert result["sizes"]["1/32/2"]["parameters"] == parameters(1, 32)
    for seconds in (result["retrieval"], result["sizes"]["1/32/2"]["seconds"]):
        assert len(seconds) == 2
        assert min(seconds) > 0
    assert (speed.per_minute(result, "1/32/2") > 0).all()


@pytest.mark.slow
def test_no_more_queries_are_timed_than_there_are(bed):
    assert step_of(bed, ["1/32/2"], timed=9, rounds=1).value()["queries"] == 3
