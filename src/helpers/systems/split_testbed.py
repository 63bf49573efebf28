"""A testbed over the articles of its own splits: a training's index, embeddings and candidates hold nothing of dev or test."""

from dataclasses import dataclass

from helpers.data import queries
from helpers.data.articles import QUERY_SPLITS, split_store
from helpers.errors import BadInput
from helpers.retrieval.lucene import text_index
from helpers.steps import Step
from helpers.systems.testbed import Testbed


@dataclass(frozen=True)
class SplitTestbed(Testbed):
    """The same, but for the texts: those of articles that answer its splits' queries, where the collection is split by article.

    Elsewhere (MS MARCO) training and test queries share their texts, and all of them stay. BadInput for splits that are not of
    articles, such as `topics`, whose answers are among all.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.source.split_by_article and (mixed := set(self.splits) - set(QUERY_SPLITS)):
            raise BadInput(f"the split {', '.join(sorted(mixed))} has articles of dev and test, too",
                           mend=f"train on one of {', '.join(QUERY_SPLITS)}")

    @property
    def store(self) -> Step:
        """The text store of the splits' articles."""
        if not self.source.split_by_article:
            return super().store
        judgments = queries.qrels([self.source.part("qrels", "document", split) for split in self.splits])
        return split_store(super().store, judgments, self.source.relevant_from("document", self.splits[0]))

    @property
    def index(self) -> Step:
        """The Lucene index of these texts."""
        return text_index(self.store) if self.source.split_by_article else super().index
