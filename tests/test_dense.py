import numpy as np
import pytest

from helpers.encoders.embeddings import dense_window_scores
from helpers.networks import backbone

pytestmark = pytest.mark.slow


def test_it_agrees_with_sentence_transformers(bed):
    from sentence_transformers import SentenceTransformer

    encoder = backbone.resolve("packaged")
    model = SentenceTransformer(encoder.source, device="cpu")
    query = bed.query_frame.set_index("query_id").loc["q1", "text"]
    vectors = model.encode([query, "Bread Why bread turns brown in the oven. Sugars and proteins react in the heat."])
    scores = dense_window_scores(encoder, bed.bm25(0.9, 0.4, 10), bed.query_step, bed.store, bed.tokens(encoder), 10, 256).value()
    ours = scores[(scores["query_id"] == "q1") & (scores["doc_id"] == "d1#0")]["score"].iloc[0]
    assert ours == pytest.approx(float(np.dot(*vectors)), abs=0.01)
