"""Collections: texts, queries and judgments behind one interface, in several formats.

    open_collection("almanac")                    the built-in miniature
    open_collection("almanac/long")               the same as long documents
    open_collection("/data/msmarco-dl19")         a folder in MS MARCO's TSV format
    open_collection("/data/scifact")              a folder in BEIR's form
    open_collection("irds:msmarco-passage")       an ir_datasets id
    open_collection("/data/robust04[relevant=2]") any of them, of whose judgments grade 2 and above count as relevant

A folder of `.txt` files opens too, to pre-train on. A new format is a class of `Collection` and its line in `FORMATS`.
"""

import re
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.almanac import Almanac, LongAlmanac
from helpers.data.collection_base import Collection, Part
from helpers.data.dictionaries import Dictionaries
from helpers.data.elsewhere import Elsewhere
from helpers.data.folders import BeirFolder, MsMarcoFolder, TextFolder
from helpers.data.irds import IrDatasets
from helpers.errors import BadInput, is_unicode
from helpers.steps import kind

FORMATS: dict[str, type[Collection]] = {  # how an error names each; the first that knows a text opens it
    "`almanac`": Almanac,
    "`almanac/long` or `almanac/long-early`, its long documents": LongAlmanac,
    "`dictionaries`, to pre-train on": Dictionaries,
    "one that is not shipped, `data/msmarco-dl19`": Elsewhere,
    "a folder in BEIR's form": BeirFolder,
    "a folder of text files": TextFolder,
    "a folder in MS MARCO's TSV format": MsMarcoFolder,
    "an ir_datasets id as `irds:<id>`": IrDatasets,
}


def open_collection(spec: str) -> Collection:
    """Open a collection by its name, folder or ir_datasets id; BadInput if there is nothing of that name."""
    name, chosen = with_relevance(spec)
    if not is_unicode(name):
        raise BadInput(f"the name {spec!r} is not UTF-8", mend="rename the folder")
    for form in FORMATS.values():
        if form.opens(name):
            opened = form(name)  # type: ignore[call-arg]
            opened.spec, opened.chosen = spec, chosen
            return opened
    raise BadInput(f"no collection {spec!r}", mend=f"use {', or '.join(FORMATS)}")


def with_relevance(spec: str) -> tuple[str, int]:
    """What opens a collection, and the lowest grade that counts as relevant, 0 for the collection's own rule."""
    match = re.fullmatch(r"(.*)\[relevant=(\w*)\]", spec)
    if match is None:
        return spec, 0
    if not re.fullmatch(r"[1-9]\d?", match[2], re.ASCII):
        raise BadInput(f"no grade that can count as relevant: {match[2]!r}", mend="write `[relevant=1]`, `[relevant=2]`, …")
    return match[1], int(match[2])


@kind("texts", "queries", "qrels")
def part_from_recipe(description: dict[str, Any]) -> Part:
    """The part that a recipe describes."""
    kind, *names = description["data"]
    return open_collection(description["collection"]).part(kind, *names)


def check_qrels(qrels: pd.DataFrame, known: Any, where: Path | str) -> int:
    """The number of judged ids that the collection lacks; an error if that is all of them.

    The studies' own data has a few (MS MARCO's document ids moved between releases), so some are counted, not refused.
    """
    missing = sum(1 for doc_id in qrels["doc_id"].unique() if doc_id not in known)
    if missing and missing == qrels["doc_id"].nunique():
        raise BadInput("none of the judged ids is in the collection", file=where,
                       mend="check that judgments and texts belong to the same release and the same unit")
    return missing
