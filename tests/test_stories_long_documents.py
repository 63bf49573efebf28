"""The chapter on long documents: its comparisons follow the values, and either outcome of its claims can come out."""

from collections import defaultdict
from dataclasses import replace

import pandas as pd
import pytest

from helpers.data.windows import WHOLE
from helpers.evaluation.verdicts import AGREES, DISAGREES, UNTESTED
from helpers.pages import page
from helpers.stories import alarfaj, long_topics
from helpers.stories import long_documents as story
from helpers.stories.alarfaj import BM25, row
from helpers.stories.first_passage import WINDOWED, WINDOWS, first
from helpers.systems.testbed import OVERLAP, WORDS
from helpers.systems.zero_shot import ZERO_SHOT
from tables import caption, cells, evidence, text_of, verdicts_of
from toys import system

SETTINGS = alarfaj.settings("almanac/long", "packaged", 70, 30, 64, 1, "chosen", candidates=2)
PLACE = story.Place("almanac/long", SETTINGS, [64, 128], [512, 1024, 4096])
STAGED = story.staged(row(4096))
WHOLE_OR_PASSAGE, LONGER = "full-document-no-better-than-first-passage", "beyond-1024-tokens-nothing-gained"


@pytest.fixture(autouse=True)
def held_out(monkeypatch):
    """The last loss of each training; that of two stages is the higher one. All begin at 1."""
    ends = defaultdict(lambda: 0.5) | {STAGED: 0.75}
    monkeypatch.setattr(story, "losses", lambda place, label: pd.Series([1.0, ends[label]]))
    return ends


def systems(whole=0.0, studied=0.0, passage=0.0, bm25=0.0, best=0.0, mean=0.0):
    """The systems of one place; every measure is so much above the same waves."""
    shifts = {BM25: bm25, first(64): 0.5, first(128): passage, **dict.fromkeys(WINDOWS, mean), story.BEST: best, row(512): 0.5,
              row(1024): studied, row(4096): whole, ZERO_SHOT: 0.25}
    return {name: system(shift, name) for name, shift in shifts.items()}


def test_readers_differ_in_what_they_read_alone():
    models = {name: model for name, model in PLACE.models.items() if name != STAGED}
    assert [(name, model.max_length, model.attention_window) for name, model in models.items()] == [
        (first(64), 64, None), (first(128), 128, None), (WINDOWED, 64, None), (row(512), 512, 256), (row(1024), 1024, 256),
        (row(4096), 4096, 256)]
    assert all(replace(model, max_length=64, attention_window=None, words=WHOLE, overlap=0, shorter=None)
               == replace(SETTINGS.reader, evaluations=story.EVALUATIONS) for model in models.values())
    assert {name: (model.words, model.overlap) for name, model in models.items()} == dict.fromkeys(models, (WHOLE, 0)) | {
        WINDOWED: (WORDS, OVERLAP)}


def test_in_two_stages_the_longest_goes_on_from_the_studys_length():
    models = PLACE.models
    assert list(models)[-1] == STAGED
    assert replace(models[STAGED], shorter=None) == models[row(4096)]
    assert models[STAGED].origin.arguments["model"] == models[row(1024)].model
    assert list(replace(PLACE, lengths=[512, 1024]).models) == [
        first(64), first(128), WINDOWED, row(512), row(1024)], "nothing is longer"


@pytest.mark.parametrize("losses, whole", [((0.5, 0.4), STAGED), ((0.4, 0.5), row(4096))])
def test_of_two_trainings_that_with_the_lower_held_out_loss_is_the_whole(losses, whole, held_out):
    held_out.update(zip((row(4096), STAGED), losses, strict=True))
    assert PLACE.whole == whole
    values = systems(whole=0.25) | {STAGED: system(0.75, STAGED)}
    early = story.signs({story.EARLY: PLACE}, {story.EARLY: values})
    assert [*early.values()][3:] == [whole == STAGED, False]
    low = systems(studied=1.5, bm25=1.25) | {STAGED: system(0.75, STAGED)}
    assert [*story.signs({story.EARLY: PLACE}, {story.EARLY: low}).values()][4]
    both = {name: values | {row(4096): system(end, row(4096))} for name, end in ((story.EARLY, 0.25), (story.ANYWHERE, 0.5))}
    assert signs_of(*both.values())[5:8] == [whole != STAGED, True, True]
    assert signs_of(both[story.EARLY], values | {STAGED: system(0.0, STAGED)})[5:8] == [whole != STAGED, False, True]
    assert "two stages: 0.250 at 1024, 1.000 at 4096" in text_of(story.by_length({story.EARLY: PLACE}, {story.EARLY: values}))


@pytest.mark.parametrize("whole, studied, passage, verdicts", [
    (0.25, 0.25, 0.25, (AGREES, AGREES)), (0.25, 0.0, 0.25, (AGREES, DISAGREES)),
    (0.25, 0.25, 0.0, (DISAGREES, AGREES)), (0.0, 0.25, 0.25, (AGREES, AGREES))])
def test_more_tokens_may_gain_lose_or_do_nothing(whole, studied, passage, verdicts, monkeypatch):
    for barring in ((), (ZERO_SHOT,), (ZERO_SHOT, BM25)):  # beside which untrained systems the model knows its articles
        monkeypatch.setattr(story.identity, "barred", lambda pairs, untrained, *_, barring=barring: dict.fromkeys(
            pairs, "the model knows which articles it was trained on" * (untrained.label in barring)))
        judged = verdicts_of(story.claims_table(PLACE, systems(whole, studied, passage), "bed"))
        expected = [UNTESTED] * 2 if len(barring) == 2 else verdicts
        assert judged == dict(zip((WHOLE_OR_PASSAGE, LONGER), expected, strict=True))


def test_a_reader_whose_held_out_loss_did_not_fall_is_not_tested_and_one_below_bm25_is(monkeypatch, held_out):
    monkeypatch.setattr(story.identity, "barred", lambda pairs, *_: dict.fromkeys(pairs, ""))
    assert UNTESTED not in verdicts_of(story.claims_table(PLACE, systems(whole=0.25, bm25=0.5), "bed")).values()
    held_out.update({row(4096): 1.0, STAGED: 1.0})
    shown = story.claims_table(PLACE, systems(whole=0.25), "bed")
    assert verdicts_of(shown) == dict.fromkeys((WHOLE_OR_PASSAGE, LONGER), UNTESTED)
    assert "the held-out loss did not fall" in evidence(shown)[LONGER]


def test_either_place_has_the_same_comparisons():
    places = {story.EARLY: PLACE, story.ANYWHERE: PLACE}
    values = {story.EARLY: systems(), story.ANYWHERE: systems(whole=0.25, studied=0.125, bm25=0.5, best=0.75)}
    shown = story.differences(places, values)
    assert caption(shown) == "For either place of the answer (first less second)"
    rows = {row[0]: row[3][:6] for row in cells(shown)[1:]}
    assert rows == {
        "answers early: whole document, and first passage": "+0.000",
        "answers early: the longest input, and the study's": "+0.000",
        "answers early: whole document, and BM25": "+0.000",
        "answers early: best window, and whole document": "+0.000",
        "answers early: best window, and BM25": "+0.000",
        "answers early: best window, and zero-shot's": "−0.250",
        "answers anywhere: whole document, and first passage": "+0.250",
        "answers anywhere: the longest input, and the study's": "+0.125",
        "answers anywhere: whole document, and BM25": "−0.250",
        "answers anywhere: best window, and whole document": "+0.500",
        "answers anywhere: best window, and BM25": "+0.250",
        "answers anywhere: best window, and zero-shot's": "+0.500"}


def signs_of(early, anywhere):
    return list(story.signs({story.EARLY: PLACE, story.ANYWHERE: PLACE}, {story.EARLY: early, story.ANYWHERE: anywhere}).values())


def test_the_discussion_rests_on_sure_gains_at_either_place(held_out):
    gains = systems(whole=0.25, studied=0.125, bm25=0.875, best=1.0)
    assert signs_of(systems(best=0.25, passage=2.0), gains)[3:] == [
        False, True, True, True, True, True, False, False, False, True]
    assert signs_of(systems(passage=0.25), systems(best=0.25)) == [True, False, True] + [False] * 10
    assert signs_of(systems(studied=0.25, whole=0.125), gains)[3]
    assert signs_of(systems(best=0.75), gains)[9] and not signs_of(systems(best=0.75), systems(bm25=0.875, best=0.75))[9]
    assert signs_of(systems(bm25=0.5), gains)[10] and not signs_of(systems(bm25=0.5, mean=0.75), gains)[10]
    assert signs_of(systems(best=0.5, passage=1.0), gains)[12] and not signs_of(systems(passage=0.25), gains)[12]
    assert list(story.signs({story.EARLY: PLACE}, {story.EARLY: gains}).values()) == [False, True, False]
    held_out[WINDOWED] = 0.95
    assert signs_of(systems(), gains)[11]


def test_the_figure_has_a_line_for_each_place_beside_the_studys():
    text = text_of(story.by_length({story.EARLY: PLACE}, {story.EARLY: systems(whole=0.5)}))
    assert "nDCG@10 over tokens that a Longformer reads" in text
    for shown in ("0.750 at 512", "0.750 at 4096", "published: 0.545 at 512, 0.574 at 1024"):
        assert shown in text


def test_without_a_second_collection_or_topics_nothing_is_shown_of_them():
    assert story.learning_curves({story.EARLY: PLACE}, story.ANYWHERE) == page.prose("")
    assert long_topics.judged({}) == long_topics.differences({}) == page.prose("")
    assert long_topics.topics({story.EARLY: PLACE}, "") == long_topics.signs({story.EARLY: PLACE}, {}) == {}
    assert "leaves them out" in long_topics.table({}).markdown
    assert caption(long_topics.table(systems())) == "Broad topics"


@pytest.mark.parametrize("shifts, untrained, expected", [
    ({}, 0.25, [False, False, False, True, True]),  # all trained readers are BM25
    ({row(512): 0.0, row(1024): 0.125, row(4096): 0.25}, 0.0, [True, False, False, False, False]),
    (dict.fromkeys(WINDOWS, 0.125), 0.25, [False, True, False, False, True]),
    ({story.BEST: 0.125}, 0.25, [False, False, True, False, True]),
    ({first(64): -0.125}, 0.25, [False, False, False, False, True])])
def test_the_discussion_of_topics_rests_on_the_order_of_lengths_and_windows(shifts, untrained, expected):
    own = {name: system(shifts.get(name, untrained if name == ZERO_SHOT else 0.0), name) for name in systems()}
    assert list(long_topics.signs({story.EARLY: PLACE}, own).values()) == expected


def test_topics_are_compared_with_bm25():
    header, *rows = cells(long_topics.differences(systems()))
    assert [row[0] for row in rows] == [name for name in systems() if name != BM25]
