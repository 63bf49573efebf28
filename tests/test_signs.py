"""What the discussions of chapters rest on besides claims: each sign is seen to hold and not to hold."""

from types import SimpleNamespace

import pandas as pd
import pytest

from helpers.encoders.nearest_neighbours import EXACT, HNSW, IVF
from helpers.stories import (
    answer_types,
    collection,
    depth,
    distilled_student,
    embeddings,
    encoders,
    explorer,
    first_stage,
    fusion,
    long_training,
    mismatch,
    recipe,
    significance,
)
from helpers.stories import approximate_ranking as ranking
from helpers.stories import repbert as repbert_story
from helpers.stories import sequence_length as lengths
from toys import Value, of_values, system

QUERIES = ["q0", "q1", "q2", "q3"]
TYPES = pd.Series(["LOC", "LOC", "ABBR", "ABBR"], index=QUERIES)
WIDE = of_values({"RR@10": [1.0] + [0.0] * 7, "R@10": [1.0] * 8})  # half of a toy's mean, by one query
STYLES = pd.Series(["plain", "oblique", "plain", "oblique"], index=QUERIES)


def of_collection(windows, other, values, found=0.6, **labels):
    bed = SimpleNamespace(query_frame=pd.DataFrame({"query_id": QUERIES, **labels}), judged=QUERIES)
    systems = {"BM25, documents": system(shifts={"R@20": found}), "BM25, windows": system(windows)}
    tuned, values = {"here": system(), "other": system(other)}, pd.DataFrame({"BM25": values}, index=QUERIES)
    return collection.signs(systems, tuned, values, bed)


def of_recipes(second, zero_shot, best="BCE, BM25", last="LCE, BM25"):
    systems = {best: system(0.25), last: system(second)}
    return recipe.signs(systems, {best: system(0.25)}, system(zero_shot))


def of_embeddings(*gains, before=0.0, less=0.95):
    shares = pd.DataFrame({"query_id": QUERIES, "share": [0.2, 0.5, 0.8, 0.9]})
    systems = {embeddings.BM25: of_values([0.5] * 4), embeddings.BEFORE: of_values([before] * 4),
               embeddings.AFTER: of_values([0.5 + gain for gain in gains])}
    return embeddings.signs(systems, shares, [Value(pd.DataFrame({"above": [own] * 2})) for own in (0.9, less)])


def of_search(graph, widest, fewest, recall=0.4, small=3.0, build=501.0, together=1.0):
    measured = ((EXACT, 5, 2.0), (HNSW, 5, small), (EXACT, 9, 2.0), (HNSW, 9, graph))
    speeds = pd.DataFrame([{"kind": kind, "size": size, "recall": 1.0, "alone": speed, "alone_low": speed, "alone_high": speed,
                            "build": build, "together": 2.0 if kind == EXACT else together} for kind, size, speed in measured])
    systems = {(EXACT, 0): of_values([0.8] * 8), (HNSW, 10): of_values([0.1] * 8), (HNSW, 160): of_values([widest] * 8),
               (IVF, 1): of_values([fewest] * 8), (IVF, 32): of_values([0.8] * 8)}
    real = pd.DataFrame({"kind": [IVF], "setting": [1], "recall": [recall]})
    return ranking.signs(speeds, systems, real, 0.95)


def of_types(*values, styles=STYLES):
    systems = {"BM25": of_values({"RR": [0.5] * 4}, queries=QUERIES), "model": of_values({"RR": list(values)}, queries=QUERIES)}
    return answer_types.signs(systems, "model", TYPES, styles)


def of_expanded_fusions(expansion, plain):
    sums = {("bm25", "repbert"): system(plain), ("expansion", "repbert"): system(expansion)}
    return fusion.expansion_signs(fusion.Fused({}, {}, {}, sums, {}, {}), "repbert", "bm25")


def of_depths(repbert, bm25):
    curves = {"repbert": repbert, "bm25": bm25}
    return depth.signs({stage: dict(zip((5, 10, 50), map(system, curve), strict=True)) for stage, curve in curves.items()},
                       "repbert", "bm25")


def of_deep(bm25, repbert):
    curves = {"repbert": repbert, "bm25": bm25}
    return depth.deep_signs({stage: dict(zip((5, 100, 500), map(system, curve), strict=True)) for stage, curve in curves.items()},
                            "repbert", "bm25")


def of_negatives(repbert, deepct, changed):
    shares = {"repbert": repbert, "deepct": deepct}
    factors = {stage: {50: of_values({mismatch.FACTOR: [value] * 4})} for stage, value in shares.items()}
    crossed = {(negatives, stage): {50: system(shift)} for negatives, shifts in (
        (mismatch.BM25_NEGATIVES, (0.25, 0.25)), (mismatch.DENSE_NEGATIVES, changed))
        for stage, shift in zip(("bm25", "repbert"), shifts, strict=True)}
    return mismatch.signs(factors, crossed, "repbert", "bm25")


def of_stages(repbert, deepct, zero_shot):
    shifts = {"bm25": 0.0, "deepct": deepct, "repbert": repbert, "minilm": zero_shot}
    return first_stage.signs({stage: system(shift) for stage, shift in shifts.items()})


def of_expansion(found, expansion, repbert):
    systems = {"bm25": system(), "expansion": system(expansion, shifts={"R@10": found}), "repbert": system(repbert)}
    return first_stage.expansion_signs(systems)


def of_columns(reranked, dense, found, pairs=None):
    columns = {explorer.FIRST: system(), explorer.SECOND: system(reranked), explorer.DENSE: system(dense, shifts={"R@10": found})}
    return explorer.signs(columns | ({} if pairs is None else {explorer.THIRD: system(pairs)}))


def of_encoders(mean, cls, maximum, margin, **losses):
    after = {"A / Avg": system(mean), "A / CLS": system(cls), "A / Max": system(maximum)}
    logs = {f"A / {name}": {"log": [{"step": 0, "eval_loss": 0.2}, {"step": 9, "eval_loss": loss}]}
            for name, loss in losses.items()}
    return encoders.signs(after, dict.fromkeys(after, system()), logs, {"margin 0.2": system(), "margin 1": system(margin)})


def of_student(untaught, before, after):
    names = [f"{name} / Avg" for name in (distilled_student.STUDENT, distilled_student.CUT, distilled_student.TEACHER)]
    return distilled_student.signs(*(dict(zip(names, map(system, shifts), strict=True)) for shifts in (before, after)),
                                   {names[0]: system(untaught)})


def of_long(short, long, last):
    """Means and maxima of the three layers, then of the student."""
    names = [f"{name} / {pooling}" for name in (distilled_student.CUT, distilled_student.STUDENT) for pooling in ("Avg", "Max")]
    logs = {name: {"log": [{"step": step, "eval_loss": loss} for step, loss in enumerate((0.2, 0.1, last))]} for name in names}
    after, trained = (dict(zip(names, map(system, shifts), strict=True)) for shifts in (short, long))
    return long_training.signs(after, after, trained, logs)


def of_repbert(bm25, repbert, start, zero_shot):
    return repbert_story.signs({"bm25": system(bm25), "repbert": system(repbert), "untrained": start,
                                "minilm": system(zero_shot)})


def of_rules(*holm):
    return significance.signs(pd.DataFrame({"p_groups": 0.01, "holm": holm}))


@pytest.mark.parametrize(("signs", "expected"), [
    (of_collection(-0.125, 0.0, [0.9, 0.5, 0.2, 0.2], style=["plain", "paraphrase", "oblique", "oblique"]), [True] * 4),
    (of_collection(0.0, 0.125, [0.9, 0.5, 0.2, 0.2], 0.5, style=["oblique", "paraphrase", "plain", "plain"]), [False] * 4),
    (of_collection(0.0, 0.0, [0.9] * 4), [True, False, True, False]),
    (of_recipes(0.25, 0.25), [True, True, False, True]),
    (of_recipes(0.0, 0.0, "LCE, both"), [False, False, False, False]),
    (of_recipes(0.0, 0.25, last="MarginMSE, both"), [False, True, True, True]),
    (of_embeddings(0.2, 0.3, -0.1, -0.1), [True, True, True]),
    (of_embeddings(0.2, 0.3, 0.1, 0.1, before=0.9, less=0.92), [False, False, False]),
    (of_search(9.0, 0.8, 0.5), [True] * 6),
    (of_search(9.0, 0.8, 0.5, small=1.0, build=499.0), [True, True, False, False, True, True]),
    (of_search(1.0, 0.7, 0.2, build=499.0, together=3.0), [False] * 6),
    (of_types(0.9, 0.5, 0.6, 0.2), [True, True, True]),
    (of_types(0.9, 0.9, 0.6, 0.6), [True, False, False]),
    (of_types(0.9, 0.5, 0.6, 0.2, styles=None), [False, False, True]),
    (of_expanded_fusions(0.25, 0.255), [True]),
    (of_expanded_fusions(0.125, 0.25), [False]),
    (of_depths((0.1, 0.2, 0.2), (0.0, 0.1, 0.2)), [True, True]),
    (of_depths((0.0, 0.3, 0.2), (0.0, 0.1, 0.2)), [False, False]),
    (of_depths((0.1, 0.2, 0.3), (0.0, 0.1, 0.2)), [True, False]),
    (of_deep((0.0, 0.1, 0.2), (0.1, 0.3, 0.2)), [True, True, True]),
    (of_deep((0.2, 0.2, 0.2), (0.1, 0.2, 0.3)), [False, False, False]),
    (of_negatives(0.2, 0.8, (0.0, 0.125)), [True, False, True, False, False]),
    (of_negatives(0.8, 0.2, (0.375, 0.375)), [False, True, False, True, True]),
    (of_columns(0.25, 0.25, 0.5, 0.1), [True, True, True, True]),
    (of_columns(0.0, 0.25, 0.0, 0.1), [False, False, False, False]),
    (of_columns(0.25, 0.25, 0.5), [True, False, True, True]),
    (of_stages(0.25, 0.0, 0.25), [True, True, True, True]),
    (of_stages(0.25, 0.25, 0.0), [False, True, False, False]),
    (of_stages(0.0, 0.0, 0.0), [False, False, True, True]),
    (of_expansion(0.25, 0.125, 0.25), [True, False, True]),
    (of_expansion(0.0, 0.0, -0.125), [False, True, False]),
    (of_expansion(0.25, 0.0, 0.0), [False, False, False]),
    (of_expansion(-0.25, 0.125, 0.25), [False, False, True]),
    (of_encoders(0.0, -0.25, -0.125, -0.125, Avg=0.1, CLS=0.2, Max=0.1), [True] * 6),
    (of_encoders(0.25, 0.28, 0.3, 0.125, Avg=0.1, CLS=0.1, Max=0.1), [False] * 6),
    (of_encoders(0.0, -0.25, -0.125, 0.0, Avg=0.1, CLS=0.1, Max=0.2), [True, True, False, True, False, False]),
    (of_student(0.15, (0.2, 0.1, 0.3), (0.2, 0.1, 0.3)), [True] * 5),
    (of_student(0.2, (0.2, 0.2, 0.2), (0.2, 0.2, 0.1)), [False] * 5),
    (of_student(0.2, (0.3, 0.2, 0.3), (0.2, 0.2, 0.3)), [True, False, False, False, True]),
    (of_long((0.0, -0.25, 0.1, -0.25), (0.2, -0.1, 0.3, -0.15), 0.098), [True] * 5),
    (of_long((0.2, 0.1, 0.2, 0.2), (0.1, 0.1, 0.1, 0.2), 0.196), [True, *[False] * 4]),
    (of_long((0.2, 0.2, 0.3, 0.3), (0.3, 0.3, 0.3, 0.3), 0.05), [False, True, True, False, True]),
    (of_repbert(-0.125, 0.0, WIDE, 0.125), [True, True, True]),
    (of_repbert(0.125, 0.25, system(), 0.125), [False, False, False]),
    (lengths.signs({32: system(), 64: system(0.1), 128: system(0.2), 256: system(0.2)}), [True, True]),
    (lengths.signs({32: system(), 64: system(0.1), 128: system(0.1), 256: system(0.2)}), [False, False]),
    (lengths.signs({32: system(), 64: system(0.1)}), [True, False]),
    (of_rules(0.01, 0.01), [True, True, True]),
    (of_rules(*[0.01] * 9, 0.5), [False, True, True]),
    (of_rules(*[0.01] * 8, 0.5, 0.5), [False, False, False])])
def test_a_sign_follows_the_values(signs, expected):
    assert list(signs.values()) == expected
    assert all(type(holds) is bool for holds in signs.values())


@pytest.mark.parametrize("untaught, lifted", [(0.1, True), (0.3, False)])
def test_the_maximum_of_a_taught_student_is_compared_with_its_layers_untaught(untaught, lifted):
    name = f"{distilled_student.STUDENT} / Max"
    found = distilled_student.signs({name: system(0.2)}, {}, {name: system(untaught)})
    assert found == {"the teaching surely lifts the student's maximum": lifted}


def test_what_was_not_measured_has_no_sign():
    assert first_stage.signs({"bm25": system()}) == repbert_story.signs({"bm25": system()}) == {}
    assert encoders.signs({"A / Avg": system()}, {}, {}, {}) == distilled_student.signs({}, {}, {}) == {}
    assert not any(mismatch.signs({}, {}, "repbert", "bm25").values())
    assert not any((depth.signs({}, "repbert", "bm25") | depth.deep_signs({}, "repbert", "bm25")).values())
