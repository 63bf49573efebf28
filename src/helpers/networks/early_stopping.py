"""Early stopping, observed rather than done: the training goes on, and the model it would have kept is kept beside."""

from dataclasses import dataclass


@dataclass
class LowestLoss:
    """Where the evaluation loss is lowest, until it has not fallen for `patience` evaluations."""

    patience: int
    lowest: float = float("inf")
    best_step: int = 0  # of the lowest loss
    stopped_at: int | None = None  # where the training would have ended; None if it would not
    waited: int = 0  # evaluations since the lowest

    def falls(self, step: int, loss: float) -> bool:
        """Take note of an evaluation; whether its weights are the ones to keep so far."""
        if self.stopped_at is not None:
            return False
        if loss < self.lowest:
            self.lowest, self.best_step, self.waited = loss, step, 0
            return True
        self.waited += 1
        if self.waited >= self.patience:
            self.stopped_at = step
        return False
