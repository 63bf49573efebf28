"""Snippets: the words of a text that a list of results shows."""

import re

WORDS, STRIDE = 24, 6  # words of a snippet; between the places where one may begin


def snippet(body: str, query: str) -> str:
    """The first of the stretches of a text that hold most of the query's words, as they are written; all of a short text."""
    words, asked = body.split(), set(re.findall(r"\w+", query.casefold()))
    starts = range(0, max(1, len(words) - WORDS + STRIDE), STRIDE)
    best = max(starts, key=lambda start: len(asked & set(re.findall(r"\w+", " ".join(words[start:start + WORDS]).casefold()))))
    return "… " * (best > 0) + " ".join(words[best:best + WORDS]) + " …" * (best + WORDS < len(words))
