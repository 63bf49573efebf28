"""A service of one contender, for the load test: `python -m bench.served '[name, collection, unit, model]'`."""

import json
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from helpers.costs.timing import LANCE, SEQUENTIAL, SERVED_CROSS_ENCODER
from helpers.data.runs import adhoc_queries
from helpers.data.texts import Texts
from helpers.data.windows import windows
from helpers.networks.fine_tuning import RankerTraining
from helpers.networks.inference import probabilities
from helpers.systems.testbed import Testbed
from press.serve import app, batching
from press.serve.engine import Asked, CrossEncoder, Engine, Pairs


class SentenceTransformers:
    """A `WindowScorer` by sentence-transformers' CrossEncoder, from texts, as a user would call it."""

    def __init__(self, folder: str, bed: Testbed):
        self._model, self._texts, self._bed = cross_encoder(folder), Texts(bed.store.value()), bed

    def __call__(self, pairs: Pairs) -> np.ndarray:
        """See `press.serve.engine.WindowScorer`."""
        return np.asarray(self._model.predict([(query, self._text(window)) for query, window in pairs], show_progress_bar=False))

    def _text(self, window: str) -> str:
        doc_id, _, number = window.rpartition("#")
        return list(windows(self._texts[doc_id], self._bed.words, self._bed.overlap))[int(number)].text


class Lance(Engine):
    """LanceDB in place of all stages: its full-text search (BM25 with its own settings) and its re-ranker by a cross-encoder."""

    def __init__(self, folder: str, bed: Testbed):
        import lancedb
        from lancedb.index import FTS
        from lancedb.rerankers import CrossEncoderReranker

        super().__init__(bed, {"none": None})
        place = tempfile.mkdtemp()
        rows = [{"doc_id": text.doc_id, "text": f"{text.title}\n{text.body}"} for text in Texts(bed.store.value())]
        self._table = lancedb.connect(place).create_table("texts", rows)
        self._table.create_index("text", config=FTS())
        self._reranker = CrossEncoderReranker(model_name=folder, column="text", device="cpu")
        self._reranker.__dict__["model"] = cross_encoder(folder)  # the same limits of length

    def expected(self, asked: Asked) -> list[tuple[str, float]]:
        """Nothing that is scored by turns: the library answers a request at once."""
        return []

    def __call__(self, asked: Asked) -> batching.Asking:
        """The answer."""
        found = self._table.search(asked.query, query_type="fts").limit(asked.candidates).rerank(self._reranker).to_list()
        yield from ()
        return {"results": [{"doc_id": row["doc_id"], "score": row["_relevance_score"]} for row in found]}


def cross_encoder(folder: str) -> Any:
    """The model, as sentence-transformers loads it."""
    from sentence_transformers import CrossEncoder

    return CrossEncoder(folder, max_length=RankerTraining.max_length, device="cpu")


def engine(name: str, bed: Testbed, folder: str) -> Engine:
    """The engine of a contender."""
    if name == LANCE:
        return Lance(folder, bed)
    if name == SERVED_CROSS_ENCODER:
        return Engine(bed, {"own": SentenceTransformers(folder, bed), "none": None})
    return Engine(bed, {"own": CrossEncoder(Path(folder), bed, folder, probabilities), "none": None})


def main(name: str, collection: str, unit: str, folder: str) -> None:
    """Listen on a free port, say which, and answer until SIGTERM."""
    import uvicorn

    together = 1 if name == SEQUENTIAL else batching.MOST
    bed = Testbed(collection, unit, adhoc_queries=adhoc_queries([]))
    batcher = batching.Batcher(lambda: engine(name, bed, folder), timeout=60, together=together)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(f"port {listening.getsockname()[1]}", flush=True)
        uvicorn.Server(uvicorn.Config(app.application(batcher), log_level="warning", access_log=False)).run(sockets=[listening])


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
