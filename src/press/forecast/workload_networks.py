"""The same for each step with a network, and its floating-point operations.

A training costs three times its forward passes: the backward pass takes two. Evaluations within a training are left out.
"""

from collections.abc import Callable

from helpers.networks.inference import AT_ONCE, GPU_TOKEN_BUDGET
from press.forecast.scale import Network, assumed
from press.forecast.workload import Load, rows
from press.forecast.workload_inputs import (
    Recipe,
    candidates,
    input_length,
    judgment_count,
    network,
    pair_count,
    query_count,
    texts,
    windows,
)

WEIGHT, VECTOR = 4, 4  # bytes of a parameter on disk, of a vector's dimension
TRAINING = 3  # forward passes that a training step is worth
TRAINED = 16  # bytes of GPU memory a parameter: itself, its gradient and AdamW's two moments, in single precision
HALF = 2  # bytes of a number in bfloat16
SHARD = 50_000  # passages whose tokens and vectors are in memory at once (`embeddings.SHARD`)
WORD_WEIGHT = 20  # bytes of a word with its weight in JSON
MASKED_ROW = 8  # bytes of a word piece in a pre-training's memory


def _cross_encoder(found: Recipe) -> Load:
    pairs, pieces = pair_count(found["pairs"])
    length, model = input_length(found, pieces), network(found.get("start") or found["backbone"])
    forward = pairs * found["epochs"] * model.forward(length, _globally(found))
    copies = 1 + ("patience" in found)
    return Load(model.parameters * WEIGHT * copies, assumed("network_process") + pairs * length * assumed("token_row"),
                _training_memory(model, found["batch_size"], length),
                forward * (1 if found.get("trainable") in ("head", "pooler") else TRAINING))


def _distilled_cross_encoder(found: Recipe) -> Load:
    pairs, pieces = pair_count(found["pairs"])
    length, teacher = input_length(found, pieces), network(found["teacher"])
    student = teacher.with_layers(len(found["layers"]))
    return Load(student.parameters * WEIGHT, assumed("network_process") + pairs * length * assumed("token_row"),
                _training_memory(student, found["batch_size"], length) + _training_memory(teacher, found["batch_size"], length)
                - teacher.parameters * (TRAINED - WEIGHT),
                pairs * found["epochs"] * (TRAINING * student.forward(length) + teacher.forward(length)))


def _copied_model(found: Recipe) -> Load:
    return Load(network(found["model"]).parameters * WEIGHT, assumed("network_process"))


def _longformer_of(found: Recipe) -> Load:
    model = network(found["model"]).as_longformer(found["window"])
    return Load(model.parameters * WEIGHT, assumed("network_process"))


def _window_scores(found: Recipe) -> Load:
    queries, number, pieces = candidates(found)
    length, model = input_length(found, pieces), network(found["model"])
    load = rows(queries * number, assumed("network_process"))
    at_once = min(queries * number, AT_ONCE) * length * assumed("token_row")
    return Load(load.disk, load.memory + at_once, _inference_memory(model),
                queries * number * model.forward(length, _globally(found)))


def _dense_window_scores(found: Recipe) -> Load:
    queries, number, pieces = candidates(found)
    model = network(found["backbone"])
    load = rows(queries * number, assumed("network_process"))
    return Load(load.disk, load.memory, _inference_memory(model),
                queries * number * model.forward(min(found["max_length"], pieces + 2)))


def _bi_encoder(found: Recipe) -> Load:
    queries = query_count(found["queries"])
    passages, (_, pieces) = 1 + found["negatives"], windows(found["tokens"])
    query, passage = min(found["query_length"], assumed("query_pieces") + 2), min(found["max_length"], pieces + 2)
    model = network(found.get("start") or found["backbone"])
    tokens = query + passages * passage
    return Load(model.parameters * WEIGHT, assumed("network_process") + queries * tokens * assumed("token_row"),
                _training_memory(model, found["batch_size"] * tokens / passage, passage),
                TRAINING * found["epochs"] * queries * (model.forward(query) + passages * model.forward(passage)))


def _passage_embeddings(found: Recipe) -> Load:
    facts, (_, pieces) = texts(found["store"]), windows(found["tokens"])
    model, length = network(found.get("model") or found["backbone"]), min(found["max_length"], pieces + 2)
    at_once = min(SHARD, facts.texts) * (length * assumed("token_row") + model.dimensions * VECTOR)
    return Load(facts.texts * model.dimensions * VECTOR, assumed("network_process") + at_once, _inference_memory(model),
                facts.texts * model.forward(length))


def _query_embeddings(found: Recipe) -> Load:
    queries, model = query_count(found["queries"]), network(found.get("model") or found["backbone"])
    vectors = queries * model.dimensions * VECTOR
    return Load(vectors, assumed("network_process") + vectors, _inference_memory(model),
                queries * model.forward(min(found["query_length"], assumed("query_pieces")) + 2))


def _deepct(found: Recipe) -> Load:
    passages = judgment_count(found["targets"]["arguments"]["qrels"])
    queries = query_count(found["targets"]["arguments"]["queries"])
    model, length = network(found["backbone"]), min(found["max_length"], texts(found["store"]).pieces + 2)
    read = min(passages, queries * max(1.0, passages / _all_queries(found["targets"])))
    return Load(model.parameters * WEIGHT, assumed("network_process") + read * length * assumed("token_row"),
                _training_memory(model, found["batch_size"], length),
                TRAINING * found["epochs"] * read * model.forward(length))


def _word_weights(found: Recipe) -> Load:
    facts, model = texts(found["store"]), network(found["model"])
    length = min(found["max_length"], facts.pieces + 2)
    return Load(facts.texts * facts.words * WORD_WEIGHT, assumed("network_process"), _inference_memory(model),
                facts.texts * model.forward(length))


def _generated_queries(found: Recipe) -> Load:
    """An encoder that reads every text once, and a decoder of as many layers that writes every word piece of every query."""
    facts, model = texts(found["store"]), network(found["generator"])
    length = min(found["max_length"], facts.pieces + 1)
    written = found["queries"] * min(found["query_length"], assumed("query_pieces") + 1)
    across = 4 * model.dimensions**2 * 2 * model.layers  # the decoder's second attention, its projections
    return Load(facts.texts * found["queries"] * assumed("query_words") * facts.bytes / facts.words, assumed("network_process"),
                _inference_memory(model), facts.texts * (model.forward(length) + written * (model.forward(1) + across)))


def _pretrained(found: Recipe) -> Load:
    facts, model = texts(found["store"]), network(found["backbone"])
    size = found["max_length"] - 2
    pieces = max(1.0, facts.pieces / size)  # pieces of a text
    length = facts.pieces / pieces + 2
    head = model.forward(length) * found["head_layers"] / model.layers
    masked = found["share"] * facts.pieces / pieces * (1 + (found["head_layers"] > 0))
    output = 2 * model.dimensions * (model.dimensions + model.vocabulary) * masked
    return Load(model.parameters * WEIGHT, assumed("network_process") + facts.texts * facts.pieces * MASKED_ROW,
                _training_memory(model, found["batch_size"], length),
                TRAINING * found["epochs"] * facts.texts * pieces * (model.forward(length) + head + output))


def _globally(found: Recipe) -> float:
    return min(found["query_length"], assumed("query_pieces")) + 2


def _all_queries(targets: Recipe) -> float:
    """The queries that the judgments were made for: all of the same splits."""
    queries = targets["arguments"]["queries"]
    return query_count({**queries, "arguments": {**queries["arguments"], "sample": 0}})


def _training_memory(model: Network, batch: float, length: float) -> float:
    """Weights with what AdamW keeps, and the activations of a batch, as Korthikanti et al. (2022), equation 1, count them."""
    pairs = min(length, model.window) if model.window else length
    return model.parameters * TRAINED + model.layers * batch * length * (34 * model.dimensions + 5 * model.heads * pairs)


def _inference_memory(model: Network) -> float:
    """Weights in half precision, and the states of one layer for all tokens that are scored at once."""
    return HALF * (model.parameters + GPU_TOKEN_BUDGET * (model.inner + 4 * model.dimensions))


RULES: dict[str, Callable[[Recipe], Load]] = {
    "cross_encoder": _cross_encoder, "distilled_cross_encoder": _distilled_cross_encoder, "early_stopped": _copied_model,
    "longformer_of": _longformer_of, "window_scores": _window_scores, "dense_window_scores": _dense_window_scores,
    "bi_encoder": _bi_encoder, "passage_embeddings": _passage_embeddings, "query_embeddings": _query_embeddings,
    "deepct": _deepct, "word_weights": _word_weights, "generated_queries": _generated_queries, "pretrained": _pretrained}
