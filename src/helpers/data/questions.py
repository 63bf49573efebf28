"""Queries as questions: their words, and what type of answer a noun stands for.

The lists are in `answer_words.yaml`. There is no part-of-speech tagger: a noun is a word of the lists of nouns.
"""

import functools
import re
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise

from helpers import paths

TOKEN = re.compile(r"[^\W_]+(?:[.-][^\W_]+)*")


@dataclass(frozen=True)
class Lexicon:
    """The word lists: function words by their list's name, and the type that each noun stands for, "" if it stands for none."""

    words: dict[str, frozenset[str]]
    nouns: dict[str, str]


@functools.cache
def lexicon() -> Lexicon:
    """The lists of `answer_words.yaml`; the first type that lists a noun has it."""
    raw = paths.listed(files("helpers.data").joinpath("answer_words.yaml"))
    words = {name: frozenset(text.split()) for name, text in raw["function_words"].items()}
    nouns: dict[str, str] = {}
    for kind, lists in raw["nouns"].items():
        for text in lists.values():
            for noun in text.split():
                nouns.setdefault(noun, kind.removeprefix("none"))
    return Lexicon(words, nouns)


@dataclass(frozen=True)
class Question:
    """A query's words, small letters and no punctuation."""

    words: tuple[str, ...]

    @property
    def subject(self) -> str:
        """The first word that any list has, auxiliaries left out; "" if there is none."""
        return next((word for word in self.words if word in lexicon().words["question"] or noun_type(word) is not None), "")

    def begins(self, name: str, place: int = 0) -> bool:
        """Whether the first word, or the one at another place, is one of that list."""
        return place < len(self.words) and self.words[place] in lexicon().words[name]

    def has(self, name: str) -> bool:
        """Whether a word of that list is in the question."""
        return not lexicon().words[name].isdisjoint(self.words)

    def pair(self, first: str, *second: str) -> bool:
        """Whether one word is followed by another of some."""
        return any(one == first and two in second for one, two in pairwise(self.words))

    def nouns(self) -> list[str]:
        """The types of the listed nouns, in their order."""
        return [kind for word in self.words if (kind := noun_type(word)) is not None]


def parse(query: str) -> Question:
    """The question of a query; apostrophes are left out, and *in* before *what* or *which*."""
    return Question(tuple(TOKEN.findall(re.sub(r"['’]|\bin (?=(what|which)\b)", "", query.casefold()))))


def noun_type(word: str) -> str | None:
    """The type of a noun, or of the singular of a plural; None if it is in no list."""
    return next((lexicon().nouns[one] for one in (word, *singulars(word)) if one in lexicon().nouns), None)


def singulars(word: str) -> list[str]:
    """What a plural may be the plural of."""
    endings = (("ies", "y"), ("ves", "f"), ("es", ""), ("s", ""))
    return [word.removesuffix(end) + single for end, single in endings if word.endswith(end) and len(word) > len(end) + 2]
