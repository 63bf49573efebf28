"""What a student has in common with the teacher whose states it is taught (Jiao et al. 2020, equations 7 to 9)."""

from collections.abc import Sequence
from typing import Any


def matched_layers(student: int, teacher: int) -> list[int]:
    """Which teacher layer (from 0) each student layer is matched with: every (teacher / student)-th, the last with the last.
    ValueError if the student has more layers than the teacher."""
    if not 0 < student <= teacher:
        raise ValueError(f"a student of {student} layers cannot be matched with a teacher of {teacher}")
    return [(number + 1) * teacher // student - 1 for number in range(student)]


def squared_error(student: Sequence[Any], matched: Sequence[Any], kept: Any) -> Any:
    """The mean squared error of each layer with its match where `kept` (which broadcasts) is true, summed over the layers."""
    def mean_square(difference: Any) -> Any:
        there = kept.expand_as(difference)
        return (difference.square() * there).sum() / there.sum()

    return sum(mean_square(s.float() - t.float()) for s, t in zip(student, matched, strict=True))


def projection(student: Any, teacher: Any) -> Any:
    """What widens a student's states, (..., its dimensions), to its teacher's: a linear layer to be learned where they differ."""
    from torch import nn

    narrow, wide = student.config.hidden_size, teacher.config.hidden_size
    return nn.Identity() if narrow == wide else nn.Linear(narrow, wide, bias=False)
