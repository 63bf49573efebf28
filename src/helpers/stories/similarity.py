"""The chapter *Sentences*: similarity and sections by training size (Gao & Callan 2021, section 5.2, tables 1 and 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from helpers.data import stsb
from helpers.evaluation import published
from helpers.evaluation.comparable import model_name
from helpers.evaluation.rank_correlation import rank_correlations
from helpers.networks import backbone
from helpers.networks.fine_tuning import Schedule
from helpers.pages import claims
from helpers.pages.compare import above, lead
from helpers.pages.fragments import Fragment
from helpers.pretraining.sentences import almanac_pairs, fold, predicted_similarity, sample, section_triplets, triplet_accuracy
from helpers.steps import Step
from helpers.stories import readiness
from helpers.stories.power import design, spent
from helpers.stories.readiness import BySize, Starts
from helpers.systems.correlation import MEASURE, Correlation, correlations
from helpers.systems.evaluated import Evaluation, Systems, over_seeds
from helpers.systems.starting_points import CONDENSER, MLM, START
from helpers.systems.testbed import SplitTestbed
from helpers.systems.zero_shot import ZERO_SHOT

SIMILARITY_TABLE, SIMILARITY_COLUMNS = "1", ("Spearman / 500", "Spearman / 1K", "Spearman / FULL")
SECTION_TABLE, SECTION_COLUMNS = "2", ("Accuracy / 1K", "Accuracy / 10K", "Accuracy / FULL")
ACCURACY = "accuracy"
AS_IT_IS = f"{START}, as it is"
ALMANAC, FOLDS = "almanac", 3  # its pairs have no files of their own for training and test: they are cross-validated
POOLING, MARGIN = "cls", 1.0
STSB_PAIRS = 5749  # of the benchmark's training file


def schedule(steps: int, learning_rate: float) -> Schedule:
    """The fine-tunings' schedule: as many steps for each size, so that a smaller set is read more often and not less long."""
    return Schedule(steps=steps, learning_rate=learning_rate, max_length=64)


def similarity(pairs: str, starts: Starts, spec: str, sizes: Sequence[int],
               trained: Schedule) -> tuple[BySize, dict[str, Correlation]]:
    """Spearman's correlation by start and size; and of encoders as they are (`untrained`).

    The Almanac's pairs are cross-validated: each third is judged by an encoder that was trained on the other two. Of the STS
    benchmark, `pairs` names the folder or hub dataset; it has a training file and a test file.
    """
    truth = almanac_pairs() if pairs == ALMANAC else stsb.pairs(pairs, "test")
    seeds = list(next(iter(starts.values())))

    def sides(seed: int) -> list[tuple[Step, Step]]:
        if pairs != ALMANAC:
            return [(stsb.pairs(pairs, "train"), truth)]
        return [(fold(truth, number, FOLDS, seed, True), fold(truth, number, FOLDS, seed, False)) for number in range(FOLDS)]

    def predicted(size: int, seed: int, pooling: str, weights: Step | None, own: Schedule) -> list[Step]:
        return [predicted_similarity(sample(train, size, seed), test, backbone.resolve(spec), pooling, weights,
                                     **vars(replace(own, seed=seed))) for train, test in sides(seed)]

    places = {f"{start}, {size or 'all'}": (start, size) for start in starts for size in sizes}
    predictions = {name: [predicted(size, seed, POOLING, starts[start][seed], trained) for seed in seeds]
                   for name, (start, size) in places.items()}
    known = {name: [predicted(sizes[0], seeds[0], *encoder, as_it_is(trained))] * len(seeds)
             for name, encoder in untrained(starts, spec).items()}
    by_name = correlations(rank_correlations(predictions | known, truth))
    return {place: by_name[name] for name, place in places.items()}, {name: by_name[name] for name in known}


def sections(starts: Starts, spec: str, collection: str, sizes: Sequence[int], triplets: int, tested: int,
             trained: Schedule) -> tuple[BySize, dict[str, Evaluation]]:
    """Accuracy on triplets of sentences by start and size; and of encoders as they are (`untrained`). Train and test triplets
    come from articles of their own where the collection is split by article: those that are relevant to a split's queries."""
    beds = [SplitTestbed(collection, "document", (split,)) for split in ("train", "test")]
    train, test = (section_triplets(bed.store, bed.qrels_step, count, 1, bed.min_relevance)
                   for bed, count in zip(beds, (triplets, tested), strict=True))

    def accuracy(label: str, size: int, pooling: str, weights: Step | None, own: Schedule) -> Evaluation:
        step = triplet_accuracy(sample(train, size, own.seed), test, backbone.resolve(spec), pooling, MARGIN, weights,
                                **vars(own))
        return Evaluation(label, pd.DataFrame(), step.value().set_index("triplet_id"), step, unit="triplets")

    known = {name: accuracy(name, sizes[0], *encoder, as_it_is(trained)) for name, encoder in untrained(starts, spec).items()}
    return {(start, size): over_seeds(f"{start}, {size or 'all'}", [
        accuracy(f"{start}, {size or 'all'}, seed {seed}", size, POOLING, weights, replace(trained, seed=seed))
        for seed, weights in by_seed.items()]) for start, by_seed in starts.items() for size in sizes}, known


def untrained(starts: Starts, spec: str) -> dict[str, tuple[str, Step | None]]:
    """Pooling and weights of what is measured as it is: the backbone by its mean states, the start by its [CLS]."""
    own = {AS_IT_IS: (POOLING, next(iter(starts[START].values())))} if START in starts else {}
    return {f"{ZERO_SHOT} {model_name(spec)}": ("mean", None), **own}


def as_it_is(trained: Schedule) -> Schedule:
    """No training."""
    return replace(trained, epochs=0, steps=None)


def counts(pairs: str, sizes: Sequence[int]) -> dict[int, int]:
    """How many pairs each training size is; 0 stands for all."""
    everything = len(almanac_pairs().value()) * (FOLDS - 1) // FOLDS if pairs == ALMANAC else STSB_PAIRS
    return {size: size or everything for size in sizes}


def studied_pairs() -> dict[str, int]:
    """How many training pairs the study's columns stand for."""
    whole = published.value(readiness.STUDY, "text 5.2", "STS-b", "training set")
    return dict(zip(SIMILARITY_COLUMNS, (500, 1000, int(1e3 * whole.value)), strict=True))


def power(similar: BySize, names: Mapping[int, str]) -> Fragment:
    """For each number of pairs what share of the head this design could see, and what it would take to see the study's lead."""
    tested = "test pairs, of which the collection has no more"
    return design(similar, names, SIMILARITY_TABLE, SIMILARITY_COLUMNS, MEASURE, tested,
                  lambda *both: spent([run for system in both for run in trained_runs(system)], [both[0].source]))


def trained_runs(system: Evaluation) -> list[Step]:
    """The trainings of a correlation's system; only the step of all correlations tells of their seconds."""
    return [fold for seed in system.source.arguments["predicted"][system.label] for fold in seed]


def signs(similar: BySize, known: Mapping[str, Correlation], apart: BySize, apart_known: Mapping[str, Evaluation],
          sizes: Sequence[int], section_sizes: Sequence[int]) -> dict[str, bool]:
    """What the discussion rests on besides the claims; nothing where a starting point is left out."""
    starts = list(dict.fromkeys(start for start, _ in similar))
    if not {START, MLM, CONDENSER} <= set(starts):
        return {}
    fewest, most = (published.value(readiness.STUDY, SIMILARITY_TABLE, "BERT", SIMILARITY_COLUMNS[place]).amount
                    for place in (0, -1))
    every, (zero_shot, start), (zero_shot_apart, _) = section_sizes[-1], known.values(), apart_known.values()
    return {"more pairs help every start": all(
                lead(similar[name, sizes[-1]], similar[name, sizes[0]], MEASURE) > 0 for name in starts),
            "the start begins above the study's BERT and ends below it":
                similar[START, sizes[0]].mean(MEASURE).mean > fewest and similar[START, sizes[-1]].mean(MEASURE).mean < most,
            "fine-tuning adds to the start in similarity": above(similar[START, sizes[-1]], start, MEASURE),
            "no start reaches the zero-shot encoder in similarity": all(
                above(zero_shot, system, MEASURE) for system in similar.values()),
            "no start reaches the zero-shot encoder in sections": all(
                above(zero_shot_apart, apart[name, every], ACCURACY) for name in starts),
            "the head adds nothing sure in similarity": not any(
                above(similar[CONDENSER, size], similar[MLM, size], MEASURE) for size in sizes)}


def claims_table(similar: BySize, known: Systems, apart: BySize, apart_known: Systems, sizes: Sequence[int],
                 section_sizes: Sequence[int], backbone: str, unused: str) -> Fragment:
    """The verdicts on the study's claims about sentences, on all pairs (`similar`) and on all triplets (`apart`): the last sizes.

    A fine-tuning that does not surely raise what the start scores as it is (`known`, `apart_known`), or that scores lower with
    more data, did not train.

    Args:
        backbone: what the fine-tunings start from, if it was not pre-trained here.
        unused: why the head was no treatment (`condenser.unused_head`); empty if it was.
    """
    claim, last, tested = "condenser-beats-bert-on-similarity", sizes[-1], {}
    if {START, CONDENSER} <= {start for start, _ in similar}:
        tested = {claim: (similar[CONDENSER, last], similar[START, last]),
                  "condenser-equals-bert-on-sections": (apart[CONDENSER, section_sizes[-1]], apart[START, section_sizes[-1]])}
    why = {name: unused or failed(systems, encoders, own, measure) for name, systems, encoders, own, measure in (
        (claim, similar, known, sizes, MEASURE),
        ("condenser-equals-bert-on-sections", apart, apart_known, section_sizes, ACCURACY))} if tested else {}
    return claims.judge("similarity", tested, backbone=backbone, untested=why, missing=readiness.MISSING,
                        controls={claim: similar[MLM, last]}
                        if tested and (MLM, last) in similar else {})


def failed(systems: BySize, known: Systems, sizes: Sequence[int], measure: str) -> str:
    """What shows that the fine-tunings of a task failed; empty if nothing does."""
    why, trained = readiness.why_untrained(systems, sizes, measure), systems.get((START, sizes[-1]))
    if why or trained is None or above(trained, known[AS_IT_IS], measure):
        return why
    both = ", ".join(readiness.scored(system, measure) for system in (trained, known[AS_IT_IS]))
    return f"fine-tuning did not surely raise {measure}: {both}"
