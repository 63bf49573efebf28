"""Open QA and web search: which queries a training sees, and how many passages each brings."""

import pytest

from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.systems.tasks import FACTS, SearchTask
from press import chapters

WEB = SearchTask("almanac", "passage", "packaged:0", (), ("RR@10",), 1, 9, 1e-4, 16, 64, 20)


def test_open_qa_asks_for_facts_and_web_search_for_all():
    facts = SearchTask("almanac", "passage", "packaged:0", FACTS, ("Success@20",), 1, 9, 1e-4, 16, 64, 20)
    assert set(facts.bed.query_frame["answer_type"]) <= set(FACTS) and "DESC" in set(WEB.bed.query_frame["answer_type"])
    with pytest.raises(BadInput, match="1 passages"):
        SearchTask("almanac", "passage", "packaged:0", (), ("RR@10",), 0, 9, 1e-4, 16, 64, 20)


def test_the_large_profile_trains_web_search_as_the_study():
    values = chapters.resolve("fine_tuning_sizes", "msmarco", {})
    entries = published.load("gao2021")
    of_study = {row: entries["text 5.4", "fine-tuning", row].value for row in (
        "learning rate", "passages for each query", "passages in a batch")}
    assert values["learning_rate"][-1] == of_study["learning rate"] and values["passages"] == of_study["passages for each query"]
    assert values["batch_size"][-1] * values["passages"] == of_study["passages in a batch"]


def test_sizes_and_seeds_decide_what_is_drawn_and_all_have_as_many_steps():
    small, other, whole = WEB.encoder(None, 30, 1), WEB.encoder(None, 30, 2), WEB.encoder(None, 0, 1)
    assert set(small.bed.query_frame["query_id"]) != set(other.bed.query_frame["query_id"])
    assert small.steps == whole.steps == small.model.arguments["steps"] == 9
    assert set(small.bed.query_frame["query_id"]) < set(WEB.encoder(None, 60, 1).bed.query_frame["query_id"])
    assert small.model.key != other.model.key and WEB.encoder(None, 30, 1).model.key == small.model.key
