import math

import pandas as pd
import pytest

from helpers.errors import BadInput
from helpers.retrieval import indexes, java
from helpers.retrieval.bm25 import best, bm25_grid, max_passage
from helpers.retrieval.indexes import text_index
from helpers.systems.testbed import Testbed

pytestmark = pytest.mark.slow


def test_the_score_is_bm25s_up_to_lucenes_factor(bed):
    run = bed.bm25(k1=0.9, b=0.4, depth=10).value()
    # q1 after stop words and Porter stems: why, doe, bread, turn, brown. In the texts (title in front) these occur:
    #   d1: why 1, bread 2, turn 1, brown 1; d4: bread 3. Lengths without stop words: d1 10 (bread why bread turn brown oven sugar
    #   protein react heat), d2 12, d3 12, d4 12.
    lengths, documents = {"d1": 10, "d2": 11, "d3": 11, "d4": 12}, 4

    def weight(frequency, found_in, length):
        idf = math.log(1 + (documents - found_in + 0.5) / (found_in + 0.5))
        mean = sum(lengths.values()) / documents
        return idf * frequency / (frequency + 0.9 * (1 - 0.4 + 0.4 * length / mean))

    scores = run[run["query_id"] == "q1"].set_index("doc_id")["score"]
    once, bread = weight(1, 1, 10), weight(2, 2, 10)
    assert scores["d1"] == pytest.approx(3 * once + bread, rel=0.02)
    assert scores["d4"] == pytest.approx(weight(3, 2, 12), rel=0.02)


def test_windows_score_a_document_by_its_best_window(folder, store):
    windows = Testbed(str(folder), words=6, overlap=2)
    run = windows.bm25(0.9, 0.4, depth=10, windows=True).value()
    assert run[run["query_id"] == "q1"]["doc_id"].is_unique
    assert run[run["query_id"] == "q1"]["doc_id"].iloc[0] == "d1"


def test_the_best_window_counts_not_the_worst():
    run = pd.DataFrame([("q", "d1#0", 1.0), ("q", "d1#1", 9.0), ("q", "d2#0", 5.0)], columns=["query_id", "doc_id", "score"])
    assert max_passage.definition.function(run, 10).values.tolist() == [["q", "d1", 9.0], ["q", "d2", 5.0]]


def test_an_index_holds_all_texts_or_is_none(tmp_path):
    (tmp_path / "index").mkdir()
    indexes.build([("d1", "bread"), ("d2", " \n"), ("d3", "iron")], tmp_path / "index")  # one without words is never found
    assert java.call(indexes.documents_of, tmp_path / "index") == 2
    (tmp_path / "other").mkdir()
    with pytest.raises(BadInput, match="Lucene indexed 1 of 2 texts"):
        indexes.build([("d1", "bread"), ("x" * 40_000, "iron")], tmp_path / "other")  # Anserini drops it and ends with 0


@pytest.mark.parametrize("pieces, kept", [(2, "iron"), (3, "iron rusts "), (6, "iron rusts in wet air")])
def test_the_beginning_of_a_text_has_whole_words(tokenizer, pieces, kept):  # iron rust ##s in wet air
    assert indexes.beginning(tokenizer, "iron rusts in wet air", pieces) == kept


def test_an_index_that_cannot_be_read_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(java, "run", lambda *_, **__: None)  # as on a full disk
    (tmp_path / "index").mkdir()
    with pytest.raises(BadInput, match="Lucene's index cannot be read"):
        indexes.build([("d1", "bread")], tmp_path / "index")


@pytest.mark.parametrize("size", ["much", "-4g", "0g", "4"])
def test_a_bad_heap_is_told(monkeypatch, size):
    monkeypatch.setenv("BOOK_HEAP", size)
    with pytest.raises(BadInput, match=f"BOOK_HEAP='{size}' is no size"):
        java.heap()


def test_the_almanacs_passages_rank_as_its_datasheet_says_or_better(store):
    passages = Testbed("almanac", "passage", ("test",), queries=400)
    values = passages.per_query(passages.bm25(0.9, 0.4, depth=100).value(), ["RR@10", "R@100"])
    assert values["RR@10"].mean() > 0.583  # the datasheet's, without stemming
    assert values["R@100"].mean() > 0.823


def test_a_step_is_told_in_words_while_it_is_computed(bed, capsys):
    bed.bm25(0.9, 0.4, 3).entry()
    begun, done = capsys.readouterr().err.splitlines()[-2:]
    assert begun == "  Rank the texts of an index for every query" and done.startswith(f"{begun}, ")


def test_tuning_finds_the_best_cell_of_the_grid(bed):
    grid = bm25_grid(text_index(bed.store), bed.query_step, bed.qrels_step, [0.0, 1.0], [0.0, 0.5], "RR@10", 1, 10).value()
    assert grid[["k1", "b"]].to_numpy().tolist() == [[0.0, 0.0], [0.0, 0.5], [1.0, 0.0], [1.0, 0.5]]
    assert best(pd.DataFrame({"k1": [2.0, 1.0, 1.0], "b": [0.1, 0.2, 0.1], "RR@10": [0.5, 0.5, 0.5]}), "RR@10") == (1.0, 0.1)


def test_a_worker_that_was_started_before_serves_all_calls_and_after_an_error():
    worker = java.start()
    with pytest.raises(ValueError, match="invalid literal"):  # raised there, and here
        java.call(int, "no number")
    assert java.call(divmod, 7, 2) == (3, 1)
    assert java.start() is worker
