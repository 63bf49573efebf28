"""Verdicts recomputed from what executed pages carry, with numpy and scipy alone: nothing of the book's code takes part.

    python tests/independent_verdicts.py book/chapters        # a folder of executed pages, or some of them

For each judged claim the per-query values of its two systems give the difference, its intervals and p (by Monte Carlo of this
file's own), the rules of `book/reading.md` the verdict. Declared things are read: the margin and direction from
`published/claims.yaml`, the variance of training from the page. A verdict may differ where p or an interval lies within the Monte
Carlo error of its border; such are marked `near`. Of a claim that is not comparable difference, interval and p count.
"""

import json
import sys
from pathlib import Path

import numpy as np
import yaml
from scipy import stats

CLAIMS = Path(__file__).resolve().parents[1] / "published" / "claims.yaml"
DATA = "neural_ranking"
DRAWS = 40_000


def of_page(page, claims):
    """(claim, the page's verdict, ours, whether it is near a border) for each judged claim of a page."""
    data = json.loads(Path(page).read_text(encoding="utf-8"))["metadata"].get(DATA, [])
    lines = [line for part in data for line in part.get("claims", []) if line.get("pairs")]
    packed = next((part["evaluations"] for part in data if "evaluations" in part), {"systems": [], "queries": []})
    tested = {}
    for line in lines:
        claim = claims[line["claim"]]
        pairs = [values_of(packed, pair, claim["measure"]) for pair in line["pairs"]]
        if all(moved is not None for moved in pairs):
            tested[line["claim"]] = [numbers(moved, pair["trainings"]) for moved, pair in zip(pairs, line["pairs"], strict=True)]
    verdict_of = {line["claim"]: line["verdict"] for line in lines}
    family = sorted((claim_p(claims[name]["direction"], comparisons), name) for name, comparisons in tested.items()
                    if rule(claims[name]) == "difference" and verdict_of[name] != "not comparable")
    holm, highest = {}, 0.0
    for rank, (p, name) in enumerate(family):
        highest = max(highest, min(1.0, (len(family) - rank) * p))
        holm[name] = highest
    rows = []
    for name, comparisons in tested.items():
        if verdict_of[name] == "not comparable":  # a rule about backbones, not about values: these are checked instead
            pairs = next(line["pairs"] for line in lines if line["claim"] == name)
            agree = all(map(same_numbers, comparisons, pairs))
            rows.append((name, verdict_of[name], verdict_of[name] if agree else "other values", False))
            continue
        own = [judged(claims[name], *one[:3], holm.get(name, min(1.0, len(comparisons) * one[3]))) for one in comparisons]
        order = ["contradicted", "inconclusive", "equivalent", "same direction, not significant", "supported"]
        rows.append((name, verdict_of[name], min((verdict for verdict, _ in own), key=order.index), any(near for _, near in own)))
    return rows


def values_of(packed, pair, measure):
    """The per-query differences of the two systems with these labels whose mean is the page's, in any measure that gives it."""
    def with_label(label):
        return [row for row in packed["systems"] if row["label"] == label or row["label"].startswith(label + ",")]

    for first in with_label(pair["first"]):
        for second in with_label(pair["second"]):
            ours, theirs = (dict(zip(packed["queries"][row["queries"]].split("\n"),
                                     map(float, dict(row["values"]).get(measure, "").split()), strict=False))
                            for row in (first, second))
            if ours and ours.keys() == theirs.keys():
                moved = np.array([ours[query] - theirs[query] for query in ours])
                if abs(moved.mean() - pair["mean"]) < 1e-4:
                    return moved
    return None


def numbers(moved, trainings):
    """The mean difference, its 90 % interval, and p."""
    rng, (variance, freedom) = np.random.default_rng(7), trainings
    noise = np.sqrt(variance) * (rng.standard_t(freedom, DRAWS) if variance and freedom else np.zeros(DRAWS))
    mean, count = moved.mean(), len(moved)
    samples = np.concatenate([moved[rng.integers(count, size=(1_000, count))].mean(axis=1) for _ in range(DRAWS // 1_000)])
    low, high = np.quantile(mean + (samples - mean) * np.sqrt(count / (count - 1)) + noise, [0.05, 0.95])
    flips = np.concatenate([(rng.choice([-1.0, 1.0], (1_000, count)) * moved).mean(axis=1) for _ in range(DRAWS // 1_000)])
    if variance == 0 and count > 30:  # a check by another way: the t-test sees the same
        assert abs(stats.ttest_1samp(moved, 0).pvalue - np.mean(np.abs(flips) >= abs(mean) - 1e-12)) < 0.05
    return mean, low, high, (1 + np.sum(np.abs(flips + noise) >= abs(mean) - 1e-12)) / (1 + DRAWS)


def same_numbers(values, pair):
    """Whether the difference, its 90 % interval and p are the page's, within the Monte Carlo error of both."""
    mean, low, high, p = values
    wide = 0.05 * (high - low) + 1e-4
    return (abs(mean - pair["mean"]) < 1e-4 and abs(low - pair["narrow"][0]) < wide and abs(high - pair["narrow"][1]) < wide
            and abs(p - pair["p"]) < 0.02)


def claim_p(direction, comparisons):
    """One p for the pairs of a claim of a difference: the largest, or for pairs of the other sign their smallest times all."""
    adverse = [p for mean, *_, p in comparisons if (mean <= 0 if direction == "higher" else mean >= 0)]
    return len(comparisons) * min(adverse) if adverse else max(p for *_, p in comparisons)


def rule(claim):
    """The claim's rule."""
    if claim["direction"] == "no-difference":
        return "equality"
    return "small" if claim["significant"] is False else "difference"


def judged(claim, mean, low, high, p):
    """The verdict by the rules, and whether a number lies near a border."""
    margin = (claim.get("margin") or {"value": 0.01})["value"]
    same = mean > 0 if claim["direction"] == "higher" else mean < 0
    within, sure, kind = -margin < low and high < margin, p < 0.05, rule(claim)
    near = abs(p - 0.05) < 0.01 or min(abs(high - margin), abs(low + margin)) < 0.001
    if kind == "equality":
        return ("supported" if within else "contradicted" if sure else "inconclusive"), near
    if kind == "small" and (same and within or sure):
        return ("supported" if same and within else "contradicted"), near
    if sure:
        return ("supported" if same else "contradicted"), near
    return ("equivalent" if within else "same direction, not significant" if same else "inconclusive"), near


def main(pages):
    """Print every recomputed verdict; 1 if one differs that is not near a border."""
    claims = {claim["id"]: claim for claim in yaml.safe_load(CLAIMS.read_text(encoding="utf-8"))["claims"]}
    files = [file for page in map(Path, pages) for file in (sorted(page.glob("*.ipynb")) if page.is_dir() else [page])
             if "--" not in file.stem and not file.stem.endswith(".failed")]
    rows = [(file.stem, *row) for file in files for row in of_page(file, claims)]
    wrong = 0
    for page, name, printed, ours, near in rows:
        agrees = printed == ours or (printed == "supported, cause not established" and ours == "supported")
        wrong += not agrees and not near
        print(f"{'same' if agrees else 'near' if near else 'DIFFERS':8}{page:20}{name:55}{printed} | {ours}")
    print(f"{len(rows)} verdicts recomputed, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
