"""Where a fine-tuning starts from: a start that can guess words, and what goes on from it (Gao & Callan 2021, sections 4.3 to 5).

    start = language_model("almanac + dictionaries", "packaged", epochs=1)
    branches(start, "almanac", epochs=1, learning_rate=3e-4, head_probability=0.5, seed=1)[CONDENSER].model.value()

| name | what |
|---|---|
| `start` | knowledge-ready, sentence-unready: the study's BERT |
| `+ MLM` | masked words alone, with the same texts and steps: what does the head add? |
| `+ Condenser` | masked words with the Condenser head; three more kinds of head are variants of it |
| `+ Condenser, continued` | Condenser, and on with the passages that will be searched |
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from helpers.data.collection import open_collection
from helpers.data.texts import merged_store, text_store
from helpers.data.windows import WHOLE, window_tokens
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.networks.fine_tuning import Trained
from helpers.pretraining.masking import corpus
from helpers.pretraining.training import MaskedTraining, pretrained
from helpers.registry import Registry
from helpers.steps import Step
from helpers.systems.testbed import SplitTestbed

START, MLM, CONDENSER, CONTINUED = "start", "+ MLM", "+ Condenser", "+ Condenser, continued"
BLIND, EMBEDDED, MASKED = "+ head without late [CLS]", "+ Condenser over embeddings", "+ Condenser, head masks more"
BRANCHES = (MLM, CONDENSER, BLIND, EMBEDDED, MASKED)
HEAD_PROBABILITY = 0.5  # share of the words that the head with masks of its own misses
NAMES = (START, *BRANCHES, CONTINUED)
CONTINUED_EPOCHS, CONTINUED_RATE = 1, 1e-4  # of the continued pre-training; the rate is a third of the first one's
SAMPLE = 200  # texts whose [CLS] states and attention are compared
Starts = Mapping[str, Mapping[int, Step | None]]  # weights by starting point and fine-tuning seed, None for the backbone's own


@dataclass(frozen=True)
class Pretraining(Trained, MaskedTraining):
    """What is pre-trained on what; how, `MaskedTraining` has."""

    # what is read: a collection or a folder of text files, several as `almanac + dictionaries`; some of their texts as `portion`
    texts: str = "almanac"
    unit: str = "passage"  # `document` or `passage`
    backbone: str = "packaged"
    early: int | None = None  # layers below the short circuit, 0 for the embeddings; None for half of them, as in the study
    head_layers: int = 2  # of the Condenser head; 0 for masked words alone
    _: KW_ONLY
    epochs: int = 8
    max_length: int = 128
    start: "Pretraining | None" = None  # the pre-training that this one goes on from
    articles: str = ""  # the split whose articles alone are read where a collection is split by article; empty for all

    @functools.cached_property  # a step's key takes the digests of all its data
    def model(self) -> Step:
        """The folder of the pre-trained encoder."""
        names, *part = portion(self.texts)
        stores, encoder = [self.read(name) for name in names], backbone.resolve(self.backbone)
        store = stores[0] if len(stores) == 1 else merged_store(stores)
        return pretrained(corpus(store, *part), store, window_tokens(store, encoder.whole(), WHOLE, 0), encoder,
                          backbone.layers(encoder) // 2 if self.early is None else self.early, self.head_layers,
                          None if self.start is None else self.start.model, **self.settings(MaskedTraining))

    def read(self, name: str) -> Step:
        """The texts of a collection that may be read."""
        source = open_collection(name)
        if self.articles and source.split_by_article:
            return SplitTestbed(name, self.unit, (self.articles,)).store
        return text_store(source.part("texts", self.unit))

    def measured(self, how: Callable[..., Step], sample: int, weights: Step | None) -> Step:
        """What `cls_cosines` or `cls_attention` says of [CLS] in a sample of what it read: with its own weights or with others,
        so that all are compared on the same texts; None for the backbone's."""
        read = self.model.arguments
        return how(read["texts"], read["store"], read["tokens"], read["backbone"], sample, self.max_length, 1, weights)

    def continued(self, collection: str, epochs: int, learning_rate: float) -> "Pretraining":
        """On with all the texts of a collection, head and output kept."""
        return replace(self, texts=collection, articles="", epochs=epochs, learning_rate=learning_rate, start=self)


def portion(texts: str) -> tuple[list[str], int | None, int | None]:
    """What is read, and the places of its texts where that ends and begins (None for its own): `almanac[:1000]` is the Almanac's
    first thousand, `almanac[1000:]` are all others."""
    match = re.fullmatch(r"(.+)\[(\d*):(\d*)\]", texts)
    names, begin, end = match.groups() if match else (texts, "", "")
    return names.split(" + "), int(end) if end else None, int(begin) if begin else None


def language_model(texts: str, backbone: str, **settings: Any) -> Pretraining:
    """A start that is ready for knowledge and not for sentences: the whole backbone after a long masked-word training, in which
    what an earlier contrastive training made of its vectors is worn down."""
    return Pretraining(texts, backbone=backbone, head_layers=0, learning_rate=3e-4, **settings)


def branches(start: Pretraining, texts: str, epochs: int, learning_rate: float, head_probability: float,
             seed: int) -> dict[str, Pretraining]:
    """What may go on from a start with the same texts, masks and steps, by name; the last head sees other masks, so many."""
    plain = replace(start, start=start if start.epochs else None, texts=texts, epochs=epochs, learning_rate=learning_rate,
                    seed=seed, evaluations=10)
    head = replace(plain, head_layers=2)
    return {MLM: plain, CONDENSER: head, BLIND: replace(head, late_cls=False), EMBEDDED: replace(head, early=0),
            MASKED: replace(head, early=0, head_probability=head_probability)}


PRETRAININGS: Registry[dict[str, Any]] = Registry("pre-training", {
    # for two cores, from a backbone that others made an encoder of: the start's passes first, as in the chapter `condenser`
    "chosen": {"start_epochs": 1, "epochs": 1, "learning_rate": 3e-4, "mlm_probability": 0.3, "articles": "train"},
    # Gao & Callan 2021, section 5.1: the start is BERT, which has guessed masked words already
    "study": {"start_epochs": 0, "epochs": 8, "learning_rate": 1e-4, "mlm_probability": 0.15, "articles": "train"},
})


def made(pretraining: str, texts: str, backbone: str,
         seeds: Sequence[int]) -> tuple[Pretraining, dict[int, dict[str, Pretraining]]]:
    """A start, and by seed what goes on from it, by one of `PRETRAININGS`. Branches read the texts, the start their sources."""
    chosen, names = PRETRAININGS[pretraining], portion(texts)[0]
    start = language_model(" + ".join(names), backbone, epochs=chosen["start_epochs"], unit=unit_of(names[0]),
                           articles=chosen["articles"], mlm_probability=chosen["mlm_probability"])
    return start, {seed: branches(start, texts, chosen["epochs"], chosen["learning_rate"], HEAD_PROBABILITY, seed)
                   for seed in seeds}


def starting_weights(names: Sequence[str], pretraining: str, texts: str, backbone: str, seeds: Sequence[int],
                     target: str = "") -> Starts:
    """The weights of each starting point of `made`; each fine-tuning seed continues from a pre-training of its own. The continued
    pre-training is on `target`. BadInput for an unknown name."""
    if unknown := set(names) - set(NAMES):
        raise BadInput(f"no starting point {sorted(unknown)[0]}", mend=f"choose from {', '.join(NAMES)}")
    start, by_seed = made(pretraining, texts, backbone, seeds)

    def weights(name: str, own: Mapping[str, Pretraining]) -> Step | None:
        if name == START:
            return start.model if start.epochs else None
        return (own[CONDENSER].continued(target, CONTINUED_EPOCHS, CONTINUED_RATE) if name == CONTINUED else own[name]).model

    return {name: {seed: weights(name, own) for seed, own in by_seed.items()} for name in NAMES if name in names}


def untouched(pretraining: str, backbone: str) -> str:
    """What the fine-tunings start from where nothing was pre-trained before the branches; empty else."""
    return "" if PRETRAININGS[pretraining]["start_epochs"] else backbone


def chosen_start(backbone: str) -> Pretraining:
    """The start of the chapter `condenser`: a backbone after its long training on masked words."""
    return made("chosen", "almanac + dictionaries", backbone, ())[0]


def unit_of(collection: str) -> str:
    """What a dense encoder reads of a collection: passages, or documents where there are none."""
    return max(open_collection(collection).units)
