"""Early stopping, observed rather than done: the training goes on, and the model it would have kept is kept beside."""

from pathlib import Path
from typing import Any

from transformers import TrainerCallback


class KeepBest(TrainerCallback):
    """Keeps the weights of the lowest evaluation loss until it has not fallen for `patience` evaluations."""

    def __init__(self, patience: int) -> None:
        self._patience, self._waited = patience, 0
        self._weights: dict[str, Any] = {}
        self.lowest = float("inf")
        self.step = 0  # of the lowest loss
        self.stopped_at: int | None = None  # where the training would have ended; None if it would not

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: dict[str, float] | None = None, model: Any = None,
                    **_: Any) -> None:
        """Compare the new evaluation loss with the lowest."""
        loss = (metrics or {}).get("eval_loss")
        if loss is None or self.stopped_at is not None:
            return
        if loss < self.lowest:
            self.lowest, self.step, self._waited = loss, state.global_step, 0
            self._weights = {name: weight.detach().cpu().clone() for name, weight in model.state_dict().items()}
            return
        self._waited += 1
        if self._waited >= self._patience:
            self.stopped_at = state.global_step

    def save(self, model: Any, tokenizer: Any, folder: Path) -> None:
        """Write the kept model."""
        model.save_pretrained(folder, state_dict=self._weights)
        tokenizer.save_pretrained(folder)
