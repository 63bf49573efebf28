"""The chapters on readiness: what they say follows the values. Differences are constant over eight queries where a test reads the
words, so that the permutation test's p is known: 2 / 2^8 = 0.008."""

from dataclasses import replace

import pytest

import toys
from helpers.errors import BadInput
from helpers.evaluation.verdicts import CONTRADICTED, EQUIVALENT, INCOMPARABLE, NO_CAUSE, NOT_RUN, SUPPORTED, UNTRAINED
from helpers.pages import claims
from helpers.stories import fine_tuning_sizes, readiness, similarity
from helpers.systems.evaluated import Evaluation
from helpers.systems.starting_points import BACKBONE, CONDENSER, CONTINUED, MLM, NAMES, Pretraining, portion, pretrainings
from helpers.systems.testbed import Testbed
from tables import cells, verdicts_of

SIZES = {250: "250 queries", 1000: "1,000 queries", 0: "all 2,000 queries"}


HUB = "hub:google-bert/bert-base-uncased@main"


def system(shift=0.0, label="x"):
    """A toy of two seeds, whose means lie 0.01 below and above its own."""
    whole = toys.system(shift, label)
    return replace(whole, seeds=tuple(replace(whole, values=whole.values + seed) for seed in (-0.01, 0.01)))


def grid(**shifts):
    """Systems by starting point and size; shifts of Condenser (`cd`) and of the others, one a size."""
    names = {"cd": CONDENSER, "mlm": MLM, "ct": CONTINUED}
    systems = {(BACKBONE, size): system() for size in SIZES}
    for name, values in shifts.items():
        systems |= {(names[name], size): system(value) for size, value in zip(SIZES, values, strict=True)}
    return systems


LOW = system(-0.25, "BM25")  # a baseline that all of them pass


# ---- where the gap closes ----


def test_the_table_goes_by_size_then_by_starting_point_with_spread_over_seeds():
    rows = cells(readiness.gap_table(grid(cd=[0.2, 0.1, 0.0], mlm=[0.1, 0.0, 0.0]), SIZES, "RR@10"))[1:]
    assert [row[:3] for row in rows[:3]] == [["250 queries", BACKBONE, "0.250"], ["250 queries", MLM, "0.350"],
                                             ["250 queries", CONDENSER, "0.450"]]
    assert rows[0][3] == "0.014" and rows[0][4:] == ["", ""]  # the deviation of two seeds 0.02 apart
    assert rows[2][4].startswith("+0.200") and len(rows) == 9


def test_one_seed_has_no_interval():
    one = {(BACKBONE, 250): toys.system()}
    with pytest.raises(BadInput, match="two seeds"):
        readiness.curves(one, {250: 250}, "RR@10", "queries", "caption")


def test_curves_say_mean_and_interval_over_seeds():
    text = readiness.curves(grid(cd=[0.2, 0.1, 0.0]), {250: 250, 1000: 1000, 0: 2000}, "RR@10", "queries", "caption").html
    assert f"{CONDENSER} at 250: 0.450 ± 0.127" in text.replace("&#43;", "+")  # t of one degree of freedom, 12.7, by 0.01


@pytest.mark.parametrize(("sizes", "expected"), [([250, 1000, 0], ["a", "b", "c"]), ([250, 0], ["a", "c"]),
                                                 ([5, 9, 70], ["a", "b", "c"])])
def test_the_studys_columns_go_from_smallest_to_largest(sizes, expected):
    assert readiness.columns(sizes, ("a", "b", "c")) == dict(zip(sizes, expected, strict=True))


@pytest.mark.parametrize("sizes", [[250], [1, 2, 3, 4]])
def test_too_few_or_too_many_sizes_are_refused(sizes):
    with pytest.raises(BadInput, match="training sizes"):
        readiness.columns(sizes, ("a", "b", "c"))


# ---- starting points ----

def test_starting_points_are_named_or_refused():
    result = readiness.starts([CONDENSER, BACKBONE], Pretraining(backbone="packaged:0,1"), "almanac", 1)
    assert list(result) == [BACKBONE, CONDENSER] and result[BACKBONE] is None
    with pytest.raises(BadInput, match="no starting point BERT"):
        readiness.starts(["BERT"], Pretraining(), "almanac", 1)
    with pytest.raises(BadInput, match="no starting point is given"):
        readiness.starts([], Pretraining(), "almanac", 1)


def test_the_control_differs_in_the_head_alone_and_continued_goes_on():
    recipe = Pretraining(backbone="packaged:0,1,2", epochs=2)
    made = pretrainings(recipe, "almanac", 1, 5e-5)
    mlm, cd, on = (made[name].model.arguments for name in NAMES[1:])
    plain = {name for name in mlm if not hasattr(mlm[name], "key")}
    assert {name for name in plain if mlm[name] != cd[name]} == {"head_layers"}
    assert mlm["texts"].key == cd["texts"].key != on["texts"].key
    assert (cd["early"], on["epochs"], on["learning_rate"], on["head_layers"]) == (1, 1, 5e-5, 2)
    assert on["start"].key == made[CONDENSER].model.key


def test_a_part_of_the_texts_is_named_in_brackets():
    assert portion("almanac") == (["almanac"], None)
    assert portion("almanac + dictionaries[:1000]") == (["almanac", "dictionaries"], 1000)
    assert portion("/a/folder[1]") == (["/a/folder[1]"], None)
    whole, some = (Pretraining(texts, backbone="packaged:0,1").model.arguments["texts"] for texts in ("almanac", "almanac[:9]"))
    assert (whole.arguments.get("first"), some.arguments["first"]) == (None, 9)
    assert readiness.recipe("almanac[:9]", "passage", "packaged:0,1", 1).without == "test"


def test_a_folder_of_text_is_read_whole(tmp_path):
    (tmp_path / "a.txt").write_text("One paragraph of words.\n\nAnother one here.\n")
    recipe = readiness.recipe(str(tmp_path), "passage", "packaged:0,1", 1)
    assert recipe.without == "" and recipe.model.arguments["texts"].arguments["without"] is None
    assert readiness.recipe("almanac", "passage", "packaged:0,1", 1).without == "test"


# ---- tasks ----

def test_open_qa_asks_for_facts_and_web_search_for_all():
    bed = Testbed("almanac", "passage", queries=20)
    facts, web = (fine_tuning_sizes.question_task(bed, "packaged", 2, 1e-4, 64),
                  fine_tuning_sizes.web_task(bed, "packaged", 2, 1, 1e-4, 64, 4))
    assert set(facts.bed.query_frame["answer_type"]) <= {"ABBR", "ENTY", "HUM", "LOC", "NUM"}
    assert "DESC" in set(web.bed.query_frame["answer_type"])
    assert (facts.negatives, web.negatives) == (1, 3)
    with pytest.raises(BadInput, match="1 passages"):
        fine_tuning_sizes.web_task(bed, "packaged", 2, 1, 1e-4, 64, 1)


def test_sizes_and_seeds_decide_what_is_drawn_and_all_has_its_own_epochs():
    task = fine_tuning_sizes.web_task(Testbed("almanac", "passage", queries=20), "packaged:0", 3, 1, 1e-4, 64, 2)
    small, other, whole = task.encoder(None, 30, 1), task.encoder(None, 30, 2), task.encoder(None, 0, 1)
    assert set(small.bed.query_frame["query_id"]) != set(other.bed.query_frame["query_id"])
    assert (small.epochs, whole.epochs) == (3, 1)
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

    models = fine_tuning_sizes.fine_tuned(Task(), {BACKBONE: None, CONDENSER: "w"}, [5, 0], [1, 2])
    assert sorted(calls, key=str) == sorted([(w, s, n) for w in (None, "w") for s in (5, 0) for n in (1, 2)], key=str)
    assert models[CONDENSER, 0].values["RR@10"].mean() == pytest.approx(0.25 + 0.15)
    assert list(models[CONDENSER, 0].seed_means["RR@10"]) == pytest.approx([0.35, 0.45])


# ---- verdicts ----

def test_claims_on_search_follow_the_values():
    systems = grid(cd=[0.3, 0.2, 0.1], ct=[0.3, 0.2, 0.2])
    verdicts = verdicts_of(fine_tuning_sizes.claims_table(systems, systems, list(SIZES), HUB, LOW, LOW))
    assert verdicts.pop("condenser-head-beats-masked-words") == NOT_RUN
    assert set(verdicts.values()) == {SUPPORTED, NO_CAUSE}  # masked words alone were not measured
    systems = grid(cd=[0.0, 0.0, 0.1], ct=[0.0, 0.0, 0.1])
    verdicts = verdicts_of(fine_tuning_sizes.claims_table(systems, systems, list(SIZES), HUB, LOW, LOW))
    assert verdicts["condenser-helps-most-with-little-data"] == CONTRADICTED
    assert verdicts["continued-pretraining-adds-to-condenser"] == EQUIVALENT


def test_models_that_do_not_reach_bm25_where_the_studys_pass_it_did_not_train():
    systems, bm25 = grid(cd=[0.3, 0.2, 0.1], ct=[0.3, 0.2, 0.2]), system(0.5, "BM25")
    shown = fine_tuning_sizes.claims_table(systems, systems, list(SIZES), "packaged", bm25, LOW).data["claims"]
    verdicts = {line["claim"]: line["verdict"] for line in shown}
    assert verdicts["condenser-beats-bert-on-open-qa"] == verdicts["condenser-helps-most-with-little-data"] == UNTRAINED
    assert verdicts["condenser-beats-bert-on-web-search"] == INCOMPARABLE  # another reason: the backbone was a bi-encoder


def test_more_data_that_lowers_the_score_shows_that_a_training_failed():
    rising, falling = grid(cd=[0.0, 0.1, 0.1]), grid(cd=[0.0, 0.1, 0.0])
    assert readiness.why_untrained(rising, list(SIZES), "accuracy") == ""
    assert readiness.why_untrained(falling, list(SIZES), "accuracy").startswith("more training data lowered accuracy, from 0.")


def test_claims_without_their_starting_point_are_not_run():
    verdicts = verdicts_of(fine_tuning_sizes.claims_table(grid(mlm=[0, 0, 0]), grid(mlm=[0, 0, 0]), list(SIZES), HUB, LOW, LOW))
    assert set(verdicts.values()) == {NOT_RUN} and len(verdicts) == 5
    systems = {(BACKBONE, 0): system(), (MLM, 0): system()}
    assert set(verdicts_of(similarity.claims_table({}, systems, systems, [], [0], [0], HUB)).values()) == {NOT_RUN}


def test_sentence_claims_are_judged_on_the_benchmark_if_it_is_there():
    near, far = grid(cd=[0.0, 0.0, 0.0]), grid(cd=[0.3, 0.3, 0.3])
    monkey = {claim.id: claim for claim in claims.load().values() if claim.chapter == "similarity"}
    assert set(monkey) == {"condenser-beats-bert-on-similarity", "condenser-equals-bert-on-sections"}

    def spearman(systems):
        return {place: Evaluation(s.label, s.run, s.values.assign(spearman=s.values["accuracy"]), s.source)
                for place, s in systems.items()}

    sizes = list(SIZES)
    on_real = verdicts_of(similarity.claims_table(spearman(far), spearman(near), near, sizes, sizes, sizes, HUB))
    without = verdicts_of(similarity.claims_table({}, spearman(near), far, sizes, sizes, sizes, HUB))
    assert on_real == {"condenser-beats-bert-on-similarity": NO_CAUSE, "condenser-equals-bert-on-sections": SUPPORTED}
    assert without == {"condenser-beats-bert-on-similarity": EQUIVALENT, "condenser-equals-bert-on-sections": CONTRADICTED}


# ---- sentences ----


def test_folds_train_on_the_others_and_sizes_are_told():
    names, counts = similarity.names([100, 0], [500, 0], [250, 0], 3000)
    assert names["almanac"] == {100: "100 pairs", 0: "all 400 pairs"} and counts["stsb"] == {500: 500, 0: 5749}
    assert names["sections"][0] == "all 3,000 triplets"


def test_missing_benchmark_files_are_known_by_their_digest_and_asked_for_when_needed(tmp_path):
    from helpers.data import stsb

    with pytest.raises(BadInput, match="STS benchmark is not here"):
        stsb.StsbFile("train", tmp_path).path  # noqa: B018
    assert stsb.StsbFile("train", tmp_path).recipe() == {"data": ["stsb", "train"], "digest": stsb.PUBLISHED["train"]}
    (tmp_path / "sts-train.csv").write_text("x")
    assert stsb.StsbFile("train", tmp_path).recipe()["digest"] != stsb.PUBLISHED["train"]
    with pytest.raises(BadInput, match="no revision"):
        stsb.pairs("hub:owner/name", "train")


# ---- what the discussions rest on ----

def spearman(systems):
    return {place: toys.of_values({"spearman": list(own.values["accuracy"])}) for place, own in systems.items()}


@pytest.mark.parametrize(("real", "similar", "words", "apart", "expected"), [
    ((-0.2, -0.2, -0.1), (-0.1, -0.1, -0.1), (-0.2, -0.2, -0.2), (0.0, 0.0, 0.04), [True, False, True, True]),
    ((-0.2, -0.2, 0.1), (0.1, 0.1, 0.1), (0.2, 0.0, 0.0), (0.0, 0.0, 0.06), [False] * 4),
    ((-0.2, -0.2, -0.1), (-0.1, -0.1, 0.1), (-0.2, -0.2, -0.2), (0.42, 0.42, 0.42), [False, False, True, False])])
def test_the_discussion_of_sentences_rests_on_all_three_tasks(real, similar, words, apart, expected):
    sizes = list(SIZES)
    given = spearman(grid(cd=real)), spearman(grid(cd=similar, mlm=words)), grid(cd=apart), sizes, sizes, sizes
    assert list(similarity.signs(*given).values()) == expected
    rising = {place: toys.of_values({"spearman": [0.1 * (list(SIZES).index(place[1]) + 1)]}) for place in given[0]}
    assert similarity.signs(rising, *given[1:])["the largest set of the benchmark is the best for every start"]
    assert similarity.signs({}, *given[1:]) == {}


@pytest.mark.parametrize(("cd", "mlm", "web", "expected"), [
    ((0.1, 0.1, 0.0), (0.2, 0.1, 0.0), 0.0, [True, True, False, False]), ((0.1, 0.0, 0.0), (0.1, 0.0, -0.1), 0.1, [False] * 4)])
def test_the_discussion_of_sizes_rests_on_leads_over_the_backbone(cd, mlm, web, expected):
    questions, searched = grid(cd=cd, mlm=mlm), grid(cd=(web, 0.0, 0.0), ct=(web, 0.0, 0.0))
    assert list(fine_tuning_sizes.signs(questions, searched, list(SIZES)).values()) == expected
    assert fine_tuning_sizes.signs(grid(cd=cd), searched, list(SIZES)) == {}


def test_a_lead_in_recall_and_a_rise_with_more_queries_are_seen():
    def searched(start, size):
        rise = 0.1 * list(SIZES).index(size)
        return toys.system(rise, shifts={"R@100": 0.1 if size == 250 and start != BACKBONE else 0.0})

    systems = {(start, size): searched(start, size) for start in NAMES for size in SIZES}
    assert list(fine_tuning_sizes.signs(systems, systems, list(SIZES)).values()) == [False, True, True, True]
