"""The settings of a bi-encoder."""

from dataclasses import dataclass

from helpers.networks.training_settings import RankerTraining


@dataclass(frozen=True, kw_only=True)
class BiEncoderTraining(RankerTraining):
    """The training of a bi-encoder, and how it compares texts.

    Args:
        pooling: see `helpers.networks.pooling` (the study's AVG is `mean`).
        loss: see `helpers.encoders.bi_encoder_losses`.
        margin: of the triplet loss.
        temperature: of the contrastive loss.
        similarity: `cosine` (vectors of length 1) or `dot`.
        token_types: whether passages have another token type than queries (RepBERT), where the architecture has two.
        negatives: of each query in training; 0 for the passages of other queries alone.
    """

    pooling: str = "mean"
    loss: str = "triplet"
    margin: float = 1.0
    temperature: float = 1.0
    similarity: str = "cosine"
    token_types: bool = False
    negatives: int = 1
