"""The page *Costs and speed* from the recorded measurements of a machine: every table and figure, without measuring anything."""

import pytest

from helpers.costs import measurements
from helpers.stories import growth, speed
from tables import cells, squeezed


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
    for *_, ratio, goal, met in (map(squeezed, row) for row in rows):
        measured = float(ratio.split("×")[0])
        assert not goal or (measured >= float(goal.rstrip("×"))) == ("met" in met)


@pytest.mark.parametrize("name", speed.CAPTIONS)
def test_each_comparison_has_a_row_for_every_contender(chosen, name):
    rows = cells(speed.contenders_table(chosen, name))[1:]
    assert [row[0] for row in rows] == [own for own in chosen.section(name)["contenders"] if own != speed.contenders.PRODUCTS]
    assert "1.00×" in squeezed(rows[[row[0] for row in rows].index(ours(chosen, name))][2])


def ours(chosen, name):
    """What the book's own code is called in a comparison."""
    return speed.contenders.LUCENE if name == "search" else speed.contenders.OURS


def test_the_best_setting_of_the_other_library_is_named(chosen):
    assert "settings that were tried on a sample" in speed.setting(chosen, "rerank").markdown


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
