"""What the chapter *Seeds* says of the noise of training, written to `published/seed_noise.yaml`.

    python -m press.seed_noise          # after the chapter has been executed with all its seeds

Intervals of systems with one seed, and verdicts, rest on the file: a change of it is a commit of its own.
"""

from pathlib import Path

import pandas as pd

from helpers import paths
from helpers.errors import BadInput
from helpers.evaluation.hierarchical import FILE
from helpers.evaluation.variance import components
from press import comparison


def text(page: Path) -> str:
    """The file's content for an executed page; the comments at its head stay. BadInput if the page has fewer than two seeds."""
    runs = {name: system for name, system in comparison.read(page).systems.items() if name.isdigit()}
    if len(runs) < 2:
        raise BadInput("fewer than two seeds", file=page, mend="execute the chapter with several: `make chapter NAME=seeds`")
    lines = [f"runs: [{', '.join(system.key[:12] for system in runs.values())}]", "measures:"]
    for measure in next(iter(runs.values())).values:
        parts = components(pd.DataFrame({name: system.values[measure] for name, system in runs.items()}))
        share = parts.seed / (parts.query + parts.rest)
        lines.append(f"  {measure}: {{variance: {parts.seed:.7f}, freedom: {parts.seeds - 1}, share: {share:.6f}}}")
    head = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    return "\n".join([*head, *lines, ""])


if __name__ == "__main__":
    FILE.write_text(text(paths.CHAPTERS / "seeds.ipynb"), encoding="utf-8")
