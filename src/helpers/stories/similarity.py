"""The chapter *Sentences*: similarity and sections by training size (Gao & Callan 2021, section 5.2, tables 1 and 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from helpers.data import stsb
from helpers.evaluation.rank_correlation import rank_correlations
from helpers.networks import backbone
from helpers.networks.training_settings import Schedule
from helpers.pages import claims, page
from helpers.pages.compare import lead
from helpers.pages.fragments import Fragment
from helpers.pretraining.sentence_data import almanac_pairs, fold, sample, section_triplets
from helpers.pretraining.sentence_training import predicted_similarity, triplet_accuracy
from helpers.steps import Step
from helpers.stories import readiness
from helpers.stories.readiness import BySize
from helpers.systems.correlation import MEASURE, Correlation, correlations
from helpers.systems.evaluated import Evaluation, over_seeds
from helpers.systems.starting_points import BACKBONE, CONDENSER, MLM
from helpers.systems.testbed import Testbed

SIMILARITY_TABLE, SIMILARITY_COLUMNS = "1", ("Spearman / 500", "Spearman / 1K", "Spearman / FULL")
SECTION_TABLE, SECTION_COLUMNS = "2", ("Accuracy / 1K", "Accuracy / 10K", "Accuracy / FULL")
ACCURACY = "accuracy"
FOLDS = 3
POOLING, MARGIN = "cls", 1.0
SCHEDULE = Schedule(epochs=4, learning_rate=2e-5, max_length=64)  # epochs and learning rate are the study's
FULL_SECTION_EPOCHS = 1  # likewise
STSB_PAIRS = 5749  # of the benchmark's training file
LEFT_OUT = "The STS benchmark is left out in this run."

Starts = Mapping[str, Step | None]


def cross_validated(starts: Starts, spec: str, sizes: Sequence[int], seeds: Sequence[int]) -> BySize:
    """The Almanac's pairs: each third is judged by an encoder that was trained on pairs of the other two."""
    pairs = almanac_pairs()

    def predictions(weights: Step | None, size: int, seed: int) -> list[Step]:
        train, test = ([fold(pairs, number, FOLDS, seed, side) for number in range(FOLDS)] for side in (True, False))
        return [predicted(sample(mine, size, seed), others, spec, seed, weights)
                for mine, others in zip(train, test, strict=True)]

    return _systems({(start, size): [predictions(weights, size, seed) for seed in seeds]
                     for start, weights in starts.items() for size in sizes}, pairs)


def benchmark(starts: Starts, spec: str, source: str, sizes: Sequence[int], seeds: Sequence[int]) -> BySize:
    """The STS benchmark: trained on pairs of its training file, measured on its test file; empty without a source."""
    if not source:
        return {}
    train, test = stsb.pairs(source, "train"), stsb.pairs(source, "test")
    return _systems({(start, size): [[predicted(sample(train, size, seed), test, spec, seed, weights)] for seed in seeds]
                     for start, weights in starts.items() for size in sizes}, test)


def predicted(train: Step, test: Step, spec: str, seed: int, weights: Step | None) -> Step:
    """The cosines of the test pairs."""
    return predicted_similarity(train, test, backbone.resolve(spec), POOLING, weights, **vars(replace(SCHEDULE, seed=seed)))


def _systems(predictions: Mapping[tuple[str, int], list[list[Step]]], truth: Step) -> dict[tuple[str, int], Correlation]:
    names = {f"{start}, {size or 'all'}": (start, size) for start, size in predictions}
    by_name = correlations(rank_correlations({name: predictions[place] for name, place in names.items()}, truth))
    return {place: by_name[name] for name, place in names.items()}


def sections(starts: Starts, spec: str, collection: str, sizes: Sequence[int], triplets: int, tested: int,
             seeds: Sequence[int]) -> BySize:
    """Accuracy on triplets of sentences from documents that test queries ask about, trained on those of training queries."""
    beds = (Testbed(collection, "document", (split,)) for split in ("train", "test"))
    train, test = (section_triplets(bed.store, bed.qrels_step, count, 1)
                   for bed, count in zip(beds, (triplets, tested), strict=True))

    def evaluation(label: str, weights: Step | None, size: int, seed: int) -> Evaluation:
        step = triplet_accuracy(sample(train, size, seed), test, backbone.resolve(spec), POOLING, MARGIN, weights,
                                **vars(replace(SCHEDULE, epochs=SCHEDULE.epochs if size else FULL_SECTION_EPOCHS, seed=seed)))
        return Evaluation(label, pd.DataFrame(), step.value().set_index("triplet_id"), step, unit="triplets")

    return {(start, size): over_seeds(f"{start}, {size or 'all'}", [
        evaluation(f"{start}, {size or 'all'}, seed {seed}", weights, size, seed) for seed in seeds])
        for start, weights in starts.items() for size in sizes}


def names(sizes: Sequence[int], stsb_sizes: Sequence[int], section_sizes: Sequence[int],
          triplets: int) -> tuple[dict[str, dict[int, str]], dict[str, dict[int, int]]]:
    """For `almanac`, `stsb` and `sections`: each training size in words, and as a number."""
    every = {"almanac": (sizes, len(almanac_pairs().value()) * (FOLDS - 1) // FOLDS, "pairs"),
             "stsb": (stsb_sizes, STSB_PAIRS, "pairs"), "sections": (section_sizes, triplets, "triplets")}
    return ({key: readiness.size_names(given, everything, what) for key, (given, everything, what) in every.items()},
            {key: {size: size or everything for size in given} for key, (given, everything, _) in every.items()})


def figure(systems: BySize, counts: Mapping[int, int], what: str, caption: str) -> Fragment:
    """The task's measure over the training size."""
    if not systems:
        return page.prose(LEFT_OUT)
    return readiness.curves(systems, counts, measure_of(systems), what, caption)


def table(systems: BySize, size_names: Mapping[int, str]) -> Fragment:
    """The task's measure by size and starting point, with tests."""
    return readiness.gap_table(systems, size_names, measure_of(systems)) if systems else page.prose("")


def measure_of(systems: BySize) -> str:
    """Spearman's correlation, or accuracy."""
    return MEASURE if isinstance(next(iter(systems.values())), Correlation) else ACCURACY


def beside_the_study(real: BySize, similar: BySize, stsb_sizes: Sequence[int], sizes: Sequence[int]) -> Fragment:
    """Table 1: the benchmark beside its published values, or the Almanac's pairs where it is left out."""
    systems, given = (real, stsb_sizes) if real else (similar, sizes)
    return readiness.beside_the_study(systems, SIMILARITY_TABLE, readiness.columns(given, SIMILARITY_COLUMNS), MEASURE)


def signs(real: BySize, similar: BySize, apart: BySize, stsb_sizes: Sequence[int], sizes: Sequence[int],
          section_sizes: Sequence[int]) -> dict[str, bool]:
    """What the discussion rests on besides the claims; nothing where the benchmark or a starting point is left out."""
    if not real or not {MLM, CONDENSER} <= {start for start, _ in similar}:
        return {}
    most, few, every = stsb_sizes[-1], section_sizes[0], section_sizes[-1]
    return {"with all pairs no pre-trained start judges as well as the backbone": all(
                lead(system, systems[BACKBONE, size], MEASURE) < 0 for systems, last in ((real, most), (similar, sizes[-1]))
                for (start, size), system in systems.items() if size == last and start != BACKBONE),
            "the largest set of the benchmark is the best for every start": all(
                lead(real[start, most], system, MEASURE) > 0 for (start, size), system in real.items() if size != most),
            "the head keeps more than masked words alone": all(
                lead(similar[CONDENSER, size], similar[MLM, size], MEASURE) > 0 for size in sizes),
            "no start tells two triplets of three apart, and more triplets hardly help": all(
                system.mean(ACCURACY).mean < 2 / 3 and lead(apart[start, every], apart[start, few], ACCURACY) < 0.05
                for (start, _), system in apart.items())}


def claims_table(real: BySize, similar: BySize, apart: BySize, stsb_sizes: Sequence[int], sizes: Sequence[int],
                 section_sizes: Sequence[int], backbone: str) -> Fragment:
    """The verdicts on the study's claims about sentences: on the benchmark, or on the Almanac's pairs where it is left out.

    For the benchmark (`real`), the pairs (`similar`) and the sections (`apart`) the last training size is the largest.
    """
    pairs, given = (real, stsb_sizes) if real else (similar, sizes)
    similarity, last, tested = "condenser-beats-bert-on-similarity", given[-1], {}
    if {BACKBONE, CONDENSER} <= {start for start, _ in pairs}:
        tested = {similarity: (pairs[CONDENSER, last], pairs[BACKBONE, last]),
                  "condenser-equals-bert-on-sections": (apart[CONDENSER, section_sizes[-1]], apart[BACKBONE, section_sizes[-1]])}
    why = {similarity: readiness.why_untrained(pairs, given, MEASURE),
           "condenser-equals-bert-on-sections": readiness.why_untrained(apart, section_sizes, ACCURACY)} if tested else {}
    return claims.judge("similarity", tested, backbone=backbone,
                        untrained={name: reason for name, reason in why.items() if reason},
                        missing=readiness.MISSING, controls={similarity: (pairs[CONDENSER, last], pairs[MLM, last])}
                        if tested and (MLM, last) in pairs else {})
