"""The chapter *Does it work?*: models by the labels that they learn from, and the pages' systems."""

from dataclasses import replace

import pandas as pd
import pytest

from helpers.data.windows import WHOLE
from helpers.pages.fragments import Fragment
from helpers.stories import does_it_work as story
from helpers.systems import reranking_experiment
from helpers.systems.evaluated import evaluate
from helpers.systems.recipe import recipe
from helpers.systems.reranking_experiment import RerankingExperiment
from toys import Bed, Value, of_values, run_of, system

DENSE = "zero-shot MiniLM"


class Fixed:
    """Scores each text of two queries with windows of these logits."""

    label = DENSE

    def __init__(self, **logits):
        self.logits = logits

    def scores(self, bed, run, candidates):
        rows = [(query, f"{doc}#{number}", score) for query in "qr" for doc, scores in self.logits.items()
                for number, score in enumerate(scores)]
        return Value(pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]))


def test_models_differ_in_labels_and_seed_alone():
    base = recipe(queries=40, warm_up=100)
    made = story.models(replace(base, losses={"bce": 1.0}), base, [1, 2])
    assert {labels: [(model.unit, model.words, model.seed) for model in group] for labels, group in made.items()} == {
        "documents": [("document", 150, 1), ("document", 150, 2)], "sections": [("passage", WHOLE, 1), ("passage", WHOLE, 2)],
        "none": [("passage", WHOLE, 1)]}
    assert made["documents"][0].start == made["sections"][0].start == made["none"][0] == base.start
    assert list(story.models(recipe(warm_up=0), recipe(warm_up=0), [1])) == ["documents", "sections"]


def test_a_maximum_and_a_mean_may_rank_a_document_differently(monkeypatch):
    def each_whole(label, runs, bed, measures, source):  # toys have no recipe that values could be kept under
        return reranking_experiment.together(label, [evaluate(label, run, bed, measures) for run in runs])

    monkeypatch.setattr(reranking_experiment, "evaluate_seeds", each_whole)
    trial = RerankingExperiment(Bed(q="a", r="a"), Value(run_of(q="ba", r="ba")), candidates=2, measures=("RR@10",))
    models = {"documents": [Fixed(a=[5, -9], b=[1, 1])] * 2, "none": [Fixed(a=[0, 0], b=[1, 1])]}
    systems = story.evaluations(trial, models, Fixed(a=[2, 2], b=[1, 1]))
    means = {name: system.mean("RR@10").mean for name, system in systems.items()}
    assert [means[name] for name in ("BM25", "BERT-Max", "BERT-Mean", "BERT-FirstP", "BERT-Max, no labels", DENSE)] == [
        0.5, 1.0, 0.5, 1.0, 0.5, 1.0]
    assert len(systems["BERT-Max"].seeds) == 2
    assert "BERT-FirstP, no labels" not in story.in_the_table(systems)
    assert "BERT-FirstP" in story.in_the_table(systems)


def test_the_fusion_takes_its_weight_from_development_queries():
    trial = RerankingExperiment(Bed(q="a", r="a"), Value(run_of(q="ba", r="ba")), 2, "max", ("RR@10",))
    right, wrong = Fixed(a=[1], b=[0]), Fixed(a=[0], b=[1])
    systems = {"BERT-Max, section labels": of_values([1.0, 1.0], queries=["q", "r"], run=run_of(q="ab", r="ab")),
               DENSE: of_values([0.5, 0.5], queries=["q", "r"], run=run_of(q="ba", r="ba"))}
    text = story.fusion(trial, trial, [right, right], wrong, systems).markdown
    # at a half they tie: of equals the later id is first
    assert "With weight 0.6 for the re-ranker, the best on 2 development queries" in text
    assert "an RR@10 of 1.000, the re-ranker alone 1.000 (p" in text


def test_a_sum_that_leaves_the_encoder_out_is_called_the_re_ranker_alone(monkeypatch):
    trial = RerankingExperiment(Bed(q="a", r="a"), Value(run_of(q="ba", r="ba")), 2, "max", ("RR@10",))
    monkeypatch.setattr(RerankingExperiment, "best_weight", lambda *_: 1.0)
    systems = {"BERT-Max, section labels": of_values([1.0, 1.0], queries=["q", "r"]),
               DENSE: of_values([0.5, 0.5], queries=["q", "r"])}
    right = Fixed(a=[1], b=[0])
    text = story.fusion(trial, trial, [right, right], right, systems).markdown
    assert "the sum is the re-ranker alone, with an RR@10 of 1.000; the encoder alone has 0.500" in text


def test_the_last_words_name_the_best_re_ranker_and_the_ceiling():
    systems = {"BM25": system(), "BERT-Max": system(0.3), "BERT-Mean": system(0.2), "BERT-FirstP": system(0.1),
               "BERT-SumP": system(), DENSE: system(0.1), "BERT-Max, section labels": system(0.4)}
    bed = Bed(q="a")
    bed.per_query = lambda run, names: pd.DataFrame({"R@20": [1.0, 0.5]})
    text = story.finding(systems, bed, 20).markdown
    assert "*BERT-Max, section labels* ranks best, with an RR@10 of 0.650; BM25 has 0.250 (p" in text
    assert "exceed an RR@10 of 0.750" in text
    assert "nDCG" not in text


ONE_STUDY = {"BM25": system(), "BERT-Max": system(0.3), "BERT-Mean": system(0.2), "BERT-FirstP": system(0.1),
             "BERT-SumP": system(), DENSE: system(0.1)}


@pytest.mark.parametrize("grades, shown", [({"a": 3, "b": 0}, True), ({"a": 3, "b": 2}, False), ({"a": 1, "b": 0}, False)])
def test_graded_judgments_are_measured_by_their_grades_too(grades, shown):
    bed = Bed(q=grades)
    bed.per_query = lambda run, names: pd.DataFrame({"R@20": [1.0, 0.5]})
    table = story.beside_the_study(ONE_STUDY, bed, Fragment(data={"claims": []}))
    assert "table 5.1: MRR@10" in table.html
    assert ("Each system (first) and BM25 (second), in nDCG@10" in table.html) == shown
    both = story.aggregation_by_labels(ONE_STUDY, bed).html
    assert "RR@10 by aggregation" in both
    assert ("nDCG@10 by aggregation" in both) == shown
    last = story.finding(ONE_STUDY, bed, 20).markdown
    assert ("In nDCG@10, which counts the grades, it has 0.550, and BM25 0.250 (p" in last) == shown


def test_the_almanacs_judgments_are_not_graded_by_a_pool():
    from helpers.data.collection import open_collection
    from helpers.evaluation.pools import are_graded

    assert not any(are_graded(open_collection("almanac").qrels(unit, "test"), None) for unit in ("document", "passage"))


def ranked(values, found=0.5):
    return of_values({"RR@10": values, "R@10": [found] * 8})


@pytest.mark.parametrize("gains, sections, mean, narrow, nearer, unpassed", [
    ([0.25] * 5 + [0.0, 0.0, -0.125], 0.0, 0.0, True, True, True), ([0.25] * 5 + [-0.25] * 3, 0.0, -0.5, False, False, True),
    ([0.25] * 8, 0.75, 0.0, False, False, False)])
def test_the_discussion_rests_on_the_maximum_and_on_the_zero_shot_encoder(gains, sections, mean, narrow, nearer, unpassed):
    systems = {"BM25": ranked([0.25] * 8), "BERT-Max": ranked([0.25 + gain for gain in gains]),
               "BERT-Mean": ranked([0.25] * 8), "BERT-Max, section labels": ranked([sections] * 8),
               "BERT-Mean, section labels": ranked([mean] * 8), DENSE: ranked([0.45] * 8)}
    signs = story.signs(systems)
    assert list(signs.values()) == [narrow, False, sections == 0.75, nearer, unpassed]
    without = {name: system for name, system in systems.items() if "labels" not in name}
    assert not story.signs(without)["labels of sections bring the mean nearer to the maximum"]
    assert not story.signs(without)["labels of sections surely help the maximum"]


@pytest.mark.parametrize("found, first, expected", [(0.75, 0.5, True), (0.75, 1.0, False), (0.5, 0.5, False)])
def test_the_mean_may_find_more_and_put_fewer_first(found, first, expected):
    systems = {"BM25": ranked([1.0, 0.5] * 4), "BERT-Max": ranked([0.5] * 8), "BERT-Mean": ranked([first] * 8, found),
               DENSE: ranked([0.5] * 8)}
    assert story.signs(systems)["the mean finds more than BM25 among the first ten, and puts fewer first"] is expected
