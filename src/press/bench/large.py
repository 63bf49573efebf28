"""A generated collection of any size in MS MARCO's file format: for measuring, not for ranking.

Words are drawn as in a language: those of the packaged backbone's vocabulary, which has them in the order of their frequency, the
n-th one with a probability in proportion to 1/n. Each query asks for the rarest words of a passage, which is judged as relevant.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from helpers.networks import backbone

SHORTEST, LONGEST = 20, 60  # words of a passage
ASKED = 3  # words of a query
AT_ONCE = 10_000  # passages drawn together


def generate(folder: Path, passages: int, queries: int) -> Path:
    """Write collection.tsv, and queries and judgments of the splits train and test; the same sizes give the same files.

    Args:
        folder: made anew.
        passages: how many.
        queries: of each split; not more than there are passages.
    """
    folder.mkdir(parents=True)
    known = vocabulary()
    asked = dict(zip(np.linspace(0, passages - 1, 2 * queries).astype(int).tolist(), range(2 * queries), strict=False))
    lines: tuple[list[str], list[str]] = ([], [])
    with open(folder / "collection.tsv", "w", encoding="utf-8") as out:
        for position, ranks in enumerate(drawn(passages, len(known))):
            out.write(f"{position}\t{' '.join(known[n] for n in ranks)}\n")
            if position in asked:
                lines[asked[position] % 2].append(f"q{position}\t{' '.join(known[n] for n in sorted(ranks)[-ASKED:])}\n")
    for split, own in zip(("train", "test"), lines, strict=True):
        (folder / f"queries.{split}.tsv").write_text("".join(own))
        ids = [line.split("\t")[0][1:] for line in own]
        (folder / f"qrels.{split}.tsv").write_text("".join(f"q{n} 0 {n} 1\n" for n in ids))
    return folder


def vocabulary() -> list[str]:
    """The backbone's whole words, the most frequent ones first."""
    words = backbone.resolve("packaged").tokenizer().get_vocab()
    return sorted((word for word in words if word.isascii() and word.isalpha() and len(word) > 1), key=words.__getitem__)


def drawn(passages: int, words: int) -> Iterator[list[int]]:
    """The words of each passage, as ranks by frequency from 0."""
    random = np.random.default_rng(1)
    bounds = np.cumsum(1 / np.arange(1, words + 1))
    for start in range(0, passages, AT_ONCE):
        lengths = random.integers(SHORTEST, LONGEST + 1, size=min(AT_ONCE, passages - start))
        ranks = np.searchsorted(bounds, random.random(int(lengths.sum())) * bounds[-1])
        yield from (part.tolist() for part in np.split(ranks, np.cumsum(lengths)[:-1]))
