"""Re-ranking: this book's scoring against sentence-transformers' CrossEncoder.predict, on the same pairs with the same model."""

from functools import partial
from typing import Any

import numpy as np

from helpers.costs.contenders import CROSS_ENCODER, CROSS_ENCODER_BEST
from helpers.data.tokens import pair_ids, query_ids
from helpers.networks.scoring import load_scorer, probabilities
from helpers.steps import numerics
from press.bench.sentence_transformers import Comparison
from press.bench.work import Scale, Work


def prepare(scale: Scale) -> None:
    """Compute the steps before it."""
    Work(scale).prepare()


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Time the contenders, and make sure that they rank alike."""
    return comparison(Work(scale)).measure(rounds)


def comparison(work: Work) -> Comparison:
    """The contenders give the probability of relevance of every pair."""
    from sentence_transformers import CrossEncoder

    model, tokenizer = work.scale.model, work.encoder.tokenizer()
    scorer = load_scorer(model.model.value())
    return Comparison(
        work, (CROSS_ENCODER, CROSS_ENCODER_BEST),
        make=partial(CrossEncoder, str(model.model.value()), max_length=model.max_length, device=numerics.device()),
        run=CrossEncoder.predict, inputs=work.text_pairs,
        ours=(lambda: probabilities(scorer, work.inputs(tokenizer)),
              lambda: probabilities(scorer, inputs_from_texts(work, tokenizer))),
        scores_of=np.asarray, lengths=[len(ids) for ids, _ in work.inputs(tokenizer)], config=scorer.config)


def inputs_from_texts(work: Work, tokenizer: Any) -> list[tuple[list[int], list[int]]]:
    """The pairs as inputs, tokenised now: each query and each window once."""
    model, queries = work.scale.model, work.queries
    ids_of = dict(zip(queries["query_id"], query_ids(tokenizer, list(queries["text"]), model.query_length), strict=True))
    names = list(dict.fromkeys(window for _, window in work.pairs))
    ids = tokenizer([work.window_texts[name] for name in names], add_special_tokens=False, verbose=False)["input_ids"]
    windows = {name: np.asarray(row) for name, row in zip(names, ids, strict=True)}
    return [pair_ids(tokenizer, ids_of[query], windows[window], model.max_length) for query, window in work.pairs]
