"""monoBERT as the thesis trains it: every window of every candidate, each a pair with its own label, in mixed batches.

Steensland (2021, section 4.1.2) asks BM25 with the training queries, takes the first 40 documents of each, and cuts them into
windows of 150 words with 50 in common; a window is labelled 1 if its document is relevant. Nothing is balanced: about one
document in forty is relevant, and the model's probabilities keep that ratio.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.runs import cut
from helpers.data.texts import Texts, relevant_places
from helpers.data.tokens import WindowTokens, pair_ids, query_ids
from helpers.errors import BadInput
from helpers.networks.backbone import Backbone, attention
from helpers.networks.checkpoints import Checkpoints
from helpers.networks.fine_tuning import RankerTraining, by_name, seed_everything
from helpers.reranking.groups import held_out
from helpers.reranking.listwise import LONGEST_GRADIENT, adjust, logits_of, optimiser, save
from helpers.steps import ledger, numerics, step


@dataclass(frozen=True, kw_only=True)
class PointwiseTraining(RankerTraining):
    """The training of a cross-encoder on single pairs; a batch is so many pairs, of any queries."""


@step(version=1, form="table")
def candidate_windows(queries: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int, run: pd.DataFrame, store: Path,
                      tokens: Path, candidates: int) -> pd.DataFrame:
    """Every window of each query's first `candidates` documents: columns query_id, window_id, label (1 where the document is
    relevant, else 0). Windows of one query are neighbours."""
    relevant, texts, reader = relevant_places(store, queries, qrels, min_relevance), Texts(store), WindowTokens(tokens, store)
    rows = [(query, window, int(texts.position(doc_id) in relevant.get(query, ())))
            for query, doc_id in cut(run, candidates)[["query_id", "doc_id"]].itertuples(index=False)
            for window in reader.windows_of(doc_id)]
    return pd.DataFrame(rows, columns=["query_id", "window_id", "label"])


@step(version=1, form="folder", network=True, resumable=True)
@by_name
def pointwise_cross_encoder(pairs: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone,
                            training: PointwiseTraining, start: Path | None = None, held_out_seed: int | None = None,
                            trainable: str | None = None, new_head: bool | None = None, *, folder: Path,
                            checkpoints: Path) -> None:
    """Fine-tune a backbone on labelled pairs with binary cross-entropy (Steensland 2021, equation 3.2): AdamW, linear warm-up
    and decay; keeps weights, tokenizer and `log.json`.

    Args:
        pairs: columns query_id, window_id, label.
        start, held_out_seed, trainable, new_head: as in `listwise_cross_encoder`.

    Raises:
        BadInput: if the pairs do not fill a batch.
    """
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits
    from transformers import AutoModelForSequenceClassification

    tokenizer, device = backbone.tokenizer(), numerics.device()
    inputs, labels = as_inputs(pairs, queries, WindowTokens(tokens, store), tokenizer, training)
    names = pairs["query_id"].drop_duplicates().tolist()
    apart = held_out(len(names), training.evaluation_queries, training.seed if held_out_seed is None else held_out_seed)
    outside = pairs["query_id"].isin({names[number] for number in apart}).to_numpy()
    learned, watched = np.flatnonzero(~outside), np.flatnonzero(outside)
    a_pass = len(learned) // training.batch_size
    if not a_pass:
        raise BadInput(f"{len(learned)} training pairs do not fill a batch of {training.batch_size}",
                       mend="give more training queries, or a smaller batch")
    seed_everything(training.seed)  # before the head is made
    model = (backbone if start is None else Backbone("", str(start))).build(
        AutoModelForSequenceClassification, num_labels=1, hidden_dropout_prob=training.dropout,
        attention_probs_dropout_prob=training.dropout, attn_implementation=attention()).to(device).train()
    if new_head:
        torch.nn.init.normal_(model.classifier.weight, std=model.config.initializer_range)
        torch.nn.init.zeros_(model.classifier.bias)
    adjust(model, trainable or "all")
    steps = a_pass * training.epochs
    optimizer, schedule = optimiser(model, training, steps)
    kept, parts = Checkpoints(checkpoints), {"model": model, "optimizer": optimizer, "schedule": schedule}
    state: dict[str, Any] = {"step": 0, "log": [], "running": []} | kept.resume(parts)

    def loss_of(numbers: np.ndarray, dropout: float) -> Any:
        with torch.autocast(device, torch.bfloat16, enabled=numerics.dtype() == "bf16"):
            scores = logits_of(model, [inputs[n][0] for n in numbers], [inputs[n][1] for n in numbers], dropout).float()
        return binary_cross_entropy_with_logits(scores, torch.from_numpy(labels[numbers]).to(device))

    def held_out_loss() -> float:
        model.eval()
        with torch.no_grad():
            batches = np.array_split(watched, -(-len(watched) // 128))
            value = np.average([float(loss_of(one, training.dropout)) for one in batches], weights=[len(one) for one in batches])
        model.train()
        return float(value)

    every = max(1, -(-steps // training.evaluations))
    if not state["step"]:
        state["log"].append({"step": 0, "eval_loss": held_out_loss()})
    with ledger.bar("training step", steps, state["step"]) as shown:
        for number in range(state["step"], steps):
            epoch, place = divmod(number, a_pass)
            if number == state["step"] or not place:
                order = np.random.default_rng([training.seed, epoch]).permutation(learned)
            loss = loss_of(order[place * training.batch_size:(place + 1) * training.batch_size], training.dropout)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), LONGEST_GRADIENT)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
            state["step"] = number + 1
            state["running"].append(loss.detach())  # read when it is logged: a GPU would wait at every step
            shown.update()
            if state["step"] % every == 0 or state["step"] == steps:
                losses = torch.stack([one.to(device) for one in state["running"]])  # those of a checkpoint are on the CPU
                state["log"].append({"step": state["step"], "epoch": state["step"] * training.epochs / steps,
                                     "loss": float(losses.mean()), "eval_loss": held_out_loss()})
                state["running"].clear()
            kept.keep(state["step"], parts, state)
    trained = model.num_parameters(only_trainable=True)
    save(model, tokenizer, backbone, folder)
    (folder / "log.json").write_text(json.dumps({
        "pairs": len(learned) * training.epochs, "positives": int(labels[learned].sum()) * training.epochs,
        "evaluation_pairs": len(watched), "steps": steps, "parameters": model.num_parameters(),
        "trained_parameters": trained, "log": state["log"]}, indent=1))


def as_inputs(pairs: pd.DataFrame, queries: pd.DataFrame, tokens: WindowTokens, tokenizer: Any,
              training: RankerTraining) -> tuple[list[tuple[list[int], list[int]]], np.ndarray]:
    """Pairs as (token ids, token types), and their labels as float32."""
    texts = dict(zip(queries["query_id"], query_ids(tokenizer, list(queries["text"]), training.query_length), strict=True))
    return [pair_ids(tokenizer, texts[query], tokens[window], training.max_length)
            for query, window in zip(pairs["query_id"], pairs["window_id"], strict=True)], pairs["label"].to_numpy(np.float32)
