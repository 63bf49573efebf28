"""The progress of a training on standard error, one line: step, loss and time left. `book chapter` shows it beside the cells."""

import time
from typing import Any

from tqdm import tqdm
from transformers import TrainerCallback


def bar(total: int, done: int = 0, what: str = "training step") -> Any:
    """A line for so many steps, of which some were done before; plain text in a notebook, too, so that it can be passed on."""
    return tqdm(total=total, initial=done, desc=what, mininterval=5,
                bar_format="{desc} {n_fmt} of {total_fmt}{postfix}, {remaining} left")


class Progress(TrainerCallback):
    """Shows optimiser steps and the mean loss since the last line of the log."""

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Open the bar."""
        self._bar = bar(state.max_steps, state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """One step further; the loss is fetched from the device only when it is shown."""
        if time.time() - self._bar.last_print_t >= self._bar.mininterval:
            loss = float(self._trainer._tr_loss) / (state.global_step - self._trainer._globalstep_last_logged)
            self._bar.set_postfix_str(f"loss {loss:.3f}", refresh=False)
        self._bar.update(1)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Close the bar."""
        self._bar.close()
