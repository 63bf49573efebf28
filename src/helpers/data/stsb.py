"""The STS benchmark (Cer et al. 2017): real sentence pairs, which are not the book's to ship.

    pairs("data/stsb", "train")                     a folder with the benchmark's files as they are published
    pairs("hub:owner/name@revision", "train")       a dataset of the hub: columns sentence1, sentence2, score (0 to 1, or 0 to 5)

Where `data/stsb` is missing, the digests of the published files stand for it (`elsewhere.File`): what was recorded on them can be
shown, and only computing anew needs the files.
"""

from pathlib import Path
from typing import Any

import pandas as pd

from helpers import paths
from helpers.data.elsewhere import File
from helpers.data.lines import number, text_lines
from helpers.errors import BadInput, NetworkNeeded
from helpers.steps import Step, kind, step

FOLDER = "data/stsb"
MEND = f"put sts-train.csv and sts-test.csv of STSbenchmark.tar.gz into {FOLDER}, or give their folder"
COLUMNS = 7  # genre, file, year, id, score, sentence1, sentence2; some lines have sources after them
HIGHEST = 5.0


def stsb_file(split: str, folder: str | Path = FOLDER) -> File:
    """A file of the benchmark, `train` or `test`, in a folder; of its usual one it may be missing."""
    return File(paths.ROOT / Path(folder).expanduser() / f"sts-{split}.csv", MEND)


@kind("stsb")
def _from_recipe(description: dict[str, Any]) -> File:
    return stsb_file(description["data"][1])  # as recipes named it until November 2026


def pairs(source: str, split: str) -> Step:
    """The scored pairs of a split: pair_id, score (0 to 5), sentence1, sentence2; BadInput for a hub dataset without revision."""
    if not source.startswith("hub:"):
        return stsb_pairs(stsb_file(split, source))
    name, _, revision = source.removeprefix("hub:").partition("@")
    if not revision:
        raise BadInput(f"dataset {source!r} has no revision", mend="pin it: hub:owner/name@<commit hash>")
    return stsb_of_the_hub(name, revision, split)


@step(version=1, form="table")
def stsb_pairs(file: File) -> pd.DataFrame:
    """A file of the benchmark, as `pairs` gives it; BadInput for a missing file, a line with too few columns, or a score that is
    not a number from 0 to 5."""
    if not file.is_here:
        raise BadInput("the STS benchmark is not here, and no recorded run answers this", file=file.path, mend=MEND)
    split, rows = file.path.stem.removeprefix("sts-"), []
    for place, line in text_lines(file.path):
        parts = line.rstrip("\r\n").split("\t")
        if len(parts) < COLUMNS:
            raise BadInput(f"{len(parts)} columns where at least {COLUMNS} are wanted", file=file.path, line=place,
                           mend="use the benchmark's files as they are: genre, file, year, id, score, two sentences")
        if not 0 <= (score := number(parts[4])) <= HIGHEST:
            raise BadInput(f"{parts[4]!r} is no score", file=file.path, line=place, mend="a score is a number from 0 to 5")
        rows.append((f"{split}-{place}", score, parts[5], parts[6]))
    return pd.DataFrame(rows, columns=["pair_id", "score", "sentence1", "sentence2"])


@step(version=1, form="table")
def stsb_of_the_hub(name: str, revision: str, split: str) -> pd.DataFrame:
    """A split of a hub dataset, as `pairs` gives it; NetworkNeeded if it cannot be fetched, BadInput if it lacks a column."""
    from datasets import load_dataset

    try:
        frame = load_dataset(name, revision=revision, split=split).to_pandas()
    except Exception as error:  # noqa: BLE001 - whatever the hub's client raises: the reader needs to know what was asked for
        raise NetworkNeeded(f"the dataset {name} at {revision} could not be fetched from the hub ({error}).\n"
                            f"Mend: connect to the network, or give a folder with the benchmark's files") from None
    if missing := {"sentence1", "sentence2", "score"} - set(frame):
        raise BadInput(f"the dataset {name} has no column {sorted(missing)[0]!r}", mend="give one with two sentences and a score")
    scale = HIGHEST if frame["score"].max() <= 1 else 1.0
    return pd.DataFrame({"pair_id": [f"{split}-{n}" for n in range(1, len(frame) + 1)], "score": frame["score"] * scale,
                         "sentence1": frame["sentence1"], "sentence2": frame["sentence2"]})
