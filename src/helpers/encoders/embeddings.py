"""Embeddings of a collection and its queries, kept as arrays, which a cluster makes in shards; and late interaction."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.collection_base import Text
from helpers.data.runs import COLUMNS, cut, ranked
from helpers.data.texts import Texts, relevant_places, write_store
from helpers.data.windows import WindowTokens, windows
from helpers.networks.backbone import Backbone
from helpers.networks.encoder import PASSAGE, QUERY, Encoder, WholeModel, bi_encoder, wrapped, wrapped_texts
from helpers.networks.inference import AT_ONCE
from helpers.steps import Shards, Step, step

SHARD = 50_000  # passages whose tokens and vectors are in memory at once
PASSAGES, QUERIES = "passages.npy", "queries.npy"


@step(version=1, form="folder", network=True)
def embeddings_shard(store: Path, tokens: Path, backbone: Backbone, pooling: str, normalise: bool, token_types: bool,
                     max_length: int, start: int, stop: int, model: Path | None = None, *, folder: Path) -> None:
    """Encode the passages from position `start` to before `stop`; the other arguments are those of `passage_embeddings`."""
    encoder, texts = Encoder(backbone, model, pooling, normalise, token_types), WholeTexts(tokens, store)
    np.save(folder / PASSAGES, vectors(encoder, texts, start, stop, max_length))


def split(whole: Step, inputs: dict[str, Any]) -> list[Step]:
    """The shards of `passage_embeddings`: what it has in memory at once, so that its batches are theirs."""
    total = len(WholeTexts(inputs["tokens"], inputs["store"]))
    return [embeddings_shard(**whole.arguments, start=start, stop=min(start + SHARD, total)) for start in range(0, total, SHARD)]


def join(shards: list[Path], *, folder: Path) -> None:
    """The shards' vectors as one array."""
    arrays = [np.load(shard / PASSAGES, mmap_mode="r") for shard in shards]
    write(arrays, (sum(map(len, arrays)), arrays[0].shape[1]), folder)


def write(parts: Iterable[np.ndarray], shape: tuple[int, int], folder: Path) -> None:
    """Write arrays, one after the other, as the one of that shape: none of it is held in memory."""
    whole, start = np.lib.format.open_memmap(folder / PASSAGES, mode="w+", dtype=np.float32, shape=shape), 0
    for part in parts:
        whole[start:start + len(part)] = part
        start += len(part)
    whole.flush()


@step(version=1, form="folder", network=True, shards=Shards(split, join))
def passage_embeddings(store: Path, tokens: Path, backbone: Backbone, pooling: str, normalise: bool, token_types: bool,
                       max_length: int, model: Path | None = None, *, folder: Path) -> None:
    """Encode every passage: `passages.npy`, float32 (passages, dimensions), in the text store's order.

    The tokens are to be those of whole texts (`windows.WHOLE`); ValueError if a text has more than one window.
    """
    encoder, texts = Encoder(backbone, model, pooling, normalise, token_types), WholeTexts(tokens, store)
    parts = (vectors(encoder, texts, start, min(start + SHARD, len(texts)), max_length) for start in range(0, len(texts), SHARD))
    write(parts, (len(texts), encoder.dimensions), folder)


def vectors(encoder: Encoder, texts: "WholeTexts", start: int, stop: int, max_length: int) -> np.ndarray:
    """The vectors of the passages from position `start` to before `stop`."""
    rows = [wrapped(encoder.tokenizer, texts.at(n), max_length) for n in range(start, stop)]
    return encoder.vectors(rows, PASSAGE, progress="passages encoded")


@step(version=1, form="folder", network=True)
def query_embeddings(queries: pd.DataFrame, backbone: Backbone, pooling: str, normalise: bool, token_types: bool,
                     query_length: int, model: Path | None = None, *, folder: Path) -> None:
    """Encode queries: `queries.npy`, float32 (queries, dimensions), in the frame's order."""
    encoder = Encoder(backbone, model, pooling, normalise, token_types)
    np.save(folder / QUERIES, encoder.vectors(wrapped_texts(encoder.tokenizer, queries["text"], query_length), QUERY))


@step(version=1, form="json")
def token_lengths(store: Path, tokens: Path) -> dict[str, int]:
    """How many passages have each length in tokens, special ones included; lengths as texts, ascending."""
    lengths, how_many = np.unique(WholeTexts(tokens, store).lengths() + 2, return_counts=True)
    return {str(length): int(number) for length, number in zip(lengths, how_many, strict=True)}


class WholeTexts(WindowTokens):
    """Tokens of texts that are one window each, by their position in the text store."""

    def __init__(self, folder: Path, store: Path):
        super().__init__(folder, store)
        if len(self._starts) != len(self._documents):
            raise ValueError("texts of more than one window: read them whole (words = windows.WHOLE, overlap = 0)")

    def __len__(self) -> int:
        return len(self._starts) - 1

    def lengths(self) -> np.ndarray:
        """Tokens of every text, without special ones."""
        return np.diff(self._starts)

    def at(self, position: int) -> np.ndarray:
        """The token ids of the text at a 0-based position."""
        return self._ids[self._starts[position]:self._starts[position + 1]]


# Embeddings by a bi-encoder that somebody else trained, as `passage_embeddings` and `query_embeddings` are by the book's own:
# each text with the prompt that the model has for its side, of length one where the model compares by cosines.

@step(version=1, form="folder")
def window_store(store: Path, words: int, overlap: int, *, folder: Path) -> None:
    """The windows of all texts as texts of their own, in the same order; a window's id is its text's with a number."""
    cut = (window for text in Texts(store) for window in windows(text, words, overlap))
    write_store(folder, (Text(window.window_id, "", window.text) for window in cut))


@step(version=1, form="folder", network=True)
def given_passage_embeddings(model: WholeModel, store: Path, *, folder: Path) -> None:
    """Encode every text: `passages.npy`, float32 (texts, dimensions), in the text store's order."""
    encoder, texts = bi_encoder(model), Texts(store)
    bodies = (text.body for text in texts)
    parts = (_vectors(encoder, encoder.encode_document, some) for some in iter(lambda: list(islice(bodies, SHARD)), []))
    write(parts, (len(texts), encoder.get_embedding_dimension()), folder)


@step(version=1, form="folder", network=True)
def given_query_embeddings(model: WholeModel, queries: pd.DataFrame, *, folder: Path) -> None:
    """Encode queries: `queries.npy`, float32 (queries, dimensions), in the frame's order."""
    encoder = bi_encoder(model)
    np.save(folder / QUERIES, _vectors(encoder, encoder.encode_query, list(queries["text"])))


def _vectors(encoder: Any, encode: Any, texts: list[str]) -> np.ndarray:
    cosine = encoder.similarity_fn_name == "cosine"
    return np.asarray(encode(texts, show_progress_bar=False, normalize_embeddings=cosine), np.float32)


@step(version=1, form="table")
def similarities(passages: Path, query_vectors: Path, store: Path, queries: pd.DataFrame, qrels: pd.DataFrame,
                 min_relevance: int) -> pd.DataFrame:
    """How similar each query is to its relevant passages and to the others, by the inner product: columns query_id, relevant (the
    most similar relevant passage), other (mean of all other passages), above (share of the other passages that are less similar
    than that relevant one). A query without relevant passage in the store is left out."""
    texts, query_matrix = np.load(passages / PASSAGES, mmap_mode="r"), np.load(query_vectors / QUERIES)
    places = relevant_places(store, queries, qrels, min_relevance)
    rows = []
    for number, query in enumerate(queries["query_id"]):
        if not (mine := places.get(query)):
            continue
        scores = texts @ query_matrix[number]
        best, others = scores[mine].max(), np.delete(scores, mine)
        rows.append((query, float(best), float(others.mean()), float((others < best).mean())))
    return pd.DataFrame(rows, columns=["query_id", "relevant", "other", "above"])


@step(version=1, form="table")
def tsne_map(passages: Path, query_vectors: Path, store: Path, queries: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int,
             sample: int, perplexity: float, seed: int) -> pd.DataFrame:
    """Some queries and a relevant passage of each in the plane, by t-SNE (van der Maaten & Hinton 2008; David 2020, figure B.2):
    columns query_id, kind (`query` or `passage`), x, y.

    The arguments before `sample`, the number of queries shown, are those of `similarities`; the perplexity is about how many
    neighbours of a point count.
    """
    from sklearn.manifold import TSNE

    texts, query_matrix = np.load(passages / PASSAGES, mmap_mode="r"), np.load(query_vectors / QUERIES)
    places = relevant_places(store, queries, qrels, min_relevance)
    shown = [(number, query) for number, query in enumerate(queries["query_id"]) if places.get(query)][:sample]
    vectors = np.concatenate([query_matrix[[number for number, _ in shown]], texts[[places[query][0] for _, query in shown]]])
    perplexity = min(perplexity, (len(vectors) - 1) / 3)
    points = TSNE(perplexity=perplexity, metric="cosine", init="pca", random_state=seed).fit_transform(vectors)
    frame = pd.DataFrame(points.astype(float), columns=["x", "y"])
    frame.insert(0, "query_id", [query for _, query in shown] * 2)
    frame.insert(1, "kind", ["query"] * len(shown) + ["passage"] * len(shown))
    return frame


@step(version=1, form="run", network=True)
def dense_window_scores(backbone: Backbone, run: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path,
                        candidates: int, max_length: int) -> pd.DataFrame:
    """Score the windows of each query's top documents by the cosine of their embeddings, mean-pooled, with the query's: a run of
    windows. `max_length` holds for windows and for queries.

    The packaged backbone was trained as a bi-encoder, so it ranks without any fine-tuning: the honest second baseline of every
    chapter that fine-tunes it.
    """
    encoder, reader = Encoder(backbone, None, "mean", normalise=True, token_types=False), WindowTokens(tokens, store)
    asked = encoder.vectors(wrapped_texts(encoder.tokenizer, queries["text"], max_length), QUERY)
    of_query = dict(zip(queries["query_id"], asked, strict=True))
    stream = ((query, window) for query, doc_id in cut(run, candidates)[["query_id", "doc_id"]].itertuples(index=False)
              for window in reader.windows_of(doc_id))
    rows: list[tuple[str, str, float]] = []
    while pairs := list(islice(stream, AT_ONCE)):
        windows = list(dict.fromkeys(window for _, window in pairs))
        read = [wrapped(encoder.tokenizer, reader[window], max_length) for window in windows]
        vectors = encoder.vectors(read, PASSAGE, progress="windows encoded")
        of_window = dict(zip(windows, vectors, strict=True))
        rows += [(query, window, float(of_query[query] @ of_window[window])) for query, window in pairs]
    return pd.DataFrame(rows, columns=COLUMNS)


# Late interaction: a text keeps the vectors of all its words, and each word of a query looks for its best match among them

TEXTS_AT_ONCE = 1000  # texts whose vectors are in memory: of 128 tokens and 384 dimensions, 0.2 GB
SPECIAL_TOKENS = 2  # [CLS] and [SEP], which stand for no word, take no part: better so on dev queries
WORDS = slice(1, -1)
MAX_SIM = "max_sim"  # the similarity that needs no pooling


@step(version=1, form="run", network=True)
def max_sim_run(backbone: Backbone, run: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, candidates: int,
                max_length: int, query_length: int, model: Path | None = None) -> pd.DataFrame:
    """The top `candidates` texts of each query, ordered anew by MaxSim over the encoder's states.

    The tokens are to be those of whole texts; texts are cut at `max_length` tokens, queries at `query_length`, special ones too.
    """
    encoder, texts = Encoder(backbone, model, "mean", normalise=True, token_types=False), WholeTexts(tokens, store)
    asked = encoder.token_vectors(wrapped_texts(encoder.tokenizer, queries["text"], query_length), QUERY)
    of_query = dict(zip(queries["query_id"], asked, strict=True))
    askers = cut(run, candidates).groupby("doc_id")["query_id"].agg(list)
    known = ((n, text.doc_id) for n, text in enumerate(Texts(store)) if text.doc_id in askers.index)
    places, names = zip(*known, strict=True)
    rows: list[tuple[str, str, float]] = []
    for start in range(0, len(places), TEXTS_AT_ONCE):
        part = slice(start, start + TEXTS_AT_ONCE)
        vectors = encoder.token_vectors([wrapped(encoder.tokenizer, texts.at(n), max_length) for n in places[part]], PASSAGE,
                                        progress="texts of the lists encoded")
        rows += [(query, name, max_sim(of_query[query][WORDS], text[WORDS]))
                 for name, text in zip(names[part], vectors, strict=True) for query in askers[name]]
    return ranked(pd.DataFrame(rows, columns=COLUMNS))


def max_sim(query: np.ndarray, text: np.ndarray) -> float:
    """The sum over a query's words of each one's largest inner product with a word of the text (equation 3), (words, dimensions)
    both: 0 words of a query give 0, a text has at least one."""
    return float((query @ text.T).max(axis=1).sum())


def max_sims(queries: Any, passages: Any) -> Any:
    """The same for every pair of a query and a passage of a batch, (queries, passages); gradients pass through it. Either side
    has vectors of length one, (texts, tokens, dimensions), and which of the tokens are words, as `words` has them."""
    (asked, of_query), (read, of_passage) = queries, passages
    products = asked[:, None] @ read.transpose(1, 2)[None]  # (queries, passages, words of a query, words of a passage)
    best = products.masked_fill(~of_passage[None, :, None], float("-inf")).amax(-1)
    return (best * of_query[:, None]).sum(-1)


def words(mask: Any) -> Any:
    """Which tokens of padded texts, (texts, tokens), are neither padding nor the special ones at a text's ends."""
    kept = mask.bool().clone()
    ends = kept.sum(1, keepdim=True) - 1
    kept[:, 0] = False
    return kept.scatter(1, ends, False)
