"""Give recorded runs the numerics class that follows from what they were made of; their values stay as they are.

    python tools/restamp.py [results]

Until now a step's class was what its function said: measures of BM25 alone were `cpu-bf16`, training logs `exact`. By the rule of
`helpers.steps.numerics` a step that computes with a network keeps the class that it was computed in; every other one gets that of
its inputs, in the manifest, in its folder's name and in the lineage of what follows it.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.steps import numerics, recipe, registry
from helpers.steps.store import MANIFEST, read_entry
from press.step_digests import import_all


def restamp(item: dict[str, Any], description: dict[str, Any]) -> str:
    """Set the class of a manifest, or of a line of a lineage, and of all lines below it; gives the class."""
    parts = recipe.input_steps(description)
    assert sorted(recipe.key_of(part) for part in parts) == sorted(line["key"] for line in item["inputs"])
    known = {recipe.key_of(part): part for part in parts}
    below = [restamp(line, known[line["key"]]) for line in item["inputs"]]
    definition = registry.STEPS[item["step"]]
    assert not definition.timing
    if definition.network:
        assert item["numerics"] != numerics.EXACT
    item["numerics"] = numerics.class_of(item["numerics"] if definition.network else numerics.EXACT, below)
    return item["numerics"]


def main(root: Path) -> None:
    """Restamp all entries of a store."""
    import_all()
    changed: Counter[tuple[str, str, str]] = Counter()
    for file in sorted(root.rglob(MANIFEST)):
        entry = read_entry(file.parent)
        assert entry is not None, file
        manifest = json.loads(file.read_text())
        before, after = manifest["numerics"], restamp(manifest, manifest["recipe"])
        if manifest == entry.manifest:
            continue
        changed[manifest["step"], before, after] += 1
        file.write_text(json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
        target = file.parent.parent / after
        if after != before:
            assert not target.exists(), target
            file.parent.rename(target)
        sound = read_entry(target)
        assert sound is not None and sound.manifest["files"] == entry.manifest["files"]
    for (step, before, after), count in sorted(changed.items()):
        print(f"{count:4} {step}: {before} -> {after}" if before != after else f"{count:4} {step}: lineage alone")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else paths.RESULTS)
