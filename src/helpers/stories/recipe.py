"""The chapter *Choosing the recipe*: how the re-ranker of the other chapters is trained, chosen on development queries, once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from helpers.evaluation.verdicts import ALPHA
from helpers.pages import identity, page
from helpers.pages.compare import above, beside, mean_cell, measured
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, interval, plain, seconds, signed
from helpers.pages.training import took
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.listwise_reranker import ListwiseReranker
from helpers.systems.recipe import LOSSES, recipe
from helpers.systems.reranking_experiment import RerankingExperiment

MEASURE = "RR@10"
CHOSEN_ON = "2026-11-22"  # the defaults of `helpers.systems.recipe.recipe`, among the first recipes of this chapter


def recipes(base: ListwiseReranker, losses: Sequence[str], negatives: Sequence[str], sizes: Sequence[int],
            rates: Sequence[float]) -> dict[str, ListwiseReranker]:
    """The centre and its neighbours, which differ from it in the loss, the negatives, the group or the rate."""
    changes = [*({"losses": LOSSES[name]} for name in losses), *({"negatives": name} for name in negatives),
               *({"size": size} for size in sizes), *({"learning_rate": rate} for rate in rates)]
    models = [base, *(replace(base, **change) for change in changes)]  # type: ignore[arg-type]
    return {name_of(model): model for model in models}


def name_of(model: ListwiseReranker) -> str:
    """A recipe in words: `LCE + KL, half BM25 half dense, 8 texts, 0.0001`."""
    loss = next(name for name, weights in LOSSES.items() if weights == model.losses)
    negatives = {"bm25": "BM25", "both": "half BM25 half dense"}.get(model.negatives, model.negatives)
    return f"{loss}, {negatives}, {model.size} texts, {model.learning_rate:g}"


def recipes_table(trial: RerankingExperiment, models: Mapping[str, ListwiseReranker], systems: Systems,
                  base: Evaluation) -> Fragment:
    """Every recipe on the trial's queries, best first, with its cost and the gap of the identity check; the difference is from
    the zero-shot encoder."""
    tests = {name: systems[name].against(base, MEASURE) for name in models}
    return page.records_table("Recipes on the development queries, one seed († p < 0.05)", (
        {"recipe": name, MEASURE: mean_cell(systems[name], MEASURE),
         "from zero-shot": signed(tests[name].difference.mean) + "†" * (tests[name].p_permutation < ALPHA),
         "held-out loss": f"{plain(log['log'][0]['eval_loss'])} to {plain(log['log'][-1]['eval_loss'])}",
         "gap": identity.gap_text(systems[name], trial.bed, trial.candidates), "pairs": count(log["pairs"]),
         "training": seconds(took(models[name].log))}
        for name in best(systems, models, len(models)) for log in [models[name].log.value()]))


def best(systems: Systems, names: Mapping[str, object], number: int) -> list[str]:
    """The names of the best systems, best first."""
    return sorted(names, key=lambda name: -systems[name].mean(MEASURE).mean)[:number]


def finalists(trial: RerankingExperiment, models: Mapping[str, ListwiseReranker], names: Sequence[str],
              seeds: Sequence[int]) -> dict[str, Evaluation]:
    """Some recipes over seeds of head and order; the groups are the same."""
    return {name: trial.over_seeds(name, [replace(models[name], seed=seed) for seed in seeds]) for name in names}


def choice(final: Systems, base: Evaluation) -> Fragment:
    """The recipe that the other chapters take, when it was chosen, and whether any that was trained since is surely better."""
    kept, (first, *others) = name_of(recipe()), best(final, final, len(final))
    chosen, rest = (kept, [name for name in (first, *others) if name != kept]) if kept in final else (first, others)
    system = final[chosen]
    better = any(above(final[name], system, MEASURE) for name in rest)
    gain = system.against(base, MEASURE).difference
    return page.prose(
        f"The recipe is **{chosen}**, with an {MEASURE} of {plain(system.mean(MEASURE).mean)} on the development queries; the "
        f"zero-shot encoder has {beside(system, base, MEASURE)}; the difference is {signed(gain.mean)} "
        f"{interval(gain.low, gain.high)}.",
        f"Of the others the best is {rest[0]} with {beside(system, final[rest[0]], MEASURE)}." if rest else "",
        f"It was chosen on {CHOSEN_ON}, by development queries alone, before a model of this recipe had ranked a test query, and "
        "has been kept since. Models of earlier recipes had ranked them." if chosen == kept else "",
        "One of the others is surely better, and would be chosen today." if better else "None of the others is surely better.")


def signs(systems: Systems, final: Systems, base: Evaluation) -> dict[str, bool]:
    """What the discussion rests on."""
    ordered = best(systems, systems, len(systems))
    first, *others = (systems[name] for name in ordered)
    return {"no recipe is told from the best": not any(above(first, other, MEASURE) for other in others),
            "binary cross-entropy is the loss of the best": ordered[0].startswith("BCE"),
            "the loss that follows the teacher alone ranks lowest": ordered[-1].startswith("MarginMSE"),
            "the zero-shot encoder is not surely passed": not any(above(system, base, MEASURE) for system in final.values())}


def fusion_table(trial: RerankingExperiment, systems: Systems, other: Evaluation) -> Fragment:
    """Each system with another one's scores, by the weight that is best on these queries, which flatters it here."""
    weights = {name: trial.best_weight(system, other) for name, system in systems.items()}
    return page.records_table(f"Fused with {other.label}, by the weight that is best on these queries, which flatters the sum", (
        {"system": name, "weight of the re-ranker": plain(weights[name], 1),
         MEASURE: measured(plain(trial.fused("", system, other, weights[name]).mean(MEASURE).mean), system)}
        for name, system in systems.items()))
