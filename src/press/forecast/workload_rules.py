"""Disk and memory of each step without a network that matters at scale, by plain formulas over its arguments; and all `RULES`.

Whatever a step keeps only while it runs is left out. Of memory each rule counts what grows with the data, over a process's own.
"""

from collections.abc import Callable

from helpers.retrieval import prebuilt
from press.forecast import scale, workload_networks
from press.forecast.scale import assumed
from press.forecast.workload import Load, rows
from press.forecast.workload_inputs import Recipe, network, pair_count, query_count, ranking, texts

WEIGHT, PLACE, VECTOR, PIECE = 4, 8, 4, 2  # bytes of a link in a graph, of a position, of a vector's dimension, of a word piece


def _text_store(found: Recipe) -> Load:
    facts = scale.texts(found["texts"]["collection"], found["texts"]["data"][1])
    return Load(facts.texts * (facts.bytes + assumed("store_row")), assumed("process"))


def _text_index(found: Recipe) -> Load:
    facts = texts(found["store"])
    return _index(facts.texts * facts.bytes)


def _first_words_index(found: Recipe) -> Load:
    facts = texts(found["store"])
    return _index(facts.texts * facts.bytes * min(1.0, found["words"] / facts.words))


def _window_index(found: Recipe) -> Load:
    facts = texts(found["store"])
    number = facts.windows(found["words"], found["overlap"])
    return _index(facts.texts * (facts.words + (number - 1) * found["overlap"]) * facts.bytes / facts.words)


def _prebuilt_index(found: Recipe) -> Load:
    return Load(2.0 * prebuilt.describe(found["name"]).compressed_size, assumed("process"))  # the archive, and unpacked


def _expanded_index(found: Recipe) -> Load:
    facts, asked = texts(found["store"]), found["generated"]["arguments"]["queries"]
    return _index(facts.texts * (facts.bytes + asked * assumed("query_words") * facts.bytes / facts.words))


def _weighted_index(found: Recipe) -> Load:
    return _text_index(found["weights"]["arguments"])  # each word is listed once, as before


def _window_tokens(found: Recipe) -> Load:
    facts, cut = texts(found["store"]), (found["words"], found["overlap"])
    pieces = facts.texts * facts.windows(*cut) * facts.window_pieces(*cut)
    places = facts.texts * (facts.windows(*cut) + 1) * PLACE
    return Load(pieces * PIECE + places, assumed("process"))


def _lexical_run(found: Recipe) -> Load:
    queries, depth = query_count(found["queries"]), found["depth"]
    return rows(queries * depth, assumed("process") + assumed("java"))


def _best_window(found: Recipe) -> Load:
    return _of_a_run("max_passage", found)


def _judged_candidates(found: Recipe) -> Load:
    return _of_a_run("candidates_with_positives", found)


def _reranked(found: Recipe) -> Load:
    return _of_a_run("reranked", found)


def _of_a_run(name: str, found: Recipe) -> Load:
    queries, depth = ranking({"step": name, "arguments": found})
    return rows(queries * depth, assumed("process"))


def _training_pairs(found: Recipe) -> Load:
    queries, depth = ranking(found["run"])
    pairs, _ = pair_count({"step": "training_pairs", "arguments": found})
    load = rows(pairs, assumed("process"))
    return Load(load.disk, load.memory + queries * depth * assumed("frame_row"))


def _exact_search(found: Recipe) -> Load:
    return rows(query_count(found["queries"]) * found["depth"], assumed("network_process"))


def _search_index(found: Recipe) -> Load:
    """FAISS's indexes of all vectors, or of `size` of them: exact, by cells, and by a graph with its links, all in memory."""
    vectors = found["passages"]["arguments"]
    number = found.get("size", texts(vectors["store"]).texts)
    dimensions = network(vectors.get("model") or vectors["backbone"]).dimensions
    return Load(0.0, assumed("process") + number * (3 * dimensions * VECTOR + 2 * found["M"] * WEIGHT))


def _corpus(found: Recipe) -> Load:
    number = texts(found["store"]).texts
    return Load(number * assumed("run_row") / 3, assumed("process") + number * assumed("frame_row") / 3)  # one column of three


def _index(size: float) -> Load:
    return Load(size * assumed("index_share"), assumed("process") + assumed("java"))


RULES: dict[str, Callable[[Recipe], Load]] = {
    "text_store": _text_store, "text_index": _text_index, "first_words_index": _first_words_index, "window_index": _window_index,
    "prebuilt_index": _prebuilt_index, "expanded_index": _expanded_index, "weighted_index": _weighted_index,
    "window_tokens": _window_tokens, "bm25_run": _lexical_run, "weighted_run": _lexical_run, "rm3_run": _lexical_run,
    "trec_run": _lexical_run, "max_passage": _best_window, "candidates_with_positives": _judged_candidates, "reranked": _reranked,
    "training_pairs": _training_pairs, "exact_search": _exact_search, "search_speed": _search_index,
    "ann_runs": _search_index, "corpus": _corpus, **workload_networks.RULES}
