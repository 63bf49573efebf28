"""Statistics of a collection's texts, in one streaming pass."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from helpers.data.texts import Texts
from helpers.data.windows import windows
from helpers.steps import step


@step(version=1, form="json")
def text_statistics(store: Path, words: int, overlap: int) -> dict[str, Any]:
    """Count texts, words and windows.

    Returns:
        `texts`, `words` (in all), `windows`, `empty` (texts without a body), and `lengths`: how many texts have each
        length in words, titles included.
    """
    lengths: Counter[int] = Counter()
    pieces, empty = 0, 0
    for text in Texts(store):
        lengths[len(f"{text.title} {text.body}".split())] += 1
        empty += not text.body.strip()
        pieces += sum(1 for _ in windows(text, words, overlap))
    return {"texts": lengths.total(), "words": sum(n * count for n, count in lengths.items()), "windows": pieces, "empty": empty,
            "lengths": {str(n): lengths[n] for n in sorted(lengths)}}


def lengths_of(statistics: dict[str, Any]) -> dict[int, int]:
    """The `lengths` with whole numbers as keys (JSON made texts of them)."""
    return {int(n): count for n, count in statistics["lengths"].items()}


def median_length(statistics: dict[str, Any]) -> int:
    """The (lower) median of the lengths in words."""
    lengths = lengths_of(statistics)
    return int(np.quantile(list(lengths), 0.5, weights=list(lengths.values()), method="inverted_cdf"))
