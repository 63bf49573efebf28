import json

import pytest
import torch

from helpers.data.lines import json_lines
from helpers.networks import backbone
from helpers.retrieval import java
from helpers.retrieval.bm25 import search
from helpers.retrieval.expansion import QUERIES, expanded_index
from helpers.systems.first_stages import Doc2Query

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def generator(tmp_path_factory):
    """A tiny T5 with random weights, and the packaged tokenizer."""
    from transformers import T5Config, T5ForConditionalGeneration

    place, tokenizer = tmp_path_factory.mktemp("t5"), backbone.resolve("packaged").tokenizer()
    torch.manual_seed(1)
    config = T5Config(vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0,
                      pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.sep_token_id)
    T5ForConditionalGeneration(config).save_pretrained(place)
    tokenizer.save_pretrained(place)
    return str(place)


@pytest.fixture
def model(generator):
    return Doc2Query(generator, queries=2, top_k=5, query_length=6, batch_size=3)


def test_every_text_gets_its_queries_in_order(model, bed):
    lines = list(json_lines(model.generated(bed).value() / QUERIES))
    assert [line["id"] for line in lines] == ["d1", "d2", "d3", "d4"]
    assert [len(line["queries"]) for line in lines] == [2, 2, 2, 2]
    words = [len(query.split()) for line in lines for query in line["queries"]]
    assert 0 < max(words) <= 6


def test_the_likeliest_tokens_need_no_draws_and_give_one_query(generator, bed):
    greedy = Doc2Query(generator, queries=1, top_k=1, query_length=4)
    assert [len(line["queries"]) for line in json_lines(greedy.generated(bed).value() / QUERIES)] == [1, 1, 1, 1]
    with pytest.raises(ValueError, match="are one query"):
        Doc2Query(generator, queries=2, top_k=1).generated(bed).value()


def test_the_index_finds_a_text_by_a_generated_query(bed, tmp_path):
    added = {"d1": "x", "d2": "x", "d3": "bread turn brown bread turn brown", "d4": "x"}
    (tmp_path / QUERIES).write_text("".join(json.dumps({"id": doc, "queries": [text]}) + "\n" for doc, text in added.items()))
    index = tmp_path / "index"
    index.mkdir()
    expanded_index.definition.function(bed.store.value(), tmp_path, folder=index)
    expanded, plain = java.call(search, index, bed.query_frame, 1.2, 0.75, 10), bed.bm25(1.2, 0.75, 10).value()
    assert "d3" not in set(plain.loc[plain["query_id"] == "q1", "doc_id"])
    assert "d3" in set(expanded.loc[expanded["query_id"] == "q1", "doc_id"])
    assert expanded.loc[expanded["query_id"] == "q2", "doc_id"].iloc[0] == "d2"  # the text itself is still there
