"""Re-ranking: this book's scoring against sentence-transformers' CrossEncoder.predict, on the same pairs with the same model."""

from typing import Any

import numpy as np

from helpers.costs.contenders import CROSS_ENCODER, CROSS_ENCODER_BEST, FROM_TEXTS, OURS
from helpers.costs.timing import Prepare, always
from helpers.data.tokens import pair_ids, query_ids
from helpers.networks.scoring import load_scorer, probabilities
from helpers.steps import numerics
from press.bench.sentence_transformers import best_setting, compared, model_arguments
from press.bench.work import Scale, Work


def prepare(scale: Scale) -> None:
    """Compute the steps before it."""
    Work(scale).prepare()


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Time the contenders, and make sure that they rank alike."""
    work = Work(scale)
    setting, tried = best_setting(lambda chosen: predictor(work, chosen),
                                  lambda model, pairs, batch: model.predict(pairs, batch_size=batch), work.text_pairs)
    lengths = [len(ids) for ids, _ in work.inputs(work.encoder.tokenizer())]
    config = load_scorer(scale.model.model.value()).config
    return {**compared(work, contenders(work, setting), rounds, np.asarray, lengths, config), "setting": setting, "tried": tried}


def contenders(work: Work, setting: dict[str, Any]) -> dict[str, Prepare]:
    """Each gives the probability of relevance of every pair, in their order.

    Args:
        work: the pairs.
        setting: sentence-transformers' best, see `best_setting`.
    """
    scorer, tokenizer, pairs = load_scorer(work.scale.model.model.value()), work.encoder.tokenizer(), work.text_pairs
    plain, best = predictor(work, {}), predictor(work, setting)
    return {CROSS_ENCODER: always(lambda: plain.predict(pairs)),
            CROSS_ENCODER_BEST: always(lambda: best.predict(pairs, batch_size=setting["batch_size"])),
            OURS: always(lambda: probabilities(scorer, work.inputs(tokenizer))),
            FROM_TEXTS: always(lambda: probabilities(scorer, inputs_from_texts(work, tokenizer)))}


def predictor(work: Work, setting: dict[str, Any]) -> Any:
    """A CrossEncoder with the model; without a setting, as sentence-transformers makes it."""
    from sentence_transformers import CrossEncoder

    model = work.scale.model
    return CrossEncoder(str(model.model.value()), max_length=model.max_length, device=numerics.device(),
                        **model_arguments(setting))


def inputs_from_texts(work: Work, tokenizer: Any) -> list[tuple[list[int], list[int]]]:
    """The pairs as inputs, tokenised now: each query and each window once."""
    model, queries = work.scale.model, work.queries
    ids_of = dict(zip(queries["query_id"], query_ids(tokenizer, list(queries["text"]), model.query_length), strict=True))
    names = list(dict.fromkeys(window for _, window in work.pairs))
    ids = tokenizer([work.window_texts[name] for name in names], add_special_tokens=False, verbose=False)["input_ids"]
    windows = {name: np.asarray(row) for name, row in zip(names, ids, strict=True)}
    return [pair_ids(tokenizer, ids_of[query], windows[window], model.max_length) for query, window in work.pairs]
