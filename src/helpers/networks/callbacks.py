"""What a `transformers.Trainer` calls: checkpoints it goes on from, and its progress."""

import time
from typing import Any

from transformers import TrainerCallback

from helpers.networks.checkpoints import Checkpoints, random_state, set_random_state
from helpers.steps import ledger

FORGOTTEN = ("_tr_loss", "_globalstep_last_logged", "sums", "summed")  # losses since the log's last line, in all and by part


class Resuming(TrainerCallback):
    """Keeps, beside what the Trainer writes, what it forgets: those losses, and the random state that drew the epoch's order."""

    def __init__(self, trainer: Any, checkpoints: Checkpoints):
        self._trainer, self._checkpoints, self._state = trainer, checkpoints, checkpoints.read()
        self._random: dict[str, Any] = {}

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Put the losses where they were."""
        for name, value in self._state.get("trainer", {}).items():
            setattr(self._trainer, name, value.to(args.device) if hasattr(value, "to") else value)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Let the first epoch, which was begun before, have its order again."""
        if self._state:
            set_random_state(self._state["random"])
            self._state = {}
        self._random = random_state()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ask for a checkpoint, but between epochs, when what belongs to the last one may not be over."""
        control.should_save = self._checkpoints.due() and not float(state.epoch).is_integer()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Complete what the Trainer has written to the draft."""
        kept = {name: getattr(self._trainer, name) for name in FORGOTTEN if hasattr(self._trainer, name)}
        self._checkpoints.write(state.global_step, {"random": self._random, "trainer": kept})


class Ending(TrainerCallback):
    """Ends a training after a share of its steps; their rates are those of the whole."""

    def __init__(self, share: float):
        self._share = share

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ask for the end when it is reached."""
        control.should_training_stop |= state.global_step >= self._share * state.max_steps


class Progress(TrainerCallback):
    """Shows optimiser steps, the mean loss since the last line of the log, and the time left."""

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
