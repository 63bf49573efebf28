"""What a worker of a cluster does: compute one step into the store that it shares with whoever asks."""

import importlib
import time
from collections.abc import Callable
from typing import Any, TypeVar

from helpers import paths
from helpers.errors import BadInput
from helpers.steps import numerics, rebuilding
from helpers.steps.store import Store

ASKING = {"BOOK_CLUSTER": None, "BOOK_LEDGER": None}  # what is missing here is computed here; the ledger is kept by who asks
PATIENCE = 60  # seconds after which a file that another machine wrote is seen here
Seen = TypeVar("Seen")


def work(task: dict[str, Any]) -> None:
    """Compute a step on a worker.

    Args:
        task: its `recipe`, the `modules` that define it and its inputs, the `settings` (environment variables), and `shards`,
            name and key of those that it is to be joined from.
    """
    numerics.settle({**task["settings"], **ASKING})
    for module in task["modules"]:
        importlib.import_module(module)
    try:
        step = rebuilding.rebuild(task["recipe"], lazily=True)
    except KeyError as error:
        raise BadInput(f"a worker has another version of the book: {error.args[0]}", mend="start the workers again") from None
    lock = Store(paths.store()).lock_file(step.name, step.key)
    wait(lambda: lock.exists() or None, f"a worker does not see {lock}, which was there before it was asked")
    step.joined(task["shards"]) if task["shards"] else step.entry()


def wait(look: Callable[[], Seen | None], otherwise: str) -> Seen:
    """What is found as soon as it is, for file systems by which machines see each other's files late.

    Raises:
        BadInput: with `otherwise`, if it is not found in time.
    """
    until = time.monotonic() + PATIENCE
    while (value := look()) is None:
        if time.monotonic() > until:
            raise BadInput(otherwise, mend="set BOOK_STORE to a folder that all workers and this machine share")
        time.sleep(0.2)
    return value
