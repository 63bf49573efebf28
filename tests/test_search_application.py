"""The search application: the OR phase by hand, and the stages' times."""

import numpy as np
import pytest

from helpers.costs import latency
from helpers.networks import backbone
from helpers.retrieval import java
from helpers.retrieval.bm25 import K1, B, bm25_run, search_each
from helpers.retrieval.feedback import or_matches


@pytest.mark.slow
def test_the_or_phase_counts_documents_with_any_of_the_words(bed):
    matches = or_matches(bed.index, bed.query_step).value()
    assert matches.to_dict("list") == {"query_id": ["q1", "q2", "q3"], "documents": [2, 1, 0], "of": [4, 4, 4]}


@pytest.mark.slow
def test_the_resident_search_ranks_as_runs_do(bed):
    run = bm25_run(bed.index, bed.query_step, K1, B, 100).value()
    texts = list(bed.query_frame["text"])
    for _ in range(2):
        hits = java.call(search_each, bed.index.value(), texts, K1, B, 100)
        assert [hit[0] for own in hits for hit in own] == list(run["doc_id"])
        assert np.allclose([hit[1] for own in hits for hit in own], run["score"])


@pytest.mark.slow
def test_stages_are_timed_for_each_depth(bed, tmp_path):
    from transformers import AutoModelForSequenceClassification

    own = backbone.resolve("packaged:0")
    own.build(AutoModelForSequenceClassification, num_labels=1).save_pretrained(tmp_path)
    own.tokenizer().save_pretrained(tmp_path)
    times = latency.stage_times.definition.function(tmp_path, bed.index.value(), bed.query_frame, bed.store.value(),
                                                        bed.tokens(own).value(), K1, B, [1, 2], 64, 16, timed=2, rounds=2,
                                                        pairwise=tmp_path, paired=[2], pair_length=64)
    assert times["queries"] == 2 and times["windows"] == {"1": 2, "2": 3}
    assert set(times["stages"]) == {"OR", "BM25", "1", "2", "pairs of 2"}
    assert all(len(rounds) == 2 and min(rounds) > 0 for rounds in times["stages"].values())
