"""A narrower start for re-rankers: as many layers as a backbone, fewer dimensions, taught to have its states.

    Narrower(width=264).model.value()           # a folder
"""

import functools
from dataclasses import dataclass

from helpers.networks import backbone
from helpers.networks.training_settings import FineTuning
from helpers.pretraining.narrower import narrower_encoder
from helpers.steps import Step
from helpers.systems.pretraining_texts import pretraining_texts

GENERAL = "dictionaries"  # text beyond a collection's own


@dataclass(frozen=True, kw_only=True)
class Narrower(FineTuning):
    """What is made narrower, and by reading what."""

    width: int  # dimensions of its states
    backbone: str = "packaged"
    texts: str = f"almanac + {GENERAL}"  # this, the unit and the articles: see `pretraining_texts`
    unit: str = "passage"
    articles: str = "train"
    steps: int | None = 700
    batch_size: int = 32
    learning_rate: float = 1e-3
    max_length: int = 128

    @functools.cached_property
    def model(self) -> Step:
        """The folder of the narrower encoder."""
        encoder = backbone.resolve(self.backbone)
        return narrower_encoder(*pretraining_texts(self.texts, self.unit, self.articles, encoder), encoder, self.width,
                                **self.settings(FineTuning))
