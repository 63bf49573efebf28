"""The page *Costs and speed* from the recorded measurements of a machine: every table and figure, without measuring anything."""

import pytest

from helpers.costs import measurements
from helpers.stories import growth, speed
from tables import cells


@pytest.fixture(scope="module")
def machines():
    return measurements.all_machines()


@pytest.fixture(scope="module")
def chosen(machines):
    return measurements.chosen(machines, "")


def test_the_page_says_what_was_measured_and_where(chosen):
    told = speed.about(chosen).markdown
    assert chosen.content["machine"]["cpu"] in told and f"bench/{chosen.name}.json" in told


def test_every_goal_has_a_row_with_its_ratio_and_whether_it_is_met(machines):
    rows = cells(speed.goals_table(machines))[1:]
    assert len(rows) >= len({goal.section for goal in measurements.GOALS})
    for *_, ratio, goal, met in rows:
        measured = float(ratio.split("×")[0])
        assert not goal or (measured >= float(goal.rstrip("×"))) == ("met" in met)


@pytest.mark.parametrize("name", speed.CAPTIONS)
def test_each_comparison_has_a_row_for_every_contender(chosen, name):
    rows = cells(speed.contenders_table(chosen, name))[1:]
    assert [row[0] for row in rows] == [own for own in chosen.section(name)["contenders"] if own != speed.contenders.PRODUCTS]
    ours = speed.contenders.LUCENE if name == "search" else speed.contenders.OURS
    assert "1.00×" in rows[[row[0] for row in rows].index(ours)][2]


def test_the_best_setting_of_the_other_library_is_named(chosen):
    section, told = chosen.section("rerank"), speed.setting(chosen, "rerank").markdown
    assert told.startswith(f"The best of {len(section['tried'])} settings")
    assert "{attention} attention, batches of {batch_size}.".format(**section["setting"]) in told


def test_figures_say_their_values_in_words(chosen):
    assert speed.ratios_plot(chosen).html.count("times [") >= 4
    assert "<svg" in growth.growth_plot(chosen).html


def test_sizes_stand_beside_the_studys_six_and_growth_has_its_exponents(chosen):
    assert [row[0] for row in cells(speed.sizes_table(chosen))[1:]] == ["BERT-Base", "L4-H768", "BERT-Medium", "BERT-Small",
                                                                        "BERT-Mini", "BERT-Tiny"]
    rows = cells(growth.growth_table(chosen))[1:]
    assert {row[0] for row in rows} == {"queries", "documents", "candidates"}
    assert all(("linear" in row[-1]) for row in rows)
    assert len(cells(growth.streaming_table(chosen))) > 8


def of_seconds(other, best, bm25s, recall, seconds, last, small=False):
    """Measurements in which the book takes one second for everything."""
    def section(**known):
        rounds = {name: {"seconds": [spent] * 6} for name, spent in known.pop("of", {}).items()}
        return {"small": small, "items": 1, "contenders": rounds, **known}

    own, real = {speed.contenders.OURS: 1.0}, {"real": 1}
    networks = {name: section(of=own | {default: other, setting: best}) for name, default, setting in (
        ("rerank", speed.contenders.CROSS_ENCODER, speed.contenders.CROSS_ENCODER_BEST),
        ("encode", speed.contenders.SENTENCE_TRANSFORMER, speed.contenders.SENTENCE_TRANSFORMER_BEST))}
    train = section(of=own | {speed.contenders.STOCK_TRAINER: best}, steps=1,
                    tokens={speed.contenders.OURS: real, speed.contenders.STOCK_TRAINER: real})
    search = section(of={speed.contenders.LUCENE: 1.0, speed.contenders.BM25S: bm25s},
                     measures={speed.contenders.LUCENE: {"RR@10": 0.6}, speed.contenders.BM25S: {"RR@10": recall}})
    grown = section(axes={"queries": [{"size": size, "seconds": spent, "megabytes": 9.0}
                                      for size, spent in ((10, 1.0), (100, seconds))]})
    stages = {"Lucene index": (100.0, 120.0), "tokens": (100.0, last)}
    stream = section(stages={name: [{"megabytes": used} for used in points] for name, points in stages.items()})
    parts = networks | {"train": train, "search": search, "growth": grown, "stream": stream}
    return growth.signs(measurements.Measurements("a", {"machine": {}, "sections": parts}))


@pytest.mark.parametrize(("signs", "expected"), [
    (of_seconds(4.0, 1.5, 0.5, 0.5, 10.0, 100.0), [True] * 5),
    (of_seconds(4.0, 0.9, 0.5, 0.7, 13.0, 120.0), [False, True, False, False, False]),
    (of_seconds(4.0, 3.0, 2.0, 0.5, 8.0, 109.0), [True, False, False, True, True]),
    (of_seconds(4.0, 1.5, 0.5, 0.5, 10.0, 100.0, small=True), [])])
def test_the_discussion_rests_on_ratios_and_growth(signs, expected):
    assert list(signs.values()) == expected


def test_the_signs_are_those_of_the_machine_shown(chosen):
    assert all(type(holds) is bool for holds in growth.signs(chosen).values())
