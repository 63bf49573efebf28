"""What steps take at scale: every rule against values computed by hand, on a tiny collection and a tiny network."""

import pytest

from press.forecast import scale, workload, workload_inputs, workload_networks, workload_rules
from press.forecast.workload import Load
from press.forecast.workload_networks import GPU_TOKEN_BUDGET

FACTS = {
    "collections": {"irds:tiny": {"passage": {"texts": 10, "bytes": 100, "words": 20, "pieces": 30},
                                  "document": {"texts": 10, "bytes": 100, "words": 20, "pieces": 30, "candidate_words": 40}}},
    "models": {"a/b": {"layers": 2, "dimensions": 4, "heads": 2, "inner": 8, "vocabulary": 10, "parameters": 1000}},
    "gpu": {"name": "G", "flops": 1000.0, "share": 0.5},
    "assumed": {"query_pieces": 2, "query_words": 3, "index_share": 0.5, "store_row": 10, "run_row": 3, "frame_row": 7,
                "token_row": 11, "process": 1000, "network_process": 2000, "java": 500}}
PROCESS, NETWORK, JAVA = 1000, 2000, 500


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(scale, "facts", lambda: FACTS)
    monkeypatch.setattr(workload_inputs, "_count", lambda kind, collection, split, unit="": {"queries": 6, "qrels": 12}[kind])


def step(step_name, /, **arguments):
    return {"step": step_name, "version": 1, "arguments": arguments}


def part(kind, *names):
    return {"data": [kind, *names], "collection": "irds:tiny", "digest": ""}


def forward(tokens, layers=2):
    """Two layers of 4 dimensions, 8 inner ones: 256 operations a token, 16 a pair of tokens."""
    return layers * (256 * tokens + 16 * tokens**2)


def inference(parameters=1000):
    return 2 * (parameters + GPU_TOKEN_BUDGET * (8 + 16))


BACKBONE = {"data": ["backbone", "hub:a/b@main"], "digest": ""}
STORE = step("text_store", texts=part("texts", "passage"))
DOCUMENTS = step("text_store", texts=part("texts", "document"))
QUERIES = step("queries", parts=[part("queries", "test")], sample=4, seed=1)
QRELS = step("qrels", parts=[part("qrels", "passage", "test")])
WHOLE = step("window_tokens", store=STORE, backbone=BACKBONE, words=1_000_000, overlap=0)
WINDOWS = step("window_tokens", store=DOCUMENTS, backbone=BACKBONE, words=10, overlap=5)
RUN = step("bm25_run", index=step("text_index", store=STORE), queries=QUERIES, k1=0.9, b=0.4, depth=8)
PAIRS = step("training_pairs", run=RUN, qrels=QRELS, store=STORE, tokens=WHOLE, candidates=5, min_relevance=1, positives=1,
             negatives=2,
             seed=1)
TRAINED = {"epochs": 3, "batch_size": 2, "max_length": 100, "query_length": 9}
CROSS = step("cross_encoder", pairs=PAIRS, queries=QUERIES, store=STORE, tokens=WHOLE, backbone=BACKBONE, **TRAINED)
VECTORS = {"store": STORE, "tokens": WHOLE, "backbone": BACKBONE, "max_length": 20}


def test_text_store():
    assert workload.of(STORE) == Load(10 * (100 + 10), PROCESS)


@pytest.mark.parametrize(("recipe", "text"), [
    (step("text_index", store=STORE), 1000),
    (step("first_words_index", store=STORE, words=5), 250),
    (step("first_words_index", store=STORE, words=500), 1000),
    (step("window_index", store=STORE, words=10, overlap=5), 1500),  # three windows of 20 words share 10
    (step("expanded_index", store=STORE, generated=step("generated_queries", queries=2)), 1000 + 10 * 2 * 3 * 5),
    (step("weighted_index", weights=step("word_weights", store=STORE)), 1000),
])
def test_indexes(recipe, text):
    assert workload.of(recipe) == Load(text / 2, PROCESS + JAVA)


def test_a_prebuilt_index_is_on_disk_as_archive_and_unpacked(monkeypatch):
    monkeypatch.setattr(workload_rules.prebuilt, "describe", lambda name: type("D", (), {"compressed_size": len(name)})())
    assert workload.of(step("prebuilt_index", name="12345", md5="")) == Load(10, PROCESS)


def test_tokens_of_whole_texts_and_of_windows():
    assert workload.of(WHOLE) == Load(10 * 30 * 2 + 10 * 2 * 8, PROCESS)
    assert workload.of(WINDOWS) == Load(10 * 3 * 15 * 2 + 10 * 4 * 8, PROCESS)  # three windows of 15 pieces each


@pytest.mark.parametrize("name", ["bm25_run", "weighted_run", "rm3_run", "trec_run"])
def test_lexical_runs(name):
    assert workload.of(step(name, queries=QUERIES, depth=8)) == Load(4 * 8 * 3, PROCESS + JAVA + 4 * 8 * 7)


@pytest.mark.parametrize(("recipe", "rows"), [
    (step("max_passage", run=RUN, depth=5), 20),
    (step("max_passage", run=RUN, depth=50), 32),
    (step("candidates_with_positives", run=RUN, candidates=3), 16),
    (step("reranked", run=RUN), 32),
])
def test_runs_made_of_runs(recipe, rows):
    assert workload.of(recipe) == Load(rows * 3, PROCESS + rows * 7)


def test_the_queries_of_a_step():
    assert workload_inputs.query_count(QUERIES) == 4
    two = [part("queries", "a"), part("queries", "b")]
    assert workload_inputs.query_count(step("queries", parts=two, sample=0, seed=1)) == 12
    assert workload_inputs.query_count(step("queries", parts=[part("queries", "a")], sample=99, seed=1)) == 6
    assert workload_inputs.query_count(step("adhoc_queries", texts=["one", "two"])) == 2
    assert workload_inputs.query_count(step("expanded_texts", queries=QUERIES)) == 4


@pytest.mark.parametrize(("positives", "negatives", "each"), [(1, 2, 3), (0, 0, 5), (1, 99, 5), (0, 2, 3)])
def test_training_pairs(positives, negatives, each):
    recipe = step("training_pairs", **{**PAIRS["arguments"], "positives": positives, "negatives": negatives})
    assert workload.of(recipe) == Load(4 * each * 3, PROCESS + 4 * each * 7 + 4 * 8 * 7)


def test_every_window_of_a_candidate_is_a_pair():
    run = step("bm25_run", index=step("text_index", store=DOCUMENTS), queries=QUERIES, k1=0.9, b=0.4, depth=8)
    pairs = step("training_pairs", run=run, tokens=WINDOWS, candidates=5, positives=0, negatives=0)
    # a candidate of 40 words has 1 + 30/5 = 7 windows; 40 words and six overlaps of 5 are 70 words, 105 pieces, 15 a window
    assert workload_inputs.pair_count(pairs) == (4 * 5 * 7, 15)


def test_a_cross_encoder():
    length = 2 + 30 + 3
    assert workload.of(CROSS) == Load(4000, NETWORK + 12 * length * 11, 16_000 + 2 * 2 * length * (34 * 4 + 5 * 2 * length),
                                      3 * 12 * 3 * forward(length))


def test_a_cross_encoder_is_cut_to_its_length_and_queries_to_theirs():
    load = workload.of(step("cross_encoder", **{**CROSS["arguments"], "max_length": 20}))
    assert load.operations == 3 * 12 * 3 * forward(20)
    load = workload.of(step("cross_encoder", **{**CROSS["arguments"], "query_length": 1}))
    assert load.operations == 3 * 12 * 3 * forward(34)


def test_a_frozen_body_has_no_backward_pass_and_patience_keeps_a_second_model():
    whole = workload.of(CROSS)
    assert workload.of(step("cross_encoder", **CROSS["arguments"], trainable="head")).operations == whole.operations / 3
    assert workload.of(step("cross_encoder", **CROSS["arguments"], trainable="all")).operations == whole.operations
    assert workload.of(step("cross_encoder", **CROSS["arguments"], patience=3)).disk == 2 * whole.disk


def test_a_student_is_trained_and_its_teacher_asked():
    student = step("distilled_cross_encoder", teacher=CROSS, pairs=PAIRS, layers=[0], **TRAINED)
    load = workload.of(student)
    assert load.operations == 12 * 3 * (3 * forward(35, layers=1) + forward(35))
    assert load.disk == 4 * (1000 - 128)
    assert workload_inputs.network(student).layers == 1


def test_a_copied_model_and_a_longformer():
    assert workload.of(step("early_stopped", model=CROSS)) == Load(4000, NETWORK)
    longformer = step("longformer_of", model=CROSS, window=10, length=100)
    assert workload.of(longformer) == Load(4 * (1000 + 2 * 3 * 16), NETWORK)
    started = step("cross_encoder", **CROSS["arguments"], start=longformer)
    # 35 tokens: the linear part, ten and twice four tokens for each instead of 35, keys and values for global attention
    each = 2 * (256 * 35 + 16 * 35 * (10 + 2 * 4) + 4 * 16 * 35)
    assert workload.of(started).operations == pytest.approx(3 * 12 * 3 * each)


def test_scoring_by_a_cross_encoder_and_by_an_encoder():
    asked = {"run": RUN, "queries": QUERIES, "store": STORE, "tokens": WHOLE, "candidates": 5, "max_length": 100}
    assert workload.of(step("window_scores", model=CROSS, query_length=9, **asked)) == Load(
        20 * 3, NETWORK + 20 * 7 + 20 * 35 * 11, inference(), 20 * forward(35))
    assert workload.of(step("dense_window_scores", backbone=BACKBONE, **asked)) == Load(
        20 * 3, NETWORK + 20 * 7, inference(), 20 * forward(32))


def test_a_bi_encoder():
    recipe = step("bi_encoder", queries=QUERIES, tokens=WHOLE, backbone=BACKBONE, negatives=2, **TRAINED)
    tokens = 4 + 3 * 32
    assert workload.of(recipe) == Load(4000, NETWORK + 4 * tokens * 11, 16_000 + 2 * 2 * tokens * (34 * 4 + 5 * 2 * 32),
                                       3 * 3 * 4 * (forward(4) + 3 * forward(32)))


def test_embeddings_and_their_search():
    assert workload.of(step("passage_embeddings", **VECTORS)) == Load(
        10 * 4 * 4, NETWORK + 10 * (20 * 11 + 4 * 4), inference(), 10 * forward(20))
    assert workload.of(step("query_embeddings", queries=QUERIES, backbone=BACKBONE, query_length=9)) == Load(
        64, NETWORK + 64, inference(), 4 * forward(4))
    assert workload.of(step("exact_search", queries=QUERIES, depth=8)) == Load(96, NETWORK + 4 * 8 * 7)


def test_approximate_indexes_are_in_memory():
    vectors = step("passage_embeddings", **VECTORS)
    assert workload.of(step("ann_runs", passages=vectors, M=8)) == Load(0, PROCESS + 10 * (3 * 4 * 4 + 64))
    assert workload.of(step("search_speed", passages=vectors, M=8, size=100)) == Load(0, PROCESS + 100 * (3 * 4 * 4 + 64))


def test_term_weights():
    targets = step("term_recall", queries=QUERIES, qrels=QRELS, store=STORE)
    model = step("deepct", targets=targets, store=STORE, backbone=BACKBONE, **TRAINED)
    # twelve judgments of six queries are two of each: eight of the four that are read
    assert workload.of(model) == Load(4000, NETWORK + 8 * 32 * 11, 16_000 + 2 * 2 * 32 * (34 * 4 + 5 * 2 * 32),
                                      3 * 3 * 8 * forward(32))
    assert workload.of(step("word_weights", model=model, store=STORE, max_length=10)) == Load(
        10 * 20 * 20, NETWORK, inference(), 10 * forward(10))


def test_generated_queries():
    recipe = step("generated_queries", store=STORE, generator=BACKBONE, queries=2, max_length=100, query_length=64)
    # six word pieces are written for each text, each with a second attention of 128 operations in both layers
    assert workload.of(recipe) == Load(10 * 2 * 3 * 5, NETWORK, inference(), 10 * (forward(31) + 6 * (forward(1) + 256)))


def test_pre_training_with_and_without_a_head():
    recipe = {"texts": step("corpus", store=STORE), "store": STORE, "tokens": WHOLE, "backbone": BACKBONE, "share": 0.5,
              "epochs": 2, "batch_size": 2, "max_length": 17}
    words = 2 * 4 * (4 + 10)  # operations of one masked piece's scores
    plain = workload.of(step("pretrained", head_layers=0, **recipe))  # thirty pieces are two inputs of 15, and 2 special tokens
    assert plain.operations == 3 * 2 * 20 * (forward(17) + words * 7.5)
    headed = workload.of(step("pretrained", head_layers=1, **recipe))
    assert headed.operations == 3 * 2 * 20 * (forward(17) + forward(17, layers=1) + words * 15)
    assert plain.memory == NETWORK + 10 * 30 * 8


def test_the_ids_of_a_pre_training():
    assert workload.of(step("corpus", store=STORE)) == Load(10, PROCESS + 10 * 7 / 3)


def test_hours():
    assert Load(operations=1.8e6).hours == 1.0


def test_steps_add_up_and_of_memory_the_largest_counts():
    assert workload.together([Load(1, 2, 3, 4), None, Load(10, 1, 1, 10)]) == Load(11, 2, 3, 14)
    assert workload.together([]) == Load()


@pytest.mark.parametrize("recipe", [
    step("run_measures"), step("text_store", texts={"data": ["texts", "passage"], "collection": "irds:other", "digest": ""}),
    step("early_stopped", model=step("cross_encoder", backbone={"data": ["backbone", "hub:c/d@main"], "digest": ""})),
    step("max_passage", run=step("something", of=1), depth=3),
])
def test_nothing_is_told_of_what_has_no_rule_or_no_facts(recipe):
    assert workload.of(recipe) is None


def test_a_large_collection_is_found_anywhere_in_a_recipe():
    assert workload.is_large(CROSS)
    assert not workload.is_large(step("adhoc_queries", texts=["irds:tiny"]))
    assert not workload.is_large(step("text_store", texts={"data": ["texts", "passage"], "collection": "almanac", "digest": ""}))


def test_every_rule_belongs_to_a_step():
    names = set(workload_rules.RULES)
    assert set(workload_networks.RULES) < names
    from helpers import steps
    from helpers.stories import alarfaj, condenser, david, first_stage, nearest_neighbours  # noqa: F401 - likewise
    from helpers.systems import student, zero_shot  # noqa: F401 - registers the steps

    assert names <= set(steps.REGISTRY)
