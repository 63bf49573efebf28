"""The search application: the OR phase by hand, the stages' times, and the stretch of a text that is shown."""

import numpy as np
import pytest

from helpers.costs import latency
from helpers.networks import backbone
from helpers.retrieval import java
from helpers.retrieval.bm25 import K1, B, bm25_run, search_each
from helpers.retrieval.feedback import or_matches
from helpers.systems.pipeline import WORDS, passage, snippet


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


def test_the_stretch_with_most_of_the_querys_words_is_shown():
    body = " ".join(["filler"] * 50 + ["Bread", "turns", "brown,"] + ["filler"] * 50 + ["bread"])
    shown = snippet(body, "why does bread turn brown")
    assert "Bread turns brown," in shown and shown.startswith("… ") and shown.endswith(" …")
    assert len(shown.split()) == WORDS + 2


def test_a_text_without_them_shows_its_beginning_and_a_short_one_all():
    body = " ".join(str(number) for number in range(100))
    assert snippet(body, "bread") == " ".join(str(number) for number in range(WORDS)) + " …"
    assert snippet("all of it", "bread") == "all of it" and snippet("", "bread") == ""
    assert snippet("filler " * 97 + "bread", "bread").endswith("bread")


def test_a_window_is_shown_from_its_first_sentence_without_the_title():
    assert passage("On bread the crust. Why it browns. Sugars", "On  bread", False) == "… Why it browns. Sugars"
    assert passage("On bread the crust. Then", "On bread", True) == "the crust. Then"  # the text's own beginning
    assert passage("without an end", "", False) == "… without an end"
    assert passage("word " * (WORDS + 1), "", True).endswith("word …")
