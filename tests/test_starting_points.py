"""Where trainings start, and the tasks of sentences and of search."""

import pytest

from helpers import paths
from helpers.data import stsb
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.networks.fine_tuning import Schedule
from helpers.systems import starting_points
from helpers.systems.starting_points import BLIND, CONDENSER, EMBEDDED, MASKED, MLM, PRETRAININGS, START, Pretraining, branches
from press import chapters

# ---- starts ----

FIRST = starting_points.language_model("almanac", "packaged:0,1", epochs=2, articles="train", mlm_probability=0.3)


def test_branches_share_all_but_the_head_and_go_on_from_the_start():
    own = branches(FIRST, "almanac", 1, 1e-4, 0.5, seed=3)
    assert list(own) == [MLM, CONDENSER, BLIND, EMBEDDED, MASKED]
    assert {one.start for one in own.values()} == {FIRST}
    assert {(one.texts, one.epochs, one.learning_rate, one.seed, one.articles) for one in own.values()} == {
        ("almanac", 1, 1e-4, 3, "train")}
    assert [(one.head_layers, one.early, one.late_cls, one.head_probability) for one in own.values()] == [
        (0, None, None, None), (2, None, None, None), (2, None, False, None), (2, 0, None, None), (2, 0, None, 0.5)]
    assert len({one.model.key for one in own.values()}) == 5


def test_a_backbone_that_has_guessed_words_already_is_no_start_to_train():
    ready = starting_points.language_model("nowhere", "packaged:0,1", epochs=0)
    assert branches(ready, "almanac", 1, 1e-4, 0.5, seed=1)[MLM].start is None
    assert (starting_points.untouched("study", "packaged"), starting_points.untouched("chosen", "packaged")) == ("packaged", "")


def test_a_start_reads_train_articles_alone_and_what_has_no_articles_whole(tmp_path):
    (tmp_path / "a.txt").write_text("One text.\n\nAnother.")
    both = Pretraining(f"almanac + {tmp_path}", articles="train").model.arguments["store"]
    first, second = both.arguments["stores"]
    assert (both.name, first.name, second.name) == ("merged_store", "split_store", "text_store")


def test_starting_points_are_named_or_refused():
    found = starting_points.starting_weights([CONDENSER, START], "study", "almanac[:9]", "packaged:0,1", [1, 2])
    assert list(found) == [START, CONDENSER] and found[START] == {1: None, 2: None}
    assert found[CONDENSER][1].key != found[CONDENSER][2].key
    assert starting_points.starting_weights([], "study", "almanac[:9]", "packaged:0,1", [1]) == {}


def test_the_chapters_share_the_pretrainings_of_the_chapter_on_condenser():
    own = {name: declared.default for name, declared in chapters.schema("condenser").items()}
    start, by_seed = starting_points.made("chosen", own["branch_texts"], own["backbone"], own["seeds"])
    assert (start.texts, start.epochs, start.articles) == (own["texts"], own["start_epochs"], own["articles"])
    branch = by_seed[own["seeds"][0]][CONDENSER]
    assert {name: own[name] for name in PRETRAININGS["chosen"]} == dict(PRETRAININGS["chosen"])
    assert (branch.texts, branch.max_length, branch.unit) == (own["branch_texts"], own["max_length"], own["unit"])


def test_continued_goes_on_with_all_texts_of_the_target():
    _, by_seed = starting_points.made("study", "almanac[:9]", "packaged:0,1", [3])
    head = by_seed[3][CONDENSER]
    on = head.continued("almanac", 1, 5e-5).model.arguments
    assert (on["epochs"], on["learning_rate"], on["head_layers"], on["seed"]) == (1, 5e-5, 2, 3)
    assert on["start"].key == head.model.key
    assert (on["store"].name, head.model.arguments["store"].name) == ("text_store", "split_store")


def test_a_part_of_the_texts_is_named_in_brackets():
    assert starting_points.portion("almanac") == (["almanac"], None, None)
    assert starting_points.portion("almanac + dictionaries[:1000]") == (["almanac", "dictionaries"], 1000, None)
    assert starting_points.portion("/a/folder[1]") == (["/a/folder[1]"], None, None)
    whole, some, rest = (Pretraining(texts).model.arguments["texts"] for texts in ("almanac", "almanac[:9]", "almanac[9:]"))
    assert (whole.arguments.get("first"), some.arguments["first"], rest.arguments["skipped"]) == (None, 9, 9)
    assert [*some.value()["doc_id"], *rest.value()["doc_id"]] == [*whole.value()["doc_id"]]


def test_dense_encoders_read_passages_where_there_are_any():
    assert (starting_points.unit_of("almanac"), starting_points.unit_of("irds:msmarco-document")) == ("passage", "document")


# ---- sentences ----

def test_the_pairs_to_train_on_are_counted():
    assert starting_points.training_pairs("almanac") == 400  # two thirds of six hundred
    assert starting_points.training_pairs("data/stsb") == 5749


def test_pairs_of_the_almanac_are_cross_validated(monkeypatch):
    asked = []
    monkeypatch.setattr(starting_points, "rank_correlations", lambda predictions, truth: asked.append(predictions) or "step")
    monkeypatch.setattr(starting_points, "correlations", lambda step: {name: name for name in asked[0]})
    starts = starting_points.starting_weights([START], "study", "almanac[:9]", "packaged:0,1", [1, 2])
    systems, known = starting_points.similarity("almanac", starts, "packaged:0,1", [8], Schedule(steps=4))
    folds = asked[0][systems[START, 8]][0]
    assert [step.arguments["test"].arguments["number"] for step in folds] == [0, 1, 2] and folds[0].arguments["steps"] == 4
    untrained = asked[0]["zero-shot MiniLM (layers 0,1)"]
    assert (untrained[0][0].arguments["epochs"], untrained[0][0].arguments["pooling"], len(untrained)) == (0, "mean", 2)
    assert list(known) == ["zero-shot MiniLM (layers 0,1)", "start, as it is"]


def test_missing_benchmark_files_are_known_by_their_digest_and_asked_for_when_needed(tmp_path, monkeypatch):
    with pytest.raises(BadInput, match="sts-train.csv: no such file. Mend: put sts-train.csv"):
        stsb.stsb_file("train", tmp_path)  # a folder that was named has to be there
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    missing = stsb.pairs("data/stsb", "train")
    with pytest.raises(BadInput, match="STS benchmark is not here"):
        missing.value()
    (tmp_path / "sts-train.csv").write_text("x")
    assert stsb.pairs(str(tmp_path), "train").key != missing.key
    with pytest.raises(BadInput, match="no revision"):
        stsb.pairs("hub:owner/name", "train")


# ---- searches ----

def test_the_large_profile_trains_web_search_as_the_study():
    values = chapters.resolve("fine_tuning_sizes", "msmarco", {})
    entries = published.load("gao2021")
    of_study = {row: entries["text 5.4", "fine-tuning", row].value for row in (
        "learning rate", "passages for each query", "passages in a batch")}
    assert values["learning_rate"][-1] == of_study["learning rate"] and values["passages"] == of_study["passages for each query"]
    assert values["batch_size"][-1] * values["passages"] == of_study["passages in a batch"]
