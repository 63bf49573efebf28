"""PARADE: a document's score from the states of its windows (Li et al. 2020, arXiv:2008.09093; Steensland 2021, 3.2.2)."""

import json
import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.runs import cut, ranked
from helpers.data.windows import WindowTokens, doc_of, pair_ids, query_ids
from helpers.networks.backbone import Backbone
from helpers.networks.checkpoints import Checkpoints
from helpers.networks.encoder import cls, maximum, pool
from helpers.networks.fine_tuning import by_name, seed_everything
from helpers.networks.inference import load_scorer, states
from helpers.registry import Registry
from helpers.reranking.listwise import ListwiseTraining, fit, mean_loss, rows_of, save, scorer
from helpers.reranking.losses import total
from helpers.steps import ledger, numerics, step

STATES, DOCUMENTS, HEAD = "states.npy", "documents.csv", "head.npz"


@step(version=1, form="run")
def group_run(groups: pd.DataFrame) -> pd.DataFrame:
    """The documents of each group (`groups.labelled_groups`) as a run, the relevant one first."""
    return pd.DataFrame({"query_id": groups["query_id"], "doc_id": groups["window_id"].map(doc_of),
                         "score": -groups.groupby("query_id").cumcount().astype(float)})


@step(version=1, form="folder", network=True)
def window_states(model: Path, run: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, candidates: int,
                  max_length: int, query_length: int, *, folder: Path) -> None:
    """The state of each window of each query's top documents that the model's output layer reads, and that layer.

    Writes `states.npy` (windows, dimensions) as float16, `documents.csv` (query_id, doc_id and the number of windows, in that
    order) and `head.npz` (`weight`, `bias`). Arguments as of `window_scores`.
    """
    tokenizer, reader = Backbone("", str(model)).word_pieces(), WindowTokens(tokens, store)
    texts = dict(zip(queries["query_id"], query_ids(tokenizer, list(queries["text"]), query_length), strict=True))
    documents = cut(run, candidates)[["query_id", "doc_id"]]
    names = [list(reader.windows_of(doc_id)) for doc_id in documents["doc_id"]]
    inputs = (pair_ids(tokenizer, texts[query], max_length, reader[window])
              for query, own in zip(documents["query_id"], names, strict=True) for window in own)
    scorer = load_scorer(model)
    np.save(folder / STATES, states(scorer, inputs, progress="windows read").astype(np.float16))
    documents.assign(windows=[len(own) for own in names]).to_csv(folder / DOCUMENTS, index=False)
    head = {name: weight.float().numpy(force=True) for name, weight in scorer.classifier.state_dict().items()}
    np.savez(folder / HEAD, **head)


class Documents:
    """Kept states as padded tensors, (documents, windows, dimensions), with a mask of what is there; and the layer, `head`.

    `frame` has the documents' places: columns query_id, doc_id, windows.
    """

    def __init__(self, folder: Path):
        self.frame = pd.read_csv(folder / DOCUMENTS, dtype={"query_id": str, "doc_id": str}, keep_default_na=False)
        self._states, self._ends = np.load(folder / STATES, mmap_mode="r"), self.frame["windows"].cumsum().to_numpy()
        self._starts = self._ends - self.frame["windows"].to_numpy()
        with np.load(folder / HEAD) as head:
            self.head = {name: head[name] for name in head}

    def __getitem__(self, numbers: np.ndarray) -> tuple[Any, Any]:
        """The states of some documents, by their places, and the mask, (documents, windows)."""
        import torch

        parts = [torch.from_numpy(self._states[self._starts[n]:self._ends[n]].astype(np.float32)) for n in numbers]
        padded = torch.nn.utils.rnn.pad_sequence(parts, batch_first=True)
        return padded, torch.arange(padded.shape[1]) < torch.tensor([len(own) for own in parts])[:, None]


WEIGHTS, LOG, AGGREGATION = "model.safetensors", "log.json", "aggregation"
HEADS, LAYERS = 12, 2  # of the transformer over windows
BATCH = 16  # groups
DOCUMENTS_AT_ONCE = 64  # documents
DIGITS = 4  # of a kept score


def attended(states: Any, mask: Any, weight: Any) -> Any:
    """PARADE Attn of states (documents, windows, dimensions): a mean with weights softmax(w . state) (Steensland 2021, 3.2.2)."""
    weights = (states @ weight).masked_fill(~mask, float("-inf")).softmax(1)
    return (weights[..., None] * states).sum(1)


POOLED = {"avg": "mean", "max": "max"}  # of states, PARADE's that learn nothing but the output layer, by their pooling
STATE_AGGREGATIONS = (*POOLED, "attn", "transformer")
# of the windows' scores, (documents, windows), with the mask: BERT-FirstP and -MaxP
SCORE_AGGREGATIONS: Registry[Callable[[Any, Any], Any]] = Registry("aggregation of windows", {
    "firstp": cls, "maxp": maximum})


def network(how: str, head: dict[str, np.ndarray]) -> Any:
    """A module from states and mask to scores, (documents,), by its aggregation's name; its output layer begins as `head`."""
    import torch

    if how not in STATE_AGGREGATIONS:
        SCORE_AGGREGATIONS[how]  # BadInput for an unknown one
    width = head["weight"].shape[1]

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.output = torch.nn.Linear(width, 1)
            with torch.no_grad():
                self.output.weight.copy_(torch.from_numpy(head["weight"]))
                self.output.bias.copy_(torch.from_numpy(head["bias"]))
            if how == "attn":
                self.weight = torch.nn.Parameter(torch.zeros(width))
            if how == "transformer":
                self.first = torch.nn.Parameter(torch.randn(width) * 0.02)  # the embedding that is put in front
                layer = torch.nn.TransformerEncoderLayer(width, HEADS, 4 * width, 0.0, "gelu", batch_first=True)
                self.layers = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)

        def forward(self, states: Any, mask: Any) -> Any:
            if how in SCORE_AGGREGATIONS:
                return SCORE_AGGREGATIONS[how](self.output(states)[..., 0], mask)
            return self.output(self.document(states, mask))[:, 0]

        def document(self, states: Any, mask: Any) -> Any:
            if how == "transformer":
                front = self.first.expand(len(states), 1, -1)
                seen = torch.cat([mask.new_ones(len(mask), 1), mask], 1)
                return self.layers(torch.cat([front, states], 1), src_key_padding_mask=~seen)[:, 0]
            return attended(states, mask, self.weight) if how == "attn" else pool(states, mask, POOLED[how])

    return Network()


@step(version=1, form="folder", network=True, resumable=True)
def parade(states: Path, groups: pd.DataFrame, how: str, losses: dict, learning_rate: float, epochs: int, held_out: int,
           seed: int, *, folder: Path, checkpoints: Path) -> None:
    """Learn an aggregation from groups of documents whose states are kept: Adam, and the weights of the lowest held-out loss.

    Args:
        groups: the documents of each group as a run, the relevant one first, all groups of one size (`group_run`).
        how: one of `STATE_AGGREGATIONS` or `SCORE_AGGREGATIONS`.
        losses: weights by name, see `losses.LOSSES`.
        held_out: groups that are not learned from; the same for every seed.
    """
    import torch
    from safetensors.torch import save_file

    documents = Documents(states)
    places = documents.frame.reset_index().set_index(["query_id", "doc_id"])["index"]
    asked = pd.MultiIndex.from_frame(groups[["query_id", "doc_id"]])
    numbers = places.loc[asked].to_numpy().reshape(groups["query_id"].nunique(), -1)
    apart, learned = (numbers[part] for part in divided(len(numbers), held_out))
    read, mask = documents[np.arange(len(documents.frame))]
    seed_everything(seed)
    model = network(how, documents.head)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)

    def loss_of(part: np.ndarray) -> Any:
        scores = model(read[part.ravel()], mask[part.ravel()]).view(part.shape)
        return total(losses, scores, torch.zeros_like(scores))

    def held_out_loss() -> float:
        with torch.no_grad():
            return float(loss_of(apart))

    kept, parts = Checkpoints(checkpoints), {"model": model, "optimizer": optimizer}
    state = kept.resume(parts) or {"log": [{"epoch": 0, "eval_loss": held_out_loss()}], "best": deepcopy(model.state_dict())}
    log = state["log"]
    with ledger.bar("training epoch", epochs, len(log) - 1) as shown:
        for epoch in range(len(log), epochs + 1):
            order, running = np.random.default_rng([seed, epoch]).permutation(learned), []
            for start in range(0, len(order), BATCH):
                loss = loss_of(order[start:start + BATCH])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                running.append(float(loss.detach()))
            log.append({"epoch": epoch, "loss": float(np.mean(running)), "eval_loss": held_out_loss()})
            if log[-1]["eval_loss"] <= min(line["eval_loss"] for line in log):
                state["best"] = deepcopy(model.state_dict())
            kept.keep(epoch, parts, state)
            shown.set_postfix_str(f"loss {log[-1]['loss']:.3f}", refresh=False)
            shown.update()
    save_file(state["best"], folder / WEIGHTS)
    parameters = sum(weight.numel() for weight in state["best"].values())
    (folder / LOG).write_text(json.dumps({"how": how, "groups": len(learned), "parameters": parameters, "log": log}, indent=1))


def divided(groups: int, held_out: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the groups that are held out, the same for every seed, and of those that are learned from."""
    shuffled = np.random.default_rng(0).permutation(groups)
    return shuffled[:held_out], shuffled[held_out:]


@step(version=1, form="folder", network=True, resumable=True)
@by_name
def whole_parade(groups: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone, start: Path,
                 aggregation: Path, losses: dict, held_out: int, learned: int, training: ListwiseTraining, *, folder: Path,
                 checkpoints: Path) -> None:
    """Train what reads the windows and what puts them together at once, as the authors do; keeps the cross-encoder and, in
    `aggregation`, what `parade` keeps.

    Args:
        groups, losses, held_out: as in `parade`; `learned` of the other groups are learned from. A batch is so many groups.
        tokens: of the windows of the store's documents.
        start: the cross-encoder to go on from.
        aggregation: the one to go on from, which learned over the states of `start`.
    """
    import torch
    from safetensors.torch import load_file, save_file

    tokenizer, reader = backbone.tokenizer(), WindowTokens(tokens, store)
    asked = dict(zip(queries["query_id"], query_ids(tokenizer, list(queries["text"]), training.query_length), strict=True))
    read = [[pair_ids(tokenizer, asked[query], training.max_length, reader[window]) for window in reader.windows_of(doc_id)]
            for query, doc_id in groups[["query_id", "doc_id"]].itertuples(index=False)]
    numbers = np.arange(len(read)).reshape(groups["query_id"].nunique(), -1)
    model, how = scorer(backbone, start, training, None, None), json.loads((aggregation / LOG).read_text())["how"]
    head, model.classifier = model.classifier, torch.nn.Identity()
    weights = load_file(aggregation / WEIGHTS)
    both = torch.nn.ModuleDict({"reader": model, "aggregation": network(how, {
        name: weights[f"output.{name}"].numpy() for name in ("weight", "bias")}).to(numerics.device())})
    both["aggregation"].load_state_dict(weights)

    def loss_of(part: np.ndarray) -> Any:
        documents = [read[n] for n in numbers[part].ravel()]
        ids, types = ([one[which] for own in documents for one in own] for which in (0, 1))
        with torch.autocast(numerics.device(), torch.bfloat16, enabled=numerics.dtype() == "bf16"):
            rows = rows_of(model, ids, types, training.dropout)
        parts = rows.float().split([len(own) for own in documents])
        states = torch.nn.utils.rnn.pad_sequence(parts, batch_first=True)
        mask = torch.arange(states.shape[1]) < torch.tensor([len(own) for own in parts])[:, None]
        scores = both["aggregation"](states, mask.to(states.device)).view(len(part), -1)
        return total(losses, scores, torch.zeros_like(scores))

    apart, others = divided(len(numbers), held_out)
    log = fit(both, training, others[:learned], loss_of, lambda: mean_loss(loss_of, apart, training.batch_size), checkpoints)
    model.classifier = head
    save(model, tokenizer, backbone, folder)
    (folder / AGGREGATION).mkdir()
    save_file(both["aggregation"].state_dict(), folder / AGGREGATION / WEIGHTS)
    (folder / AGGREGATION / LOG).write_text(json.dumps({
        "how": how, "groups": len(others[:learned]), "parameters": sum(weight.numel() for weight in both.parameters()),
        "log": [{"epoch": 0, **line} for line in log]}, indent=1))


@step(version=1, form="folder")
def aggregation_of(model: Path, *, folder: Path) -> None:
    """The aggregation of a PARADE that was trained as a whole."""
    shutil.copytree(model / AGGREGATION, folder, dirs_exist_ok=True)


@step(version=1, form="json")
def parade_log(model: Path) -> dict[str, Any]:
    """The losses of a training over its epochs."""
    return json.loads((model / LOG).read_text())


@step(version=1, form="run", network=True)
def parade_run(states: Path, model: Path) -> pd.DataFrame:
    """The documents whose states are kept, in the order of a learned aggregation."""
    import torch
    from safetensors.torch import load_file

    documents, how = Documents(states), json.loads((model / LOG).read_text())["how"]
    learned = network(how, documents.head)
    learned.load_state_dict(load_file(model / WEIGHTS))
    scores = []
    with torch.no_grad():
        for part in np.array_split(np.arange(len(documents.frame)), max(1, len(documents.frame) // DOCUMENTS_AT_ONCE)):
            scores += learned.eval()(*documents[part]).double().numpy().round(DIGITS).tolist()
    return ranked(documents.frame[["query_id", "doc_id"]].assign(score=scores))
