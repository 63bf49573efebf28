"""What a recipe says of the size of its work: queries, candidates, windows, training examples, and the network that it runs.

Recipes are read as they stand; nothing is looked up but `scale`'s facts, ir_datasets' own catalogue and the Almanac.
"""

import functools
from typing import Any

from helpers.data.collection import open_collection
from press.forecast import scale
from press.forecast.scale import Network, TextFacts, Unknown

Recipe = dict[str, Any]
SPECIAL = 3  # tokens besides query and window in the input of a cross-encoder: [CLS] and two [SEP]


def arguments(recipe: Recipe) -> Recipe:
    """The arguments of a step's recipe; Unknown for anything else."""
    if not isinstance(recipe, dict) or "arguments" not in recipe:
        raise Unknown("no step")
    return recipe["arguments"]


def texts(store: Recipe) -> TextFacts:
    """The facts on the texts of a text store."""
    part = arguments(store).get("texts")
    if part is None:
        raise Unknown(store["step"])
    return scale.texts(part["collection"], part["data"][1])


def windows(tokens: Recipe, candidate: bool = False) -> tuple[float, float]:
    """Windows of a text, or of one that BM25 finds, and word pieces of a window, on average, by the step `window_tokens`."""
    found = arguments(tokens)
    facts, cut = texts(found["store"]), (found["words"], found["overlap"])
    return facts.windows(*cut, candidate), facts.window_pieces(*cut, candidate)


def query_count(queries: Recipe) -> float:
    """How many queries a step gives."""
    found = arguments(queries)
    if queries["step"] == "queries":
        whole = [_count("queries", part["collection"], part["data"][-1]) for part in found["parts"]]
        return sum(min(found["sample"] or number, number) for number in whole)
    if queries["step"] == "adhoc_queries":
        return len(found["texts"])
    return query_count(found["queries"]) if "queries" in found else _unknown(queries)


def judgment_count(qrels: Recipe) -> float:
    """How many judgments a step gives."""
    return sum(_count("qrels", part["collection"], part["data"][-1], part["data"][1]) for part in arguments(qrels)["parts"])


def ranking(run: Recipe) -> tuple[float, float]:
    """Queries of a run, and how many texts it has for each."""
    found = arguments(run)
    if "depth" in found and "queries" in found:
        return query_count(found["queries"]), found["depth"]
    if "run" not in found:
        _unknown(run)
    queries, depth = ranking(found["run"])
    if run["step"] == "candidates_with_positives":
        return queries, min(found["candidates"], depth) + 1  # and its relevant passage
    return queries, min(found.get("depth", depth), depth)


def candidates(found: Recipe) -> tuple[float, float, float]:
    """Queries, windows of each query's candidates, and pieces of a window, of a step that reads `candidates` of a run."""
    queries, depth = ranking(found["run"])
    number, pieces = windows(found["tokens"], candidate=True)
    return queries, min(found["candidates"], depth) * number, pieces


def pair_count(pairs: Recipe) -> tuple[float, float]:
    """Training pairs, and pieces of a window, by the step `training_pairs`.

    Every query counts, though one without a relevant candidate gives none where some are drawn: an upper bound.
    """
    found = arguments(pairs)
    queries, every, pieces = candidates(found)
    one = every / min(found["candidates"], ranking(found["run"])[1])  # windows of one candidate
    positives = min(found["positives"] or one, one)
    negatives = min(found["negatives"] or every, every - one)
    return queries * (positives + negatives), pieces


def input_length(found: Recipe, pieces: float) -> float:
    """Tokens of a cross-encoder's input on average."""
    query = min(scale.assumed("query_pieces"), found["query_length"])
    return min(found["max_length"], query + pieces + SPECIAL)


def network(value: Recipe) -> Network:
    """The network of a backbone, or of the step that made a model."""
    if "data" in value:
        return _backbone(value["data"][1])
    found = arguments(value)
    if value["step"] == "longformer_of":
        return network(found["model"]).as_longformer(found["window"])
    if value["step"] == "distilled_cross_encoder":
        return network(found["teacher"]).with_layers(len(found["layers"]))
    for name in ("start", "model", "backbone"):
        if name in found:
            return network(found[name])
    return _unknown(value)


def _backbone(spec: str) -> Network:
    name, _, layers = spec.removeprefix("hub:").split("@")[0].partition(":")
    whole = scale.network(name)
    return whole.with_layers(len(layers.split(","))) if layers else whole


@functools.cache
def _count(kind: str, collection: str, split: str, unit: str = "") -> int:
    source = open_collection(collection)
    if hasattr(source, "size"):
        return source.size(kind, split)
    return len(source.queries(split) if kind == "queries" else source.qrels(unit, split))


def _unknown(recipe: Recipe) -> Any:
    raise Unknown(recipe["step"])
