"""The chapter *Condenser*: the cost of another text's [CLS], what stands in its tables, and what its discussion rests on."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

import toys
from helpers.stories import condenser as story
from helpers.stories import head_share
from helpers.systems.evaluated import Evaluation
from helpers.systems.starting_points import BLIND, CONDENSER, EMBEDDED, MASKED, MLM, Pretraining, branches, language_model
from tables import cells

START = language_model("almanac", "packaged:0,1", epochs=2, articles="train", mlm_probability=0.3)


def log(head, exchanged, late=3.0, steps=(0, 10)):
    """A log that begins at 0 nats of exchange and ends so."""
    first = {"step": steps[0], "eval_late": 9.0, "eval_head": 9.0, "eval_exchanged": 9.0}
    return {"log": [first, {"step": steps[1], "eval_late": late, "eval_head": head, "eval_exchanged": exchanged}],
            **dict.fromkeys(("texts", "tokens", "steps", "parameters", "parameters_in_training"), 1000)}


@dataclass
class Trained:
    head_layers: int = 2


def test_branches_share_all_but_the_head_and_go_on_from_the_start():
    own = branches(START, "almanac", 1, 1e-4, 0.5, seed=3)
    assert list(own) == [MLM, CONDENSER, BLIND, EMBEDDED, MASKED]
    assert {one.start for one in own.values()} == {START}
    assert {(one.texts, one.epochs, one.learning_rate, one.seed, one.articles) for one in own.values()} == {
        ("almanac", 1, 1e-4, 3, "train")}
    assert [(one.head_layers, one.early, one.late_cls, one.head_probability) for one in own.values()] == [
        (0, None, None, None), (2, None, None, None), (2, None, False, None), (2, 0, None, None), (2, 0, None, 0.5)]
    assert len({one.model.key for one in own.values()}) == 5


def test_a_backbone_that_has_guessed_words_already_is_no_start_to_train():
    ready = language_model("nowhere", "packaged:0,1", epochs=0)
    assert branches(ready, "almanac", 1, 1e-4, 0.5, seed=1)[MLM].start is None
    assert list(story.first_seeds(ready, {MLM: [START, START]})) == [MLM]


def test_a_start_reads_train_articles_alone_and_what_has_no_articles_whole(tmp_path):
    (tmp_path / "a.txt").write_text("One text.\n\nAnother.")
    both = Pretraining(f"almanac + {tmp_path}", articles="train").model.arguments["store"]
    first, second = both.arguments["stores"]
    assert (both.name, first.name, second.name) == ("merged_store", "split_store", "text_store")


def test_the_cost_of_an_exchange_is_the_rise_of_the_heads_loss():
    assert story.exchange(log(4.0, 4.25)).to_dict() == {0: 0.0, 10: 0.25}
    logs = {CONDENSER: [log(4.0, 4.25), log(4.0, 4.75)], BLIND: [log(4.5, 4.5)]}
    assert story.means(logs, story.exchange)[CONDENSER].to_dict() == {0: 0.0, 10: 0.5}
    rows = {row[0]: row[1:] for row in cells(story.exchange_table(logs))[1:]}
    assert rows[CONDENSER] == ["4.000", "4.500", "0.250, 0.750", "yes"] and rows[BLIND][-1] == "no"
    mixed = cells(story.exchange_table({CONDENSER: [log(4.0, 4.25), log(4.0, 4.05)]}))[1]
    assert mixed[-1] == "in some seeds"
    assert "0.1 nats" in story.exchange_figure(logs).html


def test_settings_stand_beside_the_studys(monkeypatch):
    monkeypatch.setattr(Pretraining, "log", toys.Value(log(1.0, 1.0)))
    table = story.settings_table(START, story.over_seeds(START, [MLM, CONDENSER], [1], texts="almanac", epochs=1,
                                                         learning_rate=1e-4, head_probability=0.5))
    rows = {row[0]: row[1:] for row in cells(table)}
    assert rows["head layers"] == ["2", "none", "2"] and rows["epochs"] == ["8", "2", "1"]
    assert rows["early layers"][1:] == ["none", "1"]


def signs(condenser=0.0, variants=0.0, masked=0.0, blind=4.0, mean=-0.2):
    logs = {MLM: [log(0.0, 0.0)], CONDENSER: [log(4.0, 4.0 + condenser)], BLIND: [log(blind, blind)],
            EMBEDDED: [log(4.0, 4.0 + variants)], MASKED: [log(5.0, 5.0 + masked)]}
    systems = {"backbone, mean": toys.system(), "start, mean": toys.system(mean), "start, [CLS]": toys.system(),
               f"{MLM}, [CLS]": toys.system(), f"{MASKED}, [CLS]": toys.system(masked)}
    return story.signs(logs, {name: [Trained(name != MLM)] for name in logs}, systems)


@pytest.mark.parametrize(("given", "expected"), [
    (signs(), [False, False, False, False, True, True, True]),
    (signs(condenser=0.2, blind=4.3, mean=0.0), [True, False, False, False, False, False, False]),
    (signs(variants=0.05, masked=0.2), [False, True, True, True, True, True, True]),
    (signs(masked=0.05), [False, False, False, False, True, True, True])])  # it searches better, and does not use [CLS]
def test_the_discussion_rests_on_exchanges_and_on_the_control(given, expected):
    assert list(given.values()) == expected


def test_without_the_control_nothing_is_said():
    assert story.signs({CONDENSER: [log(4.0, 4.5)]}, {CONDENSER: [Trained()]}, {}) == {}


def searches(**gains):
    """Searches by [CLS] of the branches, each so much above masked words alone."""
    return {f"{name}, [CLS]": toys.system(gain) for name, gain in {MLM: 0.0, **gains}.items()}


def test_the_share_of_a_head_is_what_its_branch_has_beyond_masked_words_alone():
    logs = {name: [log(4.0, 4.5), log(4.0, 4.2)] for name in (CONDENSER, MASKED)}
    systems = searches(**{CONDENSER: 0.2, MASKED: -0.1})
    rows = {row[0]: row[3] for row in cells(head_share.share_table(systems, logs))[1:]}
    assert rows[CONDENSER].startswith("+0.200") and rows[MASKED].startswith("−0.100") and len(rows) == 2
    assert head_share.not_read(systems, logs).markdown == ""


@pytest.mark.parametrize(("rises", "read", "told"), [
    ((0.0, 0.0), False, "*+ Condenser* (0.000)"), ((0.5, 0.09), False, "*+ Condenser* (0.090)"), ((0.5, 0.11), True, "")])
def test_nothing_is_read_off_a_head_that_another_texts_cls_costs_little(rises, read, told):
    """`USES` is a tenth of a nat, and each seed has to reach it."""
    logs = {CONDENSER: [log(4.0, 4.0 + rise) for rise in rises], MASKED: [log(4.0, 4.9)]}
    systems = searches(**{CONDENSER: 0.2, MASKED: 0.1})
    rows = {row[0] for row in cells(head_share.share_table(systems, logs))[1:]}
    assert rows == ({CONDENSER, MASKED} if read else {MASKED})
    text = head_share.not_read(systems, logs).markdown
    assert told in text and ("No verdict is given" in text) != read


def test_where_no_head_uses_cls_there_is_no_table_of_shares():
    shown = head_share.share_table(searches(**{CONDENSER: 0.2}), {CONDENSER: [log(4.0, 4.0)]})
    assert shown.html == "" and "no share to read" in shown.markdown


def test_what_it_takes_counts_the_start_once(monkeypatch):
    trained = story.over_seeds(START, [MLM, CONDENSER], [1, 2], texts="almanac", epochs=1, learning_rate=1e-4,
                               head_probability=0.5)
    start = {"key": START.model.key, "seconds": 3600.0, "inputs": []}
    manifests = {one.log.key: {"inputs": [{"key": one.model.key, "seconds": 1800.0, "inputs": [start]}]}
                 for own in trained.values() for one in own}
    monkeypatch.setattr("helpers.steps.Step.entry", lambda step: SimpleNamespace(manifest=manifests[step.key]))
    monkeypatch.setattr(Evaluation, "against", lambda *_: SimpleNamespace(detectable=0.03))  # twice the smaller lead, .015
    text = head_share.power(searches(**{CONDENSER: 0.2}), trained).markdown
    assert "a share of the head of 0.030" in text and "+0.029 with the fewest" in text
    assert "4 times as many seeds, 8 of each branch, and 4 times as many queries" in text
    assert "take 9.0 CPU hours of pre-training, the start counted once, where those compared here took 3.0 CPU hours" in text
    assert text.endswith("the study names its GPUs and not their hours.")
    assert "no share" in head_share.power({}, trained).markdown


def test_the_branches_that_the_claim_rests_on_have_every_seed():
    made = story.over_seeds(START, [], [3, 4, 5], texts="almanac", epochs=1, learning_rate=1e-4, head_probability=0.5)
    assert {name: [one.seed for one in own] for name, own in made.items()} == {
        **dict.fromkeys((MLM, CONDENSER, BLIND), [3, 4, 5]), EMBEDDED: [3], MASKED: [3, 4]}
