"""doc2query: passages expanded with the queries that a model would ask of them (Nogueira et al. 2019, arXiv:1904.08375).

    model = Doc2Query("hub:<owner>/<a T5 trained to ask>@<commit hash>")
    run = model.run(Testbed("almanac", "passage"), depth=100)

No generator comes with the book: without one the baseline is shown as *not run*.
"""

from dataclasses import dataclass

from helpers.networks import backbone
from helpers.retrieval.bm25 import K1, B
from helpers.retrieval.doc2query import expanded_index, generated_queries
from helpers.steps import Step
from helpers.systems.lexical import Lexical
from helpers.systems.testbed import Testbed


@dataclass(frozen=True)
class Doc2Query(Lexical):
    """A generator and how it is used."""

    generator: str  # a sequence-to-sequence model with safetensors weights: `hub:owner/name@revision` or a local folder
    queries: int = 40  # generated for each text (docTTTTTquery: 40)
    top_k: int = 10  # each token is drawn from so many likely ones (docTTTTTquery: 10); 1 takes the likeliest
    max_length: int = 512  # tokens read of a text
    query_length: int = 64  # tokens written of a query
    batch_size: int = 16  # texts a step
    seed: int = 1
    k1: float = K1  # of BM25 over the expanded texts
    b: float = B  # likewise

    def generated(self, bed: Testbed) -> Step:
        """The queries of every text of a testbed."""
        return generated_queries(bed.store, backbone.resolve(self.generator), self.queries, self.top_k, self.max_length,
                                 self.query_length, self.batch_size, self.seed)

    def index(self, bed: Testbed) -> Step:
        """The Lucene index of the texts with their queries."""
        return expanded_index(bed.store, self.generated(bed))
