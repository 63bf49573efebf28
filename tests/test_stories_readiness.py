"""The chapters on readiness: what they say follows the values. Differences are constant over eight queries where a test reads the
words, so that the permutation test's p is known: 2 / 2^8 = 0.008."""

from dataclasses import replace

import pandas as pd
import pytest

import toys
from helpers.data import stsb
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.verdicts import AGREES, DISAGREES, SMALL, UNTESTED
from helpers.pages import claims, training
from helpers.stories import fine_tuning_sizes, gao_tables, readiness, similarity
from helpers.systems.starting_points import (
    CONDENSER,
    CONTINUED,
    MASKED,
    MLM,
    NAMES,
    PRETRAININGS,
    START,
    Pretraining,
    made,
    portion,
    unit_of,
)
from helpers.systems.testbed import Testbed
from press import chapters
from tables import cells, evidence, verdicts_of

SIZES = {250: "250 queries", 1000: "1,000 queries", 0: "all 2,000 queries"}
HUB = "hub:google-bert/bert-base-uncased@main"


def system(shift=0.0, label="x"):
    """A toy of two seeds, whose means lie 0.01 below and above its own."""
    whole = toys.system(shift, label, shifts={"spearman": shift})
    return replace(whole, seeds=tuple(replace(whole, values=whole.values + seed) for seed in (-0.01, 0.01)))


def grid(**shifts):
    """Systems by starting point and size; shifts of Condenser (`cd`) and of the others, one a size."""
    names = {"cd": CONDENSER, "mlm": MLM, "ct": CONTINUED}
    systems = {(START, size): system() for size in SIZES}
    for name, values in shifts.items():
        systems |= {(names[name], size): system(value) for size, value in zip(SIZES, values, strict=True)}
    return systems


LOW = system(-0.25, "start, as it is")  # a baseline that all of them pass
UNUSED = "the head does not use [CLS]"


# ---- where the gap closes ----


def test_the_table_goes_by_size_then_by_starting_point_with_spread_over_seeds():
    rows = cells(readiness.gap_table(grid(cd=[0.2, 0.1, 0.0], mlm=[0.1, 0.0, 0.0]), SIZES, "RR@10"))[1:]
    assert [row[:3] for row in rows[:3]] == [["250 queries", START, "0.250"], ["250 queries", MLM, "0.350"],
                                             ["250 queries", CONDENSER, "0.450"]]
    assert rows[0][3] == "0.014" and rows[0][4:] == ["", ""]  # the deviation of two seeds 0.02 apart
    assert rows[2][4].startswith("+0.200") and len(rows) == 9


def test_one_seed_has_no_interval():
    one = {(START, 250): toys.system()}
    with pytest.raises(BadInput, match="two seeds"):
        readiness.curves(one, {250: 250, 0: 900}, "RR@10", "queries", "caption")
    assert readiness.curves(one, {250: 250}, "RR@10", "queries", "caption").markdown == ""


def test_curves_say_mean_and_interval_over_seeds():
    text = readiness.curves(grid(cd=[0.2, 0.1, 0.0]), {250: 250, 1000: 1000, 0: 2000}, "RR@10", "queries", "caption").html
    assert f"{CONDENSER} at 250: 0.450 ± 0.127" in text.replace("&#43;", "+")  # t of one degree of freedom, 12.7, by 0.01


@pytest.mark.parametrize(("sizes", "expected"), [([250, 1000, 0], ["a", "b", "c"]), ([250, 0], ["a", "c"]), ([0], ["c"]),
                                                 ([5, 9, 70], ["a", "b", "c"])])
def test_the_studys_columns_go_from_smallest_to_largest(sizes, expected):
    assert gao_tables.columns(sizes, ("a", "b", "c")) == dict(zip(sizes, expected, strict=True))


@pytest.mark.parametrize("sizes", [[], [1, 2, 3, 4]])
def test_too_few_or_too_many_sizes_are_refused(sizes):
    with pytest.raises(BadInput, match="training sizes"):
        gao_tables.columns(sizes, ("a", "b", "c"))


def test_what_stands_beside_the_curves_is_said():
    whole = grid(cd=[0.2, 0.1, 0.0])
    text = readiness.curves(whole, {250: 250, 1000: 1000, 0: 2000}, "RR@10", "queries", "caption", {"BM25": LOW},
                            readiness.printed_curves("4", {"MRR@10 / 1K": 1000})).html.replace("&#43;", "+")
    assert "published: 0.175 at 1000" in text and "BM25: 0.000" in text
    assert "left out" in readiness.curves({}, {250: 250, 0: 900}, "RR@10", "queries", "caption").markdown


def test_every_starting_point_has_a_row_beside_the_study():
    """The discussions offer the branches that the study does not have: a page holds them, and does without the start."""
    assert set(readiness.STUDIED) == set(NAMES) and len(set(readiness.STUDIED.values())) == len(NAMES)
    every = {(start, size): system() for start in NAMES for size in SIZES}
    for systems in (every, {place: own for place, own in every.items() if place[0] != START}):
        columns = gao_tables.columns(list(SIZES), fine_tuning_sizes.WEB_COLUMNS)
        assert "BERT + Condenser, head masks more" in gao_tables.beside_the_study(systems, "4", columns, "RR@10").html
        assert f"{MASKED}, 250 queries" in {row[0] for row in cells(readiness.share_table(systems, SIZES, "RR@10"))}
        assert len(cells(readiness.gap_table(systems, SIZES, "RR@10"))) == len(systems) + 1


def test_a_table_in_full_has_every_printed_value_and_says_what_was_not_run():
    whole, two = grid(cd=[0.2, 0.1, 0.0]), {250: "250 queries", 0: "all 2,000 queries"}
    shown = gao_tables.in_full("4", fine_tuning_sizes.WEB_MEASURES, whole, two, {"BM25": LOW})
    heads, *rows = cells(shown)
    known = {(row[0], row[1]): dict(zip(heads[2:], row[2:], strict=True)) for row in rows}
    assert heads[4:] == ["1K", "here, for 1K: 250 queries", "10K", "here, for 10K", "FULL", "here, for FULL: all 2,000 queries"]
    assert list(known["R@100", "BM25"].values())[:4] == ["0.657", "0.000", "", ""]
    assert list(known["MRR@10", "BERT + CD"].values())[2:] == ["0.175", "0.450", "0.251", "not run", "0.320", "0.250"]
    assert list(known["R@1k", "DeepCT"].values())[2:] == ["", "", "", "", "0.909", "not run"]
    assert list(known["R@1k", "BERT + CD + CT"].values())[3::2] == ["not run"] * 3
    printed = published.cells("gao2021", "4")
    assert sum(value != "" for own in known.values() for head, value in own.items() if "here" not in head) == len(printed)
    values = {(value["row"], value["column"]): value["measured"] for value in shown.data["values"]}
    assert values["BERT + CD", "MRR@10 / 1K"] == pytest.approx(0.45) and ("BERT + CD", "MRR@10 / 10K") not in values


def test_tables_in_full_name_what_only_the_study_has():
    first = cells(gao_tables.in_full("1", {"Spearman": "spearman"}, {}, {500: "500 pairs", 0: "all"}))
    assert [row[1] for row in first[1:]] == ["GloVe", "Infersent", "USE", "BERT", "BERT + CD"]
    assert first[0][4:] == ["500", "here, for 500: 500 pairs", "1K", "here, for 1K", "FULL", "here, for FULL: all"]
    second = {row[1]: row[2:] for row in cells(gao_tables.in_full("2", {"Accuracy": "accuracy"}, grid(), {0: "all"}))}
    assert second["skip-thoughts"][:2] == ["0.62", "not run"] and second["BiLSTM"][2:] == ["", "", "", "", "0.74", "not run"]
    third = {(row[0], row[1]): row[2:] for row in cells(gao_tables.in_full("3", fine_tuning_sizes.QA_MEASURES, grid(), SIZES))}
    assert third["Trivia QA / Top-100", "BERT"] == ["", "", "0.787", "not run", "0.823", "not run", "0.849", "not run"]


# ---- starting points ----

def test_starting_points_are_named_or_refused():
    found = readiness.starts([CONDENSER, START], "study", "almanac[:9]", "packaged:0,1", [1, 2])
    assert list(found) == [START, CONDENSER] and found[START] == {1: None, 2: None}
    assert found[CONDENSER][1].key != found[CONDENSER][2].key
    assert readiness.starts([], "study", "almanac[:9]", "packaged:0,1", [1]) == {}
    with pytest.raises(BadInput, match="no starting point BERT"):
        readiness.starts(["BERT"], "study", "almanac", "packaged:0,1", [1])
    with pytest.raises(BadInput, match="chosen, study"):
        readiness.starts([START], "mine", "almanac", "packaged:0,1", [1])


def test_the_chapters_share_the_pretrainings_of_the_chapter_on_condenser():
    own = {name: declared.default for name, declared in chapters.schema("condenser").items()}
    start, by_seed = made("chosen", own["branch_texts"], own["backbone"], own["seeds"])
    assert (start.texts, start.epochs, start.articles) == (own["texts"], own["start_epochs"], own["articles"])
    branch = by_seed[own["seeds"][0]][CONDENSER]
    assert {name: own[name] for name in PRETRAININGS["chosen"]} == dict(PRETRAININGS["chosen"])
    assert (branch.texts, branch.max_length, branch.unit) == (own["branch_texts"], own["max_length"], own["unit"])


def test_continued_goes_on_with_all_texts_of_the_target():
    _, by_seed = made("study", "almanac[:9]", "packaged:0,1", [3])
    head = by_seed[3][CONDENSER]
    on = head.continued("almanac", 1, 5e-5).model.arguments
    assert (on["epochs"], on["learning_rate"], on["head_layers"], on["seed"]) == (1, 5e-5, 2, 3)
    assert on["start"].key == head.model.key
    assert (on["store"].name, head.model.arguments["store"].name) == ("text_store", "split_store")


def test_a_part_of_the_texts_is_named_in_brackets():
    assert portion("almanac") == (["almanac"], None)
    assert portion("almanac + dictionaries[:1000]") == (["almanac", "dictionaries"], 1000)
    assert portion("/a/folder[1]") == (["/a/folder[1]"], None)
    whole, some = (Pretraining(texts, backbone="packaged:0,1").model.arguments["texts"] for texts in ("almanac", "almanac[:9]"))
    assert (whole.arguments.get("first"), some.arguments["first"]) == (None, 9)


def test_dense_encoders_read_passages_where_there_are_any():
    assert (unit_of("almanac"), unit_of("irds:msmarco-document")) == ("passage", "document")


# ---- tasks ----

def test_open_qa_asks_for_facts_and_web_search_for_all():
    bed = Testbed("almanac", "passage", queries=20)
    facts, web = (fine_tuning_sizes.question_task(bed, "packaged", [9], [1e-4], [16], 64),
                  fine_tuning_sizes.web_task(bed, "packaged", [9], [1e-4], [16], 64, 4))
    assert set(facts.bed.query_frame["answer_type"]) <= {"ABBR", "ENTY", "HUM", "LOC", "NUM"}
    assert "DESC" in set(web.bed.query_frame["answer_type"])
    assert (facts.negatives, web.negatives) == (1, 3)
    with pytest.raises(BadInput, match="1 passages"):
        fine_tuning_sizes.web_task(bed, "packaged", [9], [1e-4], [16], 64, 1)


def test_web_search_has_settings_of_its_own_where_two_are_given():
    bed, two = Testbed("almanac", "passage", queries=20), ([9, 90], [1e-5, 5e-6], [128, 8])
    facts = fine_tuning_sizes.question_task(bed, "packaged", *two, 64)
    web = fine_tuning_sizes.web_task(bed, "packaged", *two, 64, 8)
    assert (facts.steps, facts.learning_rate, facts.batch_size) == (9, 1e-5, 128)
    assert (web.steps, web.learning_rate, web.batch_size) == (90, 5e-6, 8)
    assert web.batch_size * (web.negatives + 1) == 64  # passages in the study's batch
    for wrong in ([], [1, 2, 3]):
        with pytest.raises(BadInput, match="values of a setting"):
            fine_tuning_sizes.for_both(wrong)


def test_the_large_profile_trains_web_search_as_the_study():
    values = chapters.resolve("fine_tuning_sizes", "msmarco", {})
    entries = published.load("gao2021")
    of_study = {row: entries["text 5.4", "fine-tuning", row].value for row in (
        "learning rate", "passages for each query", "passages in a batch")}
    assert values["learning_rate"][-1] == of_study["learning rate"] and values["passages"] == of_study["passages for each query"]
    assert values["batch_size"][-1] * values["passages"] == of_study["passages in a batch"]


def test_sizes_and_seeds_decide_what_is_drawn_and_all_have_as_many_steps():
    task = fine_tuning_sizes.web_task(Testbed("almanac", "passage", queries=20), "packaged:0", [9], [1e-4], [16], 64, 2)
    small, other, whole = task.encoder(None, 30, 1), task.encoder(None, 30, 2), task.encoder(None, 0, 1)
    assert set(small.bed.query_frame["query_id"]) != set(other.bed.query_frame["query_id"])
    assert small.steps == whole.steps == small.model.arguments["steps"] == 9
    assert set(small.bed.query_frame["query_id"]) < set(task.encoder(None, 60, 1).bed.query_frame["query_id"])
    assert small.model.key != other.model.key and task.encoder(None, 30, 1).model.key == small.model.key


def test_every_size_start_and_seed_is_trained_and_averaged(monkeypatch):
    calls = []

    class Task:
        def encoder(self, weights, size, seed):
            return (weights, size, seed)

        def evaluate(self, label, encoder):
            calls.append(encoder)
            return system(0.1 * encoder[2], label)

    models = fine_tuning_sizes.fine_tuned(Task(), {START: {1: None, 2: None}, CONDENSER: {1: "w", 2: "w"}}, [5, 0])
    assert sorted(calls, key=str) == sorted([(w, s, n) for w in (None, "w") for s in (5, 0) for n in (1, 2)], key=str)
    assert models[CONDENSER, 0].values["RR@10"].mean() == pytest.approx(0.25 + 0.15)
    assert list(models[CONDENSER, 0].seed_means["RR@10"]) == pytest.approx([0.35, 0.45])


# ---- verdicts ----

def test_claims_on_search_follow_the_values():
    systems = grid(cd=[0.3, 0.3, 0.3], ct=[0.3, 0.3, 0.3])
    systems |= {(START, size): system(shift) for size, shift in zip(SIZES, (0.0, 0.1, 0.2), strict=True)}  # the lead shrinks
    verdicts = verdicts_of(fine_tuning_sizes.claims_table(systems, systems, list(SIZES), HUB, ""))
    assert {name: word for name, word in verdicts.items() if word != AGREES} == {
        "continued-pretraining-adds-to-condenser": SMALL, "condenser-head-beats-masked-words": UNTESTED}  # no masked words here
    systems = grid(cd=[0.0, 0.0, 0.1], ct=[0.0, 0.0, 0.1])
    verdicts = verdicts_of(fine_tuning_sizes.claims_table(systems, systems, list(SIZES), HUB, ""))
    assert {name.rpartition("/")[2]: word for name, word in verdicts.items() if "little-data" in name} == {
        "middle": SMALL, "full": DISAGREES}


def test_a_head_that_was_not_used_is_no_treatment():
    systems = grid(cd=[0.0, 0.1, 0.2], mlm=[0.0, 0.1, 0.1])
    shown = fine_tuning_sizes.claims_table(systems, systems, list(SIZES), HUB, UNUSED)
    assert set(verdicts_of(shown).values()) == {UNTESTED} and UNUSED in evidence(shown)["condenser-beats-bert-on-open-qa"]
    shown = similarity.claims_table(systems, {LOW.label: LOW}, systems, {LOW.label: LOW}, list(SIZES), list(SIZES), HUB, UNUSED)
    assert set(verdicts_of(shown).values()) == {UNTESTED}


def test_more_data_that_lowers_the_score_shows_that_a_training_failed():
    rising, falling = grid(cd=[0.0, 0.1, 0.1]), grid(cd=[0.0, 0.1, 0.0])
    assert readiness.why_untrained(rising, list(SIZES), "accuracy") == ""
    assert readiness.why_untrained(falling, list(SIZES), "accuracy").startswith("more training data lowered accuracy, from 0.")


def test_claims_without_their_starting_point_are_not_run():
    verdicts = verdicts_of(fine_tuning_sizes.claims_table(grid(mlm=[0, 0, 0]), grid(mlm=[0, 0, 0]), list(SIZES), HUB, ""))
    assert set(verdicts.values()) == {UNTESTED} and len(verdicts) == 6
    systems = {(START, 0): system(), (MLM, 0): system()}
    assert set(verdicts_of(similarity.claims_table(systems, {}, systems, {}, [0], [0], HUB, "")).values()) == {UNTESTED}
    assert UNTESTED in verdicts_of(fine_tuning_sizes.claims_table(
        grid(cd=[0.3, 0.2, 0.1]), {}, list(SIZES), HUB, "")).values()  # without web search


def test_sentence_claims_are_judged_at_the_largest_sizes():
    near, far, sizes = grid(cd=[0.0, 0.0, 0.0]), grid(cd=[0.3, 0.3, 0.3]), list(SIZES)
    assert {claim.id for claim in claims.load().values() if claim.chapter == "similarity"} == {
        "condenser-beats-bert-on-similarity", "condenser-equals-bert-on-sections"}
    below = {"start, as it is": LOW}
    first = verdicts_of(similarity.claims_table(far, below, near, below, sizes, sizes, HUB, ""))
    second = verdicts_of(similarity.claims_table(near, below, far, below, sizes, sizes, HUB, ""))
    assert first == {"condenser-beats-bert-on-similarity": AGREES, "condenser-equals-bert-on-sections": AGREES}
    assert second == {"condenser-beats-bert-on-similarity": SMALL, "condenser-equals-bert-on-sections": DISAGREES}
    idle = similarity.claims_table(far, below, near, {"start, as it is": system()}, sizes, sizes, HUB, "")
    assert verdicts_of(idle)["condenser-equals-bert-on-sections"] == UNTESTED


# ---- sentences ----

def test_sizes_are_told_in_pairs():
    assert similarity.counts("almanac", [100, 0]) == {100: 100, 0: 400}  # two thirds of six hundred
    assert similarity.counts("data/stsb", [500, 0]) == {500: 500, 0: 5749}
    assert similarity.studied_pairs() == {"Spearman / 500": 500, "Spearman / 1K": 1000, "Spearman / FULL": 6000}


def test_pairs_of_the_almanac_are_cross_validated_and_triplets_are_of_articles_apart(monkeypatch):
    asked = []
    monkeypatch.setattr(similarity, "rank_correlations", lambda predictions, truth: asked.append(predictions) or "step")
    monkeypatch.setattr(similarity, "correlations", lambda step: {name: name for name in asked[0]})
    starts = readiness.starts([START], "study", "almanac[:9]", "packaged:0,1", [1, 2])
    systems, known = similarity.similarity("almanac", starts, "packaged:0,1", [8], similarity.schedule(4, 1e-4))
    folds = asked[0][systems[START, 8]][0]
    assert [step.arguments["test"].arguments["number"] for step in folds] == [0, 1, 2] and folds[0].arguments["steps"] == 4
    untrained = asked[0]["zero-shot MiniLM (layers 0,1)"]
    assert (untrained[0][0].arguments["epochs"], untrained[0][0].arguments["pooling"], len(untrained)) == (0, "mean", 2)
    assert list(known) == ["zero-shot MiniLM (layers 0,1)", "start, as it is"]


def test_missing_benchmark_files_are_known_by_their_digest_and_asked_for_when_needed(tmp_path):
    with pytest.raises(BadInput, match="STS benchmark is not here"):
        stsb.StsbFile("train", tmp_path).path  # noqa: B018
    assert stsb.StsbFile("train", tmp_path).recipe() == {"data": ["stsb", "train"], "digest": stsb.PUBLISHED["train"]}
    (tmp_path / "sts-train.csv").write_text("x")
    assert stsb.StsbFile("train", tmp_path).recipe()["digest"] != stsb.PUBLISHED["train"]
    with pytest.raises(BadInput, match="no revision"):
        stsb.pairs("hub:owner/name", "train")


# ---- what the discussions rest on ----

@pytest.mark.parametrize(("own", "known", "expected"), [
    ({"cd": (0.0, 0.0, 0.1), "mlm": (0.0, 0.0, 0.1)}, (0.4, -0.3), [True, False, True, True, True, True]),
    ({"cd": (0.3, 0.1, 0.0), "mlm": (0.0, 0.0, 0.0)}, (-0.3, 0.3), [False] * 6)])
def test_the_discussion_of_sentences_rests_on_both_tasks(own, known, expected):
    sizes, systems = list(SIZES), grid(**own)
    for place in [place for place in systems if place[0] == START]:
        systems[place] = system(0.05 * list(SIZES).index(place[1]) * (1 if own["mlm"][-1] else -1))
    encoders = {"zero-shot": system(known[0]), "start, as it is": system(known[1])}
    signs = similarity.signs(systems, encoders, systems, encoders, sizes, sizes)
    assert list(signs.values()) == expected
    assert similarity.signs(grid(), {}, grid(), {}, sizes, sizes) == {}


def line(*losses):
    return pd.Series(losses, index=range(0, 10 * len(losses), 10), dtype=float)


def test_a_loss_has_levelled_that_no_longer_falls_by_a_twentieth():
    ends = ((1.0, 0.96), (1.0, 0.94), (1.0, 1.2), (0.2, 0.15))  # all are small beside the fall from 9
    assert [training.levelled(line(9.0, *own)) for own in ends] == [True, False, True, False]
    rows = cells(training.levels_table({START: line(2.0, 0.25, 0.2), MLM: line(2.0, 0.1, 0.3, 0.3)}, "start"))
    assert rows[1:] == [[START, "0.250", "0.200", "−20 %", "0.200", "20", "no"],
                        [MLM, "0.300", "0.300", "+0 %", "0.100", "10", "yes"]]


@pytest.mark.parametrize(("cd", "mlm", "bm25", "untrained", "expected"), [
    ((0.1, 0.1, 0.15), (0.1, 0.1, 0.15), 0.4, 0.5, [True, False, True, False, True]),
    ((0.3, 0.0, 0.0), (0.0, 0.0, 0.0), -0.1, -0.2, [False, False, False, True, False])])
def test_the_discussion_of_sizes_rests_on_open_qa(cd, mlm, bm25, untrained, expected):
    questions, known = grid(cd=cd, mlm=mlm), {"BM25": system(bm25), "zero-shot": system(untrained)}
    if expected[2]:
        questions[START, 0] = system(0.01)
    signs = fine_tuning_sizes.signs(questions, known, list(SIZES), {})
    assert list(signs.values()) == expected and all(type(holds) is bool for holds in signs.values())
    assert fine_tuning_sizes.signs(grid(cd=cd), known, list(SIZES), {}) == {}


@pytest.mark.parametrize(("masked", "expected"), [
    ((0.3, 0.0, 0.0), [False, False, True]), ((0.3, 0.2, 0.2), [False, True, True]), ((0.2, 0.2, 0.3), [False, True, True]),
    ((0.0, 0.0, 0.0), [True, False, True])])
def test_the_discussion_of_the_head_that_reads_cls_rests_on_masked_words(masked, expected):
    flat, line_of = (0.0, 0.0, 0.0), dict.fromkeys((START, MLM, CONDENSER), line(1, 1)) | {MASKED: line(0.9, 1 - masked[0])}
    questions = grid(cd=flat, mlm=flat) | {(MASKED, size): system(own) for size, own in zip(SIZES, masked, strict=True)}
    signs = fine_tuning_sizes.signs(questions, {"BM25": system(), "zero-shot": system()}, list(SIZES), line_of)
    assert [holds for sign, holds in signs.items() if sign.startswith("the head that reads [CLS]")] == expected
    line_of[MLM] = line(1, 0.5)
    lower = fine_tuning_sizes.signs(questions, {"BM25": system(), "zero-shot": system()}, list(SIZES), line_of)
    assert not lower["the head that reads [CLS] begins with the lowest held-out loss, and reaches the lowest"]
