"""What is refused at once, wherever in the book: the words of the line that tells why, and the call."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers.costs import speed
from helpers.data.collection import open_collection
from helpers.data.collection_base import Text
from helpers.data.windows import windows
from helpers.encoders.bi_encoder import LOSSES
from helpers.encoders.nearest_neighbours import compressed
from helpers.errors import BadInput
from helpers.evaluation.measures import per_query
from helpers.evaluation.significance import all_pairs, mean_interval, paired, unpaired
from helpers.evaluation.verdicts import judge
from helpers.networks import backbone
from helpers.networks.backbone import parse_architecture
from helpers.networks.fine_tuning import RankerTraining
from helpers.networks.longformer import converted
from helpers.networks.narrowing import narrowed
from helpers.pages import carried, encoders, explorer, readiness, stages
from helpers.pages.claims import failed
from helpers.pretraining.heads import Condenser
from helpers.registry import call
from helpers.reranking import listwise, parade
from helpers.reranking.groups import Groups
from helpers.reranking.losses import matched_layers, total
from helpers.retrieval import indexes
from helpers.retrieval.bm25 import searcher_of
from helpers.retrieval.feedback import expanded_texts
from helpers.retrieval.fusion import weighted_sum
from helpers.steps import cluster, rebuild, recipe, registry
from helpers.systems.bi_encoder import BiEncoder, DistilledEncoder
from helpers.systems.evaluated import RerankingExperiment, together
from helpers.systems.first_stages import first_stages
from helpers.systems.recipe import Student, document_reader
from helpers.systems.rerankers import ListwiseReranker, PointwiseReranker
from helpers.systems.starting_points import START, starting_weights
from helpers.systems.testbed import SplitTestbed, Testbed
from press import repository
from toys import bert, of_values, qrels_of, run_of

TEN = " ".join(map(str, range(10)))
REFUSED = [
    # collections and their texts
    ("topics has articles of dev and test", lambda _: SplitTestbed("almanac", "passage", ("topics",))),
    ("almanac.*folder.*irds:", open_collection, "almanach", "/no/such/folder"),
    ("no-such-dataset", open_collection, "irds:no-such-dataset"),
    (r"write `\[relevant=1\]`", open_collection, *(f"almanac[relevant={grade}]" for grade in ("", "0", "two", "100", "\u0662"))),
    ("no unit", lambda _: Testbed("almanac", unit="chapter")),
    ("no split", lambda _: Testbed("almanac", splits=("nowhere",))),
    ("almanac/500 has too few articles", lambda _: open_collection("almanac/500/long").queries("train")),
    ("almanac/long", open_collection, "almanac/long/4", "almanac/0/long", "almanac/long-late", "almanac/longer"),
    (r"overlap -?\d+ must be at least 0 and below", lambda one: list(windows(Text("d", " ".join("t" * one[0]), TEN), *one[1:])),
     (0, 150, 150), (0, 9, 10), (0, 150, -1), (9, 150, 141), (0, 0, 0)),
    ("unknown kind of data 'film': one of .*texts, queries, qrels",
     lambda _: rebuild({"data": ["film", "a"], "digest": "0"})),
    ("no cluster '.*Mend: use local, slurm, or the address", lambda spec: cluster._opened(spec, 0), "dask", "LOCAL",
     "localhost:8786", "tcp://"),
    ("unknown form '.*': one of table, json, folder", lambda form: registry.FORMS[form].save({}, Path()), "pickle", "", "Table"),
    ("Out of range float", recipe.canonical, float("nan")),
    ("Out of range float", lambda value: registry.FORMS["json"].save({"x": value}, Path()), float("nan")),
    (".", recipe.describe, float("nan"), float("inf"), float("-inf"), np.array([1]), np.int64(1), np.bool_(True), {1, 2},
     frozenset(), b"x", object(), 1j, {"a": [1, (2, {"b": {3}})]}, [0.5, float("nan")], {"step": 1}, {1: 2}),
    # evaluation
    ("at least two systems and two queries", all_pairs, pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"a": [1.0], "b": [2.0]})),
    ("paired values wanted, at least two", lambda two: paired(*two), ([], []), ([1.0], [2.0]), ([1.0, 2.0], [1.0]),
     ([1.0, 2.0, 3.0], [1.0, 2.0])),
    ("two groups of at least two values wanted", lambda two: unpaired(*two), ([], []), ([1.0], [1.0, 2.0]), ([1.0, 2.0], [])),
    ("no values to average", mean_interval, []),
    ("not one of ir_measures'", lambda name: per_query(run_of(q="a"), qrels_of(q="a"), [name]), "Foo@10", "RR@x", "", "nDCG@@"),
    ("1 queries have no judgments, 'q9' among them",
     lambda _: per_query(run_of(q1="a"), qrels_of(q1="a"), ["AP"], queries=["q1", "q9"])),
    ("direction 'better': higher, lower, no-difference, no-gain",
     lambda direction: judge(direction, paired([1.0, 2.0], [0.0, 0.5]), 0.05), "better"),
    ("same queries", lambda _: together("s", [of_values([1.0], "a"), of_values([1.0, 0.0], "b")])),
    # networks and what they are trained with
    ("Mend", parse_architecture, "BERT/2", "BERT/2/64", "BERT/2/64/x", "BERT/0/64/2", "BERT/2/64/2/1", "BERT//64/2", "bert",
     "GPT", ""),
    ("write BERT, or BERT/layers/dimensions/heads such as BERT/4/512/8",
     lambda size: speed.random_cross_encoder(size, backbone.resolve("packaged")), "", "12", "12/768", "12/768/12/1", "12/768/x",
     "12//12", "-1/32/2", "1.5/32/2", "packaged"),
    ("no backbone", backbone.resolve, "nothing", "packaged:a", "packaged:"),
    ("'hub:google/bert' has no revision", backbone.resolve, "hub:google/bert"),
    ("a student 'packaged' has all the layers of its teacher", DistilledEncoder, "packaged"),
    ("the margin_mse loss learns from a cross-encoder", lambda loss: BiEncoder(loss=loss), "margin_mse"),
    ("'sum': one of", lambda field: BiEncoder(**{field: "sum"}), "pooling", "loss", "similarity"),
    ("MaxSim compares a vector for each word",
     lambda _: BiEncoder(similarity="max_sim").run(Testbed("almanac", "passage"), 100)),
    ("loss of groups 'hinge': one of lce, bce", lambda loss: total({loss: 1.0}, None, None), "hinge"),
    ("negatives 'all': one of bm25, dense, both", lambda source: ListwiseReranker(negatives=source), "all"),
    ("trainable '.*': everything, all, pooler", lambda part: listwise.adjust(None, part), "", "body", "Head", "classifier"),
    ("aggregation 'median': one of mean, max", lambda how: RerankingExperiment(None, None, aggregation=how), "median"),
    ("training queries, .* batch of 4. Mend: give more", lambda count: Groups(
        pd.DataFrame([(f"q{n}", "w", 1.0) for n in range(count)], columns=["query_id", "window_id", "teacher"]), pd.DataFrame(),
        None, None, RankerTraining(batch_size=4)), 0, 1, 4),
    ("even number", lambda window: converted(None, window, 32), 0, -2, 7),
    ("at least one of the 3 layers must be late", lambda early: Condenser(bert(), early, 2), 3, 4, -1),
    ("start", lambda window: replace(document_reader("almanac/16", "packaged:0", 24, 0, 64), attention_window=window), 64),
    ("numbers of runs for 2 rates", PointwiseReranker().at_rates, [1], [1, 2, 3]),
    ("the backbone packaged/256 needs a warm-up", lambda spec: ListwiseReranker().on(spec), "packaged/256"),
    ("no starting point BERT", lambda name: starting_weights([name], "study", "almanac", "packaged:0,1", [1]), "BERT"),
    ("chosen, study", lambda name: starting_weights([START], name, "almanac", "packaged:0,1", [1]), "mine"),
    ("cannot be matched with a teacher of 3", lambda student: matched_layers(student, 3), 0, 4),
    ("softer", lambda part: Student(ListwiseReranker()).without(part), "softer"),
    ("positive", lambda loss: call(LOSSES[loss], similarity=1, relevant=None), "contrastive"),
    ("firstp, maxp", lambda how: parade.network(how, {"weight": np.ones((1, 2), np.float32), "bias": np.ones(1, np.float32)}),
     "median"),
    ("a width of .*multiple of 8, a head's dimensions, up to 16", lambda width: narrowed(bert(), [], width), 0, 6, 24),
    # first stages
    ("k1 must be at least 0 and b between 0 and 1", lambda two: searcher_of(Path(), *two), (-0.1, 0.4), (0.9, -0.1), (0.9, 1.1)),
    ("form '.*': one of", lambda form: expanded_texts.definition.function(None, None, form), "stems", "", "words"),
    ("needs a generator", lambda name: first_stages().run(name, Testbed("almanac", "passage"), 5), "doctttttquery"),
    ("'splade': one of bm25, .* no such file", lambda name: first_stages().run(name, Testbed("almanac", "passage"), 5), "splade"),
    ("between 0 and 1", lambda weight: weighted_sum(run_of(q="a"), run_of(q="b"), weight, 10), -0.1, 1.1),
    ("no code '.*take other `codes`", lambda two: compressed(two[0], np.ones((two[1], 32), np.float32), 1), ("SQ99", 300),
     ("PQ5", 300), ("PQ4", 20)),
    ("no inverted index", indexes.describe, "msmarco-passage-full", ""),
    ("have one name", lambda names: stages.runs(first_stages(), names, None, 10), ["a/run.x.txt", "b/run.x.txt"],
     ["bm25", "bm25"]),
    # pages and the press
    ("is no condition", lambda text: failed(text, {}, "RR@10"), "", "high low", "high = low", "high > low, low > high",
     "__import__('os') > low"),
    ("Out of range float", explorer.as_scripts, {"score": float("nan")}),
    ("str: a page carries evaluations", carried.collect, {"BM25": "the first stage"}),
    ("one name", lambda two: encoders.models(BiEncoder(), two, ["mean"]),
     ["hub:a/bert-base-uncased@1", "hub:b/bert-base-uncased@1"]),
    ("training sizes", lambda sizes: readiness.columns(sizes, "a"), [], [1, 2, 3, 4]),
    ("BOOK_REPOSITORY", lambda url: repository.parsed(url, "main", "BOOK_REPOSITORY"), "", "github.com/a/b", "https://gitlab.com/a/b",
     "https://github.com/a", "https://github.com/a/b/c", "https://github.com/a/b;rm -rf", "https://github.com/a b/c",
     "https://github.com/-a/b", 'https://github.com/a/b"><script>', "https://github.com/a/b\nx: y")]


@pytest.mark.parametrize(("words", "ask", "value"), [(words, ask, value) for words, ask, *values in REFUSED
                                                      for value in values or [None]])
def test_a_call_is_refused_with_a_line_that_tells_why(words, ask, value):
    with pytest.raises((BadInput, ValueError, TypeError), match=words):
        ask(value)
