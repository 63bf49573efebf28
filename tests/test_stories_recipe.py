"""The chapter *Choosing the recipe*: one change at a time, the best first, and the day of the choice."""

from types import SimpleNamespace

import pytest

from helpers.errors import BadInput
from helpers.stories import recipe as story
from helpers.systems.recipe import recipe
from helpers.systems.reranking_experiment import RerankingExperiment
from toys import Bed, Value, of_values, run_of, system


def test_a_recipe_differs_from_the_centre_in_one_thing():
    base = recipe(queries=40, warm_up=100, loss="LCE + KL", learning_rate=1e-4)
    models = story.recipes(base, ["BCE", "LCE + KL"], ["bm25"], [8, 4], [2e-5])
    assert list(models) == ["LCE + KL, half BM25 half dense, 8 texts, 0.0001", "BCE, half BM25 half dense, 8 texts, 0.0001",
                            "LCE + KL, BM25, 8 texts, 0.0001", "LCE + KL, half BM25 half dense, 4 texts, 0.0001",
                            "LCE + KL, half BM25 half dense, 8 texts, 2e-05"]
    assert base.start.first == 100
    assert recipe(warm_up=0).start is None
    with pytest.raises(BadInput, match="recipe's loss 'hinge'"):
        story.recipes(base, ["hinge"], [], [], [])


def test_recipes_are_shown_best_first_with_their_cost(monkeypatch):
    trial = RerankingExperiment(None, None, candidates=7)
    monkeypatch.setattr(story.identity, "gap_text", lambda one, _, top: f"gap {one.mean('RR@10').mean:.2f} of {top}")
    log = {"pairs": 1200, "log": [{"step": 0, "eval_loss": 1.5}, {"step": 9, "eval_loss": 0.25}]}
    model = SimpleNamespace(log=Value(log, manifest={"inputs": [{"seconds": 90.0}]}))
    html = story.recipes_table(trial, {"low": model, "high": model}, {"low": system(0.1), "high": system(0.3)}, system()).html
    assert html.index("high") < html.index("low")
    assert all(text in html for text in ("+0.300†", "1.500 to 0.250", "1,200", "2 min", "gap 0.55 of 7"))


def test_the_choice_names_the_best_recipe():
    final = {"a": system(0.1), "b": system(0.3)}
    text = story.choice(final, system()).markdown
    assert "**b**, with an RR@10 of 0.550" in text
    assert "Of the others the best is a with 0.350 (p" in text
    assert story.CHOSEN_ON not in text, "none of these is what the other chapters train with"


@pytest.mark.parametrize("other, expected", [(0.3, "One of the others is surely"), (0.1, "None of the others is surely")])
def test_the_recipe_of_the_other_chapters_is_kept_and_a_surely_better_one_told(other, expected):
    kept = story.name_of(recipe())
    text = story.choice({"other": system(other), kept: system(0.2)}, system()).markdown
    assert f"The recipe is **{kept}**, with an RR@10 of 0.450" in text
    assert f"chosen on {story.CHOSEN_ON}" in text
    assert expected in text


def test_the_weight_of_a_fusion_is_the_best_on_the_queries_themselves():
    bed = Bed(q="b")
    trial = RerankingExperiment(bed, Value(), candidates=2, measures=("RR@10",))
    first, second = (of_values([1.0], queries=["q"], run=run_of(q=order)) for order in ("ba", "ab"))
    assert trial.best_weight(first, second) == 0.5  # they tie then, and of equals the later id is first
    assert trial.fused("both", first, second, 0.4).run["doc_id"].tolist() == ["a", "b"]
    assert "<td class=\"num\">0.5</td>" in story.fusion_table(trial, {"first": first}, second).html
