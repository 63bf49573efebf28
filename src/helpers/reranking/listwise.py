"""monoBERT, a cross-encoder (Nogueira & Cho 2019; Steensland 2021, section 4.1), which learns from groups of a query's texts.

It reads [CLS] query [SEP] window [SEP]; one linear output on the pooled [CLS] gives the logit of relevance. Steensland's softmax
over two outputs is the sigmoid of their difference, so one output is the same model, and binary cross-entropy the same loss (his
equation 3.2). Groups serve losses that compare texts of one query, too, and a warm-up without labels.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.runs import cut
from helpers.data.texts import Texts, relevant_places
from helpers.data.windows import WindowTokens, pair_ids, query_ids
from helpers.errors import BadInput
from helpers.networks.backbone import Backbone, attention, configuration, save_trained
from helpers.networks.checkpoints import Checkpoints
from helpers.networks.fine_tuning import RankerTraining, by_name, seed_everything
from helpers.networks.inference import packed_logits, padded_logits, reads_packed
from helpers.networks.longformer import as_studied
from helpers.reranking.groups import Groups, of_held_out
from helpers.reranking.losses import total
from helpers.steps import ledger, numerics, step

STOPPED = "stopped"
LONGEST_GRADIENT = 1.0


@dataclass(frozen=True, kw_only=True)
class ListwiseTraining(RankerTraining):
    """The training of a cross-encoder on groups; a batch is so many groups."""

    temperature: float = 0.05  # what the teacher's scores are divided by


@step(version=1, form="folder", network=True, resumable=True)
@by_name
def listwise_cross_encoder(groups: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone,
                           losses: dict, training: ListwiseTraining, start: Path | None = None,
                           held_out_seed: int | None = None, trainable: str | None = None, new_head: bool | None = None,
                           patience: int | None = None, *, folder: Path, checkpoints: Path) -> None:
    """Fine-tune a backbone on groups: AdamW, linear warm-up and decay; keeps weights, tokenizer and `log.json`.

    Word embeddings stay as they are: a few thousand queries touch few of them, and the packaged backbone has them already. A
    batch's texts stand in one row without padding, where the model is a plain BERT on a CPU.

    Args:
        groups: columns query_id, window_id, label and teacher; rows of a query are one group, all of one size. With `other_id`
            each row is a pair of windows, and the model reads both (`duo.duo_groups`).
        losses: weights by name, see `losses.LOSSES`.
        start: a model that was fine-tuned before, to go on from.
        held_out_seed: of the choice of held-out queries; by default the training's. Models that are compared by their evaluation
            loss share it.
        trainable: what is adjusted, see `adjust`; by default `all`: all parameters but the word embeddings.
        new_head: whether the output layer begins anew, with values that the seed draws, instead of the start's.
        patience: evaluations without a lower loss after which early stopping would end the training. The training goes on all
            the same; `early_stopped` gives the model of the lowest loss until then.
    """
    import torch

    tokenizer, device = backbone.tokenizer(), numerics.device()
    data = Groups(groups, queries, WindowTokens(tokens, store), tokenizer, training, held_out_seed)
    model = scorer(backbone, start, training, trainable, new_head)

    def loss_of(numbers: np.ndarray) -> Any:
        ids, types, teacher = data.batch(numbers)
        with torch.autocast(device, torch.bfloat16, enabled=numerics.dtype() == "bf16"):
            scores = rows_of(model, ids, types, training.dropout)[:, 0].float().view(len(numbers), -1)
        return total(losses, scores, torch.tensor(teacher, dtype=torch.float32, device=device) / training.temperature)

    def stopped() -> None:
        save(model, tokenizer, backbone, checkpoints / STOPPED)
        adjust(model, trainable or "all")

    log = fit(model, training, data.train, loss_of, lambda: mean_loss(loss_of, data.held_out, training.batch_size),
              checkpoints, patience, stopped)
    read = len(data.train) * training.epochs  # groups, of which the first text is relevant, if there are labels
    finish(model, tokenizer, backbone, folder, log, {
        "pairs": read * data.size, "positives": read * int(groups["label"].iloc[0]),
        "evaluation_pairs": len(data.held_out) * data.size, **({} if patience is None else early_stopping(log, patience))})
    if patience is not None:
        shutil.copytree(checkpoints / STOPPED, folder / STOPPED)


@step(version=1, form="folder")
def early_stopped(model: Path, *, folder: Path) -> None:
    """The model that early stopping would have kept in a training with `patience`."""
    shutil.copytree(model / STOPPED, folder, dirs_exist_ok=True)


def scorer(backbone: Backbone, start: Path | None, training: RankerTraining, trainable: str | None, new_head: bool | None) -> Any:
    """The cross-encoder that a training begins with, of whose head the seed draws the values. Arguments as in
    `listwise_cross_encoder`."""
    import torch
    from transformers import AutoModelForSequenceClassification

    seed_everything(training.seed)  # before the head is made
    model = (backbone if start is None else Backbone("", str(start))).build(
        AutoModelForSequenceClassification, num_labels=1, hidden_dropout_prob=training.dropout,
        attention_probs_dropout_prob=training.dropout, attn_implementation=attention()).to(numerics.device()).train()
    as_studied(model)
    if new_head:
        torch.nn.init.normal_(model.classifier.weight, std=model.config.initializer_range)
        torch.nn.init.zeros_(model.classifier.bias)
    adjust(model, trainable or "all")
    return model


def mean_loss(loss_of: Callable[[np.ndarray], Any], numbers: np.ndarray, at_once: int) -> float:
    """The loss of some examples, read so many at once."""
    import torch

    with torch.no_grad():
        parts = np.array_split(numbers, -(-len(numbers) // at_once))
        return float(np.average([float(loss_of(part)) for part in parts], weights=[len(part) for part in parts]))


def fit(model: Any, training: RankerTraining, learned: np.ndarray, loss_of: Callable[[np.ndarray], Any],
        held_out_loss: Callable[[], float], checkpoints: Path, patience: int | None = None,
        stopped: Callable[[], None] = lambda: None) -> list[dict[str, float]]:
    """Train, in batches whose order seed and epoch decide (an incomplete one is left out); the log, a line an evaluation, the
    first before the training.

    Args:
        learned: the numbers of the examples, at least a batch of them.
        loss_of: the mean loss of the examples of these numbers.
        stopped: called at each evaluation whose model early stopping would keep.
    """
    import torch

    size, a_pass = training.batch_size, len(learned) // training.batch_size
    steps = a_pass * training.epochs
    optimizer, schedule = optimiser(model, training, steps)
    kept, parts = Checkpoints(checkpoints), {"model": model, "optimizer": optimizer, "schedule": schedule}
    state: dict[str, Any] = {"step": 0, "log": [], "running": []} | kept.resume(parts)
    every, log = max(1, -(-steps // training.evaluations)), state["log"]
    if not state["step"]:
        log.append({"step": 0, "eval_loss": held_out_loss()})
    with ledger.bar("training step", steps, state["step"]) as shown:
        for number in range(state["step"], steps):
            epoch, place = divmod(number, a_pass)
            if number == state["step"] or not place:
                order = np.random.default_rng([training.seed, epoch]).permutation(learned)
            loss = loss_of(order[place * size:(place + 1) * size])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), LONGEST_GRADIENT)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
            state["step"] = number + 1
            state["running"].append(loss.detach())  # read when it is logged: a GPU would wait at every step
            shown.update()
            if state["step"] % every == 0 or state["step"] == steps:
                log.append({"step": state["step"], "epoch": state["step"] * training.epochs / steps,
                            "loss": float(np.mean([float(one) for one in state["running"]])), "eval_loss": held_out_loss()})
                state["running"].clear()
                shown.set_postfix_str(f"loss {log[-1]['loss']:.3f}", refresh=False)
                if patience is not None and early_stopping(log, patience)["best_step"] == state["step"]:
                    stopped()
            kept.keep(state["step"], parts, state)
    return log


def early_stopping(log: list[dict[str, float]], patience: int) -> dict[str, int | None]:
    """`best_step`, that of the lowest evaluation loss until it has not fallen for `patience` evaluations, and `stopped_at`, where
    the training would end then; None if it would not."""
    lowest, best_step, waited = float("inf"), 0, 0
    for line in log[1:]:  # the first is from before the training
        waited += 1
        if line["eval_loss"] < lowest:
            lowest, best_step, waited = line["eval_loss"], int(line["step"]), 0
        elif waited >= patience:
            return {"best_step": best_step, "stopped_at": int(line["step"])}
    return {"best_step": best_step, "stopped_at": None}


def finish(model: Any, tokenizer: Any, backbone: Backbone, folder: Path, log: list[dict[str, float]],
           facts: dict[str, Any]) -> None:
    """Keep weights, tokenizer and `log.json`."""
    trained = model.num_parameters(only_trainable=True)
    save(model, tokenizer, backbone, folder)
    (folder / "log.json").write_text(json.dumps({
        **facts, "steps": int(log[-1]["step"]), "parameters": model.num_parameters(), "trained_parameters": trained,
        "log": log}, indent=1))


def save(model: Any, tokenizer: Any, backbone: Backbone, folder: Path) -> None:
    """Keep weights and tokenizer, also what was frozen, which is the start's and not the backbone's; word embeddings where they
    were adjusted."""
    adjust(model, "everything" if model.get_input_embeddings().weight.requires_grad else "all")
    folder.mkdir(exist_ok=True)
    own, its = model.config, configuration(backbone)
    if (own.model_type, own.hidden_size) == (its.model_type, its.hidden_size):
        save_trained(model, folder, backbone)
    else:  # a Longformer that was made from the backbone, or a narrower model that was fitted to it
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def adjust(model: Any, trainable: str) -> None:
    """Leave gradients to `everything`, to `all` but the word embeddings, to pooler and output layer (`pooler`), or to the output
    layer (`head`: Steensland's task-specific parameters). What is frozen keeps its dropout, as any training module does."""
    if trainable not in ("everything", "all", "pooler", "head"):
        raise ValueError(f"trainable {trainable!r}: everything, all, pooler or head")
    for name, parameter in model.base_model.named_parameters():
        parameter.requires_grad = trainable in ("everything", "all") or (trainable == "pooler" and name.startswith("pooler."))
    model.get_input_embeddings().requires_grad_(trainable == "everything")


def rows_of(model: Any, ids: Sequence[list[int]], types: Sequence[list[int]], dropout: float) -> Any:
    """What the model's last layer gives for each of a batch's texts, in their order; with dropout by the model as it is."""
    import torch

    order = sorted(range(len(ids)), key=lambda number: len(ids[number]))
    read = packed_logits(model, training=True) if reads_packed(model) and not dropout else padded_logits(model)
    rows = read([ids[n] for n in order], [types[n] for n in order])
    return rows[torch.tensor(np.argsort(order), device=rows.device)]


def optimiser(model: Any, training: RankerTraining, steps: int) -> tuple[Any, Any]:
    """AdamW, which does not decay biases and norms, and the schedule of its rate."""
    import torch
    from transformers import get_linear_schedule_with_warmup

    free = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [{"params": [p for p in free if p.ndim > 1], "weight_decay": training.weight_decay},
              {"params": [p for p in free if p.ndim < 2], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=training.learning_rate, fused=True)
    return optimizer, get_linear_schedule_with_warmup(optimizer, int(training.warmup * steps), steps)


@step(version=1, form="table")
def candidate_windows(queries: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int, run: pd.DataFrame, store: Path,
                      tokens: Path, candidates: int) -> pd.DataFrame:
    """Every window of each query's first `candidates` documents, the thesis's examples for monoBERT: columns query_id, window_id,
    label (1 where the document is relevant, else 0). Windows of one query are neighbours."""
    relevant, texts, reader = relevant_places(store, queries, qrels, min_relevance), Texts(store), WindowTokens(tokens, store)
    rows = [(query, window, int(texts.position(doc_id) in relevant.get(query, ())))
            for query, doc_id in cut(run, candidates)[["query_id", "doc_id"]].itertuples(index=False)
            for window in reader.windows_of(doc_id)]
    return pd.DataFrame(rows, columns=["query_id", "window_id", "label"])


@step(version=1, form="folder", network=True, resumable=True)
@by_name
def pointwise_cross_encoder(pairs: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone,
                            training: RankerTraining, start: Path | None = None, held_out_seed: int | None = None,
                            trainable: str | None = None, new_head: bool | None = None, *, folder: Path,
                            checkpoints: Path) -> None:
    """Fine-tune a backbone on labelled pairs with binary cross-entropy (Steensland 2021, equation 3.2): AdamW, linear warm-up
    and decay; keeps weights, tokenizer and `log.json`. BadInput if the pairs do not fill a batch.

    Args:
        pairs: columns query_id, window_id, label.
        training: its settings; a batch is so many pairs, of any queries.
        start, held_out_seed, trainable, new_head: as in `listwise_cross_encoder`.
    """
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    tokenizer, device = backbone.tokenizer(), numerics.device()
    inputs, labels = as_inputs(pairs, queries, WindowTokens(tokens, store), tokenizer, training)
    apart = of_held_out(pairs, training.evaluation_queries, training.seed if held_out_seed is None else held_out_seed)
    learned, watched = np.flatnonzero(~apart), np.flatnonzero(apart)
    if len(learned) < training.batch_size:
        raise BadInput(f"{len(learned)} training pairs do not fill a batch of {training.batch_size}",
                       mend="give more training queries, or a smaller batch")
    model = scorer(backbone, start, training, trainable, new_head)

    def loss_of(numbers: np.ndarray) -> Any:
        with torch.autocast(device, torch.bfloat16, enabled=numerics.dtype() == "bf16"):
            rows = rows_of(model, [inputs[n][0] for n in numbers], [inputs[n][1] for n in numbers], training.dropout)
        return binary_cross_entropy_with_logits(rows[:, 0].float(), torch.from_numpy(labels[numbers]).to(device))

    def held_out_loss() -> float:
        model.eval()
        value = mean_loss(loss_of, watched, 128)
        model.train()
        return value

    log = fit(model, training, learned, loss_of, held_out_loss, checkpoints)
    finish(model, tokenizer, backbone, folder, log, {
        "pairs": len(learned) * training.epochs, "positives": int(labels[learned].sum()) * training.epochs,
        "evaluation_pairs": len(watched)})


def as_inputs(pairs: pd.DataFrame, queries: pd.DataFrame, tokens: WindowTokens, tokenizer: Any,
              training: RankerTraining) -> tuple[list[tuple[list[int], list[int]]], np.ndarray]:
    """Pairs as (token ids, token types), and their labels as float32."""
    texts = dict(zip(queries["query_id"], query_ids(tokenizer, list(queries["text"]), training.query_length), strict=True))
    return [pair_ids(tokenizer, texts[query], training.max_length, tokens[window])
            for query, window in zip(pairs["query_id"], pairs["window_id"], strict=True)], pairs["label"].to_numpy(np.float32)
