"""An encoder that was distilled and not cut, as one value: layers of a backbone that learned to have the states of all of them.

    student = DistilledEncoder("packaged:0,2,5")
    student.of(BiEncoder()).zero_shot().run(Testbed("almanac", "passage", queries=400), depth=100)
"""

import functools
from dataclasses import KW_ONLY, dataclass, replace

from helpers.encoders.training import StateTraining, distilled_encoder
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.networks.fine_tuning import training_log
from helpers.steps import Step
from helpers.systems.bi_encoder import BiEncoder, reading
from helpers.systems.testbed import SplitTestbed


@dataclass(frozen=True)
class DistilledEncoder(StateTraining):
    """What decides a student; its teacher is the whole of its backbone. BadInput for a backbone that is whole itself."""

    backbone: str = "packaged:0,2,5"  # the layers that it begins as: DistilBERT has every other one of BERT's
    collection: str = "almanac"  # whose training queries are read, and the texts of their articles alone
    unit: str = "passage"
    splits: tuple[str, ...] = ("train",)
    _: KW_ONLY
    steps: int | None = 700
    batch_size: int = 32
    learning_rate: float = 5e-4
    max_length: int = 128

    def __post_init__(self) -> None:
        if backbone.resolve(self.backbone).layers is None:
            raise BadInput(f"a student {self.backbone!r} has all the layers of its teacher",
                           mend="name those that it keeps: packaged:0,2,5")

    @functools.cached_property  # a step's key takes the digests of all its data
    def model(self) -> Step:
        """The folder of the student, which loads wherever its backbone does."""
        bed = reading(SplitTestbed(self.collection, self.unit, self.splits))
        layers = backbone.resolve(self.backbone)
        return distilled_encoder(bed.query_step, bed.store, bed.tokens(layers), layers, **self.settings(StateTraining))

    @property
    def log(self) -> Step:
        """The losses over the training, and its size."""
        return training_log(self.model)

    def of(self, encoder: BiEncoder) -> BiEncoder:
        """A bi-encoder that starts as the student."""
        return replace(encoder, backbone=self.backbone, start=self.model)
