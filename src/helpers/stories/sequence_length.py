"""The chapter *Sequence length* (David 2020, table B.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd

from helpers.encoders.embeddings import token_lengths
from helpers.evaluation import published
from helpers.networks import backbone
from helpers.pages import claims, page, plots
from helpers.pages.compare import above, lead, mean_cell
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import plain, signed
from helpers.steps import Step
from helpers.stories.encoders import STUDY, label, seconds_before
from helpers.systems.bi_encoder import BiEncoder, reading
from helpers.systems.evaluated import Evaluation
from helpers.systems.testbed import Testbed

MEASURE, CLAIM = "AP", "longer-sequences-lower-scores"
SHORT, LONG = 128, 512  # the lengths that the study compares
ENCODERS = ("BERT", "ALBERT", "DistilBERT", "ELECTRA")  # RoBERTa did not fit into the study's memory


def models(base: BiEncoder, lengths: Sequence[int]) -> dict[int, BiEncoder]:
    """A model for each length, trained and run with it; shortest first."""
    return {length: replace(base, max_length=length, query_length=min(base.query_length, length)) for length in sorted(lengths)}


def lengths_step(base: BiEncoder, bed: Testbed) -> Step:
    """The step that counts the passages' tokens."""
    return token_lengths(bed.store, reading(bed).tokens(backbone.resolve(base.backbone)))


def read_of(lengths: Mapping[str, int], limit: int) -> tuple[float, float]:
    """The share of passages that are longer than the limit, and the mean number of tokens that are read of a passage."""
    tokens = np.repeat([int(length) for length in lengths], list(lengths.values()))
    return float((tokens > limit).mean()), float(tokens.clip(max=limit).mean())


def compared(systems: Mapping[int, Evaluation]) -> tuple[int, int]:
    """The two lengths that stand for the study's: the longest, and of the others the one nearest to its shorter one."""
    longest = max(systems)
    return longest, min(set(systems) - {longest} or {longest}, key=lambda length: (abs(length - SHORT), length))


def claims_table(systems: Mapping[int, Evaluation], base: BiEncoder, lengths: Mapping[str, int]) -> Fragment:
    """The chapter's claim: the longer sequences compared with the shorter ones."""
    longer, shorter = compared(systems)
    name, longest = label(base.backbone), max(map(int, lengths))
    why = "" if name in ENCODERS and (longer, shorter) == (LONG, SHORT) else (
        f"{name} with {longer} tokens and with {shorter}; the longest passage has {longest}")
    return claims.judge("sequence_length", {CLAIM: (systems[longer], systems[shorter])}, backbone=base.backbone,
                        untested={CLAIM: why})


def signs(systems: Mapping[int, Evaluation]) -> dict[str, bool]:
    """What the discussion rests on."""
    short, long = ([systems[length] for length in sorted(systems) if side(length)]
                   for side in (lambda length: length <= SHORT, lambda length: length >= SHORT))
    rise = all(lead(longer, shorter, MEASURE) > 0 for shorter, longer in pairwise(short))
    return {"up to the study's shorter limit the means rise, surely over all of it":
                len(short) > 1 and rise and above(short[-1], short[0], MEASURE),
            "beyond it, nothing is told from chance":
                len(long) > 1 and not any(above(*pair, MEASURE) or above(*pair[::-1], MEASURE) for pair in pairwise(long))}


def published_table() -> Fragment:
    """Tables B.2 and 4.2 of the study: average precision with either length."""
    entries = {encoder: [published.value(STUDY, *place, "MAP") for place in (("4.2", f"{encoder} / Avg"), ("B.2", encoder))]
               for encoder in ENCODERS}
    return page.records_table(f"{published.published_name(STUDY)}, tables 4.2 (Avg) and B.2: MAP by maximum length", (
        {"encoder": encoder, f"{SHORT} tokens": short.printed, f"{LONG} tokens": long.printed,
         "change": signed(float(long.value) - float(short.value), 4)} for encoder, (short, long) in entries.items()))


def table(systems: Mapping[int, Evaluation], trained: Mapping[int, BiEncoder], lengths: Mapping[str, int],
          depth: int) -> Fragment:
    """Effectiveness and cost at each length, and how much of the collection it cuts."""
    before = {length: seconds_before(system.source, trained[length].log) for length, system in systems.items()}
    return page.records_table("Maximum length, effectiveness and cost", (
        {"maximum length": f"{length} tokens", "passages cut": f"{cut:.0%}", "tokens read of one": plain(read, 0),
         **{measure: mean_cell(system, measure) for measure in (MEASURE, "RR@10", f"R@{depth}")},
         "training": before[length].get("bi_encoder", ""), "encoding": before[length].get("passage_embeddings", "")}
        for length, system in systems.items() for cut, read in [read_of(lengths, length)]))


def by_length(systems: Mapping[int, Evaluation]) -> Fragment:
    """Average precision over the length, ours and that of the study's encoders, each less its value at the studied length."""
    base = min(systems, key=lambda length: abs(length - SHORT))
    ours = pd.Series({length: lead(systems[length], systems[base], MEASURE) for length in sorted(systems)})
    study = {f"{encoder}, {plots.PRINTED}": pd.Series({SHORT: 0.0, LONG: published.value(STUDY, "B.2", encoder, "MAP").amount
                                                       - published.value(STUDY, "4.2", f"{encoder} / Avg", "MAP").amount})
             for encoder in ENCODERS}
    return plots.curves({"measured": ours, **study}, "maximum length in tokens", f"{MEASURE} less that at {base}",
                        "Average precision by maximum length; the study's from its tables 4.2 and B.2.", log=True)
