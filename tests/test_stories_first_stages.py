"""The chapters on RepBERT: what they say follows the values. Differences are constant over eight queries where a test reads the
words, so that the permutation test's p is known: 2 / 2^8 = 0.008."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pandas as pd
import pytest

import toys
from helpers.data.runs import cut, to_trec
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.verdicts import AGREES, DISAGREES, SMALL, UNTESTED
from helpers.pages import stages
from helpers.reranking.aggregation import AGGREGATIONS
from helpers.retrieval.fusion import MEASURE as FACTOR
from helpers.stories import depth, first_stage, mismatch
from helpers.stories import repbert as repbert_story
from helpers.systems.evaluated import Evaluation
from helpers.systems.first_stages import first_stages, repbert
from helpers.systems.recipe import recipe
from helpers.systems.testbed import Testbed
from tables import caption, cells, text_of, verdicts_of
from toys import Bed, Letters, Value, qrels_of, run_of

HUB = "hub:google-bert/bert-base-uncased@main"
QUERIES = [f"q{n}" for n in range(8)]


def system(shift=0.0, recall=0.0, label="x"):
    """A toy whose RR@10 is shifted, and whose recall has a shift of its own."""
    toy = toys.system(shift, label, shifts={"R@1000": recall, "R@100": recall, "R@200": recall + 0.125})
    return replace(toy, values=toy.values.drop(columns="R@10"))


# ---- names ----

def test_two_stages_of_one_name_are_refused():
    with pytest.raises(BadInput, match="have one name"):
        stages.runs(first_stages(), ["a/run.x.txt", "b/run.x.txt"], None, 10)
    with pytest.raises(BadInput, match="have one name"):
        stages.runs(first_stages(), ["bm25", "bm25"], None, 10)


def test_the_exact_match_stages_are_those_beside_the_dense_one():
    assert stages.exact_match(["bm25", "deepct", "repbert", "untrained", "minilm"], "repbert") == ["bm25", "deepct"]
    assert stages.exact_match(["bm25", "expansion", "repbert"], "repbert") == ["bm25"]  # the book's own is no system of the study
    assert stages.exact_match(["run.a", "run.b"], "run.b") == ["run.a"]


# ---- RepBERT ----

LOG = {"queries": 1400, "steps": 108, "log": [{"step": 0, "eval_loss": 0.008}, {"step": 9, "loss": 0.009},
                                              {"step": 108, "eval_loss": 0.006}]}


def test_settings_stand_beside_the_studys():
    rows = {row[0]: row[1:] for row in cells(repbert_story.settings_table(repbert(backbone="packaged:0,1,2"), LOG))}
    assert rows["encoder layers"] == ["12", "3"]
    assert rows["vector dimension"] == ["768", "384"]
    assert rows["batch size"] == ["26", "26"]
    assert rows["maximum query length"] == ["20", "20"]
    assert rows["training steps"] == ["350 thousand", "108"]
    assert rows["query-document pairs seen"] == ["18.2 million", "2,800"]
    assert rows["warm-up steps"] == ["10000", "10"]


@pytest.mark.parametrize("shift, verdict", [(0.25, AGREES), (0.0, SMALL), (-0.25, DISAGREES)])
def test_repbert_is_judged_against_bm25(shift, verdict):
    shown = repbert_story.claims_table({"bm25": system(), "repbert": system(shift), "untrained": system(-0.5)}, HUB)
    assert verdicts_of(shown) == {"repbert-beats-bm25": verdict}


def test_systems_stand_under_the_names_of_table_1():
    rows = repbert_story.by_rows({"bm25": system(), "repbert": system(), "minilm": system(label="zero-shot BERT"),
                                  "run.x.txt": system(label="x")})
    assert list(rows) == ["BM25(Anserini) [2]", "Ours (RepBERT)", "zero-shot BERT", "x"]
    known = {row for table, row, _ in published.load("zhan2020") if table == "1"}
    assert {name for stage, name in repbert_story.ROWS.items() if stage in stages.STUDIED} <= known


@pytest.mark.parametrize("backbone, name", [("packaged", "zero-shot MiniLM"), ("packaged:0", "zero-shot MiniLM (layers 0)"),
                                            (HUB, "zero-shot bert-base-uncased")])
def test_the_untrained_backbone_is_called_by_its_name(backbone, name):
    assert stages.labels(SimpleNamespace(repbert=SimpleNamespace(backbone=backbone)), ["bm25", "minilm"])["minilm"] == name


def part(step, seconds, *inputs):
    return {"step": step, "key": f"{step}-{seconds}", "seconds": seconds, "inputs": list(inputs)}


def test_the_cost_of_a_stage_has_its_training_its_texts_and_its_search():
    index = part("text_index", 3.0)
    training = part("bi_encoder", 300.0, part("bm25_run", 1.0, index))
    dense = Value(manifest={"seconds": 0.4, "inputs": [part("passage_embeddings", 60.0, training), part("query_embeddings", 2.0,
                                                                                                      training)]})
    deepct = Value(manifest={"seconds": 0.5, "inputs": [part("weighted_index", 5.0, part("word_weights", 40.0,
                                                                                        part("deepct", 70.0)))]})
    runs = {"bm25": Value(manifest={"seconds": 1.5, "inputs": [index, {"step": "queries", "key": "q"}]}), "deepct": deepct,
            "repbert": dense, "run.x.txt": None}
    assert cells(stages.cost_table(runs))[1:] == [["BM25(Anserini)", "", "3.0 s", "1.5 s"], ["DeepCT", "70 s", "45 s", "0.5 s"],
                                                  ["RepBERT", "5 min", "60 s", "0.4 s"]]  # a training used twice counts once
    assert set(stages.PREPARATIONS) == set(stages.STAGES)


# ---- first stages ----

RIVALS = [f"repbert-beats-improved-exact-match/{rival}" for rival in ("docTTTTTquery", "DeepCT")]


@pytest.mark.parametrize("ours, verdicts", [(0.375, [AGREES, AGREES]), (0.25, [SMALL, AGREES]), (0.0, [DISAGREES, DISAGREES])])
def test_repbert_is_compared_with_each_of_the_improved(ours, verdicts):
    systems = {"bm25": system(0.5), "deepct": system(0.125), "doctttttquery": system(0.25), "repbert": system(ours)}
    assert verdicts_of(first_stage.claims_table(systems)) == dict(zip(RIVALS, verdicts, strict=True))


@pytest.mark.parametrize("names, words, reason", [
    (("bm25", "deepct", "repbert"), [UNTESTED, SMALL], "docTTTTTquery is not measured"),
    (("bm25", "deepct"), [UNTESTED, UNTESTED], "needs RepBERT")])
def test_a_rival_that_is_missing_leaves_the_others_word_as_it_is(names, words, reason):
    shown = first_stage.claims_table({name: system() for name in names})
    assert verdicts_of(shown) == dict(zip(RIVALS, words, strict=True))
    assert reason in shown.html


def test_latency_and_size_stand_beside_the_studys():
    latency = Value({"stages": {"bm25": {"search": [3.0, 1.0, 2.0]}, "repbert": {"encode": [10.0, 12.0, 11.0],
                                                                               "search": [1.0, 1.0, 1.0]}}})
    sizes = {"bm25": Value({"bytes": 4_200_000}), "repbert": Value({"bytes": 9_216_000})}
    systems = {"bm25": system(label="BM25"), "repbert": system(0.25, label="RepBERT"), "theirs": system(label="theirs")}
    shown = first_stage.table(systems, latency, sizes)
    header, base, dense, theirs = cells(shown)
    assert header[3:] == ["ms/query, published", "ms/query, here", "of which", "index"]
    assert base[3:] == ["50", "2.0 1.0 to 3.0", "", "4.2 MB"]
    assert dense[3:] == ["80", "12.0 11.0 to 13.0", "encode 11.0, search 1.0", "9.2 MB"]
    assert theirs[3:] == ["", "", "", ""]
    assert {line["row"]: line["measured"] for line in shown.data["values"]} == {"BM25(Anserini) [2]": 2.0, "Ours (RepBERT)": 12.0}
    html = first_stage.figure(systems, latency).html
    assert "RepBERT: RR@10 less that of BM25(Anserini) 0.250 at 6" in html and "0.120 at 1.6" in html  # measured, published
    assert cells(first_stage.table(systems, None, {}))[1][3:] == ["50", "", "", ""]
    assert "cannot be timed" in first_stage.figure(systems, None).markdown


def test_the_learned_expansion_tells_what_it_learned_and_from_how_much():
    log = {"passages": 90, "evaluation_passages": 10, "words_asked": 300, "vocabulary": 4000,
           "log": [{"step": 0, "eval_loss": 8.5}, {"step": 5, "loss": 7.0}, {"step": 5, "eval_loss": 6.25},
                   {"step": 9, "eval_loss": 6.5}]}
    recipes = SimpleNamespace(expansion=SimpleNamespace(log=Value(log)))
    told = first_stage.expansion_training(recipes, ["bm25", "expansion"]).markdown
    assert "The queries of 90 training passages hold 300 of the 4,000 words" in told
    assert "of 10 passages held out falls from 8.50 before the training to 6.50; 6.25 is its lowest" in told
    assert "not among the stages" in first_stage.expansion_training(recipes, ["bm25"]).markdown


@pytest.fixture
def moving(monkeypatch):
    """A system that moves three queries, the one that it is compared with, and a bed with a title for each relevant text."""
    base, moved = system(), system()
    for query, change in (("q3", 0.5), ("q5", 0.25), ("q2", -0.125)):
        moved.values.loc[query, "RR@10"] += change
    monkeypatch.setattr(first_stage, "Texts", lambda _: {doc: SimpleNamespace(title=doc.upper()) for doc in ("d2", "d3", "d5")})
    bed = SimpleNamespace(store=Value(), qrels=qrels_of(q3={"low": 1, "d3": 2}, q2="d2", q5="d5"),
                          query_frame=pd.DataFrame({"query_id": QUERIES, "text": [f"text of {query}" for query in QUERIES]}))
    return moved, base, bed


def test_added_words_are_shown_for_what_the_expansion_moves_most(moving, monkeypatch):
    expansion, base, bed = moving
    assert first_stage.moved_most(expansion, base, 2).to_dict() == {"q3": 0.5, "q5": 0.25, "q2": -0.125}
    added = Value(pd.DataFrame({"doc_id": ["d3", "d2"], "words": ["x y", "z"]}))
    monkeypatch.setattr(first_stage, "added_words", lambda *_: added)
    recipes = SimpleNamespace(expansion=SimpleNamespace(expansion=lambda bed: Value()))
    rows = cells(first_stage.added_table(recipes, bed, {"bm25": base, "expansion": expansion}, 1, 2))[1:]
    assert rows == [["text of q3", "D3", "x y", "+0.50"], ["text of q2", "D2", "z", "−0.12"]]
    assert "no added words" in first_stage.added_table(recipes, bed, {"bm25": base}, 1, 2).markdown


def test_the_heaviest_words_are_shown_for_what_deepct_moves_most(moving, monkeypatch):
    (deepct, base, bed), calls = moving, []

    def heavy(weights, documents, words):
        calls.append((documents, words))
        return Value(pd.DataFrame({"doc_id": ["d3", "d3", "d2"], "word": ["x", "y", "z"], "weight": [0.5, 0.25, 0.125]}))

    monkeypatch.setattr(first_stage, "top_weighted_terms", heavy)
    recipes = SimpleNamespace(deepct=SimpleNamespace(weights=lambda bed: Value()))
    rows = cells(first_stage.weights_table(recipes, bed, {"bm25": base, "deepct": deepct}, 1, 2))[1:]
    assert rows == [["text of q3", "D3", "x 0.50, y 0.25", "+0.50"], ["text of q2", "D2", "z 0.12", "−0.12"]]
    assert calls == [(["d2", "d3"], 2)]
    assert "no weights to show" in first_stage.weights_table(recipes, bed, {"bm25": base}, 1, 2).markdown


# ---- depth ----

def test_recall_is_measured_at_every_depth(monkeypatch):
    monkeypatch.setattr(depth, "evaluate_values", lambda label, run, bed, names: Evaluation(
        label, pd.DataFrame(), bed.per_query(run.value(), names), run))
    runs = {"bm25": Value(run_of(q="xa", r="xyb")), "repbert": Value(run_of(q="a", r="z"))}
    recall = depth.recalls(runs, Bed(q="a", r="b"), [3, 1, 2])
    assert cells(depth.recall_table(recall)) == [["first stage", "1", "2", "3"], ["BM25(Anserini)", "0.000", "0.500", "1.000"],
                                                 ["RepBERT", "0.500", "0.500", "0.500"]]
    assert "BM25(Anserini): 0.000 at 1, 1.000 at 3. RepBERT: 0.500 at 1, 0.500 at 3." in text_of(depth.recall_figure(recall))


@dataclass
class Scorer:
    """Likes `a` and `b`; remembers what it was asked."""

    depths: list = field(default_factory=list)

    def scores(self, bed, run, candidates):
        self.depths.append(candidates)
        kept = cut(run.value(), candidates)
        return Value(kept.assign(score=kept["doc_id"].isin(["a", "b"]).astype(float), doc_id=kept["doc_id"] + "#0"))


def test_candidates_are_scored_once_and_those_beyond_a_depth_do_not_count():
    scorer = Scorer()
    result = depth.reranked({"bm25": Value(run_of(q="xa", r="xyb"))}, Bed(q="a", r="b"), [scorer], [1, 2, 3])
    assert scorer.depths == [3]
    means = {n: system.mean("RR@10").mean for n, system in result["bm25"].items()}
    assert means == {1: 0.0, 2: 0.5, 3: 1.0}
    assert depth.reranked({"bm25": None}, Bed(q="a", r="b"), [scorer], []) == {}


class Noting(Letters):
    """Keeps what it was asked last."""

    def scores(self, bed, run, candidates):
        self.last = super().scores(bed, run, candidates)
        return self.last


def test_what_stages_share_is_scored_once_and_each_has_the_values_of_its_own_candidates(folder, store, tmp_path, monkeypatch):
    monkeypatch.setattr(depth, "LEAST", 2)
    (tmp_path / "run.x.txt").write_text(to_trec(run_of(q1=["d2", "d1", "d3"], q3=["d3", "d1"])))
    names, bed = ["bm25", str(tmp_path / "run.x.txt")], Testbed(str(folder), "document", queries=2)
    recipes, model = first_stages(str(folder), "document"), Noting()
    found = depth.deeper(recipes, names, replace(bed, queries=0), model, [2, 1, 4, 3], 2)
    pool = model.last.value()
    assert not pool.duplicated(["query_id", "doc_id"]).any() and set(pool["query_id"]) == set(bed.judged)
    alone = depth.reranked(stages.runs(recipes, names, bed, 4), bed, [model], [2, 3, 4])
    assert {name: list(own) for name, own in found.items()} == {name: [2, 3, 4] for name in names}
    for name in names:
        assert all(found[name][n].values["RR@10"].equals(alone[name][n].values["RR@10"]) for n in (2, 3, 4))
        assert [found[name][n].source.name for n in (2, 3, 4)] == ["run_measures"] * 3
    assert len({tuple(found[names[1]][n].values["RR@10"]) for n in (2, 3, 4)}) > 1
    assert depth.deeper(recipes, names, bed, model, [2], 0) == depth.deeper(recipes, names, bed, model, [1], 2) == {}


def by_depth(**stages_):
    """Systems by stage and depth from shifts, smallest depth first: depths 5, 10, 1000."""
    return {name: dict(zip((5, 10, 1000), map(system, shifts), strict=True)) for name, shifts in stages_.items()}


def test_table_2_has_gain_mark_interval_and_the_studys_value():
    systems = by_depth(bm25=(0.0, 0.0, 0.25), deepct=(0.25, 0.0, 0.25), minilm=(0.125, 0.0, 0.0))
    shown = depth.table(systems, "bm25")
    header, five, ten, _ = cells(shown)
    assert header == ["depth", "BM25(Anserini)", "DeepCT", "zero-shot MiniLM"]
    assert five[1].startswith("0.250 [") and five[1].endswith("; study 0.232")
    assert five[2].startswith("0.500† (+100%)") and five[2].endswith("; study 0.279 (+20%)")
    assert five[3].startswith("0.375† (+50%)") and five[3].endswith("]")
    assert "measured on 8 queries" in caption(shown)
    assert ten[2].startswith("0.250 (+0%)") and "study 0.320 (+16%)" in ten[2]
    values = {(line["row"], line["column"]): line["measured"] for line in shown.data["values"]}
    assert values["5", "DeepCT"] == 0.5
    assert values["10", "DeepCT"] == values["5", "BM25(Anserini)"] == 0.25
    assert not any(column == "zero-shot MiniLM" for _, column in values)
    fewer = depth.table(systems, "bm25", shown=[5, 10])
    assert cells(fewer) == cells(shown)
    assert {line["row"] for line in fewer.data["values"]} == {"1000"}


FEW = [f"repbert-candidates-best-at-small-depths/{rival}" for rival in ("BM25(Anserini)", "DeepCT", "docTTTTTquery")]
DEEP = "first-stages-converge-at-depth"


@pytest.mark.parametrize("few, many, verdicts", [
    (0.5, 0.25, [AGREES, AGREES, AGREES, AGREES]),  # ahead of all at 5; the lead over BM25 is gone at 1000
    (0.5, 0.75, [AGREES, AGREES, AGREES, SMALL]),  # the lead over BM25 stays
    (0.25, 0.75, [AGREES, DISAGREES, AGREES, DISAGREES])])  # behind DeepCT at 5; the lead over BM25 grows
def test_few_candidates_are_judged_beside_all_others_and_convergence_by_the_lead_over_bm25(few, many, verdicts):
    systems = by_depth(bm25=(0.0, 0.0, 0.25), deepct=(0.375, 0.0, 0.0), doctttttquery=(0.0, 0.0, 0.0), repbert=(few, 0.0, many),
                       minilm=(0.75, 0.0, 0.75))
    assert verdicts_of(depth.claims_table(systems, "repbert", "bm25")) == dict(zip([*FEW, DEEP], verdicts, strict=True))


def test_a_published_run_in_place_of_repbert_cannot_be_compared():
    systems = {"run.bm25.txt": by_depth(x=(0, 0, 0))["x"], "run.tas-b.txt": by_depth(x=(0.5, 0, 0))["x"]}
    shown = depth.claims_table(systems, "run.tas-b.txt", "run.bm25.txt")
    assert set(verdicts_of(shown).values()) == {UNTESTED}
    assert "tas-b, which was not trained here, stands for RepBERT" in shown.html


def test_the_gain_over_bm25_s_candidates_stands_beside_that_of_table_2():
    text = text_of(depth.gain_figure(by_depth(bm25=(0.0, 0.0, 0.25), deepct=(0.25, 0.0, 0.25)), "bm25"))
    assert "DeepCT: 0.250 at 5, 0.000 at" in text
    assert "published: 0.047 at 5, 0.044 at 10, 0.025 at 50, 0.008 at 500, 0.005 at 1000" in text  # all that is printed
    near = depth.gain_figure({stage: {5: system(), 50: system()} for stage in ("bm25", "deepct")}, "bm25")
    assert text_of(near).endswith("published: 0.047 at 5, 0.025 at 50.")
    assert "nothing is re-ranked" in depth.gain_figure({}, "bm25").markdown


def test_nothing_re_ranked_is_said_everywhere():
    assert "nothing is re-ranked" in depth.table({}, "bm25").markdown
    assert "nothing is re-ranked" in depth.figure({}).markdown
    assert set(verdicts_of(depth.claims_table({}, "repbert", "bm25")).values()) == {UNTESTED}


# ---- mismatch ----

def factor_step(*values, depths=(1, 2)):
    rows = [(query, depth_, value) for depth_ in depths for query, value in zip(QUERIES, values, strict=False)]
    return Value(pd.DataFrame(rows, columns=["query_id", "depth", FACTOR]))


def test_factors_are_averaged_and_compared_on_shared_queries():
    factors = {"bm25": factor_step(*[1.0] * 8), "repbert": factor_step(*[0.5] * 7)}  # one query without documents
    assert mismatch.curves(factors)["RepBERT"].to_dict() == {1: 0.5, 2: 0.5}
    systems = mismatch.systems_at(factors, 2)
    assert systems["bm25"].values.index.tolist() == systems["repbert"].values.index.tolist() == QUERIES[:7]
    assert cells(mismatch.table(mismatch.by_depth(factors, [2, 1])))[1:] == [
        ["BM25(Anserini)", "1.000 [1.000, 1.000]", "1.000 [1.000, 1.000]"],
        ["RepBERT", "0.500 [0.500, 0.500]", "0.500 [0.500, 0.500]"]]


DIFFERS, MATTERS = mismatch.DIFFERS, mismatch.MATTERS


def crossing(base=0.0, cured=0.0):
    """Both re-rankers over the candidates of both stages; the shifts are those over RepBERT's at the larger depth."""
    shifts = {(mismatch.BM25_NEGATIVES, "repbert"): base, (mismatch.DENSE_NEGATIVES, "repbert"): cured,
              (mismatch.BM25_NEGATIVES, "bm25"): 0.25, (mismatch.DENSE_NEGATIVES, "bm25"): 0.125}
    return {pair: {10: system(), 50: system(shift)} for pair, shift in shifts.items()}


@pytest.mark.parametrize("ours, dense, expanded, verdicts", [
    (0.25, 0.0, 0.25, [AGREES, AGREES, AGREES]), (0.75, 0.25, 0.0, [DISAGREES, DISAGREES, DISAGREES]),
    (0.5, 0.0, 0.0, [SMALL, AGREES, SMALL])])
def test_repberts_candidates_are_judged_beside_all_others_and_doctttttquerys_at_depth(ours, dense, expanded, verdicts):
    factors = {"bm25": factor_step(*[1.0] * 8), "deepct": factor_step(*[0.5] * 8), "doctttttquery": factor_step(*[0.6] * 8),
               "repbert": factor_step(*[ours] * 8), "minilm": factor_step(*[0.0] * 8)}
    systems = crossing(dense) | {(mismatch.BM25_NEGATIVES, "doctttttquery"): {50: system(expanded)}}
    judged = verdicts_of(mismatch.claims_table(factors, systems, "repbert", "bm25", 2))
    assert judged == dict(zip((f"{DIFFERS}/DeepCT", f"{DIFFERS}/docTTTTTquery", MATTERS), verdicts, strict=True))


def test_the_interaction_is_what_negatives_change_over_the_one_less_over_the_other():
    assert mismatch.interaction(crossing(0.0, 0.25), "repbert", "bm25").difference.mean == 0.375  # .25 - (.125 - .25)
    assert mismatch.interaction({}, "repbert", "bm25") is None


def test_without_another_stage_or_re_ranking_the_claims_are_not_run():
    factors = {"bm25": factor_step(*[1.0] * 8), "repbert": factor_step(*[0.5] * 8)}
    assert set(verdicts_of(mismatch.claims_table(factors, {}, "repbert", "bm25", 2)).values()) == {UNTESTED}
    assert "re-ranks nothing" in mismatch.crossed_table({}).markdown
    assert mismatch.crossed({}, {}, None, []) == {}


def test_the_two_re_rankers_differ_in_where_their_candidates_come_from():
    models = mismatch.models(recipe(warm_up=0), repbert(), [1, 3])
    firsts = [own[0] for own in models.values()]
    assert [(model.negatives, model.negatives_from) for model in firsts] == [("bm25", None), ("dense", repbert())]
    assert [(model.beside.negatives, model.taught) for model in firsts] == [("dense", True), ("bm25", True)]
    assert [[(model.seed, model.held_out_seed) for model in own] for own in models.values()] == [[(1, None), (3, 1)]] * 2
    assert len({model.training.key for own in models.values() for model in own}) == 4
    assert len({model.groups.key for own in models.values() for model in own}) == 2


def test_what_both_learn_from_is_counted(monkeypatch):
    rows = [("queries", 4, 4, 4), ("relevant texts", 4, 4, 4), ("negatives", 8, 8, 2)]
    counts = pd.DataFrame(rows, columns=["of", "groups", "others", "both"])
    monkeypatch.setattr(mismatch, "groups_compared", lambda first, second: Value(counts) if (first, second) == (1, 2) else None)
    trained = {mismatch.BM25_NEGATIVES: [SimpleNamespace(groups=1)], mismatch.DENSE_NEGATIVES: [SimpleNamespace(groups=2)]}
    assert cells(mismatch.groups_table(trained, {("a", "b"): {}})) == [
        ["", "negatives from BM25", "negatives from RepBERT", "in both"], ["queries", "4", "4", "4 (100%)"],
        ["relevant texts", "4", "4", "4 (100%)"], ["negatives", "8", "8", "2 (25%)"]]
    assert "re-ranks nothing" in mismatch.groups_table(trained, {}).markdown


def test_both_re_rankers_read_both_stages_over_their_seeds(monkeypatch):
    monkeypatch.setitem(AGGREGATIONS, "mean", lambda scores: scores.mean())  # toys have no recipe that values could be kept under
    scorers = {"one": [Scorer()], "two": [Scorer(), Scorer()]}
    runs = {"bm25": Value(run_of(q="xa", r="xyb")), "repbert": Value(run_of(q="a", r="b"))}
    systems = mismatch.crossed(scorers, runs, Bed(q="a", r="b"), [1, 2])
    assert set(systems) == {(name, stage) for name in scorers for stage in runs}
    assert systems["two", "bm25"][2].values["RR@10"].tolist() == [1.0, 0.0]
    assert {pair: len(by_depth_[1].seeds) for pair, by_depth_ in systems.items()} == {
        ("one", "bm25"): 0, ("one", "repbert"): 0, ("two", "bm25"): 2, ("two", "repbert"): 2}
    assert mismatch.both({"repbert": 1, "deepct": 1, "bm25": 1}, "bm25", "repbert") == ["bm25", "repbert"]
    assert mismatch.both({"repbert": 1}, "bm25", "repbert") == ["repbert"]


def test_the_table_of_negatives_has_a_row_for_each_stage_and_depth():
    rows = cells(mismatch.crossed_table(crossing(0.0, 0.25)))[1:]
    assert [row[0] for row in rows] == ["RepBERT, depth 10", "RepBERT, depth 50", "BM25(Anserini), depth 10",
                                        "BM25(Anserini), depth 50"]
    assert [row[3] for row in rows] == ["+0.000 [+0.000, +0.000]", "+0.250 [+0.250, +0.250]", "+0.000 [+0.000, +0.000]",
                                        "−0.125 [−0.125, −0.125]"]
    assert [row[4] for row in rows] == ["1.000", "0.008", "1.000", "0.008"]  # 2/256


# ---- findings ----

def test_the_finding_on_the_mismatch_is_the_interaction_with_what_could_be_seen():
    rows = cells(mismatch.interaction_table(crossing(0.0, 0.25), "repbert", "bm25"))
    assert rows[0] == ["", "difference", "p", "minimum detectable effect", "the interval"]
    assert rows[1:] == [["over RepBERT's candidates", "+0.250 [+0.250, +0.250]", "0.008", "0.000", ""],
                        ["over BM25(Anserini)'s candidates", "−0.125 [−0.125, −0.125]", "0.008", "0.000", ""],
                        ["the interaction: the first less the second", "+0.375 [+0.375, +0.375]", "0.008", "0.000", ""]]
    assert "re-ranks nothing" in mismatch.interaction_table({}, "repbert", "bm25").markdown
