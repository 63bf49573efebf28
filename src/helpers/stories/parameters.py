"""The chapter *Which parameters?* (Steensland 2021, experiment 2a)."""

from collections.abc import Sequence
from dataclasses import replace

from helpers.pages import claims, identity, page
from helpers.pages.compare import above, lead, mean_cell
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, plain
from helpers.pages.training import Logs, final, untrained
from helpers.systems.evaluated import Systems
from helpers.systems.listwise_reranker import ListwiseReranker
from helpers.systems.reranking_experiment import RerankingExperiment
from helpers.systems.zero_shot import zero_shot_in

ALL, HEAD = "All BERT Parameters", "Task-specific Parameters Only"
POOLER, NOISY = "Pooler and output layer", "Output layer only, frozen body with dropout"


def models(base: ListwiseReranker, head_rate: float, dropout: float,
           seeds: Sequence[int]) -> dict[str, list[ListwiseReranker]]:
    """All parameters and the output layer, which the claims compare, a model a seed; the pooler with it, and the output layer
    under a noisy body, with the first seed.

    In each the output layer begins anew, as on a pre-trained BERT.
    """
    base = replace(base, new_head=True)
    head = replace(base, trainable="head", learning_rate=head_rate)
    ways = {ALL: base, HEAD: head, POOLER: replace(head, trainable="pooler"), NOISY: replace(head, dropout=dropout)}
    return {name: model.over_seeds(seeds if name in (ALL, HEAD) else seeds[:1]) for name, model in ways.items()}


def claims_table(systems: Systems, logs: Logs, trial: RerankingExperiment, warmed_up: bool) -> Fragment:
    """The chapter's claims: all parameters and the output layer alone, and the latter beside BM25.

    Both rest on the output layer; if it learned nothing, neither is tested. What the study trains alone is an output layer on a
    BERT that was pre-trained and no more: on a body that judged pairs before, another thing is measured beside BM25.
    """
    pairs = {"all-parameters-beat-task-specific": (systems[ALL], systems[HEAD]),
             "head-alone-reaches-bm25": (systems[HEAD], systems["BM25"])}
    loss, reached = final(logs[HEAD], "eval_loss"), systems[HEAD].mean("RR@10").mean
    why = f"the output layer's evaluation loss, {plain(loss)}, is that of a constant guess; its RR@10 is {plain(reached)}"
    barred = identity.barred(pairs, zero_shot_in(systems), trial.bed, trial.candidates)
    other = {"head-alone-reaches-bm25": "the frozen body had learned to judge pairs before"} if warmed_up else {}
    return claims.judge("parameters", pairs, untested={
        claim: why if untrained(logs[HEAD]) else barred[claim] or other.get(claim, "") for claim in pairs})


def signs(systems: Systems, logs: Logs) -> dict[str, bool]:
    """What the discussion rests on besides the claims."""
    every, *others = (lead(systems[name], systems[HEAD], "RR@10") for name in (ALL, POOLER, NOISY))
    return {"the output layer alone fits its training pairs less well": final(logs[HEAD], "loss") > final(logs[ALL], "loss"),
            "the pooler and the noise change the ranking less than the whole body does": max(map(abs, others)) < abs(every),
            "the noise raises the loss": final(logs[NOISY], "eval_loss") > final(logs[HEAD], "eval_loss"),
            "no training surely passes the zero-shot encoder": not any(
                above(systems[name], zero_shot_in(systems), "RR@10") for name in (ALL, HEAD, POOLER, NOISY))}


def table(logs: Logs, systems: Systems) -> Fragment:
    """What each training adjusts, what it reaches on training and held-out pairs, and how it ranks."""
    return page.records_table("What is adjusted, and what it reaches", [
        {"trained": name, "adjusted parameters": count(log["trained_parameters"]), "training loss": plain(final(log, "loss")),
         "evaluation loss": plain(final(log, "eval_loss")), "RR@10": mean_cell(systems[name], "RR@10")}
        for name, log in logs.items()])
