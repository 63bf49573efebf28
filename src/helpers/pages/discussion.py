"""The discussion of a chapter: written by hand, and shown only beside the results that it was written for.

`published/discussions.yaml` has the paragraphs of each chapter, each with what it rests on. A `short` one is the chapter's
answer, and stands at the top of the page.
"""

from collections.abc import Mapping
from typing import Any

from helpers import paths
from helpers.pages import claims, conditions
from helpers.pages.fragments import Fragment
from helpers.systems.evaluated import Evaluation

OTHERWISE = "A paragraph is not shown here: it was written for another outcome of {}."
EFFECTS = HIGHER, LOWER, OPEN = ("higher", "lower", "open")  # where the intervals of a claim's effects lie


def discussion(chapter: str, judged: Fragment | None = None, signs: Mapping[str, bool] | None = None,
               measure: str = "", **known: Evaluation | bool) -> Fragment:
    """The paragraphs that rest on what this run measured, in the table of its claims (`claims.judge`), in `signs`, statements
    that no claim is about with whether they hold, or in comparisons of what is `known` in a `measure` (`when`, see `conditions`).
    Of the other paragraphs, what they rest on. The answer in short is carried as data, for the top of the page."""
    outcomes: dict[str, set[Any]] = {name: {holds} for name, holds in (signs or {}).items()}
    for line in judged.data["claims"] if judged else []:
        outcomes[line["claim"]] = {line["verdict"], effect(line)}
    parts, short, claimed = list[str](), list[str](), claims.load()
    for paragraph in paragraphs()[chapter]:
        moved = [claimed[name].claim if name in claimed else name
                 for name, outcome in paragraph["rests_on"].items() if outcome not in outcomes.get(name, ())]
        moved += conditions.failed(paragraph["when"], known, measure) if "when" in paragraph else []
        text = OTHERWISE.format("; ".join(f"*{name}*" for name in moved)) if moved else paragraph["text"].strip()
        (short if paragraph.get("short") else parts).append(text)
    return Fragment(markdown="\n\n".join(parts), data={"in_short": " ".join(short)} if short else {})


def effect(line: Mapping[str, Any]) -> str:
    """Where the interval of a claim's measured difference lies, whatever its verdict: above zero, below it, or neither."""
    low, high = line["pair"]["interval"] if "pair" in line else (0.0, 0.0)
    return HIGHER if low > 0 else LOWER if high < 0 else OPEN


def paragraphs() -> dict[str, list[dict[str, Any]]]:
    """What is written, by chapter."""
    return paths.listed(paths.PUBLISHED / "discussions.yaml")
