"""Collections of embeddings in any size: a sample of the real ones, or the real ones and synthetic neighbours of them.

A synthetic vector is a copy of a real one with Gaussian noise, scaled to length 1 again. The noise is as long as the real
vectors' median distance to their nearest neighbour, so that a copy lies about as far from its original as another text would.
These are no embeddings of any text: they serve to measure search, not ranking.
"""

import numpy as np

BLOCK = 10_000  # vectors made at once
PROBE = 2_000  # real vectors whose nearest neighbours are looked up


def resized(vectors: np.ndarray, size: int, noise: float, seed: int) -> np.ndarray:
    """A collection of the given size, (size, dimensions), float32: real vectors in random order, then synthetic ones if they do
    not suffice. With one seed, a smaller one is the beginning of a larger one.

    Args:
        vectors: the real embeddings, (texts, dimensions), each of length 1.
        noise: its length in median distances to the nearest neighbour.
    """
    if size < 1 or len(vectors) < 1:
        raise ValueError(f"{size} vectors out of {len(vectors)}: at least one of either is wanted")
    order = np.random.default_rng(seed).permutation(len(vectors))
    enlarged = np.empty((size, vectors.shape[1]), dtype=np.float32)
    enlarged[:len(vectors)] = vectors[order[:size]]
    if size <= len(vectors):
        return enlarged
    # all dimensions together are as long as the noise should be
    deviation = noise * neighbour_distance(vectors, seed) / np.sqrt(vectors.shape[1])
    rng = np.random.default_rng([seed, 1])
    for start in range(len(vectors), size, BLOCK):
        originals = vectors[rng.integers(len(vectors), size=BLOCK)]
        copies = originals + deviation * rng.standard_normal(originals.shape, dtype=np.float32)
        enlarged[start:start + BLOCK] = (copies / np.linalg.norm(copies, axis=1, keepdims=True))[:size - start]
    return enlarged


def neighbour_distance(vectors: np.ndarray, seed: int) -> float:
    """The median Euclidean distance of a vector to the nearest other one, over a sample; 0 for a single vector."""
    import faiss

    if len(vectors) < 2:
        return 0.0
    rows = np.random.default_rng(seed).permutation(len(vectors))[:PROBE]
    squares, _ = faiss.knn(vectors[rows], vectors, 2)
    return float(np.median(np.sqrt(np.maximum(squares[:, 1], 0))))
