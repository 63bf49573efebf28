"""The discussion of a chapter: written by hand, and shown only beside the results that it was written for.

`published/discussions.yaml` has the paragraphs of each chapter, each with what it rests on. A `short` one is the chapter's
answer, and stands at the top of the page.

Conditions: what a paragraph rests on, as comparisons of the evaluations, and as facts, that its chapter hands over.

`sum > merge`: the 95 % interval of the difference lies above zero; `ranks !> merge`: it does not; `a >~ b`: the mean is higher;
`a !>~ b`: it is not. `a >~ b + .01`: it is so by more than .01; `a > b in R@10`: in another measure. A single name is a fact,
true or false: `level`, `not level`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from helpers import paths
from helpers.errors import BadInput
from helpers.pages import claims
from helpers.pages.fragments import Fragment
from helpers.systems.evaluated import Evaluation

COMPARISON = re.compile(r"(\w+)\s*(!?>)(~?)\s*(\w+)(?:\s*\+\s*(\d*\.\d+))?(?:\s+in\s+(\S+))?")
FACT = re.compile(r"(not\s+)?(\w+)")


def failed(conditions: str, known: Mapping[str, Evaluation | bool], measure: str) -> list[str]:
    """Those of the conditions, joined by `and`, that do not hold; none holds of what is not there. BadInput for other texts."""
    return [one for one in map(str.strip, conditions.split(" and ")) if not _holds(one, known, measure)]


def _holds(condition: str, known: Mapping[str, Evaluation | bool], measure: str) -> bool:
    if fact := FACT.fullmatch(condition):
        return fact[2] in known and bool(known[fact[2]]) != bool(fact[1])
    if not (parts := COMPARISON.fullmatch(condition)):
        raise BadInput(f"{condition!r} is no condition", file=paths.PUBLISHED / "discussions.yaml",
                       mend="write `a > b`, `a !> b`, `a >~ b` or a fact's name, several joined by `and`")
    first, second = known.get(parts[1]), known.get(parts[4])
    if not isinstance(first, Evaluation) or not isinstance(second, Evaluation):
        return False
    measure, more = parts[6] or measure, float(parts[5] or 0)
    moved = first.mean(measure).mean - second.mean(measure).mean if parts[3] else first.against(second, measure).difference.low
    return (moved > more) == (parts[2] == ">")


OTHERWISE = "A paragraph is not shown here: it was written for another outcome of {}."
EFFECTS = HIGHER, LOWER, OPEN = ("higher", "lower", "open")  # where the intervals of a claim's effects lie


def discussion(chapter: str, judged: Fragment | None = None, measure: str = "", **known: Evaluation | bool) -> Fragment:
    """The paragraphs that rest on what this run measured: on words or sides in the table of its claims (`claims.judge`), and on
    comparisons in a `measure`, and facts, of what is `known` (`when`, see `conditions`). Of the other paragraphs, what they rest
    on. The answer in short is carried as data, for the top of the page. `chapter/part` has the paragraphs of that part, for a
    fold of the page."""
    outcomes = {line["claim"]: {line["verdict"], effect(line)} for line in (judged.data["claims"] if judged else [])}
    parts, short, claimed = list[str](), list[str](), claims.load()
    chapter, _, of = chapter.partition("/")
    written = [paragraph for paragraph in paragraphs()[chapter] if paragraph.get("part", "") == of]
    for paragraph in written:
        moved = [claimed[name].claim if name in claimed else name
                 for name, outcome in paragraph["rests_on"].items() if outcome not in outcomes.get(name, ())]
        moved += failed(paragraph["when"], known, measure) if "when" in paragraph else []
        text = OTHERWISE.format("; ".join(f"*{name}*" for name in moved)) if moved else paragraph["text"].strip()
        (short if paragraph.get("short") else parts).append(text)
    whens = [paragraph["when"] for paragraph in written if "when" in paragraph]
    carried = {"in_short": " ".join(short)} | {"compared": differences(whens, known, measure)}
    return Fragment(markdown="\n\n".join(parts), data={name: part for name, part in carried.items() if part})


def differences(whens: Sequence[str], known: Mapping[str, Evaluation | bool], measure: str) -> dict[str, list[float]]:
    """What the conditions compare, of systems that are there, for other pages: `a - b in RR@10` with the two means and the
    difference's interval."""
    found: dict[str, list[float]] = {}
    for parts in filter(None, (COMPARISON.fullmatch(one.strip()) for text in whens for one in text.split(" and "))):
        first, second, name = known.get(parts[1]), known.get(parts[4]), parts[6] or measure
        if isinstance(first, Evaluation) and isinstance(second, Evaluation):
            difference = first.against(second, name).difference
            found[f"{parts[1]} - {parts[4]} in {name}"] = [first.mean(name).mean, second.mean(name).mean, difference.mean,
                                                           difference.low, difference.high]
    return found


def effect(line: Mapping[str, Any]) -> str:
    """Where the interval of a claim's measured difference lies, whatever its verdict: above zero, below it, or neither."""
    low, high = line["pair"]["interval"] if "pair" in line else (0.0, 0.0)
    return HIGHER if low > 0 else LOWER if high < 0 else OPEN


def paragraphs() -> dict[str, list[dict[str, Any]]]:
    """What is written, by chapter."""
    return paths.listed(paths.PUBLISHED / "discussions.yaml")
