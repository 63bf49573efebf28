"""What the chapters on cost and on nearest neighbours say follows the values."""

import numpy as np
import pandas as pd
import pytest

from helpers.encoders.nearest_neighbours import EXACT, HNSW, IVF
from helpers.errors import BadInput
from helpers.evaluation.verdicts import AGREES, DISAGREES, SMALL, UNTESTED
from helpers.networks import architectures
from helpers.stories import approximate_ranking as ranking
from helpers.stories import cost
from helpers.stories import nearest_neighbours as story
from tables import cells
from toys import KEY, Value, of_values

# ---- time and memory ----

MODELS = ("BERT", "ALBERT", "DistilBERT")


def costs(bert=(0.8, 0.8, 0.8, 0.8, 0.8, 0.8), distil=(0.4, 0.4, 0.4, 0.4, 0.4, 0.4), names=MODELS, devices=("cpu",),
          training=None):
    seconds = {"BERT": list(bert), "DistilBERT": list(distil), "ALBERT": [0.9] * len(bert), "packaged": [0.3] * 6,
               "BERT/6/384/12": [0.24] * 6}
    parameters = {"BERT": 100_000_000, "ALBERT": 11_000_000, "DistilBERT": 66_000_000}
    training = training or {"BERT": [4.0, 6.0], "ALBERT": [4.0, 4.0], "DistilBERT": [2.0, 2.0]}
    time = {name: {"parameters": parameters.get(name, 22_000_000), "seconds": seconds[name]} for name in names}
    memory = {name: {"weights": 4 * parameters.get(name, 22_000_000), "model": 5 * parameters.get(name, 22_000_000),
                     "whole": 9 * parameters.get(name, 22_000_000)} for name in names}
    return cost.Costs(tuple(architectures.parse_architecture(name) for name in names), 8, {d: Value(time) for d in devices},
                      {d: Value({name: training.get(name, [1.0]) for name in names}) for d in devices},
                      {d: Value(memory) for d in devices})


def test_the_configuration_stands_beside_table_b1():
    header, bert, albert, distil, packaged = cells(cost.configuration_table(costs(names=(*MODELS, "packaged"))))
    assert header[:3] == ["model", "layers, published", "here"]
    assert bert == ["BERT", "12", "12", "110", "100.0", "random"]
    assert albert == ["ALBERT", "12", "12", "11", "11.0", "random"]
    assert distil == ["DistilBERT", "6", "6", "66", "66.0", "random"]
    assert packaged == ["packaged", "", "6", "", "22.0", "trained"]


@pytest.mark.parametrize("spec, layers", [("BERT/3/32/2", 3), ("packaged:0,4", 2), ("packaged", 6)])
def test_layers_are_those_that_are_there(spec, layers):
    assert cost.layers(architectures.parse_architecture(spec)) == layers


def test_the_table_has_medians_quartiles_and_what_is_relative_to_the_first_model():
    shown = cost.table(costs(bert=(1.0, 2.0, 3.0, 4.0, 5.0), distil=(0.3, 0.3, 1.5, 1.5, 1.5)))
    header, bert, _, distil = cells(shown)
    assert header == ["model", "milliseconds a step, cpu", "relative, cpu", "peak memory (MB), cpu", "of it weights (MB), cpu",
                      "peak of the whole process (MB), cpu"]
    assert bert == ["BERT", "3,000 [2,000, 4,000]", "1.00×", "500", "400", "900"]
    assert distil[1:4] == ["1,500 [300, 1,500]", "0.50×", "330"]
    assert shown.html.count(f'href="#step-{KEY[:10]}"') == 6


def test_each_device_has_its_columns():
    header, *rows = cells(cost.table(costs(devices=("cpu", "cuda"))))
    assert len(header) == 11
    assert header[-1] == "in use on the device (MB), cuda"
    assert all(len(row) == 11 for row in rows)
    assert "BERT on cuda: 800 ms, 500 MB" in cost.tradeoff(costs(devices=("cpu", "cuda"))).html


def test_training_is_relative_to_the_fastest():
    rows = cells(cost.training_table(costs()))
    assert [(row[0], row[2]) for row in rows[1:]] == [("BERT", "2.50×"), ("ALBERT", "2.00×"), ("DistilBERT", "1.00×")]


@pytest.mark.parametrize("bert, distil, half, albert", [(0.8, 0.4, True, True), (0.8, 0.7, False, True),
                                                        (2.0, 0.4, False, False)])
def test_the_discussion_of_cost_rests_on_times_and_memory(bert, distil, half, albert):
    assert list(cost.signs(costs(bert=[bert] * 6, distil=[distil] * 6)).values()) == [half, albert, True]
    assert cost.signs(costs(names=("BERT", "packaged"))) == {}


@pytest.mark.parametrize("albert, between", [(4.0, True), (4.9, False), (1.5, False)])
def test_albert_trains_faster_than_bert_and_slower_than_distilbert_or_not(albert, between):
    training = {"BERT": [5.0, 5.0], "ALBERT": [albert] * 2, "DistilBERT": [2.0, 2.0]}
    assert list(cost.signs(costs(training=training)).values())[-1] is between


def test_the_figure_names_every_model():
    html = cost.tradeoff(costs()).html
    assert "BERT on cpu: 800 ms, 500 MB; ALBERT on cpu: 900 ms, 55 MB; DistilBERT on cpu: 400 ms, 330 MB." in html
    assert html.count(">DistilBERT</text>") == 1


@pytest.mark.parametrize("distil, verdict", [((0.4, 0.5, 0.4, 0.5, 0.4, 0.5), AGREES),
                                             ((0.9, 1.0, 0.9, 1.0, 0.9, 1.0), DISAGREES), ((0.8,) * 6, SMALL)])
def test_the_claim_compares_rounds(distil, verdict):
    judged = cost.claims_table(costs(distil=distil))
    (line,) = judged.data["claims"]
    assert (line["claim"], line["verdict"], line["key"]) == (cost.CLAIM, verdict, KEY)
    assert "6 rounds, margin 1.000" in line["evidence"]


@pytest.mark.parametrize("changed, reason", [({"names": ("BERT", "ALBERT")}, "needs DistilBERT"),
                                             ({"names": ("ALBERT",)}, "needs BERT and DistilBERT"),
                                             ({"bert": (0.8,), "distil": (0.4,)}, "needs two rounds")])
def test_the_claim_needs_both_models_and_two_rounds(changed, reason):
    (line,) = cost.claims_table(costs(**changed)).data["claims"]
    assert line["verdict"] == UNTESTED
    assert line["evidence"].startswith(reason)


def test_a_model_is_measured_once_and_shapes_come_first():
    result = cost.costs(["packaged", "BERT", "packaged", "ALBERT"], 8, 64, 6, 1, 2, 1, "fp32", ["cpu", "cuda"])
    assert result.names == ["BERT", "ALBERT", "packaged"]
    assert list(result.time) == list(result.memory) == list(result.training) == ["cpu", "cuda"]
    assert result.time["cuda"].arguments["device"] == "cuda"
    assert result.time["cpu"].arguments["shapes"] == ["BERT", "ALBERT"]
    assert list(cost.all_steps(result)) == ["inference, cpu", "inference, cuda", "training, cpu", "training, cuda", "memory, cpu",
                                            "memory, cuda"]


def test_an_unknown_model_is_refused():
    with pytest.raises(BadInput, match="no backbone 'XLNet'"):
        cost.costs(["XLNet"], 8, 64, 6, 1, 2, 1, "fp32", [])


# ---- nearest neighbours ----

def row(kind, setting, size, share, alone, real=100, build=1.0, spread=0.0):
    return {"kind": kind, "setting": setting, "size": size, "real": min(size, real), "recall": share, "recall_error": 0.01,
            "alone": alone, "alone_low": alone - spread, "alone_high": alone + spread, "together": 2 * alone,
            "together_low": 2 * alone, "together_high": 2 * alone, "build": build, "bytes": 3_400_000}


def searched(hnsw=(200.0, 200.0), ivf_recall=0.9):
    """Two sizes: exact search falls from 400 to 20 queries a second."""
    frames = []
    for size, exact, speed in ((100, 400.0, hnsw[0]), (1000, 20.0, hnsw[1])):
        frames += [row(EXACT, 0, size, 1.0, exact, build=0.0), row(HNSW, 10, size, 0.8, 900.0), row(HNSW, 40, size, 0.96, speed),
                   row(HNSW, 80, size, 0.99, speed / 2), row(IVF, 1, size, ivf_recall, 500.0)]
    return pd.DataFrame(frames)


STEPS = {100: Value(key="a" * 16), 1000: Value(key="b" * 16)}


def test_the_fastest_setting_must_reach_the_recall():
    best = story.fastest(searched(), 100, HNSW, 0.95)
    assert (best["setting"], best["alone"]) == (40, 200.0)
    assert story.fastest(searched(), 100, HNSW, 0.8)["setting"] == 10
    assert story.fastest(searched(), 100, IVF, 0.95) is None


def test_the_size_table_names_setting_and_break_even():
    header, small, large = cells(story.size_table(searched(), STEPS, 0.95))
    assert header[:5] == ["vectors", "exact, one by one", "exact, all in one call", "HNSW, one by one", "HNSW, all in one call"]
    assert small == ["100", "400 [400, 400]", "800 [800, 800]", "200 [200, 200]", "400 [400, 400]", "efSearch = 40",
                     "never", "none reaches it", "", "", ""]
    assert large[0] == "1,000 (900 synthetic)"
    assert large[3:7] == ["200 [200, 200]", "400 [400, 400]", "efSearch = 40", "22 queries"]  # 1 s / (1/20 - 1/200) s
    shown = story.size_table(searched(), STEPS, 0.95).html
    assert "#step-aaaaaaaaaa" in shown
    assert "#step-bbbbbbbbbb" in shown


def test_what_the_indexes_are_built_with_is_told_by_faiss():
    rows = {row[1]: row[2] for row in cells(story.construction_table(8, [100, 2500], 1))[1:]}
    assert list(rows.values()) == ["8", "40", "10, 50", "10"]


def test_the_setting_table_has_every_setting_with_its_interval():
    header, *rows = cells(story.setting_table(searched(), 1000, STEPS[1000]))
    assert len(rows) == 5
    assert rows[0][:4] == ["exact (IndexFlatIP)", "", "1.000", "20.0 [20.0, 20.0]"]
    assert rows[1][:3] == ["HNSW (IndexHNSWFlat)", "efSearch = 10", "0.800 [0.780, 0.820]"]
    assert rows[3][2] == "0.990 [0.970, 1.000]"  # no recall is above one
    assert rows[4][1:2] + rows[4][4:] == ["nprobe = 1", "1,000 [1,000, 1,000]", "1.0 s", "3"]


def test_the_curves_show_the_largest_real_and_the_largest_collection():
    html = story.curves(searched()).html
    assert "exact over 100 vectors: 400 at recall 1.00" in html
    assert "HNSW over 1,000 (900 synthetic) vectors: 900 at recall 0.80, 200 at recall 0.96, 100 at recall 0.99" in html
    only = searched().query("size == 100")
    assert "1,000 (" not in story.curves(only).html


def test_growth_shows_each_index_where_it_reaches_the_recall():
    html = story.growth(searched(), 0.95, 0.01).html
    assert "exact: 2.5 ms at 100; exact: 50 ms at 1,000; HNSW: 5 ms at 100; HNSW: 5 ms at 1,000; encoding" in html
    assert "encoding the query: 10 ms." in html


REAL = pd.DataFrame([row(EXACT, 0, 100, 1.0, 1.0), row(HNSW, 40, 100, 0.96, 1.0), row(IVF, 1, 100, 0.5, 1.0)])


def test_the_effect_of_every_index_is_against_exact_search():
    base = np.array([0.5, 1.0] * 4)
    systems = {(EXACT, 0): of_values(base), (HNSW, 40): of_values(base), (IVF, 1): of_values(base - 0.25)}
    _, exact, hnsw, ivf = cells(ranking.effect_table(systems, REAL))
    assert exact[2:] == ["1.000", exact[3], "baseline", ""]
    assert hnsw[2] == "0.960"
    assert hnsw[4:] == ["+0.000 [+0.000, +0.000]", "1.000"]
    assert ivf[4].startswith("−0.250 [−0.250, −0.250]")
    assert ivf[5] == "0.008"  # 2 / 2^8


# ---- findings ----

def test_what_the_finding_says_follows_the_values():
    text = ranking.finding(searched(), 0.95, 0.01, 384).markdown
    words = ["Over 1,000 vectors exact search takes 50.0 ms", "a query 10.0 ms", "HNSW is 10.0 times as fast and IVF does not",
             "take 880.0 s"]  # 8.8 million vectors of 768 dimensions: 8,800 times as many, twice as wide, 50 ms each
    assert [word for word in words if word not in text] == []
