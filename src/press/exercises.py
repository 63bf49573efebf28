"""The exercise that ends a chapter's page: a parameter to change, what to predict, the commands, and, folded, the answer, from
`published/exercises.yaml`."""

import functools
import json
from typing import Any

from helpers import paths
from helpers.pages.fragments import Html, cell, details
from press import chapters

PROFILE = "almanac"  # of the pages that the exercises and their answers were written for


@functools.cache
def load() -> dict[str, dict[str, Any]]:
    """By chapter: what to `change`, the values by parameter, the `task`, and the `answer`."""
    return paths.listed(paths.PUBLISHED / "exercises.yaml")


def given(chapter: str) -> dict[str, str]:
    """The changed parameters as the command line takes them: texts as they are, anything else as JSON."""
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in load()[chapter]["change"].items()}


def text(chapter: str, values: dict[str, Any]) -> str:
    """The exercise as Markdown, for a page with these parameters; empty for a chapter without one. The answer is that of the
    default profile's page, so that a page with other parameters has none."""
    own = load().get(chapter)
    if own is None:
        return ""
    answered = "answer" in own and values == chapters.resolve(chapter, PROFILE, {})
    answer = "\n" + details("What came out", Html(f"<p>{cell(own['answer'])}</p>")).text + "\n" if answered else ""
    change = " ".join(f"-p {name} '{value}'" for name, value in given(chapter).items()).replace('"', '\\"')
    return f"""## Try this

{own["task"]} Write down what you expect, then run it:

```bash
make explain NAME={chapter} ARGS="{change}"   # what would be computed, and for how long
make chapter NAME={chapter} ARGS="{change}"   # the answer: a page beside this one, and one that compares the two
```
{answer}"""
