"""Queries as questions: their words, the question word among them, and what type of answer a noun stands for.

The lists are in `answer_words.yaml`. There is no part-of-speech tagger: a noun is a word of the lists of nouns.
"""

import functools
import re
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise

from helpers import paths

TOKEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
CONTRACTED = {word + end: word for word in ("what", "who", "where", "when", "how", "why") for end in ("s", "'s", "'re")}


@dataclass(frozen=True)
class Lexicon:
    """The word lists: function words by their list's name, and the type that each noun stands for."""

    words: dict[str, frozenset[str]]
    nouns: dict[str, str]


@functools.cache
def lexicon() -> Lexicon:
    """The lists of `answer_words.yaml`; the first type that lists a noun has it."""
    raw = paths.listed(files("helpers.data").joinpath("answer_words.yaml"))
    split = lambda text: [word.replace("_", " ") for word in text.split()]
    words = {name: frozenset(split(text)) for name, text in raw["function_words"].items()}
    words["measured"] = frozenset(word for text in raw["measured"].values() for word in split(text))
    words["time"] = frozenset(split(raw["time"]))
    nouns: dict[str, str] = {}
    for kind, lists in raw["nouns"].items():
        for text in lists.values():
            for noun in split(text):
                nouns.setdefault(noun, kind)
    return Lexicon(words, nouns)


@dataclass(frozen=True)
class Question:
    """A query's words, small letters and no punctuation; `place` is that of its first question word, or None."""

    words: tuple[str, ...]
    place: int | None

    @property
    def first(self) -> str:
        """The first word."""
        return self.words[0]

    @property
    def word(self) -> str:
        """The first question word, "" if there is none."""
        return "" if self.place is None else self.words[self.place]

    def begins(self, name: str) -> bool:
        """Whether the first word is one of that list."""
        return self.first in lexicon().words[name]

    def has(self, name: str) -> bool:
        """Whether a word, or two in a row, of that list is in the question."""
        return not lexicon().words[name].isdisjoint((*self.words, *map(" ".join, pairwise(self.words))))

    def follows(self, word: str, name: str) -> bool:
        """Whether some `word` is followed by a word of that list."""
        return any(first == word and second in lexicon().words[name] for first, second in pairwise(self.words))

    def first_noun(self, start: int = 0) -> str | None:
        """The type of the first listed noun from a place on."""
        return next((kind for n in range(start, len(self.words)) if (kind := noun_type(self.words, n))), None)

    def last_noun(self, stop: int) -> str | None:
        """The type of the last listed noun before a place."""
        words = self.words[:stop]
        return next((kind for n in reversed(range(stop)) if (kind := noun_type(words, n))), None)


def parse(query: str) -> Question:
    """The question of a query; *what's*, *whats* and *what're* are *what*."""
    lowered = (word.casefold().replace("’", "'") for word in TOKEN.findall(query))
    words = tuple(CONTRACTED.get(word, word) for word in lowered)
    return Question(words, next((n for n, word in enumerate(words) if word in lexicon().words["question"]), None))


def noun_type(words: tuple[str, ...], place: int) -> str | None:
    """The type of the noun that starts at a place: a term of two words, else one, else the singular of it."""
    nouns, word = lexicon().nouns, words[place].removesuffix("'s")
    for term in (" ".join(words[place:place + 2]), word, *singulars(word)):
        if term in nouns:
            return nouns[term]
    return None


def singulars(word: str) -> list[str]:
    """What a plural may be the plural of."""
    endings = (("ies", "y"), ("ves", "f"), ("es", ""), ("s", ""))
    return [word.removesuffix(end) + single for end, single in endings if word.endswith(end) and len(word) > len(end) + 2]
