"""Answer types: what kind of answer a question wants, by rules over its words.

The types are those of the TREC questions (Li & Roth 2002): a description, a number, a person or group, a location, another
entity, an abbreviation. The rules follow those of qtypes, the classifier that David (2020, section 4.4.2) used, as they are
described: each looks at the question by itself, and the last that has an answer decides. The word lists (`answer_words.yaml`)
are our own. What differs: qtypes asks a part-of-speech tagger for verbs and nouns, here a list of auxiliaries and the lists of
nouns have to do; more phrases than " stand for " ask for an expansion, and they overrule "meaning"; a question word within the
query looks at the nouns beside it.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from helpers.data.questions import Question, lexicon, parse

TYPES = ("DESC", "NUM", "HUM", "LOC", "ENTY", "ABBR")  # in the order of table 4.4


class Rule(NamedTuple):
    """A rule: its name, what it looks for, and the type that it gives a question, or None."""

    name: str
    looks_for: str
    decide: Callable[[Question], str | None]


def always(kind: str, applies: Callable[[Question], bool]) -> Callable[[Question], str | None]:
    """What gives one type to every question that something applies to."""
    return lambda q: kind if applies(q) else None


def later(q: Question) -> str | None:
    """*Who*, *where* and *when* within the query look back for their noun, *what* and *which* ahead."""
    if not q.place or q.word in ("how", "why") or q.first == "name" or q.begins("auxiliary"):
        return None
    return q.first_noun(q.place + 1) if q.word in ("what", "which") else q.last_noun(q.place)


def noun_phrase(q: Question) -> str | None:
    """The last listed noun of the opening phrase of a query without question word."""
    if q.place is not None:
        return None
    ends = lexicon().words["boundary"] | lexicon().words["auxiliary"]
    return q.last_noun(next((n for n, word in enumerate(q.words) if word in ends), len(q.words)))


RULES = (
    Rule("when", "Begins with when: a date.", always("NUM", lambda q: q.first == "when")),
    Rule("who", "The first question word is who, whom or whose.", always("HUM", lambda q: q.word in lexicon().words["who"])),
    Rule("why", "The first question word is why, or it begins with define, describe, explain.",
         always("DESC", lambda q: q.word == "why" or q.begins("describing"))),
    Rule("what_time", "What and a word of time right after it: what year.", always("NUM", lambda q: q.follows("what", "time"))),
    Rule("how_measured", "How and a word of measure: how often, how tall, how many.",
         always("NUM", lambda q: q.follows("how", "measured"))),
    Rule("how", "Begins with how and no word of measure: a manner.",
         always("DESC", lambda q: q.first == "how" and not q.follows("how", "measured"))),
    Rule("what", "Begins with what or which: the first listed noun decides; without one it is a description.",
         lambda q: (q.first_noun(1) or "DESC") if q.first in ("what", "which") else None),
    Rule("meaning", "Mean or meaning anywhere.", always("DESC", lambda q: q.has("meaning"))),
    Rule("expansion", "Stands for, short for, acronym and the like, or the meaning of letters.",
         always("ABBR", lambda q: q.has("expanding") or (q.has("letters") and q.has("meaning")))),
    Rule("where", "Begins with where.", always("LOC", lambda q: q.first == "where")),
    Rule("time", "No question word, but a word of time.", always("NUM", lambda q: q.place is None and q.has("time"))),
    Rule("name", "Begins with name, but not name of: the first listed noun decides; without one it is a person.",
         lambda q: (q.first_noun(1) or "HUM") if q.first == "name" and q.words[1:2] not in (("of",), ("for",)) else None),
    Rule("later", "The question word stands later: who, where and when look back for their noun, what and which ahead.", later),
    Rule("yes_or_no", "Begins with an auxiliary (is, can, does): the first listed noun decides.",
         lambda q: q.first_noun(1) if q.begins("auxiliary") else None))
WIDER = (  # with a rule of our own, for queries that are no questions
    Rule("noun_phrase", "No question word: the last listed noun of the opening phrase, up to a preposition, article, pronoun or "
                        "auxiliary.", noun_phrase), *RULES)


def decide(query: str, rules: Sequence[Rule] = RULES) -> tuple[str, str] | None:
    """The rule that decides a query's answer type, by its name, and the type; None where no rule has an answer."""
    question = parse(query)
    answers = [(rule.name, kind) for rule in rules if (kind := rule.decide(question))] if question.words else []
    return answers[-1] if answers else None


def answer_type(query: str, rules: Sequence[Rule] = RULES) -> str | None:
    """The answer type of a query: DESC, NUM, HUM, LOC, ENTY, ABBR, or None where no rule has an answer."""
    decided = decide(query, rules)
    return decided[1] if decided else None
