"""The exercise that ends a chapter's page: a parameter to change, what to predict, the commands (`published/exercises.yaml`),
and, folded, what running it gave (`press.answers`)."""

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from helpers import paths
from helpers.pages.fragments import Html, cell, details
from helpers.pages.numbers import seconds


@functools.cache
def load() -> dict[str, dict[str, Any]]:
    """By chapter: what to `change`, the values by parameter, and the `task`."""
    return paths.listed(paths.PUBLISHED / "exercises.yaml")


def given(chapter: str) -> dict[str, str]:
    """The changed parameters as the command line takes them: texts as they are, anything else as JSON."""
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in load()[chapter]["change"].items()}


def answer_file(chapter: str) -> Path:
    """Where a chapter's answer is kept."""
    return paths.BOOK / "answers" / f"{chapter}.json"


def basis(parameters: dict[str, Any], data: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What a page rests on: its parameters, and the steps that its systems' values come from, in the data that it carries."""
    systems = (row for part in data for row in part.get("evaluations", {}).get("systems", []))
    return {"parameters": parameters, "systems": sorted({row["key"] for row in systems})}


def answer(chapter: str, rests_on: Mapping[str, Any]) -> str:
    """The answer as Markdown; empty if there is none, or if it was made by another exercise or for a page on another `basis`."""
    file = answer_file(chapter)
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    own = load()[chapter]
    if known.get("change") != own["change"] or known["rests_on"] != rests_on:
        return ""
    said = [f"<p>{cell(own['answer'])}</p>"] if "answer" in own else []
    made = f'<p class="nr-said">Run on {known["date"]} at commit {known["commit"]}; it took {seconds(known["seconds"])}.</p>'
    return "\n" + details("What came out", Html("".join([*said, *known["shown"], made]))).text + "\n"


def text(chapter: str, rests_on: Mapping[str, Any] = MappingProxyType({})) -> str:
    """The exercise and its answer as Markdown, for a page on this `basis`; empty for a chapter without one."""
    own = load().get(chapter)
    if own is None:
        return ""
    change = " ".join(f"-p {name} '{value}'" for name, value in given(chapter).items()).replace('"', '\\"')
    return f"""## Try this

{own["task"]} Write down what you expect, then run it:

```bash
make explain NAME={chapter} ARGS="{change}"   # what would be computed, and for how long
make chapter NAME={chapter} ARGS="{change}"   # the answer: a page beside this one, and one that compares the two
```
{answer(chapter, rests_on)}"""
