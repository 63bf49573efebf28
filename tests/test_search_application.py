"""The search application's chapter: the OR phase by hand, the stages' times, what the page makes of them."""

import numpy as np
import pandas as pd
import pytest

from helpers.costs import latency
from helpers.costs.measurements import Measurements
from helpers.networks import backbone
from helpers.retrieval import java
from helpers.retrieval.bm25 import K1, B, bm25_run, search_each
from helpers.retrieval.feedback import or_matches
from helpers.stories import search_application as story
from helpers.stories.search_application import Stages
from helpers.systems.reranking_experiment import RerankingExperiment
from tables import cells
from toys import Value, system

TIMES = {"queries": 2, "windows": {"5": 10, "10": 20}, "stages": {"OR": [1.0, 1.0], "BM25": [2.0, 4.0], "5": [10.0, 20.0],
                                                               "10": [40.0, 30.0], "pairs of 5": [100.0, 200.0]}}
MACHINE = {"machine": {"cpu": "a", "cores": 2, "threads": 1}}
MATCHES = pd.DataFrame({"query_id": ["q1", "q2"], "documents": [1, 3], "of": [4, 4]})


@pytest.mark.slow
def test_the_or_phase_counts_documents_with_any_of_the_words(bed):
    matches = or_matches(bed.index, bed.query_step).value()
    assert matches.to_dict("list") == {"query_id": ["q1", "q2", "q3"], "documents": [2, 1, 0], "of": [4, 4, 4]}
    run = bm25_run(bed.index, bed.query_step, K1, B, 100).value()
    assert run.groupby("query_id").size().to_dict() == {"q1": 2, "q2": 1}


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


def test_the_whole_is_bm25_the_model_and_pairs():
    assert latency.total(TIMES, 5).tolist() == [12.0, 24.0]
    assert latency.total(TIMES, 0).tolist() == [2.0, 4.0]
    assert latency.total(TIMES, 10, 5).tolist() == [142.0, 234.0]


def test_rates_stand_beside_the_studys():
    rows = cells(story.speed_table(Value(TIMES, manifest=MACHINE), "the model"))
    assert rows[2][:2] == ["BM25 over what it returns", "about 100"]
    assert rows[2][2].startswith("22,500")  # of 2 and 4 ms: 30,000 and 15,000 a minute
    assert rows[3][0] == "BM25, then the model on R = 5" and rows[5][0] == "the third stage alone, pairs of 5"
    assert rows[-1] == ["BM25, then BERT-Tiny (2/128/2) on R = 20", "24.3", ""]


def test_the_share_stands_beside_the_studys():
    rows = cells(story.or_table(Value(MATCHES)))
    assert rows[1][:2] == ["Steensland (2021), text 4.2, in words", "about 80 %"]
    assert rows[2] == ["here", "50%", "25%", "38%", "50%", "62%", "75%"]


def test_the_curve_has_a_point_for_each_r_and_each_number_in_pairs():
    systems = {Stages(0): system(), Stages(5): system(0.1), Stages(10): system(0.2), Stages(10, 5): system(0.3)}
    frame = story.tradeoff(systems, TIMES)
    assert frame["milliseconds per query"].to_dict() == {"BM25": 3.0, "R = 5": 18.0, "R = 10": 38.0,
                                                         "R = 10, then 5 in pairs": 188.0}
    assert np.allclose(frame["RR@10"], [0.25, 0.35, 0.45, 0.55])


@pytest.mark.parametrize(("shift", "slow", "share", "pairs", "expected"), [
    (0.2, 1, 1, 0.3, [True, True, True, False, True, True, True]),
    (0.1, 9000, 4, 0.0, [False, False, False, True, False, False, True])])
def test_signs_hold_and_do_not_hold(shift, slow, share, pairs, expected):
    times = {**TIMES, "stages": {**TIMES["stages"], "BM25": [slow, slow]}}
    systems = {Stages(0): system(), Stages(5): system(0.1), Stages(10): system(shift), Stages(10, 5): system(pairs)}
    assert [*story.signs(systems, MATCHES.assign(documents=share), times).values()] == expected


def test_without_a_third_stage_its_signs_do_not_hold():
    signs = story.signs({Stages(0): system(), Stages(5): system(0.1), Stages(10): system(0.2)}, MATCHES, TIMES)
    assert [*signs.values()][-2:] == [False, False]


def test_the_load_is_shown_with_ratios_and_what_is_missing():
    load = {"per_second": 4.0, "p50": 0.25, "p99": 0.5, "refused": 0}
    section = {"small": False, "measured": "2026-01-02T", "candidates": 20, "missing": ["LanceDB"], "load": [1.0, 4.0],
               "memory": {"requests": 10_000, "MiB": [500.0, 501.0]},
               "contenders": {"this book": {"1": load}, "other": {"1": load | {"per_second": 1.0, "refused": 3}}}}
    measured = Measurements("m", {"machine": {"cores": 2}, "sections": {"serve": section}})
    assert cells(story.load_table(measured))[2] == ["other", "1", "1.00", "4.00×", "0.2 s", "0.5 s", "3"]
    assert "LanceDB" in story.load_notes(measured).markdown and "501 MiB" in story.load_notes(measured).markdown
    assert "not measured yet" in story.load_table(Measurements("m", {"machine": {}, "sections": {}})).markdown


@pytest.mark.slow
def test_the_slice_is_in_proportion_to_its_bytes_and_stands_beside_what_is_published(bed):
    trial = RerankingExperiment.of_bm25(bed, 5)
    rows = {row[0]: row[1:] for row in cells(story.one_machine(trial, Value(TIMES), story.matches(trial)))}
    assert rows["texts"][1].startswith("22.0 GB") and rows["texts"][2].startswith("22 GB Alarfaj (2022)")
    assert rows["Lucene index"][2].startswith("25.5 GB") and rows["BM25, a query"][2].startswith("100 queries a minute")
    assert rows["the model on R = 10, a query"][0] == "0.0 s"
