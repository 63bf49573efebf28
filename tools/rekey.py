"""Give recorded runs the keys of renamed steps and arguments; values, seconds and dates stay, byte for byte.

    python tools/rekey.py results

Run once for each renaming, with the table below; the values' files are moved, never rewritten, and their digests are compared.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from helpers.steps import REGISTRY, recipe
from helpers.steps.store import MANIFEST, read_entry
from press import step_digests

STEPS = {"told_apart": "triplet_accuracy", "sum_weights": "fusion_weight_grid", "heaviest_words": "top_weighted_terms",
         "neighbour_runs": "ann_runs", "judged_candidates": "candidates_with_positives", "best_window": "max_passage",
         "asked": "adhoc_queries"}
ARGUMENTS = {"level": "min_relevance", "segments": "token_types", "links": "M", "breadths": "ef_search", "probes": "nprobe"}
ONLY = {("pretrained", "share"): "mlm_probability"}


def renamed(value: Any) -> Any:
    """A recipe with the new names, all the way down."""
    if isinstance(value, list):
        return [renamed(item) for item in value]
    if not isinstance(value, dict) or "data" in value:
        return value
    if "step" not in value:
        return {name: renamed(item) for name, item in value.items()}
    name = STEPS.get(value["step"], value["step"])
    arguments = {ONLY.get((name, argument)) or ARGUMENTS.get(argument, argument): renamed(item)
                 for argument, item in value["arguments"].items()}
    return {**value, "step": name, "arguments": arguments}


def keys(value: Any) -> dict[str, tuple[str, str]]:
    """For every step in a recipe: its old key, with the new name and the new key."""
    if isinstance(value, list):
        return {key: new for item in value for key, new in keys(item).items()}
    if not isinstance(value, dict) or "data" in value:
        return {}
    below = keys(list(value.get("arguments", value).values()))
    if "step" in value:
        new = renamed(value)
        below[recipe.key_of(value)] = (new["step"], recipe.key_of(new))
    return below


def lineage(lines: list[dict[str, Any]], known: dict[str, tuple[str, str]]) -> list[dict[str, Any]]:
    """A manifest's inputs with their new names and keys."""
    found = []
    for line in lines:
        name, key = known[line["key"]]
        below = {"inputs": lineage(line["inputs"], known)} if "inputs" in line else {}
        found.append({**line, "step": name, "key": key, **below})
    return found


def main(root: Path) -> None:
    """Move every entry to its new place."""
    step_digests.import_all()
    entries = [(file.parent, json.loads(file.read_text())) for file in sorted(root.rglob(MANIFEST))]
    known = {key: new for _, manifest in entries for key, new in keys(manifest["recipe"]).items()}
    for folder, manifest in entries:
        assert recipe.key_of(manifest["recipe"]) == manifest["key"], folder
        fresh = {**manifest, "recipe": renamed(manifest["recipe"]), "inputs": lineage(manifest["inputs"], known)}
        fresh["step"], fresh["key"] = known[manifest["key"]]
        assert fresh["step"] in REGISTRY and recipe.key_of(fresh["recipe"]) == fresh["key"], folder
        target = root / fresh["step"] / fresh["key"][:20] / folder.name
        if target != folder:
            target.parent.mkdir(parents=True, exist_ok=True)
            folder.rename(target)
        (target / MANIFEST).write_text(json.dumps(fresh, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
        assert (entry := read_entry(target)) is not None and entry.manifest["files"] == manifest["files"], target
    for place in sorted(root.glob("*/*")) + sorted(root.glob("*")):
        if place.is_dir() and not any(place.rglob("*")):
            shutil.rmtree(place)
    print(f"{len(entries)} entries, {len(known)} keys; every value's files have the digests that they had")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
