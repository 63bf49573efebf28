"""What MS MARCO's scale takes, as far as it is known: published facts, and a slice of such a collection that was measured.

No earlier computation on the Almanac tells how long a step takes on a collection a thousand times as large.
"""

import functools
from statistics import median
from typing import Any

from helpers import paths
from helpers.costs import results
from helpers.costs.contenders import OURS
from helpers.pages.numbers import count, seconds
from helpers.steps import recipe
from press.terminal import columns

STREAMED = ("text store", "Lucene index", "tokens", "exact search")  # stages whose time does not hang on a small network
NETWORKS = {"rerank": "pairs re-ranked", "train": "pairs trained on", "encode": "passages encoded"}


@functools.cache
def facts() -> dict[str, Any]:
    """The published facts: `collections`, their texts by ir_datasets' id, and `rows` of what, how much and source."""
    return paths.listed(paths.PUBLISHED / "scale.yaml")


def is_large(whole: dict[str, Any]) -> bool:
    """Whether a step's recipe rests on one of the large collections."""
    return any(part.get("collection", "").partition("[")[0] in facts()["collections"] for part in recipe.parts(whole))


def table() -> str:
    """Facts, measured slice and their sources in columns."""
    sizes = [(f"texts of {name}", count(texts), "ir_datasets' catalogue") for name, texts in facts()["collections"].items()]
    return columns([("what the studies' own scale takes", "", "by"), *sizes, *(tuple(row.values()) for row in facts()["rows"]),
                    *measured()])


def measured() -> list[tuple[str, str, str]]:
    """The latest machine's times: stages that read a generated collection as a stream, and networks of the Almanac's size."""
    name, content = next(iter(results.everything().items()), ("", {"sections": {}}))
    sections = {section: values for section, values in content["sections"].items() if not values["small"]}
    stages = sections.get("stream", {"stages": {}})["stages"]
    largest = {stage: max(sizes, key=lambda one: one["size"]) for stage, sizes in stages.items() if stage in STREAMED}
    rows = [(f"{stage} of {count(one['size'])} generated texts",
             f"{seconds(one['seconds'])}, {count(round(one['megabytes']))} MB of memory") for stage, one in largest.items()]
    rows += [(f"{count(sections[section]['items'])} {what}", seconds(median(sections[section]["contenders"][OURS]["seconds"])))
             for section, what in NETWORKS.items() if section in sections]
    return [(*row, f"measured, bench/{name}.json") for row in rows]
