"""A first stage that somebody else trained: a bi-encoder of sentence-transformers, as it is, and exact search.

    Pipeline(retriever=GivenFirstStage("hub:BAAI/bge-small-en-v1.5@<commit hash>"))
    GivenFirstStage("/a/folder").run(Testbed("almanac", "passage", queries=400), depth=100)
"""

from dataclasses import dataclass
from pathlib import Path

from helpers.encoders.embeddings import given_passage_embeddings, given_query_embeddings, window_store
from helpers.encoders.nearest_neighbours import exact_search
from helpers.networks.given_encoder import given
from helpers.retrieval.bm25 import max_passage
from helpers.steps import Step
from helpers.systems.testbed import Testbed

WINDOWS = 5  # found for each text that is wanted, since several may be of one text; as of `Testbed.bm25`


def is_given(name: str) -> bool:
    """Whether a name is a model's, a folder or a hub id, and not a stage's or a file's."""
    return name.startswith("hub:") or ("/" in name and Path(name).expanduser().is_dir())


@dataclass(frozen=True)
class GivenFirstStage:
    """A whole model by its folder or its hub id with revision. It reads a text in the testbed's windows, as re-rankers do, and
    the best one counts; they are embedded once, for all queries to come."""

    model: str

    def run(self, bed: Testbed, depth: int) -> Step:
        """The best `depth` texts for each query of a testbed."""
        model, store = given(self.model), window_store(bed.store, bed.words, bed.overlap)
        vectors = given_passage_embeddings(model, store), given_query_embeddings(model, bed.query_step)
        return max_passage(exact_search(*vectors, store, bed.query_step, WINDOWS * depth), depth)
