"""The chapter *Epochs* (Steensland 2021, experiment 2b)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from helpers.pages import claims, page
from helpers.pages.compare import measured
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.reranker import Reranker
from helpers.systems.reranking_experiment import RerankingExperiment

STOPPED = "stopped early"


def models(base: Reranker, lengths: Sequence[int], seeds: Sequence[int], patience: int) -> dict[str, list[Reranker]]:
    """A list of models, one a seed, for each number of epochs; the longest training is watched by early stopping."""
    return {str(epochs): [replace(base.for_epochs(epochs), seed=seed, patience=patience if epochs == max(lengths) else None)
                          for seed in seeds] for epochs in sorted(lengths)}


def evaluations(trial: RerankingExperiment, trained: Mapping[str, Sequence[Reranker]]) -> dict[str, Evaluation]:
    """BM25, each length averaged over its seeds, and the longest as early stopping leaves it."""
    early = [replace(model, stop_early=True) for model in list(trained.values())[-1]]
    return {"BM25": trial.baseline(), **{name: trial.over_seeds(name, runs) for name, runs in trained.items()},
            STOPPED: trial.over_seeds(STOPPED, early)}


def ends(systems: Systems) -> tuple[str, str]:
    """The shortest and the longest of the trainings."""
    lengths = [name for name in systems if name.isdigit()]
    return lengths[0], lengths[-1]


def claims_table(systems: Systems) -> Fragment:
    """The chapter's claim: the longest training compared with the shortest."""
    shortest, longest = ends(systems)
    return claims.judge("epochs", {"six-epochs-worse-than-three": (systems[longest], systems[shortest])})


def stopped_and_not(trained: Mapping[str, Sequence[Reranker]],
                    trial: RerankingExperiment) -> dict[Reranker, tuple[Evaluation, Evaluation]]:
    """Each of the longest trainings: the model at its end, and the one that early stopping keeps."""
    name, longest = list(trained.items())[-1]
    return {model: (trial.of(name, model), trial.of(STOPPED, replace(model, stop_early=True))) for model in longest}


def stopping_table(systems: Mapping[Reranker, tuple[Evaluation, Evaluation]]) -> Fragment:
    """Where early stopping would have ended each of the longest trainings, and how the model it keeps ranks."""
    rows = [[f"seed {model.seed}", count(log["steps"]), "not at all" if log["stopped_at"] is None else count(log["stopped_at"]),
             count(log["best_step"]), plain(log["best_step"] / log["steps"] * model.epochs, 1),
             *(measured(plain(system.mean("RR@10").mean), system) for system in pair)]
            for model, pair in systems.items() for log in [model.log.value()]]
    header = ("training", "steps", "would stop at", "lowest loss at", "in epochs", "RR@10 at the end", "RR@10 if stopped")
    return page.show_table(f"Early stopping in the trainings of {next(iter(systems)).epochs} epochs", header, rows)
