"""The chapter *Epochs* (Steensland 2021, experiment 2b)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from helpers.pages import claims, identity, page
from helpers.pages.compare import above, lead, mean_link
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.pages.training import Logs, final
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.listwise_reranker import ListwiseReranker
from helpers.systems.reranking_experiment import RerankingExperiment
from helpers.systems.zero_shot import zero_shot_in

STOPPED = "stopped early"
EVALUATIONS = 3  # an epoch


def models(base: ListwiseReranker, lengths: Sequence[int], seeds: Sequence[int],
           patience: int) -> dict[str, list[ListwiseReranker]]:
    """A list of models, one a seed, for each number of epochs; the longest training is watched by early stopping."""
    return {str(epochs): replace(base, epochs=epochs, evaluations=EVALUATIONS * epochs,
                                 patience=patience if epochs == max(lengths) else None).over_seeds(seeds)
            for epochs in sorted(lengths)}


def evaluations(trial: RerankingExperiment, trained: Mapping[str, Sequence[ListwiseReranker]]) -> dict[str, Evaluation]:
    """BM25, each length averaged over its seeds, the longest as early stopping leaves it, and the backbone as it is."""
    longest = list(trained.values())[-1]
    early = [replace(model, stop_early=True) for model in longest]
    return {"BM25": trial.baseline(), **{name: trial.over_seeds(name, runs) for name, runs in trained.items()},
            STOPPED: trial.over_seeds(STOPPED, early), **trial.zero_shot(longest[0].backbone)}


def ends(systems: Systems) -> tuple[str, str]:
    """The shortest and the longest of the trainings."""
    lengths = [name for name in systems if name.isdigit()]
    return lengths[0], lengths[-1]


def claims_table(systems: Systems, trial: RerankingExperiment) -> Fragment:
    """The chapter's claim: the longest training compared with the shortest."""
    shortest, longest = ends(systems)
    pairs = {"six-epochs-worse-than-three": (systems[longest], systems[shortest])}
    return claims.judge("epochs", pairs,
                        untested=identity.barred(pairs, zero_shot_in(systems), trial.bed, trial.candidates))


Stopped = Sequence[tuple[ListwiseReranker, Evaluation, Evaluation]]


def stopped_and_not(trained: Mapping[str, Sequence[ListwiseReranker]], trial: RerankingExperiment) -> Stopped:
    """Each of the longest trainings: the model at its end, and the one that early stopping keeps."""
    name, longest = list(trained.items())[-1]
    return [(model, trial.of(name, model), trial.of(STOPPED, replace(model, stop_early=True))) for model in longest]


def stopping_table(trainings: Stopped) -> Fragment:
    """Where early stopping would have ended each of the longest trainings, and how the model it keeps ranks."""
    rows = [[f"seed {model.seed}", count(log["steps"]), "not at all" if log["stopped_at"] is None else count(log["stopped_at"]),
             count(log["best_step"]), plain(log["best_step"] / log["steps"] * model.epochs, 1),
             *(mean_link(system, "RR@10") for system in ends)]
            for model, *ends in trainings for log in [model.log.value()]]
    header = ("training", "steps", "would stop at", "lowest loss at", "in epochs", "RR@10 at the end", "RR@10 if stopped")
    return page.show_table(f"Early stopping in the trainings of {trainings[0][0].epochs} epochs", header, rows)


def signs(systems: Systems, logs: Logs, trainings: Stopped) -> dict[str, bool]:
    """What the discussion rests on."""
    shortest, longest = ends(systems)
    return {"in every training the stopped model ranks above its end": all(
                lead(stopped, end, "RR@10") > 0 for _, end, stopped in trainings),
            "the stopped models surely rank above the ends": above(systems[STOPPED], systems[longest], "RR@10"),
            "the longer training ends with a higher held-out loss": final(logs[longest], "eval_loss") > final(
                logs[shortest], "eval_loss"),
            "the longer training does not surely rank worse": not above(systems[shortest], systems[longest], "RR@10"),
            "the longer training fits its own texts better": final(logs[longest], "loss") < final(logs[shortest], "loss"),
            "early stopping would have ended every one of them": all(
                model.log.value()["stopped_at"] is not None for model, *_ in trainings)}
