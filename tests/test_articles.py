"""A training sees the texts of its own split's articles and nothing else: on the real Almanac."""

import json

import pandas as pd
import pytest

from helpers import paths
from helpers.data.almanac import Almanac
from helpers.data.articles import article_of, articles_of, split_of, splits_of
from helpers.data.texts import Texts
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.reranking.groups import labelled_groups
from helpers.steps import recipe
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.listwise_reranker import ListwiseReranker, WarmUp
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


def foreign(whole):
    """The steps of a recipe that read all articles, and its data of another split."""
    for part in recipe.parts(whole):
        if "step" in part:
            takes_all = any(below["step"] == "text_store" for below in recipe.input_steps(part))
            if takes_all and part["step"] != "split_store":
                yield part["step"]
        elif part["data"][0] in ("queries", "qrels") and part["data"][-1] != "train":
            yield part["data"]


@pytest.mark.parametrize("model", [WarmUp(), ListwiseReranker(start=WarmUp()), ListwiseReranker(negatives="bm25"), BiEncoder(),
                                   BiEncoder(negatives_from=BiEncoder(loss="none"))])
def test_no_step_of_a_training_reads_another_splits_texts_queries_or_judgments(model):
    assert list(foreign(model.model.recipe())) == []


MAY_READ = {  # what a recorded training may do with all articles, by what is trained
    "dictionaries": {"merged_store"},  # their articles are all the training's; the Almanac's are cut before they are merged
    # relevant passages of train queries alone
    "in-batch": {"text_index", "candidates_with_positives", "training_pairs", "window_tokens", "bi_encoder"},
    "deepct": {"term_recall", "deepct"}}


def kind_of(trained):
    """What a recorded training is: `in-batch` for a bi-encoder that meets no negative but the batch's relevant passages."""
    arguments = trained["arguments"]
    if trained["step"] == "bi_encoder":
        return "open QA" if arguments["loss"] == "contrastive" else "triplets" if arguments["negatives"] else "in-batch"
    return trained["step"]


def test_the_recorded_trainings_of_the_default_book_read_their_own_articles():
    kinds = set()
    for file in sorted((paths.RESULTS / "training_log").glob("*/*/manifest.json")):
        trained = recipe.unfolded(json.loads(file.read_text())["recipe"])["arguments"]["model"]
        kinds.add(kind := kind_of(trained))
        allowed = MAY_READ.get(kind, set()) | MAY_READ["dictionaries"]
        if kind == "listwise_cross_encoder":  # its negatives may come from RepBERT's ranking of its own articles
            allowed |= MAY_READ["in-batch"]
        if kind != "open QA":  # known, and told among the divergences of its study
            assert set(foreign(trained)) <= allowed, file.parent.parent.name
    assert {"pretrained", "listwise_cross_encoder", "triplets", "in-batch", "deepct"} <= kinds


@pytest.mark.slow
def test_a_text_of_another_split_cannot_be_drawn(store):
    bed = SplitTestbed("almanac", "passage", ("train",), queries=1)
    query = bed.query_frame["query_id"][0]
    dev = next(name for name, split in splits_of(Almanac()).items() if split == "dev")
    run = pd.DataFrame({"query_id": [query], "doc_id": [f"{dev}.0"], "score": [1.0]})
    with pytest.raises(KeyError, match="no text"):
        labelled_groups.definition.function(bed.query_frame, bed.qrels_step.value(), 2, [run], bed.store.value(),
                                            bed.tokens(backbone.resolve("packaged")).value(), 2, 10, 1)


def test_topics_are_of_all_articles_and_refused():
    with pytest.raises(BadInput, match="topics has articles of dev and test"):
        SplitTestbed("almanac", "passage", ("topics",))


def test_a_collection_that_is_not_split_by_article_keeps_its_texts(folder):
    bed = SplitTestbed(str(folder), splits=("train",))
    assert bed.store.name == "text_store"
    assert not bed.source.split_by_article
    with pytest.raises(BadInput, match="answers queries of train and of dev"):
        splits_of(type("Both", (Almanac,), {"qrels": lambda self, unit, split: qrels_of(q1={"d1": 3})})())
