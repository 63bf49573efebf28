"""Steps for the tests of clusters, in a module that workers can import. Each writes down that it was called, and by whom."""

import os
import signal
import time
from pathlib import Path

import pandas as pd

from helpers.data import runs  # noqa: F401 - registers the form `run`
from helpers.steps import Shards, step

PATIENCE = 60


def note(here: str, name: str) -> None:
    with open(Path(here) / "calls", "a") as calls:
        calls.write(f"{name} {os.getpid()}\n")


def wait_until(condition) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def wait_for(file: Path) -> None:
    wait_until(file.exists)


@step(version=1, form="json")
def toy_numbers(here: str, count: int) -> list:
    note(here, "numbers")
    return list(range(count))


@step(version=1, form="table")
def toy_table(here: str, numbers: list) -> pd.DataFrame:
    note(here, "table")
    return pd.DataFrame({"text": [str(n) for n in numbers], "half": [n / 2 for n in numbers]})


@step(version=1, form="run")
def toy_run(here: str, numbers: list, table: pd.DataFrame) -> pd.DataFrame:
    note(here, "run")
    return pd.DataFrame({"query_id": "q", "doc_id": table["text"], "score": [n / 7 for n in numbers]})


@step(version=1, form="folder")
def toy_folder(here: str, parts: list, *, folder: Path) -> None:
    note(here, "folder")
    for number, part in enumerate(parts):
        (folder / f"{number}.csv").write_text(part.to_csv())


def toy_whole(here: str, count: int = 5):
    """numbers -> table -> run -> folder, with the numbers and the table used twice."""
    numbers = toy_numbers(here, count)
    table = toy_table(here, numbers)
    return toy_folder(here, [toy_run(here, numbers, table), table])


@step(version=1, form="json")
def toy_meeting(here: str, own: str, other: str) -> str:
    """Ends only if the other one is computed at the same time."""
    (Path(here) / own).touch()
    wait_for(Path(here) / other)
    return own


@step(version=1, form="json")
def toy_slow(here: str, numbers: list) -> int:
    note(here, "slow")
    wait_for(Path(here) / "go")
    return sum(numbers)


@step(version=1, form="json")
def toy_both(here: str, parts: list) -> list:
    note(here, "both")
    return parts


@step(version=1, form="json")
def toy_deadly(here: str, numbers: list) -> None:
    note(here, "deadly")
    os.kill(os.getpid(), signal.SIGKILL)


@step(version=1, form="json")
def toy_failing(here: str, numbers: list) -> None:
    raise ZeroDivisionError(f"{len(numbers)} numbers")


@step(version=1, form="json", timing=True)
def toy_timing(here: str, numbers: list) -> int:
    note(here, "timing")
    return os.getpid()


@step(version=1, form="json", network=True)
def toy_network(here: str, number: int) -> str:
    note(here, "network")
    return os.environ.get("CUDA_VISIBLE_DEVICES", "unset")


@step(version=1, form="table")
def toy_shard(here: str, numbers: list, start: int, stop: int) -> pd.DataFrame:
    note(here, f"shard{start}")
    if start == 2:
        wait_for(Path(here) / "go")
    return squares(numbers[start:stop])


def squares(numbers: list) -> pd.DataFrame:
    return pd.DataFrame({"square": [n * n / 3 for n in numbers]})


def split(whole, inputs):
    total = len(inputs["numbers"])
    return [toy_shard(**whole.arguments, start=start, stop=min(start + 2, total)) for start in range(0, total, 2)]


@step(version=1, form="table", shards=Shards(split, lambda parts: pd.concat(parts)))
def toy_sharded(here: str, numbers: list) -> pd.DataFrame:
    note(here, "sharded")
    return squares(numbers)
