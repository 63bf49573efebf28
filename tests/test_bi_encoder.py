import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel

from helpers.data.runs import ranked
from helpers.data.windows import WindowTokens
from helpers.encoders import bi_encoder
from helpers.encoders.bi_encoder import contrastive, examples, margin_mse, multi_label_margin, split, triplet
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.networks.backbone import OWN
from helpers.networks.encoder import Encoder, build, inputs, wrapped
from helpers.steps import numerics
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZeroShotReranker

TOPICS = ("bread", "iron", "clouds", "ovens", "salt", "glass", "paper", "honey")
WORDS = ("the", "is", "made", "in", "a", "hot", "place", "and", "needs", "time", "how", *TOPICS)


@pytest.fixture(scope="session")
def passages(tmp_path_factory):
    """Eight passages in MS MARCO's form, a query for each; the first query has two relevant passages."""
    place = tmp_path_factory.mktemp("passages")
    lines = [f"p{n}\tThe {topic} is made in a hot place and needs time and {TOPICS[n - 1]}." for n, topic in enumerate(TOPICS)]
    (place / "collection.tsv").write_text("\n".join(lines) + "\n")
    for name in ("train", "test"):
        (place / f"queries.{name}.tsv").write_text("".join(f"q{n}\thow is {topic} made\n" for n, topic in enumerate(TOPICS)))
        (place / f"qrels.{name}.tsv").write_text("".join(f"q{n} 0 p{n} 1\n" for n in range(len(TOPICS))) + "q0 0 p1 1\n")
    return place


@pytest.fixture
def tiny(passages):
    return BiEncoder(collection=str(passages), negatives=2, backbone="packaged:0", batch_size=4, evaluations=2,
                     epochs=2, evaluation_queries=2, max_length=24, query_length=12)


# ---- the five architectures, small and random ----

def tokenizer_of(pad, cls, sep, unknown):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.WordLevel({word: n for n, word in enumerate([*(cls, pad, sep, unknown), *WORDS])}, unk_token=unknown))
    made.normalizer, made.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token=pad, cls_token=cls, sep_token=sep, unk_token=unknown)


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A folder with a small random model of each architecture, and a tokenizer whose padding id is not 0."""
    place = tmp_path_factory.mktemp("architectures")
    for name in OWN:
        torch.manual_seed(1)
        config = backbone.architecture(f"{name}/2/16/2")
        config.update({"vocab_size": len(WORDS) + 4, "pad_token_id": 1, "initializer_range": 0.3, "max_position_embeddings": 66})
        AutoModel.from_config(config).save_pretrained(place / name)
        tokenizer_of("<pad>", "<s>", "</s>", "<unk>").save_pretrained(place / name)
    return place


@pytest.mark.parametrize("name, pooling, loss", [
    ("BERT", "mean", "triplet"), ("RoBERTa", "cls", "multi_label_margin"), ("ALBERT", "max", "contrastive"),
    ("DistilBERT", "mean", "triplet"), ("ELECTRA", "cls", "multi_label_margin")])
def test_every_architecture_trains_and_searches(name, pooling, loss, small, passages, tiny, store):
    model = replace(tiny, backbone=str(small / name), pooling=pooling, loss=loss, epochs=1, learning_rate=1e-2, token_types=True,
                    dropout=0.1)
    run = model.run(Testbed(str(passages)), 3).value()
    assert run["query_id"].tolist() == [f"q{n}" for n in range(len(TOPICS)) for _ in range(3)]
    assert run.equals(ranked(run, 3))
    assert run["score"].between(-1.001, 1.001).all()
    assert json.loads((model.model.value() / "config.json").read_text())["model_type"] == name.lower()
    before, after = (load_file(folder / "model.safetensors") for folder in (small / name, model.model.value()))
    moved = {weight for weight in after if not torch.equal(before[weight], after[weight])}
    assert moved >= {weight for weight in after if weight.endswith(("attention.self.query.weight", "q_lin.weight"))}
    assert {weight for weight in moved if "embeddings" in weight}


@pytest.mark.parametrize("name", OWN)
def test_a_text_has_the_same_vector_alone_and_among_longer_ones(name, small, monkeypatch):
    monkeypatch.setattr(numerics, "dtype", lambda: "fp32")
    for pooling in ("mean", "cls", "max"):
        encoder = Encoder(backbone.resolve(str(small / name)), None, pooling, True, True)
        rows = [[0, 5, 6, 2], [0, 7, 2], [0, *range(4, 20), 2]]
        together = encoder.vectors(rows, 1)
        assert np.allclose(together, np.concatenate([encoder.vectors([row], 1) for row in rows]), atol=1e-5)
        assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("name, two_types", [("BERT", True), ("RoBERTa", False), ("ALBERT", True), ("DistilBERT", False),
                                             ("ELECTRA", True)])
def test_token_types_tell_passages_from_queries_where_there_are_two(name, two_types, small):
    resolved = backbone.resolve(str(small / name))
    token_types, alike = Encoder(resolved, None, "mean", True, True), Encoder(resolved, None, "mean", True, False)
    rows = [[0, 5, 6, 2]]
    assert np.allclose(alike.vectors(rows, 0), alike.vectors(rows, 1))
    assert np.allclose(token_types.vectors(rows, 0), alike.vectors(rows, 0))
    assert np.allclose(token_types.vectors(rows, 0), token_types.vectors(rows, 1), atol=1e-4) is not two_types


@pytest.mark.parametrize("name", OWN)
def test_no_pooler_is_kept_and_dropout_reaches_the_model(name, small):
    model = build(backbone.resolve(str(small / name)), dropout=0.25).train()
    assert not [parameter for parameter, _ in model.named_parameters() if "pooler" in parameter]
    assert {module.p for module in model.modules() if isinstance(module, torch.nn.Dropout)} == {0.25}
    without = build(backbone.resolve(str(small / name)), dropout=0.0, attn_implementation="eager").train()
    ids = torch.tensor([[0, 5, 6, 7, 8, 2]])
    assert torch.equal(without(input_ids=ids).last_hidden_state, without(input_ids=ids).last_hidden_state)
    without(input_ids=ids).last_hidden_state.sum().backward()
    assert [name for name, parameter in without.named_parameters() if parameter.grad is None] == []  # nothing lies idle


# ---- examples and batches ----

def test_texts_are_cut_between_their_special_tokens():
    tokenizer = tokenizer_of("<pad>", "<s>", "</s>", "<unk>")
    assert wrapped(tokenizer, [5, 6, 7], 5) == [0, 5, 6, 7, 2]
    assert wrapped(tokenizer, [5, 6, 7], 4) == [0, 5, 6, 2]
    assert wrapped(tokenizer, [], 4) == [0, 2]


def test_batches_are_padded_with_the_tokenizers_id():
    batch = inputs([[0, 5, 2], [0, 2]], pad=1, segment=1)
    assert batch["input_ids"].tolist() == [[0, 5, 2], [0, 2, 1]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 1, 0]]
    assert batch["token_type_ids"].tolist() == [[1, 1, 1], [1, 1, 0]]
    assert "token_type_ids" not in inputs([[0, 2]], pad=1)


def example(query, passages, relevant):
    return {"query": [0, query, 2], "input_ids": [0, 9, 2], "negatives": [[0, 9, 9, 2]] * (len(passages) - 1),
            "passages": passages, "teacher": [float(n) for n in range(len(passages))], "relevant": frozenset(relevant)}


def test_a_passage_known_to_be_relevant_is_no_negative():
    pair = [example(5, ["a", "b"], {"a", "c", "x"}), example(6, ["c", "a", "d"], {"c"})]
    batch = bi_encoder.batch(pair, pad=1, token_types=False)
    # columns: a b | c a d
    assert batch["positive"].tolist() == [0, 2]
    assert batch["relevant"].tolist() == [[True, False, True, True, False], [False, False, True, False, False]]
    assert batch["own"].tolist() == [[False, True, False, False, False], [False, False, False, True, True]]
    assert batch["teacher"].nan_to_num(-1).tolist() == [[0, 1, -1, -1, -1], [-1, -1, 0, 1, 2]]  # nan: not read
    assert batch["passages"]["input_ids"].shape == (5, 4)
    assert batch["queries"]["input_ids"].tolist() == [[0, 5, 2], [0, 6, 2]]


def test_training_may_leave_the_drawn_negatives_out_and_the_evaluation_keeps_them():
    by_query = {f"q{n}": example(n, [f"p{n}", "x", "y"], {f"p{n}"}) for n in range(30)}
    train, held_out = split(by_query, evaluation_queries=2, seed=1, negatives=1)
    assert (len(train), len(held_out)) == (28, 2)
    assert {len(e["negatives"]) for e in train} == {1}
    assert {len(e["negatives"]) for e in held_out} == {2}
    assert {e["query"][1] for e in train} | {e["query"][1] for e in held_out} == set(range(30))
    batch = bi_encoder.batch(split(by_query, 2, 1, 0)[0][:3], pad=1, token_types=False)
    assert batch["passages"]["input_ids"].shape[0] == 3
    assert batch["own"].sum() == 0
    assert batch["teacher"].diagonal().tolist() == [0, 0, 0]
    assert len(split(by_query, 100, 1, 1)[1]) == 3  # a tenth at most


def test_an_example_has_a_relevant_passage_negatives_and_all_that_is_judged_relevant(tiny, store):
    bed, encoder = tiny.bed, backbone.resolve(tiny.backbone)
    tokens = WindowTokens(bed.tokens(encoder).value(), bed.store.value())
    by_query = examples(tiny.pairs.value(), bed.qrels, bed.min_relevance, bed.query_frame, tokens, encoder.tokenizer(), 24, 12)
    assert set(by_query) == {f"q{n}" for n in range(len(TOPICS))}
    assert by_query["q0"]["relevant"] == {"p0", "p1"}
    for query, one in by_query.items():
        assert one["passages"][0] in one["relevant"]
        assert not set(one["passages"][1:]) & one["relevant"]
        assert len(one["negatives"]) == 2
        assert len(one["input_ids"]) <= 24
        assert encoder.tokenizer().decode(one["query"][1:-1]).split()[2] == TOPICS[int(query[1:])]


def test_a_training_logs_losses_and_accuracy_from_before_it_to_its_end(tiny, store):
    log = tiny.log.value()
    assert (log["queries"], log["evaluation_queries"], log["negatives"], log["steps"]) == (7, 1, 14, 2 * 2)
    measured = [line for line in log["log"] if "eval_loss" in line]
    assert [line["step"] for line in measured] == [0, 2, 4]
    assert all(0 <= line["eval_accuracy"] <= 1 for line in measured)
    folder = tiny.model.value()
    assert {file.name for file in folder.iterdir()} >= {"model.safetensors", "config.json", "tokenizer.json", "log.json"}
    early = replace(tiny, stop_after=0.6).log.value()
    assert (early["steps"], early["log"][:3]) == (3, log["log"][:3])  # at the rates of the whole


def test_a_run_is_the_brute_force_over_the_embeddings(tiny, passages, store):
    bed = Testbed(str(passages))
    texts, queries = (np.load(step.value() / name) for step, name in (
        (tiny.embeddings(bed), "passages.npy"), (tiny.query_embeddings(bed), "queries.npy")))
    assert texts.dtype == np.float32
    assert texts.shape == queries.shape == (8, 384)
    expected = [f"p{n}" for row in queries @ texts.T for n in np.argsort(-row)[:3]]
    assert tiny.run(bed, 3).value()["doc_id"].tolist() == expected
    assert len(tiny.run(bed, 100).value()) == 8 * 8  # deeper than the collection


def test_negatives_may_come_from_an_encoders_own_ranking(tiny, store):
    own = replace(tiny, negatives_from=tiny.zero_shot(), candidates=3)
    pairs = own.pairs.value()
    best = tiny.zero_shot().run(own.bed, 3).value()
    negatives = pairs[pairs["label"] == 0]
    ranking = set(map(tuple, best[["query_id", "doc_id"]].to_numpy()))
    assert {(query, window.split("#")[0]) for query, window in negatives[["query_id", "window_id"]].to_numpy()} <= ranking
    assert set(pairs.loc[pairs["label"] == 1, "query_id"]) == set(best["query_id"])


def test_negatives_may_be_any_text_that_is_not_relevant(tiny, store):
    drawn = replace(tiny, negatives_from="random", candidates=1_000)
    pairs, relevant = drawn.pairs.value(), drawn.bed.qrels_step.value()
    right = set(map(tuple, relevant.loc[relevant["relevance"] >= drawn.bed.min_relevance, ["query_id", "doc_id"]].to_numpy()))
    assert len(pairs) == (1 + tiny.negatives) * len(TOPICS)
    for query, window, label in pairs[["query_id", "window_id", "label"]].to_numpy():
        assert ((query, window.split("#")[0]) in right) == bool(label)
    with pytest.raises(BadInput, match="'hard'"):
        replace(tiny, negatives_from="hard")


def test_a_cross_encoder_may_read_the_negatives_and_teach_its_margins(tiny, store):
    reader = ZeroShotReranker("packaged:0")
    taught = replace(tiny, negatives_from=tiny.zero_shot(), candidates=3, denoised_by=reader, loss="margin_mse", similarity="dot")
    pairs = taught.pairs.value()
    assert len(pairs) > len(TOPICS)
    for _, group in pairs.groupby("query_id"):
        assert group["label"].tolist()[0] == 1
        assert (group["teacher"].to_numpy()[1:] < group["teacher"].to_numpy()[0]).all()
    assert np.isfinite([line["eval_loss"] for line in taught.log.value()["log"] if "eval_loss" in line]).all()


def test_what_decides_the_training_decides_the_key(tiny):
    assert tiny.run(tiny.bed, 3).key == replace(tiny).run(tiny.bed, 3).key
    for change in ({"pooling": "cls"}, {"loss": "contrastive"}, {"margin": 0.5}, {"similarity": "dot"}, {"token_types": True},
                   {"negatives": 1}, {"epochs": 3}, {"learning_rate": 1e-4}, {"batch_size": 2}, {"warmup": 0.0}, {"dropout": 0.1},
                   {"max_length": 16}, {"query_length": 8}, {"seed": 2}, {"temperature": 0.1}, {"candidates": 5},
                   {"evaluation_queries": 1}, {"backbone": "packaged:1"}, {"negatives_from": tiny.zero_shot()},
                   {"denoised_by": ZeroShotReranker("packaged:0")}):
        assert replace(tiny, **change).model.key != tiny.model.key, change
    assert tiny.zero_shot().run(tiny.bed, 3).key == replace(tiny, loss="none", learning_rate=1.0).run(tiny.bed, 3).key


def test_a_triplet_without_negatives_is_refused(tiny, store):
    with pytest.raises(ValueError, match="the triplet loss needs a negative"):
        replace(tiny, negatives=0).model.value()
    log = replace(tiny, negatives=0, loss="multi_label_margin").log.value()  # passages of other queries alone
    assert log["negatives"] == 0
    assert log["log"][0]["eval_accuracy"] >= 0


# ---- its losses ----

# two queries; columns: positive of the first, its negative, positive of the second, its negative
SIMILARITY = torch.tensor([[0.9, 0.2, 0.5, 0.1],
                           [0.3, 0.4, 0.6, 0.7]])
POSITIVE = torch.tensor([0, 2])
OWN_TEXTS = torch.tensor([[False, True, False, False], [False, False, False, True]])
RELEVANT = torch.tensor([[True, False, False, False], [False, False, True, False]])
NAN = float("nan")  # a cross-encoder reads what was drawn for a query, and no other passage of the batch
TEACHER = torch.tensor([[3.0, 1.0, NAN, NAN], [NAN, NAN, 1.0, 0.5]])
BOTH = torch.tensor([[True, False, True, False], [False, False, True, False]])  # the second's positive suits the first as well


def test_triplet_by_hand():
    # first: (1 - 0.9) - (1 - 0.2) + 1 = 0.3; second: (1 - 0.6) - (1 - 0.7) + 1 = 1.1
    assert triplet(SIMILARITY, POSITIVE, OWN_TEXTS, 1.0).item() == pytest.approx(0.7)
    assert triplet(SIMILARITY, POSITIVE, OWN_TEXTS, 0.5).item() == pytest.approx(0.3)  # the first has its margin: 0
    assert triplet(SIMILARITY, POSITIVE, OWN_TEXTS, 0.0).item() == pytest.approx(0.05)
    changed = SIMILARITY.clone()
    changed[0, 2:], changed[1, :2] = 99.0, 99.0  # passages of the other query count nothing
    assert triplet(changed, POSITIVE, OWN_TEXTS, 1.0).item() == pytest.approx(0.7)


def test_multi_label_margin_by_hand():
    # first: (1-.7)+(1-.4)+(1-.8) = 1.1; second: (1-.3)+(1-.2)+(1+.1) = 2.6; each over four passages
    assert multi_label_margin(SIMILARITY, RELEVANT).item() == pytest.approx((1.1 + 2.6) / 4 / 2)
    # a relevant passage of another query is a positive; first: i = 0: (1-.7)+(1-.8) = .5; i = 2: (1-.3)+(1-.4) = 1.3; the pair
    # of both relevant ones costs nothing
    assert multi_label_margin(SIMILARITY, BOTH).item() == pytest.approx((1.8 + 2.6) / 4 / 2)


@pytest.mark.parametrize("relevant, counted", [(RELEVANT, [0.9, 0.2, 0.5, 0.1]), (BOTH, [0.9, 0.2, 0.1])])
def test_contrastive_by_hand_leaves_other_relevant_passages_out(relevant, counted):
    first, second = np.exp(counted), np.exp([0.3, 0.4, 0.6, 0.7])
    expected = -(np.log(first[0] / first.sum()) + np.log(second[2] / second.sum())) / 2
    assert contrastive(SIMILARITY, POSITIVE, relevant).item() == pytest.approx(expected, rel=1e-5)
    sharper = contrastive(SIMILARITY / 2, POSITIVE, relevant, temperature=0.5).item()
    assert sharper == pytest.approx(expected, rel=1e-5)


def test_margin_mse_by_hand():
    # margins: first 0.9 - 0.2 = 0.7, the teacher's 2; second 0.6 - 0.7 = -0.1, the teacher's 0.5
    assert margin_mse(SIMILARITY, POSITIVE, OWN_TEXTS, TEACHER).item() == pytest.approx((1.3 ** 2 + 0.6 ** 2) / 2)
    # at half the scale they are 1.4 and -0.2
    assert margin_mse(SIMILARITY, POSITIVE, OWN_TEXTS, TEACHER, 0.5).item() == pytest.approx((0.6 ** 2 + 0.7 ** 2) / 2)
