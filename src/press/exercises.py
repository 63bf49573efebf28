"""The exercise that ends a chapter's page: a parameter to change, what to predict, the commands (`published/exercises.yaml`)."""

import functools
import json
from typing import Any

import yaml

from helpers import paths


@functools.cache
def load() -> dict[str, dict[str, Any]]:
    """By chapter: what to `change`, the values by parameter, and the `task`."""
    return yaml.safe_load((paths.PUBLISHED / "exercises.yaml").read_text(encoding="utf-8"))


def text(chapter: str) -> str:
    """The exercise as Markdown; empty for a chapter without one."""
    own = load().get(chapter)
    if own is None:
        return ""
    change = " ".join(f"-p {name} '{json.dumps(value)}'" for name, value in own["change"].items()).replace('"', '\\"')
    return f"""## Try this

{own["task"]} Write down what you expect, then run it:

```bash
make explain NAME={chapter} ARGS="{change}"   # what would be computed, and for how long
make chapter NAME={chapter} ARGS="{change}"   # the answer: a page beside this one, and one that compares the two
```
"""
