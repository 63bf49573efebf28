"""How informative a term of the feedback documents is, and the query that its best terms expand.

    Bo1 (Amati 2003, section 7.1.2):  inf(t) = log2(1 + λ) + tf log2((1 + λ) / λ),    λ = F / N
    KL (Carpineto et al. 2001):       inf(t) = p log2(p / q),    p = tf / |feedback|,  q = F / |collection|

tf counts the term in the feedback documents, F in the collection of N documents. Alarfaj (2022, equation 2) prints Bo1 with tf
for F and without the second logarithm. Neither can be meant, since the first would not tell a rare term from a common one, and
the second would let a term weigh the less, the more often it occurs; `printed` shows what it would do.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from helpers.registry import Registry


@dataclass(frozen=True)
class Sizes:
    """What a term's counts are compared with."""

    documents: int  # of the collection (N)
    words: int  # of the collection
    trusted: int  # words of the feedback documents


def bo1(feedback: int, collection: int, sizes: Sizes) -> float:
    """Bo1's weight in bits, which grows as the term occurs more often than chance would have it."""
    density = collection / sizes.documents
    return math.log2(1 + density) + feedback * math.log2((1 + density) / density)


def printed(feedback: int, collection: int, sizes: Sizes) -> float:
    """Alarfaj's equation 2, as it stands."""
    density = feedback / sizes.documents
    return math.log2(1 + density) - feedback * density / (1 + density)


def kl(feedback: int, collection: int, sizes: Sizes) -> float:
    """The term's share of the divergence of the feedback documents' words from the collection's; 0 where it is rarer in them."""
    here, anywhere = feedback / sizes.trusted, collection / sizes.words
    return here * math.log2(here / anywhere) if here > anywhere else 0.0


WEIGHTINGS: Registry[Callable[[int, int, Sizes], float]] = Registry("weighting of terms", {
    "Bo1": bo1, "printed": printed, "KL": kl})


def expansion(feedback: Mapping[str, int], collection: Mapping[str, int], sizes: Sizes, terms: int,
              weighting: str = "Bo1") -> dict[str, float]:
    """The most informative terms, most informative first, ties in the order of the alphabet, with their weights from 0 to 1.

    A weight is the informativeness over its upper bound: that of a term which occurs as often as the best one in the feedback
    documents and nowhere else (the parameter-free form; Amati 2003, section 7.1.3, and Terrier). Terms that tell nothing are
    left out.

    Args:
        feedback: how often each term occurs in the feedback documents.
        collection: how often in the collection, at least as often.
    """
    of = WEIGHTINGS[weighting]
    if missing := [term for term, count in feedback.items() if collection[term] < count]:
        raise ValueError(f"{missing[0]!r} occurs {feedback[missing[0]]} times in some documents, {collection[missing[0]]} in all")
    weights = {term: of(count, collection[term], sizes) for term, count in feedback.items()}
    best = [term for term in sorted(weights, key=lambda term: (-weights[term], term))[:terms] if weights[term] > 0]
    bound = of(feedback[best[0]], feedback[best[0]], sizes) if best else 1.0
    return {term: weights[term] / bound for term in best}


def expanded(query: list[str], added: Mapping[str, float]) -> dict[str, float]:
    """The weights of the expanded query: the original terms' counts over the largest of them, plus the added terms' weights."""
    counts = Counter(query)
    weights = {term: count / max(counts.values()) for term, count in counts.items()}
    for term, weight in added.items():
        weights[term] = weights.get(term, 0.0) + weight
    return weights
