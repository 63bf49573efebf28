"""Answer types: what kind of answer a question wants, by rules over its words.

The types are those of the TREC questions (Li & Roth 2002): a description, a number, a person or group, a location, another
entity, an abbreviation. The rules follow those of qtypes, the classifier that David (2020, section 4.4.2) used: each looks at the
question by itself, and the last that applies decides, even if the type that it gives is "", none. The word lists
(`answer_words.yaml`) are our own, fitted to what qtypes says of half of MS MARCO's development queries; on the other half the two
agree on more than nine queries of ten. Where qtypes asks a part-of-speech tagger for verbs and nouns, a list
of auxiliaries and the lists of nouns have to do here.
"""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from helpers import paths
from helpers.data.elsewhere import File
from helpers.data.lines import query_frame, read_tsv
from helpers.steps import step

WORDS = Path(__file__).with_name("answer_words.yaml")
STUDIED = paths.ROOT / "data/msmarco-dev/topics.msmarco-passage.dev-subset.txt"  # David's queries, of MS MARCO's development set
TYPES = ("DESC", "NUM", "HUM", "LOC", "ENTY", "ABBR")  # in the order of table 4.4
LABEL, NONE = "answer_type", "none"  # the column of a collection that has labels; a query without a type
TOKEN = re.compile(r"[^\W_]+(?:[.-][^\W_]+)*")


@functools.cache
def function_words() -> dict[str, frozenset[str]]:
    """The function words of `answer_words.yaml`, by their list's name."""
    return {name: frozenset(text.split()) for name, text in paths.listed(WORDS)["function_words"].items()}


@functools.cache
def noun_types() -> dict[str, str]:
    """The type that each noun of `answer_words.yaml` stands for, "" if it stands for none; the first that lists a noun has it."""
    listed = [(noun, kind.removeprefix("none")) for kind, lists in paths.listed(WORDS)["nouns"].items()
              for text in lists.values() for noun in text.split()]
    return dict(reversed(listed))  # where a noun stands twice, the first counts


@dataclass(frozen=True)
class Question:
    """A query's words, small letters and no punctuation."""

    words: tuple[str, ...]

    @property
    def subject(self) -> str:
        """The first word that any list has, auxiliaries left out; "" if there is none."""
        return next((word for word in self.words if word in function_words()["question"] or noun_type(word) is not None), "")

    def begins(self, name: str, place: int = 0) -> bool:
        """Whether the first word, or the one at another place, is one of that list."""
        return place < len(self.words) and self.words[place] in function_words()[name]

    def has(self, name: str) -> bool:
        """Whether a word of that list is in the question."""
        return not function_words()[name].isdisjoint(self.words)

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
    return next((noun_types()[one] for one in (word, *singulars(word)) if one in noun_types()), None)


def singulars(word: str) -> list[str]:
    """What a plural may be the plural of."""
    endings = (("ies", "y"), ("ves", "f"), ("es", ""), ("s", ""))
    return [word.removesuffix(end) + single for end, single in endings if word.endswith(end) and len(word) > len(end) + 2]


class Rule(NamedTuple):
    """A rule: its name, what it looks for, and the type that it gives a question, or None."""

    name: str
    looks_for: str
    decide: Callable[[Question], str | None]


def always(kind: str, applies: Callable[[Question], bool]) -> Callable[[Question], str | None]:
    """What gives one type to every question that something applies to."""
    return lambda q: kind if applies(q) else None


def by_noun(q: Question) -> str:
    """The first listed noun decides; without one it is an expansion, a name or a description, by words that are no nouns."""
    nouns = q.nouns()
    if nouns and nouns[0]:
        return nouns[0]
    if q.pair("stand", "for") and q.words[-1] != "for":
        return "ABBR"
    return "" if nouns else "HUM" if q.has("naming") else "DESC"


def yes_or_no(q: Question) -> bool:
    """Whether it begins with an auxiliary, and asks for no choice."""
    return q.begins("modal") or (q.begins("auxiliary") and {"and", "or"}.isdisjoint(q.words))


def noun_phrase(q: Question) -> str | None:
    """The last listed noun of the opening phrase of a query without question word."""
    ends = (n for n, word in enumerate(q.words) if word in function_words()["boundary"])
    nouns = Question(q.words[:next(ends, None)]).nouns()
    return nouns[-1] if nouns and not q.has("question") else None


RULES = (
    Rule("later", "A question word, but not the first: the noun decides.",
         lambda q: by_noun(q) if q.has("question") and not q.begins("question") else None),
    Rule("when", "Begins with when: a date.", always("NUM", lambda q: q.words[0] == "when")),
    Rule("who", "The first listed word is who, whom or whose.", always("HUM", lambda q: q.subject in function_words()["who"])),
    Rule("why", "Begins with why and a verb, or with define or describe.",
         always("DESC", lambda q: q.begins("describing") or (q.words[0] == "why" and q.begins("auxiliary", 1)))),
    Rule("how_measured", "Begins with how, and a word of measure anywhere: how often, how tall; or how many, how much anywhere.",
         always("NUM", lambda q: (q.words[0] == "how" and q.has("measured")) or q.pair("how", "many", "much"))),
    Rule("how", "Begins with how and a verb or can: a manner.",
         always("DESC", lambda q: q.words[0] == "how" and (q.begins("auxiliary", 1) or q.words[1:2] == ("can",)))),
    Rule("what", "Begins with what or which: the noun decides.",
         lambda q: by_noun(q) if q.words[0] in ("what", "which") else None),
    Rule("meaning", "Mean or meaning anywhere.", always("DESC", lambda q: q.has("meaning"))),
    Rule("where", "Begins with where.", always("LOC", lambda q: q.words[0] == "where")),
    Rule("time", "Begins with no question word, and has a word of time.",
         always("NUM", lambda q: not q.begins("question") and q.has("time"))),
    Rule("name", "Begins with name: a person, but after name a the noun decides.",
         lambda q: None if q.words[0] != "name" else by_noun(q) if q.words[1:2] == ("a",) else "HUM"),
    Rule("yes_or_no", "Begins with an auxiliary (is, can, does): the noun decides.",
         lambda q: by_noun(q) if yes_or_no(q) else None))
WIDER = (  # with a rule of our own, for queries that are no questions
    Rule("noun_phrase", "No question word: the last listed noun of the opening phrase, up to a preposition, article, pronoun or "
                        "auxiliary.", noun_phrase), *RULES)


def decide(query: str, rules: Sequence[Rule] = RULES) -> tuple[str, str] | None:
    """The rule that decides a query's answer type, by its name, and the type; None where no rule has an answer."""
    question = parse(query)
    answers = [(rule.name, kind) for rule in rules if (kind := rule.decide(question)) is not None] if question.words else []
    return answers[-1] if answers else None


def answer_type(query: str, rules: Sequence[Rule] = RULES) -> str | None:
    """The answer type of a query: DESC, NUM, HUM, LOC, ENTY, ABBR, or None where no rule has an answer."""
    decided = decide(query, rules)
    return (decided[1] or None) if decided else None


def typed(queries: pd.DataFrame, rules: Sequence[Rule] = RULES) -> pd.Series:
    """The answer type of each query (query_id, text) by the rules, `none` where no rule has an answer, by query_id."""
    types = [answer_type(text, rules) or NONE for text in queries["text"]]
    return pd.Series(types, index=pd.Index(queries["query_id"], name="query_id"), name="type", dtype=object)


@step(version=1, form="table")
def type_counts(queries: File, words: File) -> pd.DataFrame:
    """How many queries of a file (query_id, text, tab-separated) have which type by the rules: columns type, queries. `words` are
    the lists that the rules read: with other lists the counts are computed again."""
    counts = typed(query_frame(queries.path, read_tsv(queries.path, 2)), RULES).value_counts()
    return counts.rename("queries").rename_axis("type").reset_index()
