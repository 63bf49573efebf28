"""What scores (query, window) pairs, by name: as in `book search`; and pairs of documents."""

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from helpers.data.windows import WindowTokens, duo_ids, pair_ids, query_ids
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.networks.encoder import PASSAGE, QUERY, Encoder, wrapped
from helpers.networks.fine_tuning import RankerTraining
from helpers.networks.inference import load_scorer, logits, probabilities
from helpers.systems.pairwise_reranker import duobert
from helpers.systems.recipe import general_reranker, recipe
from helpers.systems.rerankers import WarmUp
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZeroShotReranker

NONE, BASE, GENERAL, ZERO_SHOT = "none", "base", "general", "minilm"
Pairs = Sequence[tuple[str, str]]  # texts of queries with ids of windows
WindowScorer = Callable[[Pairs], np.ndarray]  # of the second stage: a score for each pair, float32

class CrossEncoder:
    """A fine-tuned cross-encoder; its logits (the base re-ranker) or its probabilities of relevance."""

    def __init__(self, folder: Path, bed: Testbed, spec: str, score: Callable[..., np.ndarray], settings: Any = RankerTraining):
        self._model, self._tokenizer, self._score = load_scorer(folder), backbone.resolve(spec).tokenizer(), score
        self._tokens = WindowTokens(bed.tokens(backbone.resolve(spec)).value(), bed.store.value())
        self._max_length, self._query_length = settings.max_length, settings.query_length

    def __call__(self, pairs: Pairs) -> np.ndarray:
        """See `WindowScorer`."""
        queries = list(dict.fromkeys(query for query, _ in pairs))
        ids = dict(zip(queries, query_ids(self._tokenizer, queries, self._query_length), strict=True))
        return self._score(self._model, [pair_ids(self._tokenizer, ids[query], self._tokens[window], self._max_length)
                                         for query, window in pairs])


class ZeroShot:
    """The packaged encoder as it is: the cosine of a window's embedding and the query's, each computed once in a batch."""

    def __init__(self, bed: Testbed):
        settings = ZeroShotReranker()
        encoder = backbone.resolve(settings.backbone)
        self._encoder, self._length = Encoder(encoder, None, "mean", normalise=True, token_types=False), settings.max_length
        self._tokens = WindowTokens(bed.tokens(encoder).value(), bed.store.value())

    def __call__(self, pairs: Pairs) -> np.ndarray:
        """See `WindowScorer`."""
        queries, windows = ([*dict.fromkeys(side)] for side in zip(*pairs, strict=True))
        asked = self._vectors(query_ids(self._encoder.tokenizer, queries, self._length), QUERY)
        read = self._vectors([self._tokens[window] for window in windows], PASSAGE)
        of_query, of_window = dict(zip(queries, asked, strict=True)), dict(zip(windows, read, strict=True))
        return np.array([of_query[query] @ of_window[window] for query, window in pairs], np.float32)

    def _vectors(self, texts: Sequence[Any], kind: int) -> np.ndarray:
        return self._encoder.vectors([wrapped(self._encoder.tokenizer, ids, self._length) for ids in texts], kind)


class Pairwise:
    """A pairwise cross-encoder (duoBERT): [CLS] query [SEP] one text [SEP] another [SEP], the probability that the one is better.

    `base` names the book's own, which is trained once, within minutes, and kept in the step store; else a folder.
    """

    def __init__(self, name: str):
        own = duobert(recipe())
        folder = own.model.value() if name == BASE else Path(name).expanduser()
        self._model, self._tokenizer = load_scorer(folder), backbone.resolve(str(folder)).tokenizer()
        self._query = own.query_length
        self._length = own.max_length if name == BASE else min(512, self._model.config.max_position_embeddings)
        third = max(0, self._model.config.type_vocab_size - 1)
        self._kinds = (0, min(1, third), third)

    def __call__(self, asked: Sequence[tuple[str, str, str]]) -> np.ndarray:
        """The probability for each (query, one text, another), float32."""
        return probabilities(self._model, [self._input(*texts) for texts in asked])

    def _input(self, *texts: str) -> tuple[list[int], list[int]]:
        query, one, other = self._tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
        return duo_ids(self._tokenizer, query[:self._query], [one, other], self._length, self._kinds)


def load(name: str, bed: Testbed) -> WindowScorer | None:
    """The re-ranker of a name that `check` has let pass."""
    if name in (NONE, ZERO_SHOT):
        return ZeroShot(bed) if name == ZERO_SHOT else None
    if name in (BASE, GENERAL):
        own, score = (WarmUp(), logits) if name == BASE else (general_reranker(), probabilities)
        return CrossEncoder(own.model.value(), bed, own.backbone, score, own)
    return CrossEncoder(Path(name).expanduser(), bed, name, probabilities)


def check(names: Iterable[str], own: Collection[str] = (NONE, BASE, GENERAL, ZERO_SHOT)) -> None:
    """BadInput for a name that is neither the book's own nor the folder of a cross-encoder with one value for a pair."""
    for name in (name for name in names if name not in own):
        if not (Path(name).expanduser() / "config.json").is_file():
            raise BadInput(f"no model {name!r}", mend=f"choose from {', '.join(own)}, or give the folder of a cross-encoder")
        known = backbone.configuration(backbone.resolve(str(Path(name).expanduser())))
        if not str((known.architectures or [""])[0]).endswith("ForSequenceClassification") or known.num_labels != 1:
            raise BadInput("this model gives no single value for a pair", file=name, mend="give a cross-encoder that does")
