"""The chapter *Model size* (Steensland 2021, experiment 3a)."""

from collections.abc import Mapping, Sequence
from typing import Any

from helpers.evaluation import published
from helpers.evaluation.verdicts import MARGIN
from helpers.networks import backbone
from helpers.pages import claims, identity, page, scatter
from helpers.pages.compare import above, lead, mean_cell
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.pages.rates import PUBLISHED_HEADS, median_rate, rate, rates_beside_published
from helpers.pages.shapes import TABLE, deeper_and_wider, labels, operations, shapes_of, studied_shapes
from helpers.pages.training import STUDY, Logs, final
from helpers.steps import Step
from helpers.systems.evaluated import Systems
from helpers.systems.listwise_reranker import ListwiseReranker
from helpers.systems.reranking_experiment import RerankingExperiment
from helpers.systems.zero_shot import zero_shot_in

MEASURE = "RR@10"
DEPTH = "layers-count-more-than-width"
ONE_WIDTH = "needs models of two widths, and all of these have one: `packaged/256` is a narrower one"


def models(base: ListwiseReranker, specs: Sequence[str], seeds: Sequence[int]) -> dict[str, list[ListwiseReranker]]:
    """The trainings of each backbone, all warmed up and trained alike: one a seed of what the claims compare, of others one."""
    shapes, trainings = shapes_of(specs), base.over_seeds(seeds)
    depths = sorted(of_full_width(specs), key=operations(shapes, base.max_length).__getitem__)
    compared = {depths[0], depths[-1], *(deeper_and_wider(shapes, base.max_length) or ())}
    return {name: [own.on(spec) for own in (trainings if name in compared else trainings[:1])]
            for name, spec in labels(specs).items()}


def by_parameters(logs: Logs) -> list[str]:
    """The trained models from the smallest to the largest."""
    return sorted(logs, key=lambda name: logs[name]["parameters"])


def depth_series(logs: Logs, specs: Sequence[str]) -> list[str]:
    """Those of full width, likewise ordered."""
    return [name for name in by_parameters(logs) if name in of_full_width(specs)]


def of_full_width(specs: Sequence[str]) -> list[str]:
    """Those whose backbone was not made narrower here."""
    return [name for name, spec in labels(specs).items() if not backbone.width_of(spec)[1]]


def claims_table(systems: Systems, logs: Logs, trial: RerankingExperiment, specs: Sequence[str], speed: Mapping[str, Any],
                 tokens: int) -> Fragment:
    """The chapter's claims: the largest model and the smallest; and the deeper and narrower of two that take about as many
    operations for a text of so many tokens, with the one of full width that is most alike to it in measured speed."""
    names, ways = depth_series(logs, specs), deeper_and_wider(shapes_of(specs), tokens)
    pairs = dict.fromkeys(("bigger-models-rank-better", "recall-equal-over-model-sizes"), (systems[names[-1]], systems[names[0]]))
    pairs |= {DEPTH: (systems[ways[0]], systems[alike(ways[0], names, speed, shapes_of(specs))])} if ways else {}
    return claims.judge("model_size", {DEPTH: ONE_WIDTH, **pairs},
                        untested=identity.barred(pairs, zero_shot_in(systems), trial.bed, trial.candidates))


def signs(systems: Systems, logs: Logs, speed: Mapping[str, Any], specs: Sequence[str], tokens: int) -> dict[str, bool]:
    """What the discussion rests on; nothing for a single size. `tokens` as in `claims_table`."""
    names, shapes = depth_series(logs, specs), shapes_of(specs)
    if len(names) < 2:
        return {}
    means, recalls = ([systems[name].mean(measure).mean for name in names] for measure in (MEASURE, "R@10"))
    printed = published.column(STUDY, TABLE, "Queries/min")
    rates = [median_rate(speed, size) for _, size in sorted(studied_shapes().items(), key=lambda shape: printed[shape[0]].amount)]
    return {"the first added layer gains more than all others": means[1] - means[0] > means[-1] - means[1],
            "the largest is not surely better than the next": not above(systems[names[-1]], systems[names[-2]], MEASURE),
            "the study's shapes are as fast in its own order": rates == sorted(rates),
            **width_signs(systems, speed, shapes, names, tokens),
            "all sizes but the smallest find about equally many":
                recalls[0] < min(recalls[1:]) and max(recalls[1:]) - min(recalls[1:]) < MARGIN,
            "the smallest ranks below the zero-shot encoder": means[0] < zero_shot_in(systems).mean(MEASURE).mean,
            "the smallest is surely below BM25": above(systems["BM25"], systems[names[0]], MEASURE),
            "every size surely beats BM25": all(above(systems[name], systems["BM25"], MEASURE) for name in names)}


def width_signs(systems: Systems, speed: Mapping[str, Any], shapes: Mapping[str, str], wide: Sequence[str],
                tokens: int) -> dict[str, bool]:
    """Of the two models that are compared in depth and width: whether the deeper one takes more time, and whether the one of full
    width (`wide`) that is most alike to it in measured speed has a higher mean; nothing where there are no such two."""
    if not (ways := deeper_and_wider(shapes, tokens)):
        return {}
    deeper, wider = ways
    slower = median_rate(speed, shapes[deeper]) < median_rate(speed, shapes[wider])
    return {"the deeper and narrower model takes more time than the wider one": slower,
            "the wider model that is most alike in measured speed ranks above it":
                lead(systems[alike(deeper, wide, speed, shapes)], systems[deeper], MEASURE) > 0}


def alike(deeper: str, wide: Sequence[str], speed: Mapping[str, Any], shapes: Mapping[str, str]) -> str:
    """The model of full width that is most alike to another in measured speed."""
    rates = {name: median_rate(speed, size) for name, size in shapes.items()}
    return min((name for name in wide if name != deeper), key=lambda name: abs(rates[name] - rates[deeper]))


def table(systems: Systems, logs: Logs, speed: Mapping[str, Any], shapes: Mapping[str, str]) -> Fragment:
    """Each trained model: size, effectiveness, evaluation loss and speed."""
    return page.records_table("The models trained here, smallest first", [
        {"model": name, "parameters": count(logs[name]["parameters"]), MEASURE: mean_cell(systems[name], MEASURE),
         "R@10": mean_cell(systems[name], "R@10"), "evaluation loss": plain(final(logs[name], "eval_loss")),
         "queries/min": rate(speed, shapes[name])} for name in by_parameters(logs)])


def speed_table(speeds: Mapping[str, Mapping[str, Any]], steps: Mapping[str, Step]) -> Fragment:
    """The study's six shapes, timed here with random weights by the step of each device, beside its own rates."""
    heads = [part for device in speeds for part in (f"here, {device} (random weights)", "relative")]
    rows = rates_beside_published([(speed, steps[device]) for device, speed in speeds.items()])
    return page.show_table("Queries per minute: retrieval, BM25 and re-ranking", (*PUBLISHED_HEADS, *heads), [*rows.values()], 2)


def tradeoff(systems: Systems, logs: Mapping[str, Any], speed: Mapping[str, Any], shapes: Mapping[str, str]) -> Fragment:
    """What a smaller model loses for its speed: our models and the study's, each beside the largest of its own."""
    ours = {name: (median_rate(speed, shapes[name]), systems[name].mean(MEASURE).mean) for name in by_parameters(logs)}
    cells = published.cells(STUDY, TABLE)
    study = {row: (cells[row, "Queries/min"].amount, cells[row, "MRR@10"].amount) for row in studied_shapes()}
    largest = by_parameters(logs)[-1], max(study, key=lambda row: cells[row, "#Parameters"].amount)
    return scatter.beside(ours, study, largest, "times as fast as the largest", f"{MEASURE} less that of the largest",
                          "Effect against speed, of the models trained here and of the study's six (table 5.5).")
