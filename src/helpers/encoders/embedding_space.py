"""Where queries lie among passages: their similarities in the embedding space, and a map of it by t-SNE."""

from pathlib import Path

import numpy as np
import pandas as pd

from helpers.data.texts import relevant_places
from helpers.encoders.embeddings import PASSAGES, QUERIES
from helpers.steps import step


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
