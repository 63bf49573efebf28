"""A training sees the texts of its own split's articles and nothing else: on the real Almanac."""

from dataclasses import replace

import pandas as pd
import pytest

from helpers import paths
from helpers.data.almanac import Almanac
from helpers.data.texts import Texts, article_of, articles_of, split_of, splits_of
from helpers.errors import BadInput
from helpers.steps import recipe
from helpers.steps.recorded import Recorded
from helpers.systems.bi_encoder import BiEncoder, DistilledEncoder
from helpers.systems.first_stages import TrainedDoc2Query, WordExpansion, first_stages, repbert
from helpers.systems.recipe import Student
from helpers.systems.recipe import recipe as book_recipe
from helpers.systems.rerankers import ListwiseReranker, NextSentence, WarmUp
from helpers.systems.starting_points import chosen_start
from helpers.systems.testbed import SplitTestbed
from toys import qrels_of


@pytest.fixture(scope="module")
def splits():
    return splits_of(Almanac())


def test_every_article_of_the_almanac_is_of_one_split(splits):
    assert pd.Series(splits).value_counts().to_dict() == {"train": 600, "test": 300, "dev": 100}


def test_a_passage_is_of_its_document_and_a_grade_below_the_lowest_makes_no_article():
    assert articles_of(qrels_of(q1={"food-007": 3, "food-008": 1}), 2) == {"food-007"}
    assert [article_of(text, {"food-007"}) for text in ("food-007", "food-007.3", "food-008.3")] == ["food-007", "food-007", None]
    assert [split_of(text, {"food-007": "dev"}) for text in ("food-007.3", "web")] == ["dev", ""]


@pytest.mark.parametrize("unit, texts", [("document", 600), ("passage", 3600)])
def test_the_texts_of_a_training_are_those_of_train_articles(unit, texts, splits, store):
    names = [text.doc_id for text in Texts(SplitTestbed("almanac", unit, ("train",)).store.value())]
    assert len(names) == texts
    assert {split_of(name, splits) for name in names} == {"train"}


def test_pseudo_queries_are_made_of_train_articles(splits, store):
    frame = WarmUp(spans=1).bed.query_step.value()
    train = set(Almanac().queries("train")["query_id"])
    made = frame[~frame["query_id"].isin(train)]
    assert (len(made), len(frame)) == (7200, 7200 + 3595)
    assert {split_of(name.partition("~")[0], splits) for name in made["query_id"]} == {"train"}


def foreign(part):
    """What a recipe reads of articles or queries that are not the train split's: the steps that take all of the Almanac's texts,
    and the data of another split. Below a training that reads relevant passages of its queries alone nothing counts."""
    if "data" in part:
        if part["data"][0] in ("queries", "qrels") and part["data"][-1] != "train":
            yield tuple(part["data"])
    elif not reads_relevant_passages_alone(part):
        if part["step"] != "split_store" and any(all_of_the_almanac(below) for below in recipe.input_steps(part)):
            yield part["step"]
        for below in recipe.parts_in(list(part["arguments"].values())):
            yield from foreign(below)


def all_of_the_almanac(part):
    return part["step"] == "text_store" and part["arguments"]["texts"]["collection"].startswith("almanac")


def reads_relevant_passages_alone(part):
    """RepBERT, whose negatives are the batch's other relevant passages, and DeepCT."""
    arguments = part["arguments"]
    return part["step"] == "deepct" or (
        part["step"] == "bi_encoder" and arguments["loss"] == "multi_label_margin" and not arguments["negatives"])


STARTED = replace(repbert(backbone="packaged:0,1,2", queries=0), own_articles=True)  # as in `repbert`, like the next three
MASKED_WORDS = replace(repbert(queries=0), own_articles=True, start=chosen_start("packaged").model)
MARGINS = replace(STARTED, loss="margin_mse", negatives=1, candidates=10, negatives_from=STARTED, denoised_by=book_recipe().start)
BY_WORD = replace(first_stages().zero_shot, similarity="max_sim", loss="contrastive", queries=0, negatives=1, candidates=20,
                  negatives_from=first_stages().zero_shot, own_articles=True)
TEACHER = ListwiseReranker(start=WarmUp())
ANSWERED = replace(TEACHER.on("packaged:0,1,2").start.further(7_000), reranker=TEACHER)
THEN_JUDGED = Student(TEACHER, start=ANSWERED).judgments_alone()
QUESTIONS = BiEncoder(queries=0, negatives=1, pooling="cls", loss="contrastive", similarity="dot", steps=240)


@pytest.mark.parametrize("model", [WarmUp(), ListwiseReranker(start=WarmUp()), ListwiseReranker(negatives="bm25"), BiEncoder(),
                                   ListwiseReranker(start=NextSentence()),
                                   BiEncoder(negatives_from=BiEncoder(loss="none")), WordExpansion(), MARGINS, BY_WORD,
                                   MASKED_WORDS, TrainedDoc2Query(), QUESTIONS, ANSWERED, THEN_JUDGED, DistilledEncoder(),
                                   DistilledEncoder().of(BiEncoder())])
def test_no_step_of_a_training_reads_another_splits_texts_queries_or_judgments(model):
    assert list(foreign(model.model.recipe())) == []


def test_a_training_that_reads_all_articles_is_found():
    assert {"training_pairs", "text_index"} <= set(foreign(BiEncoder(own_articles=False).model.recipe()))
    assert ("queries", "dev") in set(foreign(WarmUp(splits=("dev",)).model.recipe()))


def test_the_recorded_trainings_of_the_default_book_read_their_own_articles():
    trainings = [manifest["recipe"]["arguments"]["model"] for manifest in Recorded(paths.RESULTS).manifests("training_log")]
    for trained in trainings:
        assert not list(foreign(trained)), trained["step"]
    assert {"bi_encoder", "deepct", "distilled_cross_encoder", "distilled_encoder", "listwise_cross_encoder",
            "pointwise_cross_encoder", "pretrained", "query_writer",
            "word_expansion"} == {trained["step"] for trained in trainings}


def test_a_collection_that_is_not_split_by_article_keeps_its_texts(folder):
    bed = SplitTestbed(str(folder), splits=("train",))
    assert bed.store.name == "text_store"
    assert not bed.source.split_by_article
    with pytest.raises(BadInput, match="answers queries of train and of dev"):
        splits_of(type("Both", (Almanac,), {"qrels": lambda self, unit, split: qrels_of(q1={"d1": 3})})())
