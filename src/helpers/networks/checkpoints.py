"""Checkpoints: from where a training goes on whose process was ended, by a cluster's time limit or by hand.

They are written by the clock, so that a short training writes none. Each is a folder that appears as a whole, in place of the one
before. A training that goes on from one ends with the weights and the log, bit for bit, of one that was never ended.
"""

import shutil
import time
from pathlib import Path
from typing import Any

from helpers.steps import numerics
from helpers.steps.store import sync

SECONDS = 300.0  # between two checkpoints
DRAFT, NAME, STATE = "draft", "checkpoint-", "state.pt"


class Checkpoints:
    """Those of one training, in the folder that its step has until the value is finished."""

    def __init__(self, folder: Path):
        self._folder, self._draft, self._written = folder, folder / DRAFT, time.monotonic()
        shutil.rmtree(self._draft, ignore_errors=True)

    def due(self) -> bool:
        """Whether it is time for the next one."""
        return time.monotonic() - self._written >= SECONDS

    def last(self) -> Path | None:
        """The folder of the last one, if there is one."""
        whole = [file.parent for file in self._folder.glob(f"{NAME}*/{STATE}")]
        return max(whole, key=lambda folder: int(folder.name.removeprefix(NAME)), default=None)

    def write(self, number: int, state: dict[str, Any]) -> None:
        """Write tensors and plain values beside what the draft of this number holds, and put it in the last one's place."""
        import torch

        made, older = self._draft / f"{NAME}{number}", list(self._folder.glob(f"{NAME}*"))
        made.mkdir(parents=True, exist_ok=True)
        torch.save(state, made / STATE)
        for file in made.iterdir():
            sync(file)
        made.rename(self._folder / made.name)
        for folder in older:
            shutil.rmtree(folder)
        self._written = time.monotonic()

    def read(self) -> dict[str, Any]:
        """The tensors and plain values of the last one; empty if there is none."""
        import torch

        last = self.last()
        return {} if last is None else torch.load(last / STATE, map_location="cpu", weights_only=True)

    def keep(self, number: int, parts: dict[str, Any], values: dict[str, Any]) -> None:
        """If it is time, write how a loop's parts stand (model, optimiser, schedule), the random state, and plain values."""
        if self.due():
            states = {name: part.state_dict() for name, part in parts.items()}
            self.write(number, {"parts": states, "random": random_state(), "values": values})

    def resume(self, parts: dict[str, Any]) -> dict[str, Any]:
        """Put parts and random state where `keep` found them; its plain values, or nothing if there is no checkpoint."""
        state = self.read()
        for name, part in state.get("parts", {}).items():
            parts[name].load_state_dict(part)
        if state:
            set_random_state(state["random"])
        return state.get("values", {})


def random_state() -> dict[str, Any]:
    """How PyTorch's generators stand."""
    import torch

    return {"cpu": torch.get_rng_state(), **({"cuda": torch.cuda.get_rng_state()} if numerics.device() == "cuda" else {})}


def set_random_state(state: dict[str, Any]) -> None:
    """Put them there again."""
    import torch

    torch.set_rng_state(state["cpu"])
    if "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"])
