"""On every page with a fine-tuned model: whether it knows the articles that it was trained on."""

from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial

import pandas as pd

from helpers.data.runs import cut
from helpers.data.texts import split_of, splits_of
from helpers.evaluation.identity import NEITHER, IdentityGap, by_query, gap_excess, identity_gap, without_rivals
from helpers.pages import page
from helpers.pages.compare import mean_link
from helpers.pages.fragments import Fragment, interval, plain, signed
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZERO_SHOT

MEASURE = "RR@10"
TOLERANCE = 0.05  # standard deviations


def identity_table(systems: Systems, bed: Testbed, candidates: int, *untrained: str) -> Fragment:
    """The mean score of unjudged candidates by the split of their article, and the measure with train articles' rivals left out.

    An encoder without training is among the systems, of test or dev queries: what it shows comes from the texts alone. What was
    trained knows its articles if its gap is wider than that encoder's, see `knows_articles`, and than those of others that are
    named (`untrained`).
    """
    split = splitting(bed)
    if split is None:
        return page.prose("Training and test queries share their texts in this collection, so that no text tells them apart.")
    neither = " and ".join(NEITHER[bed.splits[0]])
    without = "no training texts" if len(NEITHER[bed.splits[0]]) > 1 else "neither training texts nor answers"
    encoder = next(name for name in systems if ZERO_SHOT in name)
    excuses = [systems[name] for name in (encoder, *untrained)]
    alone = {name: bed.per_query(without_rivals(system.run, bed.qrels, split, bed.min_relevance), [MEASURE])[MEASURE].mean()
             for name, system in systems.items()}
    return page.records_table(f"Mean scores of unjudged candidates, {bed.splits[0]} queries: train articles, and {neither} "
                              f"articles, which hold {without}", (
        {"system": name, "train articles": signed(shown.seen), f"{neither} articles": signed(shown.neither),
         "gap within queries (standard deviations)": signed(shown.gap),
         "knows them": "" if not any(system.trainings()) else "yes" if all(
             knows_articles(system, other, bed, candidates) for other in excuses) else "no",
         MEASURE: mean_link(system, MEASURE),
         f"{MEASURE}, train articles' rivals left out": plain(float(alone[name]))}
        for name, system in systems.items() for shown in [gap_of(system, bed, candidates)]))


@lru_cache
def knows_articles(system: Evaluation, untrained: Evaluation, bed: Testbed, candidates: int) -> str:
    """Why nothing may be concluded from a system whose gap is wider than that of an untrained one by more than the tolerance, by
    the interval of the excess."""
    if splitting(bed) is None or not any(system.trainings()):
        return ""
    excess = gap_excess(_sums(system, bed, candidates), _sums(untrained, bed, candidates))
    return "" if not excess.low > TOLERANCE else (
        f"the model knows which articles it was trained on: its gap exceeds that of the encoder without training by "
        f"{signed(excess.mean)} {interval(excess.low, excess.high)} standard deviations")


def barred(pairs: Mapping[str, tuple[Evaluation, Evaluation]], untrained: Evaluation, bed: Testbed,
           candidates: int) -> dict[str, str]:
    """For each claim why nothing may be concluded from the two systems that it compares, see `knows_articles`; else empty."""
    return {claim: next(filter(None, (knows_articles(system, untrained, bed, candidates) for system in pair)), "")
            for claim, pair in pairs.items()}


def gap_of(system: Evaluation, bed: Testbed, candidates: int) -> IdentityGap:
    """A system's `identity_gap` over its first candidates."""
    return identity_gap(_sums(system, bed, candidates))


@lru_cache
def _sums(system: Evaluation, bed: Testbed, candidates: int) -> pd.DataFrame:
    """What a system's gap is made of; many claims and comparisons ask for one system's."""
    split = splitting(bed)
    assert split is not None
    return by_query(cut(system.run, candidates), bed.qrels, split, bed.splits[0])


def splitting(bed: Testbed) -> Callable[[str], str] | None:
    """The split of each text's article, which many queries ask for; None where no article is of one split alone."""
    split_alone = bed.source.split_by_article and bed.splits[0] in NEITHER
    return cache(partial(split_of, splits=splits_of(bed.source))) if split_alone else None
