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

HEAD = """# What another training of the same recipe changes: variance components of the chapter Seeds, by two-way analysis of
# variance (Searle, Casella & McCulloch 1992, section 4.2). Systems of one seed have their intervals widened by it, see
# helpers/evaluation/hierarchical.py; `python -m press.seed_noise` writes it anew from the executed chapter.
#
# runs      the steps that were measured, one a seed
# variance  between seeds of a system's mean, alike for all queries
# freedom   degrees of freedom: seeds less one
# share     the variance as a share of that of single queries' values, for measures that the chapter does not have
"""


def text(page: Path) -> str:
    """The file's content for an executed page.

    Raises:
        BadInput: if the page has fewer than two seeds.
    """
    runs = {name: system for name, system in comparison.read(page).systems.items() if name.isdigit()}
    if len(runs) < 2:
        raise BadInput("fewer than two seeds", file=page, mend="execute the chapter with several: `make chapter NAME=seeds`")
    lines = [f"runs: [{', '.join(system.key[:12] for system in runs.values())}]", "measures:"]
    for measure in next(iter(runs.values())).values:
        parts = components(pd.DataFrame({name: system.values[measure] for name, system in runs.items()}))
        share = parts.seed / (parts.query + parts.rest)
        lines.append(f"  {measure}: {{variance: {parts.seed:.7f}, freedom: {parts.seeds - 1}, share: {share:.6f}}}")
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(paths.CHAPTERS / "seeds.ipynb"), encoding="utf-8")
