from dataclasses import replace

import pytest

from helpers.data.runs import adhoc_queries
from helpers.data.texts import Texts
from helpers.systems import pipeline as module
from helpers.systems.pipeline import Feedback, Pipeline
from helpers.systems.testbed import SearchTestbed, Testbed
from helpers.systems.zero_shot import ZeroShotReranker
from press.search_command import as_text
from toys import Letters

pytestmark = pytest.mark.slow


def order(step, query="q1"):
    run = step.value()
    return run.loc[run["query_id"] == query, "doc_id"].tolist()


def test_the_stages_follow_one_another(bed):
    stages = Pipeline(Letters(), Feedback(documents=1, terms=2, min_documents=1), candidates=2, depth=4).stages(bed)
    assert list(stages) == ["BM25", "re-ranked", "retrieved again", "re-ranked again"]
    first, second = order(stages["BM25"]), order(stages["re-ranked"])
    assert second[:2] == sorted(first[:2], reverse=True) and second[2:] == first[2:]
    again, last = order(stages["retrieved again"]), order(stages["re-ranked again"])
    assert last[:2] == sorted(again[:2], reverse=True)


def test_stages_can_be_left_out(bed):
    assert list(Pipeline(None).stages(bed)) == ["BM25"]
    assert list(Pipeline(Letters()).stages(bed)) == ["BM25", "re-ranked"]
    assert list(Pipeline(None, Feedback()).stages(bed)) == ["BM25", "retrieved again"]
    just = Pipeline(Letters(), Feedback(retrieve=False), candidates=2)
    assert list(just.stages(bed)) == ["BM25", "re-ranked", "re-ranked again"]
    assert set(order(just.run(bed))) == set(order(just.stages(bed)["BM25"]))  # no new documents


def test_feedback_trusts_the_re_ranked_documents(bed):
    """Reversed by the re-ranker, another document is trusted, and it lends other terms."""
    pipeline = Pipeline(Letters(), Feedback(documents=1, terms=3, min_documents=1), candidates=4)
    stages = pipeline.stages(bed)
    trusted = pipeline.feedback.weights(bed, stages["re-ranked"]).value()
    plain = pipeline.feedback.weights(bed, stages["BM25"]).value()
    assert order(stages["re-ranked"])[0] != order(stages["BM25"])[0]
    assert set(trusted.loc[trusted["query_id"] == "q1", "term"]) != set(plain.loc[plain["query_id"] == "q1", "term"])


def test_the_model_reads_the_expanded_query_or_the_one_asked(bed):
    stages = Pipeline(Letters(), Feedback(documents=1, terms=2, min_documents=1), candidates=4).stages(bed)
    longer = Feedback(documents=1, terms=2, min_documents=1).reading(bed, stages["re-ranked"]).query_step.value()
    assert longer.loc[0, "text"].startswith(bed.query_frame.loc[0, "text"] + " ")
    assert len(longer.loc[0, "text"].split()) <= len(bed.query_frame.loc[0, "text"].split()) + 2
    assert Feedback(form="").reading(bed, stages["re-ranked"]) is bed


def test_the_passage_index_holds_the_first_pieces_only(bed):
    feedback = Feedback(documents=1, terms=50, min_documents=1, pieces=4)
    weights = feedback.weights(bed, bed.bm25(0.9, 0.4, 4)).value()
    added = set(weights.loc[(weights["query_id"] == "q1") & weights["added"], "term"])
    everything = Feedback(documents=1, terms=50, min_documents=1).weights(bed, bed.bm25(0.9, 0.4, 4)).value()
    assert added < set(everything.loc[(everything["query_id"] == "q1") & everything["added"], "term"])


def test_within_keeps_the_full_indexs_weights(bed):
    run = bed.bm25(0.9, 0.4, 4)
    one = Feedback(documents=1, terms=50, min_documents=1)
    inside, passages = (replace(one, **limit).weights(bed, run).value().query("query_id == 'q1' and added")
                        for limit in ({"within": 8}, {"pieces": 8}))
    whole = one.weights(bed, run).value().query("query_id == 'q1'").set_index("term")
    assert set(inside["term"]) == set(passages["term"])
    ratio = inside.set_index("term")["weight"] / whole.loc[list(inside["term"]), "weight"]
    assert ratio.to_numpy() == pytest.approx(ratio.iloc[0])  # the same informativeness, scaled by another maximum


def test_one_query_or_a_list(folder, store):
    lexical = Pipeline(None)
    one = lexical.search("bread oven", str(folder), k=2)
    assert list(one.columns) == ["query", "rank", "doc_id", "score", "title", "snippet"]
    assert one["rank"].tolist() == [1, 2] and set(one["query"]) == {"bread oven"}
    two = lexical.search(["iron", "bread oven"], str(folder), k=2)
    assert list(dict.fromkeys(two["query"])) == ["iron", "bread oven"]
    assert two[two["query"] == "bread oven"]["doc_id"].tolist() == one["doc_id"].tolist()


@pytest.mark.parametrize("aggregation", ["max", "first"])
@pytest.mark.parametrize("feedback", [None, Feedback(min_documents=1), Feedback(min_documents=1, retrieve=False)])
def test_the_window_that_decided_is_the_best_or_the_first(folder, store, aggregation, feedback):
    pipeline = Pipeline(Letters(), feedback, candidates=2, aggregation=aggregation)
    bed = replace(SearchTestbed(str(folder), adhoc_queries=adhoc_queries(["bread oven"])), words=6, overlap=2)
    decided, read = pipeline._decided(bed), [*pipeline.stages(bed).values()][-1].value()
    assert len(decided) == min(2, len(read)) and {doc_id for _, doc_id in decided} <= set(read["doc_id"])
    assert aggregation == "max" or set(decided.values()) == {0}


def test_a_search_cuts_and_tokenises_what_it_reads_alone(folder, store):
    asked, model = adhoc_queries(["bread oven", "iron"]), ZeroShotReranker()
    bed, whole = (kind(str(folder), adhoc_queries=asked) for kind in (SearchTestbed, Testbed))
    run = bed.bm25(1.2, 0.75, 10)
    reading = bed.of_candidates(run, 1)
    read = list(dict.fromkeys(run.value().groupby("query_id", sort=False).head(1)["doc_id"]))
    assert [text.doc_id for text in Texts(reading.store.value())] == read
    assert len(Texts(bed.store.value())) > len(read)
    assert whole.of_candidates(run, 1) is whole
    assert model.scores(reading, run, 1).value().equals(model.scores(whole, run, 1).value())
    assert Pipeline(model).search("qzx", str(folder)).empty  # nothing to read


@pytest.mark.parametrize("indexed", [False, True])
def test_models_are_imported_while_java_works_and_not_where_the_ranking_is_kept(folder, store, tmp_path, monkeypatch, indexed):
    begun = []
    monkeypatch.setattr(module, "import_models", lambda: begun.append(True))
    monkeypatch.setenv("BOOK_STORE", str(tmp_path / "empty"))
    if indexed:
        Pipeline(None).search("bread", str(folder), k=2)
        assert not begun
    for _ in range(2):
        Pipeline(Letters()).search("bread oven", str(folder), k=2)
        assert begun == [True]


def test_a_testbed_of_asked_queries_needs_no_judgments(folder):
    bed = Testbed(str(folder), splits=("no such split",), adhoc_queries=adhoc_queries(["bread"]))
    assert bed.query_frame["text"].tolist() == ["bread"]
    assert replace(bed, words=5).query_step is bed.query_step


@pytest.mark.parametrize("text", ["", "   ", "the of and", "qzx", "?!", "\x00", "ελληνικά"])
def test_a_query_without_known_words_gives_an_empty_ranking(folder, store, text):
    for pipeline in (Pipeline(None), Pipeline(None, Feedback()), Pipeline(Letters(), Feedback())):
        result = pipeline.search(text, str(folder))
        assert list(result.columns) == ["query", "rank", "doc_id", "score", "title", "snippet"]
        assert result.empty
    assert "no document" in as_text(result, [text])
