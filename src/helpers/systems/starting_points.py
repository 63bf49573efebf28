"""Where a fine-tuning starts from: a start that can guess words, and what goes on from it (Gao & Callan 2021, sections 4.3 to 5).

    start = language_model("almanac + dictionaries", "packaged", epochs=1)
    branches(start, "almanac", epochs=1, learning_rate=3e-4, head_probability=0.5, seed=1)[CONDENSER].model.value()

| name | what |
|---|---|
| `start` | knowledge-ready, sentence-unready: the study's BERT |
| `+ MLM` | masked words alone, with the same texts and steps: what does the head add? |
| `+ Condenser` | masked words with the Condenser head; three more kinds of head are variants of it |
| `+ Condenser, continued` | Condenser, and on with the passages that will be searched |

Two tasks over sentences on which starting points are compared (Gao & Callan 2021, section 5.2).

| task | trained on | measured |
|---|---|---|
| similarity | scored pairs: the cosine towards the score, by squared error | Spearman's correlation over pairs |
| sections | triplets: two sentences of a section, one of another section of the same document | the share told apart |

Both use the state of [CLS]. Beside them stand encoders that were not trained on the task: the backbone by its mean states, the
start by its [CLS].
"""

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from helpers.data import stsb
from helpers.data.collection import open_collection
from helpers.data.texts import merged_store, text_store
from helpers.data.windows import WHOLE, window_tokens
from helpers.errors import BadInput
from helpers.evaluation.hierarchical import own_noise
from helpers.evaluation.rank_correlation import rank_correlations
from helpers.evaluation.significance import PERMUTATIONS, SEED, Interval, Paired, intervals, student, training_draws
from helpers.evaluation.verdicts import model_name
from helpers.networks import backbone
from helpers.networks.fine_tuning import Schedule, Trained
from helpers.pretraining.masking import corpus
from helpers.pretraining.sentences import almanac_pairs, fold, predicted_similarity, sample, section_triplets, triplet_accuracy
from helpers.pretraining.training import MaskedTraining, pretrained
from helpers.registry import Registry
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation, together
from helpers.systems.testbed import SplitTestbed
from helpers.systems.zero_shot import ZERO_SHOT

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


AS_IT_IS = f"{START}, as it is"
ALMANAC, FOLDS = "almanac", 3  # its pairs have no files of their own for training and test: they are cross-validated
POOLING, MARGIN = "cls", 1.0
STSB_PAIRS = 5749  # of the benchmark's training file
MEASURE = "spearman"


@dataclass(frozen=True)
class Correlation(Evaluation):
    """One of the systems of `rank_correlations`, wherever an `Evaluation` may stand; its one measure is `spearman`."""

    facts: dict[str, Any] = field(default_factory=dict, repr=False)  # the step's value

    @property
    def seed_means(self) -> pd.DataFrame:
        """A row a seed with its rho."""
        return pd.DataFrame({MEASURE: self.facts["systems"][self.label]["seeds"]})

    def mean(self, measure: str = MEASURE) -> Interval:
        """The mean rho over seeds, and its 95 % interval over pairs."""
        own = self.facts["systems"][self.label]
        return Interval(own["mean"], own["low"], own["high"])

    def against(self, baseline: Evaluation, measure: str = MEASURE, drawn: bool = True) -> Paired:
        """The paired comparison with another system of the same step, which made it over pairs, with the noise of the seeds;
        ValueError for any other evaluation."""
        if not isinstance(baseline, Correlation) or baseline.facts is not self.facts:
            raise ValueError("two systems of one step are wanted")
        if baseline.label == self.label:
            none = Interval(0.0, 0.0, 0.0)
            return Paired(none, none, 1.0, 1.0, (self.facts["pairs"],), 0.0, "pairs")
        ours, theirs = (np.array(self.facts["systems"][system.label]["seeds"]) for system in (self, baseline))  # rho of each
        own = self.facts["against"][self.label][baseline.label]  # over pairs: it holds for these trained models
        error, mean = (own["high"] - own["low"]) / (2 * special.ndtri(0.975)), own["difference"]
        noise = own_noise(ours, theirs)
        draws = error * student(math.inf, PERMUTATIONS, SEED) + training_draws(noise, 1, PERMUTATIONS, SEED + 1)[:, 0]
        p = float((np.abs(draws) >= abs(mean)).mean()) if noise.variance else 0.0
        return Paired(*intervals(mean, draws), own["p_t"], max(p, own["p_permutation"]), (self.facts["pairs"],),
                      float(np.hypot(error, np.sqrt(noise.variance))), "pairs", noise)


def correlations(source: Step) -> dict[str, Correlation]:
    """The systems of a step of `rank_correlations`, by name."""
    facts = source.value()
    return {name: Correlation(name, pd.DataFrame(), pd.DataFrame(), source, unit="pairs", facts=facts)
            for name in facts["systems"]}


def training_pairs(pairs: str) -> int:
    """How many pairs there are to train on."""
    return len(almanac_pairs().value()) * (FOLDS - 1) // FOLDS if pairs == ALMANAC else STSB_PAIRS


def similarity(pairs: str, starts: Starts, spec: str, sizes: Sequence[int],
               trained: Schedule) -> tuple[dict[tuple[str, int], Correlation], dict[str, Correlation]]:
    """Spearman's correlation by start and size; and of encoders as they are.

    The Almanac's pairs are cross-validated: each third is judged by an encoder that was trained on the other two. Of the STS
    benchmark, `pairs` names the folder or hub dataset; it has a training file and a test file.
    """
    truth = almanac_pairs() if pairs == ALMANAC else stsb.pairs(pairs, "test")
    seeds = list(next(iter(starts.values())))

    def sides(seed: int) -> list[tuple[Step, Step]]:
        if pairs != ALMANAC:
            return [(stsb.pairs(pairs, "train"), truth)]
        return [(fold(truth, number, FOLDS, seed, True), fold(truth, number, FOLDS, seed, False)) for number in range(FOLDS)]

    def predicted(size: int, seed: int, pooling: str, weights: Step | None, own: Schedule) -> list[Step]:
        return [predicted_similarity(sample(train, size, seed), test, backbone.resolve(spec), pooling, weights,
                                     **vars(replace(own, seed=seed))) for train, test in sides(seed)]

    places = {f"{start}, {size or 'all'}": (start, size) for start in starts for size in sizes}
    predictions = {name: [predicted(size, seed, POOLING, starts[start][seed], trained) for seed in seeds]
                   for name, (start, size) in places.items()}
    known = {name: [predicted(sizes[0], seeds[0], *encoder, replace(trained, epochs=0, steps=None))] * len(seeds)
             for name, encoder in untrained(starts, spec).items()}
    by_name = correlations(rank_correlations(predictions | known, truth))
    return {place: by_name[name] for name, place in places.items()}, {name: by_name[name] for name in known}


def sections(starts: Starts, spec: str, collection: str, sizes: Sequence[int], triplets: int, tested: int,
             trained: Schedule) -> tuple[dict[tuple[str, int], Evaluation], dict[str, Evaluation]]:
    """Accuracy on triplets of sentences by start and size; and of encoders as they are. Train and test triplets come from
    articles of their own where the collection is split by article: those that are relevant to a split's queries."""
    beds = [SplitTestbed(collection, "document", (split,)) for split in ("train", "test")]
    train, test = (section_triplets(bed.store, bed.qrels_step, count, 1, bed.min_relevance)
                   for bed, count in zip(beds, (triplets, tested), strict=True))

    def accuracy(label: str, size: int, pooling: str, weights: Step | None, own: Schedule) -> Evaluation:
        step = triplet_accuracy(sample(train, size, own.seed), test, backbone.resolve(spec), pooling, MARGIN, weights,
                                **vars(own))
        return Evaluation(label, pd.DataFrame(), step.value().set_index("triplet_id"), step, unit="triplets")

    known = {name: accuracy(name, sizes[0], *encoder, replace(trained, epochs=0, steps=None))
             for name, encoder in untrained(starts, spec).items()}
    return {(start, size): together(f"{start}, {size or 'all'}", [
        accuracy(f"{start}, {size or 'all'}, seed {seed}", size, POOLING, weights, replace(trained, seed=seed))
        for seed, weights in by_seed.items()]) for start, by_seed in starts.items() for size in sizes}, known


def untrained(starts: Starts, spec: str) -> Mapping[str, tuple[str, Step | None]]:
    """Pooling and weights of what is measured as it is: the backbone by its mean states, the start by its [CLS]."""
    own = {AS_IT_IS: (POOLING, next(iter(starts[START].values())))} if START in starts else {}
    return {f"{ZERO_SHOT} {model_name(spec)}": ("mean", None), **own}
