"""Re-ranking: this book's scoring beside sentence-transformers' CrossEncoder.predict, on the same pairs with the same model."""

from functools import partial
from typing import Any

import numpy as np

from bench.sentence_transformers import Comparison
from bench.work import Scale, Work
from helpers.costs.timing import CROSS_ENCODER, CROSS_ENCODER_BEST
from helpers.networks.inference import load_scorer, probabilities
from helpers.steps import numerics


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Time the contenders, and make sure that they rank alike."""
    return comparison(Work(scale)).measure(rounds)


def comparison(work: Work) -> Comparison:
    """The contenders give the probability of relevance of every pair."""
    from sentence_transformers import CrossEncoder

    model, tokenizer = work.scale.model, work.encoder.tokenizer()
    scorer = load_scorer(model.model.value())
    return Comparison(
        work, (CROSS_ENCODER, CROSS_ENCODER_BEST), work.whole_model.name,
        make=partial(CrossEncoder, work.whole_model.name, max_length=model.max_length, device=numerics.device()),
        run=CrossEncoder.predict, inputs=work.text_pairs,
        ours=(lambda: probabilities(scorer, work.inputs(tokenizer)),
              lambda: probabilities(scorer, work.inputs(tokenizer, from_texts=True))),
        scores_of=np.asarray, lengths=[len(ids) for ids, _ in work.inputs(tokenizer)], config=scorer.config)
