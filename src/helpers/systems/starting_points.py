"""Where a fine-tuning starts from: the backbone, and what pre-training makes of it (Gao & Callan 2021, sections 4.3 to 5.4).

    recipe = Pretraining(backbone="packaged:0,1,2")
    made = pretrainings(recipe, "almanac", continued_epochs=2, continued_rate=5e-5)
    made["+ Condenser"].model.value()       # the folder of the pre-trained encoder

| name | what |
|---|---|
| `backbone` | as it is |
| `+ MLM` | masked words alone, with the same texts and steps: what does the head add? |
| `+ Condenser` | masked words with the Condenser head |
| `+ Condenser, continued` | Condenser, and on with the passages that will be searched |
"""

import functools
import re
from dataclasses import KW_ONLY, dataclass, replace

from helpers.data import queries
from helpers.data.collection import open_collection
from helpers.data.texts import text_store
from helpers.data.tokens import window_tokens
from helpers.data.windows import WHOLE
from helpers.networks import backbone
from helpers.networks.backbone import layers
from helpers.networks.fine_tuning import training_log
from helpers.pretraining.pretraining_data import corpus
from helpers.pretraining.training import MaskedTraining, pretrained
from helpers.steps import Step

BACKBONE, MLM, CONDENSER, CONTINUED = "backbone", "+ MLM", "+ Condenser", "+ Condenser, continued"
NAMES = (BACKBONE, MLM, CONDENSER, CONTINUED)


@dataclass(frozen=True)
class Pretraining(MaskedTraining):
    """What is pre-trained on what; how, `MaskedTraining` has."""

    # what is read: a collection, or a folder of text files; only its first thousand texts as `almanac[:1000]`
    texts: str = "almanac"
    unit: str = "passage"  # `document` or `passage`
    without: str = "test"  # the split whose relevant texts are left out; empty to read all
    backbone: str = "packaged"
    early: int = 0  # layers below the short circuit; 0 for half of them, as in the study
    head_layers: int = 2  # of the Condenser head; 0 for masked words alone
    _: KW_ONLY
    epochs: int = 8
    max_length: int = 128
    start: "Pretraining | None" = None  # the pre-training that this one goes on from

    @functools.cached_property  # a step's key takes the digests of all its data
    def model(self) -> Step:
        """The folder of the pre-trained encoder."""
        name, first = portion(self.texts)
        source, encoder = open_collection(name), backbone.resolve(self.backbone)
        store = text_store(source.part("texts", self.unit))
        without = queries.qrels([source.part("qrels", self.unit, self.without)]) if self.without else None
        return pretrained(corpus(store, without, first), store, window_tokens(store, encoder.whole(), WHOLE, 0), encoder,
                          self.early or layers(encoder) // 2, self.head_layers, None if self.start is None else self.start.model,
                          **self.settings(MaskedTraining))

    @property
    def log(self) -> Step:
        """Losses and size of the pre-training."""
        return training_log(self.model)

    def plain(self) -> "Pretraining":
        """Masked words alone, with the same texts, order, masks and steps."""
        return replace(self, head_layers=0)

    def continued(self, collection: str, epochs: int, learning_rate: float) -> "Pretraining":
        """On with all the texts of a collection, head and output kept."""
        return replace(self, texts=collection, without="", epochs=epochs, learning_rate=learning_rate, start=self)


def portion(texts: str) -> tuple[str, int | None]:
    """What is read, and how many of its texts (None for all): `almanac[:1000]` is the Almanac's first thousand."""
    match = re.fullmatch(r"(.+)\[:(\d+)\]", texts)
    return (match[1], int(match[2])) if match else (texts, None)


def pretrainings(recipe: Pretraining, target: str, continued_epochs: int, continued_rate: float) -> dict[str, Pretraining]:
    """The pre-trainings by the name of the starting point that they make; the backbone needs none."""
    return {MLM: recipe.plain(), CONDENSER: recipe, CONTINUED: recipe.continued(target, continued_epochs, continued_rate)}
