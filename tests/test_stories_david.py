"""The chapters *Significance* and *Answer types*: what they show follows the values. A constant difference over 8 queries has
a permutation p of 2 / 2^8 = 0.008; two groups of 8 that do not overlap have 2 / C(16, 8) = 0.0002."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from helpers.data.answer_types import TYPES, WIDER
from helpers.evaluation.significance import Interval
from helpers.evaluation.verdicts import AGREES, DISAGREES, SMALL, UNTESTED
from helpers.pages import encoders
from helpers.stories import answer_type_rules as rules
from helpers.stories import answer_types, significance
from helpers.systems.bi_encoder import BiEncoder
from tables import cells, text_of, verdicts_of
from toys import Value, of_values


def claim_of(fragment):
    (line,) = fragment.data["claims"]
    return line


# ---- the systems of both chapters ----

BASE = BiEncoder(queries=1500, data_seed=1)
BOTH = ["packaged", "packaged:0,1,2"]


def test_every_model_stands_before_and_after_its_training():
    models = encoders.variants(encoders.models(BASE, ["packaged"], ["mean", "cls"]), trained=True)
    assert list(models) == ["MiniLM / Avg", "MiniLM / CLS", "MiniLM / Avg, zero-shot", "MiniLM / CLS, zero-shot"]
    assert [(model.pooling, model.loss) for model in models.values()] == [
        ("mean", "triplet"), ("cls", "triplet"), ("mean", "none"), ("cls", "none")]


@pytest.mark.parametrize("specs, poolings, trained, pair", [
    (BOTH, ["cls", "mean"], True, ("MiniLM / CLS", "MiniLM (layers 0,1,2) / CLS")),
    (BOTH[::-1], ["mean"], True, ("MiniLM (layers 0,1,2) / Avg", "MiniLM / Avg")),
    (BOTH, ["mean"], False, ("MiniLM / Avg, zero-shot", "MiniLM (layers 0,1,2) / Avg, zero-shot")),
    (["packaged"], ["mean", "cls"], True, ("MiniLM / Avg", ""))])
def test_two_models_stand_for_bert_and_distilbert(specs, poolings, trained, pair):
    assert significance.pair_of(encoders.variants(encoders.models(BASE, specs, poolings), trained)) == pair


def test_bm25_and_every_model_rank_the_same_queries(monkeypatch):
    run = Value("run")
    bed = SimpleNamespace(bm25=lambda k1, b, depth: run, kept_values=lambda result, measures: (result.value(), measures),
                          qrels=pd.DataFrame({"relevance": [1]}))
    model = SimpleNamespace(run=lambda where, depth: run if (where, depth) == (bed, 7) else None)
    result = encoders.evaluations(bed, {"a": model}, 7, ["RR"])
    assert list(result) == ["BM25", "a"]
    assert [system.values for system in result.values()] == [("run", ["RR"])] * 2


# ---- significance ----

WAVE = np.tile([0.0, 0.5], 10)  # 20 queries


def three_systems():
    """`c` is 0.25 above `a` in every query; `b` is above it in half of them, alternately by much and by less."""
    values = {"BM25": WAVE, "MiniLM / Avg": WAVE + 0.25, "MiniLM (layers 0,1,2) / Avg": WAVE + np.tile([0.0, 0.4], 10)}
    return {name: of_values(item) for name, item in values.items()}


def compared():
    return significance.compared(three_systems(), groups=10, divisions=5)


def test_each_pair_has_both_rules():
    pairs = compared()
    assert pairs[["first", "second"]].to_numpy().tolist() == [
        ["BM25", "MiniLM / Avg"], ["BM25", "MiniLM (layers 0,1,2) / Avg"], ["MiniLM / Avg", "MiniLM (layers 0,1,2) / Avg"]]
    first = pairs.iloc[0]
    assert (first["difference"], first["d"]) == (Interval(-0.25, -0.25, -0.25), -np.inf)
    assert first[["p_groups", "holm_groups", "share"]].tolist() == [0.0, 0.0, 1.0]  # the same in every group
    assert first["p"] < 1e-4
    assert pairs["holm"].tolist() == pytest.approx([3 * first["p"], 2 * pairs["p"][1], pairs["p"][2]])
    assert [difference.mean for difference in pairs["difference"]] == pytest.approx([-0.25, -0.2, 0.05])


def test_a_square_is_alike_on_both_sides():
    names = list(three_systems())
    result = significance.square(compared(), "share", names)
    assert result.equals(result.T)
    assert result.loc["MiniLM / Avg", "BM25"] == 1.0
    assert np.diag(result).tolist() == [0.0] * 3


def decided(*rows):
    """Pairs with given p-values: the study's, corrected, per query, corrected, and the share of divisions."""
    both = pd.DataFrame(rows, columns=["p_groups", "holm_groups", "p", "holm", "share"])
    return both.assign(first="x", second="y", difference=[Interval(0.1, 0.0, 0.2)] * len(both), d=0.5)


FOUR = [(0.01, 0.03, 0.01, 0.02, 1.0),  # both
        (0.04, 0.12, 0.02, 0.06, 0.5),  # the study's rule alone
        (0.06, 0.12, 0.001, 0.004, 0.96),  # ours alone
        (0.5, 0.5, 0.4, 0.4, 0.05)]  # neither


def test_the_matrix_has_the_study_above_and_ours_below_the_diagonal():
    names = list(three_systems())
    pairs = compared().assign(p_groups=[0.01, 0.2, 0.2], holm=[0.2, 0.01, 0.01])
    text = text_of(significance.matrix(three_systems(), pairs))
    assert f"Above the diagonal (the study's rule) 1 of 3 pairs differ, not {names[0]} and {names[2]}; {names[1]}" in text
    assert f"(per query, permutation, Holm) 2 of 3 pairs differ, not {names[0]} and {names[1]}." in text
    assert text.endswith("The largest difference is +0.250, MiniLM / Avg over BM25.")


def test_rules_are_counted_one_change_at_a_time():
    assert [row[1:] for row in cells(significance.rules_table(decided(*FOUR)))[1:]] == [
        ["2 of 4", "0", "0"],  # the study's own rule
        ["1 of 4", "1", "0"],  # its test, corrected
        ["3 of 4", "0", "1"],  # the other test, not corrected
        ["2 of 4", "1", "1"]]  # both


def test_cut_layers_are_not_comparable_with_distillation():
    models = encoders.models(BASE, BOTH, ["mean"])
    line = claim_of(significance.claims_table(three_systems(), models))
    assert line["verdict"] == UNTESTED
    assert line["evidence"].startswith("−0.050")  # the second backbone less the first
    assert "what cutting costs says nothing of distillation; the backbone was a bi-encoder before" in line["evidence"]


@pytest.mark.parametrize("change, verdict", [(0.0, AGREES), (0.125, DISAGREES)])
def test_models_from_the_hub_are_judged(change, verdict):
    models = {"BERT / Avg": BiEncoder(backbone="hub:a/bert-base-uncased@1"),
              "DistilBERT / Avg": BiEncoder(backbone="hub:a/distilbert-base-uncased@1")}
    systems = {"BERT / Avg": of_values(WAVE), "DistilBERT / Avg": of_values(WAVE - change)}
    assert claim_of(significance.claims_table(systems, models))["verdict"] == verdict


def test_one_backbone_cannot_test_the_claim():
    line = claim_of(significance.claims_table(three_systems(), encoders.models(BASE, ["packaged"], ["mean"])))
    assert (line["verdict"], line["evidence"]) == (UNTESTED, "needs a second backbone, to stand for DistilBERT")


# ---- answer types: the rules on a collection ----

ASKED = pd.DataFrame([("1", "where is it", "LOC"), ("2", "how many", "NUM"), ("3", "founder of it", "HUM"),
                      ("4", "who did", "HUM"), ("5", "why is it", "DESC"), ("6", "what does teu mean", "ABBR")],
                     columns=["query_id", "text", "answer_type"])


class Labelled:
    """Stands for a collection: labelled queries, weak ones without label, and a split that has none at all."""

    splits = ("test", "weak", "bare")

    def queries(self, split):
        return {"test": ASKED, "weak": ASKED.assign(answer_type=""), "bare": ASKED.drop(columns="answer_type")}[split]


def test_types_are_by_query_and_none_is_a_word():
    assert rules.typed(ASKED).to_dict() == {"1": "LOC", "2": "NUM", "3": "none", "4": "HUM", "5": "DESC", "6": "DESC"}
    assert rules.typed(ASKED, WIDER)["3"] == "HUM"


def test_queries_without_a_label_are_left_out():
    result = rules.labelled(Labelled())
    assert result["split"].tolist() == ["test"] * 6
    for split in ("bare", "weak"):
        assert rules.labelled(SimpleNamespace(splits=(split,), queries=Labelled().queries)) is None


def test_agreement_is_counted_of_all_and_of_those_with_a_type():
    (row,) = cells(rules.agreement_table(rules.labelled(Labelled())))[1:]
    # 5 of 6 have a type, 4 of them the right one; with our own rule all have one, 5 of them the right one
    assert row == ["test", "6", "83.3%", "66.7%", "80.0%", "100.0%", "83.3%", "83.3%"]


def test_the_confusion_has_labels_in_rows():
    text = text_of(rules.confusion(rules.labelled(Labelled()), "test"))
    assert "Counts of label of the collection by type by the rules." in text
    assert "HUM: 1 HUM, 1 none." in text
    assert "ABBR: 1 DESC." in text
    assert "ENTY: none." in text


def test_every_rule_says_what_it_decides():
    result = {row[0]: row[1:] for row in cells(rules.rules_table(rules.labelled(Labelled()), "test"))[1:]}
    assert list(result) == [*(rule.name.replace("_", " ") for rule in WIDER), "no rule"]
    assert result["where"] == ["Begins with where.", "1", "100%"]
    assert result["meaning"][1:] == ["1", "0%"]
    assert result["when"][1:] == ["0", ""]
    assert result["noun phrase"][1:] == ["1", "100%"]
    assert sum(int(row[1]) for row in result.values()) == 6


def test_the_studys_counts_add_up_to_its_queries():
    texts = rules.published_counts()
    assert [texts[kind] for kind in TYPES] == [2316, 1168, 568, 563, 404, 9]
    assert sum(texts.values()) == 6980


def test_counts_stand_beside_the_studys():
    header, *rows = cells(rules.counts_table(ASKED, "Tiny"))
    assert header == ["type", "the study's queries, qtypes", "Tiny, labels", "Tiny, our rules"]
    shown = {row[0]: row[1:] for row in rows}
    assert shown["DESC"] == ["2,316 33.2%", "1 16.7%", "2 33.3%"]
    assert shown["none"] == ["1,952 28.0%", "0 0.0%", "1 16.7%"]
    assert len(cells(rules.counts_table(ASKED.drop(columns="answer_type"), "Tiny"))[0]) == 3


def test_the_studys_own_queries_are_not_run():
    shown = rules.own_queries(ASKED)
    assert UNTESTED in shown.html
    assert "6,980 queries of MS MARCO" in shown.html
    assert UNTESTED not in (rules.own_queries(pd.concat([ASKED] * 1164).head(6980)).markdown)


# ---- answer types: reciprocal rank ----

def typed_queries(**sizes):
    """A series of types, `LOC=3` for three queries of that type."""
    names = [(f"{kind.lower()}{n}", kind) for kind, size in sizes.items() for n in range(size)]
    return pd.Series(dict(names), dtype=object)


def on_types(types, **means):
    """A system whose RR is the given value in each type, else 0."""
    return of_values({"RR": [means.get(kind, 0.0) for kind in types]}, queries=types.index)


def bed_of(frame, judged):
    return SimpleNamespace(query_frame=frame, judged=judged)


def test_types_are_sorted_as_in_the_table_and_judged_queries_alone_count():
    bed = bed_of(ASKED, ["1", "2", "4", "5"])
    assert answer_types.types_of(bed).to_dict() == {"5": "DESC", "2": "NUM", "4": "HUM", "1": "LOC"}
    assert list(answer_types.types_of(bed)) == ["DESC", "NUM", "HUM", "LOC"]


def test_without_labels_the_types_are_those_of_the_rules_and_none_is_left_out():
    bed = bed_of(ASKED.drop(columns="answer_type"), ["1", "3", "6"])
    assert answer_types.types_of(bed).to_dict() == {"6": "DESC", "1": "LOC"}


def test_table_4_4_has_a_row_a_type():
    types = typed_queries(DESC=8, LOC=1)
    systems = {"BM25": on_types(types, DESC=0.25), "MiniLM / Avg": on_types(types, DESC=0.5, LOC=1.0)}
    shown = answer_types.by_type_table(systems, "MiniLM / Avg", types)
    header, *rows = cells(shown)
    assert header[5:7] == ["BERT, published", "MiniLM / Avg, measured"]
    result = {row[0]: row[1:] for row in rows}
    assert list(result) == list(TYPES)
    assert result["DESC"] == ["2,316", "8", "0.19", "0.250 [0.250, 0.250]", "0.29 +0.100", "0.500 [0.500, 0.500]",
                              "+0.250 [+0.250, +0.250]", "0.008"]
    assert result["LOC"][1:] == ["1", "0.25", "0.000 [0.000, 0.000]", "0.37 +0.120", "1.000 [1.000, 1.000]", "", ""]
    assert result["ABBR"][1:] == ["0", "0.17", "", "0.61 +0.440", "", "", ""]


def test_only_systems_of_the_study_are_kept_as_its_values():
    types = typed_queries(DESC=8)
    systems = {"BM25": on_types(types), "MiniLM / Avg": on_types(types, DESC=0.5), "ELECTRA / Max": on_types(types, DESC=0.5)}
    kept = answer_types.by_type_table(systems, "MiniLM / Avg", types).data["values"]
    assert [(line["row"], line["column"], line["measured"]) for line in kept] == [("BM25", "DESC", 0.0)]
    kept = answer_types.by_type_table(systems, "ELECTRA / Max", types).data["values"]
    assert [(line["row"], line["measured"]) for line in kept] == [("BM25", 0.0), ("ELECTRA", 0.5)]


def test_styles_begin_with_the_plain_ones():
    frame = ASKED.assign(style=["oblique", "plain", "paraphrase"] * 2)
    assert list(answer_types.styles_of(bed_of(frame, ["1", "2", "3"]))) == ["plain", "paraphrase", "oblique"]
    assert answer_types.styles_of(bed_of(ASKED, ["1"])) is None


def test_labels_stand_beside_the_types_of_the_rules():
    systems = {"BM25": of_values({"RR": [1.0, 0.5, 0.0, 0.0, 0.0, 0.25]}, queries=list(ASKED["query_id"]))}
    result = {row[0]: [text[:5] for text in row[1:]]
              for row in cells(answer_types.labels_and_rules(systems, bed_of(ASKED, list(ASKED["query_id"]))))[1:]}
    assert result["DESC"] == ["1", "0.000", "2", "0.125"]  # by the rules query 6 is one of them
    assert result["ABBR"] == ["1", "0.250", "0", ""]
    unlabelled = answer_types.labels_and_rules(systems, bed_of(ASKED.drop(columns="answer_type"), ["1"]))
    assert "no labels" in unlabelled.markdown


@pytest.mark.parametrize("easy, hard, verdict", [(0.5, 0.25, AGREES), (0.25, 0.5, DISAGREES), (0.5, 0.5, SMALL)])
def test_locations_are_compared_with_each_other_type(easy, hard, verdict):
    types = typed_queries(LOC=8, ENTY=8, DESC=8, NUM=8, HUM=8)
    systems = {"m": on_types(types, LOC=easy, ENTY=hard)}
    judged = verdicts_of(answer_types.claims_table(systems, "m", types))
    assert judged.pop("location-questions-are-easier/ENTY") == verdict
    assert len(judged) == 3 and set(judged.values()) == {AGREES}


def test_the_claim_needs_two_queries_of_each_type():
    types = typed_queries(LOC=8, ENTY=1, DESC=8, NUM=8, HUM=8)
    lines = {line["claim"]: line for line in answer_types.claims_table({"m": on_types(types)}, "m", types).data["claims"]}
    assert {name.rpartition("/")[2]: line["verdict"] for name, line in lines.items()} == {
        "DESC": SMALL, "NUM": SMALL, "HUM": SMALL, "ENTY": UNTESTED}
    assert lines["location-questions-are-easier/ENTY"]["evidence"].startswith("ENTY is not measured")
    assert answer_types.comparisons({"m": on_types(types)}, types) == {}


def test_location_and_entity_are_also_compared_within_each_style():
    types = typed_queries(LOC=8, ENTY=8)
    styles = pd.Series(["plain", "plain", "plain", "oblique"] * 4, index=types.index)
    systems = {"BM25": on_types(types), "m": on_types(types, LOC=0.5)}
    rows = cells(answer_types.location_table(systems, types, styles, "m"))[1:]
    assert [row[:2] for row in rows] == [["BM25", "8 and 8"], ["m", "8 and 8"], ["m, plain queries", "6 and 6"],
                                         ["m, oblique queries", "2 and 2"]]
    assert [row[2][:6] for row in rows] == ["+0.000", "+0.500", "+0.500", "+0.500"]
    # 1, 2 / C(16, 8), 2 / C(12, 6), 2 / C(4, 2)
    assert [row[3] for row in rows] == ["1.000", "< 0.001", "0.002", "0.333"]
    assert len(cells(answer_types.location_table(systems, types, None, "m"))) == 3
    assert cells(answer_types.style_table(types, styles)) == [["type", "plain", "oblique", "all"], ["ENTY", "6", "2", "8"],
                                                              ["LOC", "6", "2", "8"]]
    assert "does not label" in answer_types.style_table(types, None).markdown


def test_agreement_is_stated_and_disagreement_explained():
    agreed = decided(FOUR[0], FOUR[3])
    assert "agree on all 2 pairs" in significance.disagreements({}, agreed).markdown
    text = significance.why(decided(*FOUR), queries=400, groups=10, divisions=200).markdown
    assert "2.26 instead of 1.97" in text  # the quantiles of t with 9 and 399 degrees of freedom
    assert "For 1 of the 4 pairs" in text  # a share of 0.5; not 1.0, 0.96 and 0.05


def test_the_slider_of_queries_shows_pairs_of_small_differences_and_what_they_need():
    shown = significance.size_figure(three_systems(), compared())
    assert "share of samples over queries" in text_of(shown) and shown.html.count("nr-slider") == 1
    assert "detected with a power of 80%" in shown.html
