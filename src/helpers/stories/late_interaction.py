"""Rows that the studies do not have: what a vector for each word adds to one for each text, as the encoder comes and trained for
it (Khattab & Zaharia 2020)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from helpers.costs.latency import max_sim_latency
from helpers.data.texts import Texts
from helpers.encoders.bi_encoder import MAX_SIM
from helpers.encoders.embeddings import token_lengths
from helpers.encoders.late_interaction import SPECIAL_TOKENS
from helpers.networks import backbone as backbones
from helpers.pages import page
from helpers.pages.compare import above, differences_table, effect_columns, lead
from helpers.pages.fragments import Fragment, linked
from helpers.pages.numbers import count, plain
from helpers.pages.rates import rounds_cell
from helpers.steps import Step
from helpers.systems.bi_encoder import BiEncoder, reading
from helpers.systems.evaluated import Evaluation, Systems, evaluate_values
from helpers.systems.reranking_experiment import together
from helpers.systems.testbed import Testbed

MEASURE = "RR@10"
FLOAT = 4  # bytes
TIMED, ROUNDS = 20, 3  # queries, one after the other, and rounds of them
NAME = "MaxSim"  # among the methods of later years
ZERO_SHOT, TRAINED = "MaxSim over its states, zero-shot", "MaxSim over its states, trained"
# chosen on development queries, over in-batch negatives alone at a temperature of 1, which lower what MaxSim finds
TRAINING: Mapping[str, Any] = {"loss": "contrastive", "temperature": 0.1, "negatives": 1, "candidates": 20, "epochs": 1,
                               "learning_rate": 1e-5, "queries": 0, "own_articles": True}


def models(encoder: BiEncoder, methods: Sequence[str], seeds: Sequence[int]) -> list[BiEncoder]:
    """The encoder trained to be compared word by word, once a seed, on all training queries and train articles alone, with hard
    negatives of its own ranking; none where the method is not asked for."""
    one = replace(encoder, similarity=MAX_SIM, negatives_from=encoder, **TRAINING)
    return [replace(one, seed=seed) for seed in seeds] if NAME in methods else []


def evaluations(encoder: BiEncoder, trained: Sequence[BiEncoder], bed: Testbed, first: Step | None,
                candidates: int) -> dict[str, Evaluation]:
    """The best of an encoder's list, ordered anew by MaxSim over its own states as they are, and over those of the trained ones,
    over seeds; nothing where there is no list, or no candidates are asked for."""
    if first is None or not candidates:
        return {}
    ways = {ZERO_SHOT: [encoder], TRAINED: trained}
    return {name: together(name, [evaluate_values(name, one.ordered(first, bed, candidates), bed, [MEASURE]) for one in models])
            for name, models in ways.items() if models}


def latency(encoder: BiEncoder, bed: Testbed, first: Step | None, candidates: int) -> Step | None:
    """The time of ordering the lists of some queries, the same for any weights; None where there is nothing to order."""
    if first is None or not candidates:
        return None
    backbone = backbones.resolve(encoder.backbone)
    return max_sim_latency(backbone, first, bed.query_step, bed.store, reading(bed).tokens(backbone), candidates,
                           encoder.max_length, encoder.query_length, TIMED, ROUNDS)


def table(late: Systems, one: Evaluation | None, encoder: BiEncoder, bed: Testbed, spent: Step | None) -> Fragment:
    """One vector a text beside one a word: RR@10 of the same lists, what the vectors of the collection take, and the time that
    an order takes."""
    if not late or one is None or spent is None:
        return page.prose("This run leaves the rows out: they take the zero-shot encoder's list, and `late` above zero.")
    backbone = backbones.resolve(encoder.backbone)
    lengths = token_lengths(bed.store, reading(bed).tokens(backbone)).value()
    milliseconds = np.add(spent.value()["encode"], spent.value()["order"])
    words = sum(number * (min(int(length), encoder.max_length) - SPECIAL_TOKENS) for length, number in lengths.items())
    vectors = {one.label: len(Texts(bed.store.value())), **dict.fromkeys(late, words)}
    wide = FLOAT * backbones.configuration(backbone).hidden_size
    effects = effect_columns({one.label: one, **late}, one.label, MEASURE)
    return page.records_table("One vector for a passage, and one for each of its word pieces", (
        {"system": name, **effects[name], "vectors": count(number), "in 32 bits": f"{count(round(number * wide / 1e6))} MB",
         "ms/query to encode and order":
         linked(rounds_cell(milliseconds, lambda value: plain(value, 1)), spent) if name in late else ""}
        for name, number in vectors.items()))


def difference(late: Systems) -> Fragment:
    """What the training adds to MaxSim; nothing without one."""
    if TRAINED not in late:
        return page.prose()
    return differences_table("What a training for it adds (first less second)",
                             {"trained, and zero-shot": (late[TRAINED], late[ZERO_SHOT])}, MEASURE)


def signs(late: Systems, one: Evaluation | None) -> dict[str, bool]:
    """What the discussion rests on; nothing without rows."""
    if not late or one is None:
        return {}
    found = {"a vector for each word ranks above one for each text": above(late[ZERO_SHOT], one, MEASURE)}
    return found if TRAINED not in late else found | {
        "training for MaxSim raises its mean": lead(late[TRAINED], late[ZERO_SHOT], MEASURE) > 0,
        "training for MaxSim surely adds to it": above(late[TRAINED], late[ZERO_SHOT], MEASURE)}
