"""The progress of a training by `transformers.Trainer`: step, loss and time left."""

import time
from typing import Any

from transformers import TrainerCallback

from helpers.steps import ledger


class Progress(TrainerCallback):
    """Shows optimiser steps and the mean loss since the last line of the log."""

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Open the bar."""
        self._bar = ledger.bar("training step", state.max_steps, state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """One step further; the loss is fetched from the device only when it is shown."""
        if time.time() - self._bar.last_print_t >= self._bar.mininterval:
            loss = float(self._trainer._tr_loss) / (state.global_step - self._trainer._globalstep_last_logged)
            self._bar.set_postfix_str(f"loss {loss:.3f}", refresh=False)
        self._bar.update(1)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Close the bar."""
        self._bar.close()
