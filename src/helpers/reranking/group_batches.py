"""The batches of a training on groups: which queries are held out, and the others' texts as token ids, in an order by seed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.tokens import WindowTokens, duo_ids, pair_ids, query_ids
from helpers.errors import BadInput
from helpers.networks.training_settings import RankerTraining


def held_out(queries: int, wanted: int, seed: int) -> np.ndarray:
    """The numbers of the queries that are held out, in their order: as many as wanted, at most a tenth, drawn with the seed."""
    shuffled = np.random.default_rng(seed).permutation(queries)
    return np.sort(shuffled[:min(wanted, max(1, queries // 10))])


class Groups:
    """Groups as token ids, in an order that depends on seed and epoch alone; some queries are held out. BadInput if they are too
    few for a batch, ValueError if they are not of one size."""

    def __init__(self, groups: pd.DataFrame, queries: pd.DataFrame, tokens: WindowTokens, tokenizer: Any,
                 training: RankerTraining, held_out_seed: int | None = None):
        self.training, self._tokens, self._tokenizer = training, tokens, tokenizer
        names = list(dict.fromkeys(groups["query_id"]))
        self.held_out = held_out(len(names), training.evaluation_queries,
                                 training.seed if held_out_seed is None else held_out_seed)
        self.train = np.setdiff1d(np.arange(len(names)), self.held_out)
        if len(self.train) < training.batch_size:
            raise BadInput(f"{len(names)} training queries, of which {len(self.held_out)} held out, do not fill a batch of "
                           f"{training.batch_size}", mend="give more training queries, or a smaller batch")
        self.size = len(groups) // len(names)
        if not (groups["query_id"].to_numpy().reshape(len(names), -1) == np.array(names, dtype=object)[:, None]).all():
            raise ValueError("groups of different sizes")
        texts = queries.set_index("query_id")["text"]
        self._queries = query_ids(tokenizer, [texts[name] for name in names], training.query_length)
        read = [column for column in ("window_id", "other_id") if column in groups]
        self._windows = groups[read].to_numpy().reshape(len(names), self.size, len(read))
        self._teacher = groups["teacher"].to_numpy(dtype=float).reshape(len(names), -1)

    def batches(self, done: int) -> Iterator[np.ndarray]:
        """The groups of each optimiser step but the first `done` ones; an incomplete batch is left out."""
        size = self.training.batch_size
        a_pass = len(self.train) // size
        for number in range(done, a_pass * self.training.epochs):
            epoch, place = divmod(number, a_pass)
            if number == done or place == 0:
                order = np.random.default_rng([self.training.seed, epoch]).permutation(self.train)
            yield order[place * size:(place + 1) * size]

    def batch(self, numbers: np.ndarray) -> tuple[list[list[int]], list[list[int]], np.ndarray]:
        """Token ids and types of the groups' texts, one after the other, and the teacher's scores, (groups, size)."""
        inputs = [self._input(self._queries[n], [self._tokens[window] for window in read])
                  for n in numbers for read in self._windows[n]]
        return [ids for ids, _ in inputs], [types for _, types in inputs], self._teacher[numbers]

    def _input(self, query: list[int], windows: list[np.ndarray]) -> tuple[list[int], list[int]]:
        length = self.training.max_length
        return (pair_ids(self._tokenizer, query, windows[0], length) if len(windows) == 1
                else duo_ids(self._tokenizer, query, windows, length))
