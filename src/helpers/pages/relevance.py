"""What counted as relevant in the values of a page."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from helpers.data.collection import with_relevance
from helpers.evaluation.comparable import as_label
from helpers.pages.numbers import joined

MEASURING = ("run_measures", "fusions")  # the steps whose values are pages'
NOT_ALL = " (lower grades gain nothing in nDCG, unless some texts were judged irrelevant)"


def rules(used: Iterable[Mapping[str, Any]]) -> list[str]:
    """By the recipes of the steps that measured, a phrase a rule: `/a/folder`'s is `folder from grade 1`."""
    found: dict[str, set[str]] = {}
    for given in (line["recipe"]["arguments"] for line in used if line["step"] in MEASURING):
        names = {as_label(Path(with_relevance(part["collection"])[0]).name)
                 for part in given.get("qrels", {"arguments": {}})["arguments"].get("parts", ())}
        if names:
            rule = f"from grade {given['min_relevance']}{'' if given.get('every_grade') else NOT_ALL}"
            found.setdefault(rule, set()).update(names)
    return [f"{joined(sorted(names))} {rule}" for rule, names in found.items()]
