"""What an encoder is pre-trained on: the texts of one source or of several, those of one split's articles where a collection is
split by article."""

import re

from helpers.data import queries
from helpers.data.articles import split_store
from helpers.data.collection import open_collection
from helpers.data.collection_base import Collection
from helpers.data.texts import merged_store, text_store
from helpers.data.tokens import window_tokens
from helpers.data.windows import WHOLE
from helpers.networks.backbone import Backbone
from helpers.pretraining.pretraining_data import corpus
from helpers.steps import Step


def pretraining_texts(texts: str, unit: str, articles: str, backbone: Backbone) -> tuple[Step, Step, Step]:
    """The ids of what is read, the store that has it, and its tokens.

    Args:
        texts: a collection or a folder of text files, several as `almanac + dictionaries`; the first thousand texts of them as
            `almanac[:1000]`.
        unit: `document` or `passage`.
        articles: the split whose articles alone are read where a collection is split by article; empty for all.
    """
    names, first = portion(texts)
    stores = [own_store(open_collection(name), unit, articles) for name in names]
    store = stores[0] if len(stores) == 1 else merged_store(stores)
    return corpus(store, first), store, window_tokens(store, backbone.whole(), WHOLE, 0)


def portion(texts: str) -> tuple[list[str], int | None]:
    """The sources, and how many of their texts are read (None for all): `almanac[:1000]` is the Almanac's first thousand."""
    match = re.fullmatch(r"(.+)\[:(\d+)\]", texts)
    names, first = (match[1], int(match[2])) if match else (texts, None)
    return names.split(" + "), first


def own_store(source: Collection, unit: str, articles: str) -> Step:
    """The texts of a collection that may be read."""
    store = text_store(source.part("texts", unit))
    if not (articles and source.split_by_article):
        return store
    judgments = queries.qrels([source.part("qrels", "document", articles)])
    return split_store(store, judgments, source.relevant_from("document", articles))
