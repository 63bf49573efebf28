"""Verdicts recomputed from what executed pages carry, with numpy alone: nothing of the book's code takes part.

    python campaigns/independent_verdicts.py book/chapters        # a folder of executed pages, or some of them

For each judged claim the values of every query and seed give the difference, the noise of its trainings (paired where both
systems have the same seeds), its intervals, and by the rules of `book/reading.md` the word. Declared things are read: margin
and direction from `published/claims.yaml`, the noise of trainings from `published/seed_noise.yaml`. A word may differ where an
end of an interval lies within the Monte Carlo error of its border; such are marked `near`. Of a claim that was not tested the
interval counts.
"""

import json
import sys
from pathlib import Path

import numpy as np
import yaml

PUBLISHED = Path(__file__).resolve().parents[1] / "published"
DATA = "neural_ranking"
DRAWS = 40_000


def declared():
    """Direction and margin of every claim, a claim over rivals for each."""
    found = {}
    for claim in yaml.safe_load((PUBLISHED / "claims.yaml").read_text(encoding="utf-8"))["claims"]:
        for rival, own in claim.get("rivals", {"": {}}).items():
            found[claim["id"] + (f"/{rival}" if rival else "")] = claim["direction"], own.get("margin", claim["margin"]["value"])
    return found


def of_page(page, claims, known):
    """(claim, the page's word, ours, whether it is near a border) for each judged claim of a page."""
    data = json.loads(Path(page).read_text(encoding="utf-8"))["metadata"].get(DATA, [])
    for line in (line for part in data for line in part.get("claims", [])):
        if "values" in line.get("pair", {}):
            whole, narrow = intervals(line["pair"], known)
            word, near = judged(*claims[line["claim"]], whole, narrow)
            if line["verdict"] == "not tested":  # the reason is no number: the interval is checked
                word = line["verdict"] if alike(whole, line["pair"]["interval"]) else "another interval"
            yield line["claim"], line["verdict"], word, near


def intervals(pair, known):
    """The 95 % and the 90 % interval of the difference of the two systems."""
    rng = np.random.default_rng(7)
    ours, theirs = (np.array([[float(value) for value in row.split()] for row in rows]) for rows in pair["values"])
    if ours.shape[1] != theirs.shape[1] or "kind" not in pair:  # two groups of queries
        draws = sum(sign * rng.choice(row[0], (DRAWS, row.shape[1])).mean(axis=1) for sign, row in ((1, ours), (-1, theirs)))
        draws -= ours.mean() - theirs.mean()
    else:
        moved = ours.mean(axis=0) - theirs.mean(axis=0)
        count = len(moved)
        draws = np.concatenate([moved[rng.integers(count, size=(1_000, count))].mean(axis=1) for _ in range(DRAWS // 1_000)])
        variance, freedom = noise(pair, ours, theirs, known) if pair["drawn"] else (0.0, 1)
        draws = (draws - moved.mean()) * np.sqrt(count / (count - 1)) + np.sqrt(variance) * rng.standard_t(freedom, DRAWS)
    return np.quantile(ours.mean() - theirs.mean() + draws, [[0.025, 0.975], [0.05, 0.95]])


def noise(pair, ours, theirs, known):
    """The variance of the difference between trainings, and its degrees of freedom."""
    trained, kinds = pair["trained"], pair["kind"]
    means = [units(rows.mean(axis=1), groups) for rows, groups in zip((ours, theirs), pair["groups"], strict=True)]
    if pair["shared"]:
        return (float(np.var(means[0] - means[1], ddof=1)) / len(means[0]), len(means[0]) - 1) if len(means[0]) > 1 else (0.0, 1)
    spread = max((rows.var(axis=1, ddof=1).mean() / count for rows, count in zip((ours, theirs), trained, strict=True) if count),
                 default=0.0)
    same = len(ours) > 1 and pair["seeds"][0] == pair["seeds"][1] and kinds[0] == kinds[1] and trained[0] == trained[1] > 0
    if same and len(means[0]) == len(means[1]) > 1:
        prior, before = looked_up(known, kinds[0], "paired", pair["measure"], spread)
        moved = means[0] - means[1]
        freedom = before + len(moved) - 1
        return (np.sum((moved - moved.mean()) ** 2) + before * prior * trained[0]) / freedom / len(moved), freedom
    parts = []
    for kind in {kind for kind, count in zip(kinds, trained, strict=True) if count}:
        prior, before = looked_up(known, kind, "single", pair["measure"], spread)
        own = [(rows, count) for rows, count, name in zip(means, trained, kinds, strict=True) if count and name == kind]
        freedom = before + sum(len(rows) - 1 for rows, _ in own)
        pooled = (sum(np.sum((rows - rows.mean()) ** 2) / count for rows, count in own) + before * prior) / freedom
        parts.append((pooled * sum(count / len(rows) for rows, count in own), freedom))
    total = sum(part for part, _ in parts)
    return total, (total**2 / sum(part**2 / freedom for part, freedom in parts) if total else 1)


def units(means, groups):
    """The means of pre-trainings, where there are several, else of seeds."""
    names = list(dict.fromkeys(groups))
    return np.array([means[[own == name for own in groups]].mean() for name in names]) if len(names) > 1 else means


def looked_up(known, kind, way, measure, spread):
    """What is known of a kind of training: variance and degrees of freedom."""
    kinds = [kind] if known.get(kind, {}).get(way) else [name for name in known if way in known[name]]
    if named := [known[name][way][measure] for name in kinds if measure in known[name][way]]:
        widest = max(named, key=lambda own: own["variance"])
        return widest["variance"], widest["freedom"]
    widest = max((own for name in kinds for own in known[name][way].values()), key=lambda own: own["share"])
    return widest["share"] * spread, widest["freedom"]


def alike(ours, theirs):
    """Whether two intervals are the same within the Monte Carlo error of both."""
    return bool(np.all(np.abs(np.subtract(ours, theirs)) < 0.05 * (theirs[1] - theirs[0]) + 1e-4))


def judged(direction, margin, whole, narrow):
    """The word by the rules, and whether an end lies near its border."""
    (low, high), (low90, high90) = whole, narrow
    wide = 0.02 * (high - low) + 1e-6
    near = min(abs(low), abs(high), abs(low90 + margin), abs(high90 - margin)) < wide
    within, sign = -margin < low90 and high90 < margin, -1 if direction == "lower" else 1
    claimed, denied = (low > 0, high < 0) if sign > 0 else (high < 0, low > 0)
    if direction == "no-gain":
        return ("agrees" if high90 < margin else "disagrees" if low > 0 else "cannot tell"), near
    if direction == "no-difference":
        return ("agrees" if within else "disagrees" if claimed or denied else "cannot tell"), near
    return ("too small to matter" if within else "agrees" if claimed else "disagrees" if denied else "cannot tell"), near


def main(pages):
    """Print every recomputed word; 1 if one differs that is not near a border."""
    claims, known = declared(), yaml.safe_load((PUBLISHED / "seed_noise.yaml").read_text(encoding="utf-8"))["kinds"]
    files = [file for page in map(Path, pages) for file in (sorted(page.glob("*.ipynb")) if page.is_dir() else [page])
             if "--" not in file.stem and not file.stem.endswith(".failed")]
    rows = [(file.stem, *row) for file in files for row in of_page(file, claims, known)]
    wrong = 0
    for page, name, printed, ours, near in rows:
        wrong += printed != ours and not near
        print(f"{'same' if printed == ours else 'near' if near else 'DIFFERS':8}{page:20}{name:65}{printed} | {ours}")
    print(f"{len(rows)} verdicts recomputed, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
