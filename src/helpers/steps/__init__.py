"""Steps: everything slow, computed once and kept.

    @step(version=1, form="run")
    def bm25_run(index: Path, queries: pd.DataFrame, *, k1: float, b: float, depth: int) -> pd.DataFrame: ...

    run = bm25_run(lucene_index(...), queries, k1=0.9, b=0.4, depth=100)    # a recipe; nothing is computed
    run.value()                                                             # the DataFrame, from the store if it is there

Calling a step gives a `Step`, which may stand as an argument of another one. `value()` looks for the key in the
reader's store, then among the recorded runs, and computes it otherwise, inputs first and only those that are needed:
in this process, or on a cluster (`helpers.steps.cluster`).
"""

from helpers.steps.computation import Step, fresh_since, rebuild, step
from helpers.steps.registry import Definition, Shards, kind

__all__ = ["Definition", "Shards", "Step", "fresh_since", "kind", "rebuild", "step"]
