"""What the chapters on RepBERT share: names of first stages, their runs and evaluations, and the depth of the lists."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from helpers.data import package_index
from helpers.data.texts import Texts
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.verdicts import as_label, model_name, short_name
from helpers.pages import page
from helpers.pages.claims import load
from helpers.pages.fragments import Fragment, count, plain
from helpers.pages.results import Results
from helpers.steps import Step
from helpers.systems.evaluated import Evaluation, RerankingExperiment, Scorer, Systems, evaluate, evaluate_values, together
from helpers.systems.first_stages import STAGES, FirstStages, is_given, on_all_queries, repbert
from helpers.systems.starting_points import chosen_start
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZeroShotReranker

STUDY = "zhan2020"
STUDIED = {"bm25": "BM25(Anserini)", "doc2query": "doc2query", "doctttttquery": "docTTTTTquery", "deepct": "DeepCT",
           "repbert": "RepBERT"}  # in its tables
TABLE, RERANKED = "1", "BM25 + BERT Large"  # each first stage alone, and a row of two stages
EXPANSION = "expansion"  # the book's own, in the place of docTTTTTquery, and no system of the study
UNTRAINED, LARGER = "minilm", "mpnet"  # the backbone as it is, and an encoder of base size
UNKEPT = ("doc2query",)  # of which the book keeps values alone, neither model nor lists
OWN = {"untrained": "RepBERT before training", EXPANSION: "learned expansion"}
IMPROVED = ("doctttttquery", "deepct", "doc2query")  # BM25 made better by a language model
STUDIED_DEPTH = 1000  # of the study's lists
MASKED = "RepBERT from masked words"
KEPT, KEPT_QUERIES, KEPT_DEPTH = (1, 4, 5), 400, 100  # the seeds whose lists of it the book has, for so many queries


def label(stage: str, backbone: str = "packaged") -> str:
    """How pages call a stage: as the study does, by a model's name, or, for a published run, by its file: `run.tas-b.txt` is
    `tas-b`; RepBERT and the zero-shot encoder by their backbone's, too."""
    if stage in (UNTRAINED, LARGER):
        return ZeroShotReranker(backbone if stage == UNTRAINED else package_index.SPEC).label
    if is_given(stage):
        return short_name(stage)
    known = STUDIED | OWN | {"repbert": f"RepBERT on {model_name(backbone)}"}  # for what it starts from may decide its rank
    return known.get(stage) or as_label(Path(stage).stem.removeprefix("run."))


def labels(recipes: FirstStages, names: Sequence[str]) -> dict[str, str]:
    """How pages call each stage; BadInput for two of one name: the tables could not tell them apart."""
    labels = {name: label(name, recipes.repbert.backbone) for name in names}
    if len(set(labels.values())) < len(names):
        raise BadInput(f"two of the stages {', '.join(names)} have one name", mend="name each stage once, or rename a file")
    return labels


def runs(recipes: FirstStages, names: Sequence[str], bed: Testbed, depth: int) -> dict[str, Step]:
    """The run of each stage, in the given order; BadInput for two of one name."""
    labels(recipes, names)
    return {name: recipes.run(name, bed, depth) for name in names}


def masked_lists(recipes: FirstStages, bed: Testbed) -> list[Step]:
    """RepBERT from masked words, as the chapter `repbert` judges it: the lists that the book keeps, a training run each, for the
    queries of a testbed; none where another encoder or collection is asked for."""
    if (bed.collection, bed.unit) != ("almanac", "passage") or replace(recipes.repbert, seed=1) != repbert():
        return []
    start = chosen_start(recipes.repbert.backbone).model
    return [on_all_queries(recipes.repbert, seed=seed, start=start).run(bed, KEPT_DEPTH) for seed in KEPT]


def measures_at(depth: int) -> list[str]:
    """RR@10, recall in the list, and recall in the first thousand as the study has it."""
    return list(dict.fromkeys(["RR@10", f"R@{depth}", f"R@{STUDIED_DEPTH}"]))


def evaluations(runs: Mapping[str, Step], bed: Testbed, depth: int, *more: str, backbone: str = "packaged"
                ) -> Results[str]:
    """Each stage alone, in the measures above and in others that are named."""
    names = list(dict.fromkeys([*more, *measures_at(depth)]))
    return Results({name: (evaluate_values if name in UNKEPT else evaluate)(label(name, backbone), run, bed, names)
                    for name, run in runs.items()})


def doc2query_over_seeds(recipes: FirstStages, seeds: Sequence[int], bed: Testbed, depth: int) -> Evaluation:
    """doc2query over the trainings of several seeds; the book keeps values alone, no lists."""
    name = label("doc2query")
    return together(name, [evaluate_values(name, replace(recipes.doc2query, seed=seed).run(bed, depth), bed, measures_at(depth))
                           for seed in seeds])


def by_rows(systems: Systems) -> Results[str]:
    """Evaluations by stage, under the study's names; those that it lacks under their own."""
    return Results({STUDIED.get(stage, system.label): system for stage, system in systems.items()})


def reranked(runs: Mapping[str, Step], bed: Testbed, models: Sequence[Scorer], depths: Sequence[int]
             ) -> Results[tuple[str, int]]:
    """A model, or one over its seeds, over the first candidates of every stage, by stage and depth, in RR@10 and by the mean of
    windows: those of a stage are scored once, at the largest depth. Nothing for no depths."""
    return Results({(stage, depth): system for stage, run in runs.items() if depths for depth, system in RerankingExperiment(
        bed, run, max(depths), measures=("RR@10",)).at_depths(models, depths, stage not in UNKEPT).items()})


def stand_in(dense: str, chapter: str) -> dict[str, str]:
    """Why a chapter's claims on RepBERT cannot be compared where a stage of others takes its place; nothing where it does not."""
    return {} if dense in STAGES else {claim.declared: f"{label(dense)}, which was not trained here, stands for RepBERT"
                                       for claim in load().values() if claim.chapter == chapter}


def exact_match(names: Sequence[str], dense: str) -> list[str]:
    """The stages that stand beside RepBERT in the study: all but it, encoders without training, and the book's own."""
    return [name for name in names if name not in (dense, UNTRAINED, LARGER, *OWN)]


def depth_note(bed: Testbed, depth: int) -> Fragment:
    """How deep the lists are, beside the study's."""
    texts = len(Texts(bed.store.value()))
    share = f"{min(1.0, depth / texts):.1%} of the {count(texts)} texts here"
    if depth == STUDIED_DEPTH:
        return page.prose(f"Lists hold {depth} texts a query, as in the study; that is {share}.")
    passages = published.value("david2020", "text 4.1", "MS MARCO", "passages").value
    return page.prose(f"Lists hold {depth} texts a query, {share}; the study's hold {count(STUDIED_DEPTH)} of "
                      f"{plain(passages / 1e6, 1)} million. Recall is that of the list, R@{depth}; the study's "
                      f"R@{STUDIED_DEPTH} is not comparable with it.")
