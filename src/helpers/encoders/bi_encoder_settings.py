"""The settings of a bi-encoder."""

from dataclasses import dataclass

from helpers.networks.training_settings import RankerTraining


@dataclass(frozen=True, kw_only=True)
class BiEncoderTraining(RankerTraining):
    """The training of a bi-encoder, and how it compares texts."""

    pooling: str = "mean"  # see `helpers.networks.pooling` (the study's AVG is `mean`)
    loss: str = "triplet"  # see `helpers.encoders.bi_encoder_losses`
    margin: float = 1.0  # of the triplet loss
    temperature: float = 1.0  # of the contrastive loss
    similarity: str = "cosine"  # `cosine` (vectors of length 1) or `dot`
    token_types: bool = False  # whether passages have another token type than queries (RepBERT), where the architecture has two
    negatives: int = 1  # of each query in training; 0 for the passages of other queries alone
