"""A progress bar for a training, on standard error, one line."""

from typing import Any

from tqdm.auto import tqdm
from transformers import TrainerCallback


class Progress(TrainerCallback):
    """Shows optimiser steps, their rate and the last losses."""

    def __init__(self) -> None:
        self._bar: Any = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Open the bar."""
        self._bar = tqdm(total=state.max_steps, desc="training steps", mininterval=2)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """One step further."""
        self._bar.update(1)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        """Show the losses."""
        if self._bar is not None:
            self._bar.set_postfix({k: f"{float(v):.3f}" for k, v in (logs or {}).items() if k in ("loss", "eval_loss")})

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Close the bar."""
        self._bar.close()
