"""The file of what is known of the noise of training."""

from dataclasses import replace

import pandas as pd
import pytest
import yaml

import seed_noise
from dry_steps import write_page
from helpers.errors import BadInput
from helpers.pages import carried
from helpers.pages.carried import System
from helpers.retrieval.fusion import candidate_pool, z_scored
from helpers.systems.evaluated import Evaluation, kind_of, together, trainings
from helpers.systems.first_stages import first_stages
from helpers.systems.recipe import document_reader, recipe
from helpers.systems.rerankers import NextSentence, PointwiseReranker
from helpers.systems.testbed import Testbed


def made(name, *means, kind="re-rankers of passages", key=""):
    """A system over seeds with these means, of two queries that lie .1 from them."""
    runs = tuple(pd.DataFrame({"RR@10": [mean - 0.1, mean + 0.1]}, index=["a", "b"]) for mean in means)
    of = (kind, tuple((n,) for n in range(len(means))), key or name)
    return System(name, "c" * 64, sum(runs) / len(runs), runs if len(runs) > 1 else (), of if len(runs) > 1 else ("", (), ""))


@pytest.fixture
def kinds(places):
    places("CHAPTERS")
    return lambda **pages: yaml.safe_load(seed_noise.text([
        write_page(name, {"evaluations": carried.packed(list(systems))}) for name, systems in pages.items()]))["kinds"]


def test_variances_by_hand(kinds):
    # squares of (.3, .5) are .02, of (.3, .4) .005: .025 over two degrees of freedom. What is left without the common part
    # of the seeds, (-.025, .025) and its mirror image, has the squares .0025: twice that over one. A query's variance is .02.
    own = kinds(one=[made("x", 0.3, 0.5), made("y", 0.3, 0.4), made("BM25", 0.5)])["re-rankers of passages"]
    assert own["single"]["RR@10"] == pytest.approx({"variance": 0.0125, "freedom": 2, "share": 0.625})
    assert own["paired"]["RR@10"] == pytest.approx({"variance": 0.005, "freedom": 1, "share": 0.25})


def test_a_training_counts_once_where_it_has_most_seeds_and_kinds_apart(kinds):
    found = kinds(one=[made("x", 0.3, 0.5, key="k")],
                  two=[made("x", 0.3, 0.5, 0.4, key="k"), made("max", 0.1, 0.9, 0.5, key="k")],
                  three=[made("dense", 0.2, 0.4, kind="bi-encoders")])
    assert found["re-rankers of passages"]["single"]["RR@10"] == pytest.approx({"variance": 0.01, "freedom": 2, "share": 0.5})
    assert found["bi-encoders"]["single"]["RR@10"]["freedom"] == 1
    assert "paired" not in found["bi-encoders"]


def test_one_seed_says_nothing_of_noise(kinds):
    with pytest.raises(BadInput, match="no system with two seeds"):
        kinds(one=[made("x", 0.3)])


def test_a_training_is_of_a_kind_by_what_it_trains_and_from_where():
    bed, stages = Testbed("almanac", "passage"), first_stages()
    runs = {name: stages.run(name, bed, 10) for name in ("bm25", "deepct", "repbert")}
    steps = {"re-rankers of passages": recipe().model, "re-rankers of documents": document_reader().model,
             "re-rankers of documents, pairs new to the start": PointwiseReranker(start=NextSentence()).model,
             "BM25 over learned texts": runs["deepct"], "bi-encoders": runs["repbert"], "": runs["bm25"]}
    assert {kind: kind_of(step) for kind, step in steps.items()} == {kind: kind for kind in steps}
    merged = z_scored(runs["repbert"], runs["deepct"], 10, 0.5)
    assert kind_of(merged) == "bi-encoders" and kind_of(merged, trainings(runs["repbert"])) == "BM25 over learned texts"
    lists = [replace(stages.repbert, seed=seed).run(bed, 10) for seed in (1, 2)]  # one re-ranker reads those of two encoders
    read = [bed.documents(recipe().scores(bed, candidate_pool(lists), 20), "mean", own, 5) for own in lists]
    values = pd.DataFrame({"RR@10": [0.5]}, index=["a"])
    [system] = carried.collect(together("re-ranked", [Evaluation("x", pd.DataFrame(), values, step) for step in read]))
    assert system.of[0] == "bi-encoders"
