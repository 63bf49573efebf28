import json
from dataclasses import replace

import pandas as pd
import pytest
import torch
from safetensors.torch import save_file

import toys
from helpers.data.lines import json_lines
from helpers.networks import backbone
from helpers.pretraining.heads import Condenser
from helpers.pretraining.training import OUTPUT
from helpers.retrieval import java
from helpers.retrieval.bm25 import search
from helpers.retrieval.doc2query import asked_draws, asked_pairs, asked_queries, batched, example, writer, written
from helpers.retrieval.expansion import QUERIES, expanded_index
from helpers.steps import numerics
from helpers.systems import first_stages
from helpers.systems.first_stages import Doc2Query, TrainedDoc2Query
from helpers.systems.starting_points import Pretraining

pytestmark = pytest.mark.slow


def test_a_query_is_asked_of_its_relevant_texts():
    queries = pd.DataFrame({"query_id": ["q1", "q2"], "text": ["why", "how"]})
    qrels = pd.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "relevance": [2, 1, 2]})
    assert list(map(tuple, asked_pairs.definition.function(queries, qrels, 2).values)) == [("d1", "why"), ("d1", "how")]


def test_an_encoder_learns_from_generated_queries_of_their_texts_and_of_drawn_ones(tmp_path, bed):
    lines = [{"id": "d1", "queries": ["why", ""]}, {"id": "d2", "queries": ["how", "when"]}]
    (tmp_path / QUERIES).write_text("".join(json.dumps(line) + "\n" for line in lines))
    queries = asked_queries.definition.function(tmp_path)
    assert list(map(tuple, queries.values)) == [("d1~0", "why"), ("d2~0", "how"), ("d2~1", "when")]
    draws = asked_draws.definition.function(queries, bed.store.value(), 1)
    assert list(map(tuple, draws[draws["label"] == 1].values)) == [
        ("d1~0", "d1", 1, "d1#0", 1), ("d2~0", "d2", 1, "d2#0", 1), ("d2~1", "d2", 1, "d2#0", 1)]
    others = draws[draws["label"] == 0]
    assert len(others) and (others["relevance"] == 0).all() and set(others["doc_id"]) <= {"d1", "d2", "d3", "d4"}
    assert all(query.partition("~")[0] != other for query, other in zip(others["query_id"], others["doc_id"], strict=True))


def test_a_query_ends_with_sep_and_is_cut_before_it(tokenizer):
    made = example(tokenizer, "iron rusts in wet air", "why does iron rust", 5, 3)
    assert tokenizer.convert_ids_to_tokens(made["labels"]) == ["why", "does", "[SEP]"]
    assert len(made["input_ids"]) == 5


def test_a_word_sees_the_text_and_the_words_before_and_a_mask_itself_besides():
    fed = batched([{"input_ids": [101, 7, 102], "labels": [8, 102]}, {"input_ids": [101, 102], "labels": [9, 5]}], 0, 103)
    assert fed["input_ids"].tolist() == [[101, 7, 102, 8, 102, 103, 103], [101, 102, 0, 9, 5, 103, 103]]
    assert fed["position_ids"].tolist() == [[0, 1, 2, 3, 4, 3, 4], [0, 1, 2, 2, 3, 2, 3]]
    assert fed["token_type_ids"].tolist() == [[0, 0, 0, 1, 1, 1, 1]] * 2
    seen = (fed["attention_mask"][:, 0] == 0).int().tolist()
    assert seen[0] == [[1, 1, 1, 0, 0, 0, 0]] * 3 + [[1, 1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0, 0],
                                                     [1, 1, 1, 0, 0, 1, 0], [1, 1, 1, 1, 0, 0, 1]]
    assert seen[1][4] == [1, 1, 0, 1, 1, 0, 0] and seen[1][6] == [1, 1, 0, 1, 0, 0, 1]  # padding is not seen


@pytest.fixture(scope="module")
def start(tmp_path_factory, tokenizer):
    """The folder of a tiny language model of the packaged vocabulary, with random weights."""
    place = tmp_path_factory.mktemp("start")
    encoder = toys.bert(vocab_size=len(tokenizer), num_hidden_layers=2)
    encoder.save_pretrained(place)
    tokenizer.save_pretrained(place)
    model = Condenser(encoder, 0, 0)
    torch.nn.init.normal_(model.output.bias)
    save_file({name: weight for name, weight in model.state_dict().items() if not name.startswith("encoder.")}, place / OUTPUT)
    return place


def test_what_is_written_is_what_was_learned(start, tokenizer, monkeypatch):
    """Each word, written beside other queries, from kept keys and values, is one of the two likeliest by the masks of training,
    given the words before it in its own query alone."""
    monkeypatch.setattr(numerics, "dtype", lambda: "fp32")
    network = writer(start).eval()
    for weight in network.encoder.parameters():
        weight.data *= 20  # random weights are so small that a wrong place would make no other word
    texts = [example(tokenizer, text, "", 20, 1)["input_ids"] for text in ("bread turns brown in a hot oven", "iron rusts")]
    words = written(network, tokenizer, texts, 3, 2, 6, torch.Generator().manual_seed(1)).tolist()
    assert len({tuple(query) for own in words for query in own}) == 6
    for text, query in [(text, query) for text, own in zip(texts, words, strict=True) for query in own]:
        fed = batched([{"input_ids": text, "labels": query}], 0, tokenizer.mask_token_id)
        fed.pop("labels")
        states = network.encoder(**fed, use_cache=False).last_hidden_state[0, -6:]
        likeliest = network.output(states, network.encoder.embeddings.word_embeddings.weight).topk(2).indices.tolist()
        assert all(word in two for word, two in zip(query, likeliest, strict=True))


def test_after_its_end_a_query_is_padding(start, tokenizer, monkeypatch):
    monkeypatch.setattr(numerics, "dtype", lambda: "bf16")
    network, halved = writer(start).eval(), set()
    network.encoder.register_forward_hook(lambda *_: halved.add(torch.is_autocast_enabled("cpu")))
    network.output.bias.data[[3707, tokenizer.sep_token_id]] = torch.tensor([1e4, 2e4])
    drawn = torch.Generator().manual_seed(1)
    assert written(network, tokenizer, [[101, 3707, 102]], 4, 2, 6, drawn).tolist() == [[[102]] * 4]  # far likelier than the word
    network.output.bias.data[tokenizer.sep_token_id] = 1e4  # as likely as a word: each query ends where chance will have it
    queries = written(network, tokenizer, [[101, 3707, 102]], 5, 2, 9, drawn)[0].tolist()
    ends = [query.index(102) for query in queries]
    assert queries == [[3707] * end + [102] + [0] * (max(ends) - end) for end in ends] and len(set(ends)) > 1
    assert halved == {True}


def test_a_model_of_its_own_learns_to_ask(start, folder, bed, monkeypatch):
    monkeypatch.setattr(first_stages, "chosen_start", lambda backbone: Pretraining(
        str(folder), "document", backbone, head_layers=0, epochs=1, max_length=16))
    own = TrainedDoc2Query(str(folder), "document", backbone=str(start), asked=2, query_length=4, max_length=16, epochs=30,
                           learning_rate=1e-2, batch_size=2, evaluations=3)
    losses = [line["loss"] for line in own.log.value()["log"] if "loss" in line]
    assert losses[-1] < losses[0] - 1
    lines = list(json_lines(own.generated(bed).value() / QUERIES))
    assert [len(line["queries"]) for line in lines] == [2, 2, 2, 2] and any(line["queries"][0] for line in lines)
    assert replace(own, asked=3).model.key == own.model.key != replace(own, query_length=5).model.key


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
    return Doc2Query(generator, queries=2, top_k=2, query_length=6, batch_size=3)


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
