"""Bo1: how informative a term of the feedback documents is, by Bose-Einstein statistics (Amati 2003, section 7.1.2).

    inf(t) = log2(1 + λ) + tf_x log2((1 + λ) / λ),    λ = F / N

tf_x counts the term in the feedback documents, F in the collection of N documents. Alarfaj (2022, equation 2) prints λ with
the count in the feedback documents and the second logarithm missing; neither can be meant, since the first would not tell a
rare term from a common one, and the second would let a term weigh the less, the more often it occurs.
"""

import math
from collections import Counter
from collections.abc import Mapping


def informativeness(feedback: int, collection: int, documents: int) -> float:
    """Bo1's weight, in bits, of a term that occurs so often in the feedback documents and in a collection of so many documents;
    ValueError for a term that the collection does not hold."""
    if collection <= 0 or documents <= 0:
        raise ValueError(f"a term that occurs {collection} times in {documents} documents has no informativeness")
    density = collection / documents
    return math.log2(1 + density) + feedback * math.log2((1 + density) / density)


def expansion(feedback: Mapping[str, int], collection: Mapping[str, int], documents: int, terms: int) -> dict[str, float]:
    """The most informative terms with their weights, most informative first, ties in the order of the alphabet; from how often
    each occurs in the feedback documents and in the collection."""
    weights = {term: informativeness(count, collection[term], documents) for term, count in feedback.items()}
    best = sorted(weights, key=lambda term: (-weights[term], term))[:terms]
    return {term: weights[term] for term in best}


def expanded(query: list[str], added: Mapping[str, float]) -> dict[str, float]:
    """The weights of the expanded query: the original terms' counts over the largest of them, plus the added terms'
    informativeness over the largest of theirs (the parameter-free form; Amati 2003, section 7.1.3)."""
    counts = Counter(query)
    weights = {term: count / max(counts.values()) for term, count in counts.items()}
    for term, weight in added.items():
        weights[term] = weights.get(term, 0.0) + weight / max(added.values())
    return weights
