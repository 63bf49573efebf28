"""Answer types: what kind of answer a question wants, by rules over its words.

The types are those of the TREC questions (Li & Roth 2002): a description, a number, a person or group, a location, another
entity, an abbreviation. The rules follow those of qtypes, the classifier that David (2020, section 4.4.2) used, as they are
described: each looks at the question by itself, and the last that has an answer decides. The word lists (`answer_words.yaml`)
are our own. What differs: qtypes asks a part-of-speech tagger for verbs and nouns, here a list of auxiliaries and the lists of
nouns have to do; more phrases than " stand for " ask for an expansion, and they overrule "meaning"; a question word within the
query looks at the nouns beside it.
"""

from collections.abc import Callable, Sequence

from helpers.data.questions import Question, lexicon, parse

TYPES = ("DESC", "NUM", "HUM", "LOC", "ENTY", "ABBR")  # in the order of table 4.4


def when(q: Question) -> str | None:
    """Begins with *when*: a date."""
    return "NUM" if q.first == "when" else None


def who(q: Question) -> str | None:
    """The first question word is *who*, *whom* or *whose*."""
    return "HUM" if q.asking in lexicon().words["who"] else None


def why(q: Question) -> str | None:
    """The first question word is *why*, or it begins with *define*, *describe*, *explain*."""
    return "DESC" if q.asking == "why" or q.first in lexicon().words["describing"] else None


def what_time(q: Question) -> str | None:
    """*What* and a word of time right after it: *what year*."""
    return "NUM" if q.follows("what", "time") else None


def how_measured(q: Question) -> str | None:
    """*How* and a word of measure: *how often*, *how tall*, *how many*."""
    return "NUM" if q.follows("how", "measured") else None


def how(q: Question) -> str | None:
    """Begins with *how* and no word of measure: a manner."""
    return "DESC" if q.first == "how" and how_measured(q) is None else None


def what(q: Question) -> str | None:
    """Begins with *what* or *which*: the first listed noun decides; without one it is a description."""
    return (q.first_noun(1) or "DESC") if q.first in ("what", "which") else None


def meaning(q: Question) -> str | None:
    """*Mean* or *meaning* anywhere."""
    return "DESC" if q.has("meaning") else None


def expansion(q: Question) -> str | None:
    """*Stands for*, *short for*, *acronym* and the like, or the meaning of letters."""
    return "ABBR" if q.has("expanding") or (q.has("letters") and q.has("meaning")) else None


def where(q: Question) -> str | None:
    """Begins with *where*."""
    return "LOC" if q.first == "where" else None


def time(q: Question) -> str | None:
    """No question word, but a word of time."""
    return "NUM" if q.asked is None and q.has("time") else None


def name(q: Question) -> str | None:
    """Begins with *name*, but not *name of*: the first listed noun decides; without one it is a person."""
    return (q.first_noun(1) or "HUM") if q.first == "name" and q.words[1:2] not in (("of",), ("for",)) else None


def later(q: Question) -> str | None:
    """The question word stands later: *who*, *where* and *when* look back for their noun, *what* and *which* ahead."""
    if not q.asked or q.asking in ("how", "why") or q.first == "name" or q.first in lexicon().words["auxiliary"]:
        return None
    ahead = q.asking in ("what", "which")
    return q.first_noun(q.asked + 1) if ahead else q.last_noun(q.asked)


def yes_or_no(q: Question) -> str | None:
    """Begins with an auxiliary (*is*, *can*, *does*): the first listed noun decides."""
    return q.first_noun(1) if q.first in lexicon().words["auxiliary"] else None


def noun_phrase(q: Question) -> str | None:
    """No question word: the last listed noun of the opening phrase, up to a preposition, article, pronoun or auxiliary."""
    if q.asked is not None:
        return None
    ends = lexicon().words["boundary"] | lexicon().words["auxiliary"]
    return q.last_noun(next((n for n, word in enumerate(q.words) if word in ends), len(q.words)))


Rule = Callable[[Question], str | None]
RULES: tuple[Rule, ...] = (when, who, why, what_time, how_measured, how, what, meaning, expansion, where, time, name, later,
                           yes_or_no)
WIDER: tuple[Rule, ...] = (noun_phrase, *RULES)  # with a rule of our own, for queries that are no questions


def decide(query: str, rules: Sequence[Rule] = RULES) -> tuple[str, str] | None:
    """The rule that decides a query's answer type, by its name, and the type; None where no rule has an answer."""
    question = parse(query)
    if not question.words:
        return None
    found = [(rule.__name__, kind) for rule in rules if (kind := rule(question))]
    return found[-1] if found else None


def answer_type(query: str, rules: Sequence[Rule] = RULES) -> str | None:
    """The answer type of a query: DESC, NUM, HUM, LOC, ENTY, ABBR, or None where no rule has an answer."""
    decided = decide(query, rules)
    return decided[1] if decided else None
