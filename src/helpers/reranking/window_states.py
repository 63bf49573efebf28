"""What a cross-encoder makes of each window of a document, kept: the states that its output layer would read."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.runs import cut
from helpers.data.tokens import WindowTokens, pair_ids, query_ids
from helpers.data.windows import doc_of
from helpers.networks.backbone import read_tokenizer
from helpers.networks.inference import AT_ONCE
from helpers.networks.scoring import load_scorer, states
from helpers.steps import step

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
    order) and `head.npz` (`weight`, `bias`). Arguments as of `rerank.window_scores`.
    """
    tokenizer, reader = read_tokenizer(model), WindowTokens(tokens, store)
    texts = dict(zip(queries["query_id"], query_ids(tokenizer, list(queries["text"]), query_length), strict=True))
    documents = cut(run, candidates)[["query_id", "doc_id"]]
    names = [list(reader.windows_of(doc_id)) for doc_id in documents["doc_id"]]
    windows = [(query, window) for query, own in zip(documents["query_id"], names, strict=True) for window in own]
    scorer, kept = load_scorer(model), list[np.ndarray]()
    for start in range(0, len(windows), AT_ONCE):
        inputs = [pair_ids(tokenizer, texts[query], reader[name], max_length) for query, name in windows[start:start + AT_ONCE]]
        kept.append(states(scorer, inputs, progress="windows read").astype(np.float16))
    np.save(folder / STATES, np.concatenate(kept))
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

        lengths = self._ends[numbers] - self._starts[numbers]
        mask = np.arange(max(lengths)) < lengths[:, None]
        padded = np.zeros((*mask.shape, self._states.shape[1]), np.float32)
        padded[mask] = np.concatenate([self._states[self._starts[n]:self._ends[n]] for n in numbers])
        return torch.from_numpy(padded), torch.from_numpy(mask)
