"""The chapter *Beyond flat search*: exact and approximate nearest neighbours (David 2020, section 4.4; Zhan et al. 2020)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from helpers.costs.speed import search_speed
from helpers.costs.step_cost import query_seconds
from helpers.data.texts import Texts
from helpers.encoders.nearest_neighbours import EXACT, HNSW, IVF, ann_runs, build, clusters
from helpers.networks import backbone
from helpers.pages import figures, page
from helpers.pages.compare import with_interval
from helpers.pages.fragments import Fragment, Html, linked
from helpers.pages.numbers import count, interval, plain, seconds, signed
from helpers.pages.rates import speed_text
from helpers.pages.spot_check import spot_check
from helpers.steps import Step
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.testbed import Testbed

NAMES = {EXACT: "exact (IndexFlatIP)", HNSW: "HNSW (IndexHNSWFlat)", IVF: "IVF (IndexIVFFlat)"}
SETTINGS = {EXACT: "", HNSW: "efSearch", IVF: "nprobe"}
MARKERS = dict(zip(NAMES, zip("*os", figures.COLOURS, strict=False), strict=True))
QUERY_TOKENS, QUERY_ROUNDS = 16, 15  # of a query whose encoding is timed
KNOWN = 4  # the check of the synthetic vectors starts from one real vector in so many


@dataclass(frozen=True)
class Searches:
    """An encoder over a testbed, and what every index is measured with; see `search_speed`."""

    bed: Testbed
    encoder: BiEncoder
    M: int
    ef_search: tuple[int, ...]
    nprobe: tuple[int, ...]
    timed: int
    rounds: int
    noise: float
    seed: int
    live: bool = False  # whether recorded times are left aside

    @property
    def shape(self) -> tuple[int, int]:
        """How many texts the collection has, and the dimensions of their vectors."""
        dimensions = backbone.configuration(backbone.resolve(self.encoder.backbone)).hidden_size
        return len(Texts(self.bed.store.value())), dimensions

    @property
    def vectors(self) -> tuple[Step, Step]:
        """The vectors of the texts, and those of the queries."""
        return self.encoder.embeddings(self.bed), self.encoder.query_embeddings(self.bed)

    def at(self, size: int, known: int | None = None) -> Step:
        """The measurements over a collection of one size."""
        return search_speed(*self.vectors, size, self.M, list(self.ef_search), list(self.nprobe), self.timed, self.rounds,
                            self.noise, self.seed, known).here(self.live)

    @property
    def real(self) -> Step:
        """The measurements over the real collection."""
        return self.at(self.shape[0])

    @property
    def runs(self) -> Step:
        """What every index finds in the real collection."""
        return ann_runs(*self.vectors, self.bed.store, self.bed.query_step, self.M, list(self.ef_search), list(self.nprobe),
                        self.seed)

    @property
    def encoding(self) -> Step:
        """The time of encoding one query alone, on one thread."""
        return query_seconds(backbone.resolve(self.encoder.backbone), QUERY_TOKENS, QUERY_ROUNDS).here(self.live)

    def encoding_check(self) -> Fragment:
        """The encoding of a query here and now, beside the recorded time."""
        return spot_check(self.encoding, lambda rounds: {"encoding a query": rounds}, "seconds", rounds=3)


def construction_table(M: int, sizes: Sequence[int], seed: int) -> Fragment:
    """What the approximate indexes are built with besides their vectors, as FAISS itself tells it."""
    graph, lists = (build(kind, np.eye(4, 2, dtype="float32"), M, seed) for kind in (HNSW, IVF))
    return page.records_table("What the indexes are built with", [
        {"index": NAMES[HNSW], "parameter": "links of a vector (M)", "value": count(M)},
        {"index": NAMES[HNSW], "parameter": "candidates for them (efConstruction)", "value": count(graph.hnsw.efConstruction)},
        {"index": NAMES[IVF], "parameter": "clusters (nlist), over the fewest vectors and over the most",
         "value": f"{count(clusters(min(sizes)))}, {count(clusters(max(sizes)))}"},
        {"index": NAMES[IVF], "parameter": "iterations of k-means", "value": count(lists.cp.niter)}])


def speeds(steps: Mapping[int, Step]) -> pd.DataFrame:
    """The measurements of all sizes in one table."""
    return pd.concat([step.value() for step in steps.values()], ignore_index=True)


def median(step: Step) -> float:
    """The median over the rounds of a measurement."""
    return float(np.median(step.value()))


def fastest(speeds: pd.DataFrame, size: int, kind: str, target: float = 0.0) -> Any:
    """The row of the fastest setting of a kind that reaches the recall, which exact search always does; None if none does."""
    rows = speeds[(speeds["size"] == size) & (speeds["kind"] == kind) & ((speeds["recall"] >= target) | (kind == EXACT))]
    return None if rows.empty else rows.sort_values("alone").iloc[-1]


def setting_text(kind: str, setting: float) -> str:
    """Such as `efSearch = 40`."""
    return f"{SETTINGS[kind]} = {setting:.0f}" if SETTINGS[kind] else ""


def size_text(row: Any) -> str:
    """How many vectors, and whether all of them are real: `100,000 (94,000 synthetic)`."""
    made = int(row["size"] - row["real"])
    return count(int(row["size"])) + (f" ({count(made)} synthetic)" if made else "")


def rate(row: Any, how: str = "alone") -> Html:
    """Queries a second: the median with the quartiles below it."""
    return with_interval(speed_text(row[how]), f"[{speed_text(row[f'{how}_low'])}, {speed_text(row[f'{how}_high'])}]")


def size_table(speeds: pd.DataFrame, steps: Mapping[int, Step], target: float) -> Fragment:
    """Each size: exact search, and of either approximate index the fastest setting that reaches the recall."""
    rows = []
    for size, step in steps.items():
        exact = fastest(speeds, size, EXACT)
        cells: list[Any] = [size_text(exact), linked(rate(exact), step), rate(exact, "together")]
        for kind in (HNSW, IVF):
            best = fastest(speeds, size, kind, target)
            cells += ["none reaches it", "", "", ""] if best is None else [
                linked(rate(best), step), rate(best, "together"), setting_text(kind, best["setting"]),
                pays_after(best, exact)]
        rows.append(cells)
    heads = [head for kind in (HNSW, IVF)
             for head in (f"{kind}, one by one", f"{kind}, all in one call", "at", "building repaid after")]
    return page.show_table(f"Queries a second: exact search, and the fastest setting with recall of at least {plain(target, 2)}",
                           ("vectors", "exact, one by one", "exact, all in one call", *heads), rows)


def pays_after(row: Any, exact: Any) -> str:
    """How many queries must be searched one by one before building the index has cost less than it saves."""
    saved = 1 / exact["alone"] - 1 / row["alone"]
    return f"{count(round((row['build'] - exact['build']) / saved))} queries" if saved > 0 else "never"


def setting_table(speeds: pd.DataFrame, size: int, step: Step) -> Fragment:
    """Every setting at one size."""
    rows = speeds[speeds["size"] == size]

    def recall(row: Any) -> Html | str:
        low, high = np.clip(row["recall"] + 1.96 * row["recall_error"] * np.array([-1, 1]), 0, 1)
        return plain(row["recall"]) if row["kind"] == EXACT else with_interval(plain(row["recall"]), interval(low, high))

    return page.records_table(f"Every setting over {size_text(rows.iloc[0])} vectors", (
        {"index": NAMES[row["kind"]], "setting": setting_text(row["kind"], row["setting"]),
         "recall of the exact top ten": linked(recall(row), step), "queries a second, one by one": rate(row),
         "all in one call": rate(row, "together"), "building": seconds(row["build"]), "MB": count(round(row["bytes"] / 1e6))}
        for _, row in rows.iterrows()), numeric_from=2)


def curves(speeds: pd.DataFrame) -> Fragment:
    """Queries a second over recall, a curve an index kind; a panel for the largest real collection and one for the largest."""
    real = speeds.loc[speeds["size"] == speeds["real"], "size"]
    sizes = sorted({*real.nlargest(1), speeds["size"].max()})
    figure, panels = figures.new(columns=len(sizes), width=7.5, height=3.8)
    texts = []
    for axis, size in zip(panels, sizes, strict=True):
        rows = speeds[speeds["size"] == size]
        vectors = f"{size_text(rows.iloc[0])} vectors"
        for kind, (marker, colour) in MARKERS.items():
            line = rows[rows["kind"] == kind].sort_values("recall")
            axis.plot(line["recall"], line["alone"], marker=marker, color=colour, label=NAMES[kind],
                      ls="-" if len(line) > 1 else "none", markersize=10 if kind == EXACT else 4)
            points = (f"{speed_text(row['alone'])} at recall {plain(row['recall'], 2)}" for _, row in line.iterrows())
            texts.append(f"{kind} over {vectors}: {', '.join(points)}")
        axis.set(title=vectors, xlabel="recall of the exact top ten")
        figures.logarithmic(axis, "y")
    panels[0].set_ylabel("queries a second")
    figures.legend(figure)
    return figures.show(figure, f"Queries a second over recall. {'; '.join(texts)}.",
                        "Recall and speed, queries searched one by one; each point is a setting.")


def growth(speeds: pd.DataFrame, target: float, encoding: float) -> Fragment:
    """Time of a query over the collection's size, by indexes that reach the recall, beside the seconds of encoding the query."""
    figure, (axis,) = figures.new()
    texts = []
    for kind, (marker, colour) in MARKERS.items():
        best = {size: fastest(speeds, size, kind, target) for size in sorted(speeds["size"].unique())}
        line = {size: 1000 / row["alone"] for size, row in best.items() if row is not None}
        axis.plot(list(line), list(line.values()), marker=marker, color=colour, label=NAMES[kind])
        texts += [f"{kind}: {value:.3g} ms at {count(size)}" for size, value in line.items()]
    axis.axhline(1000 * encoding, color="#808080", ls="--", label="encoding the query")
    axis.set(xlabel="vectors", ylabel="milliseconds a query")
    figures.logarithmic(axis)
    figures.logarithmic(axis, "y")
    figures.legend(figure)
    alt = f"Milliseconds of a query over the number of vectors. {'; '.join(texts)}; encoding the query: {1000 * encoding:.3g} ms."
    return figures.show(figure, alt, f"Time of a query; approximate indexes at recall of at least {plain(target, 2)}.")


def check_table(searches: Searches) -> Fragment:
    """How far synthetic vectors behave like real ones: the real collection beside a part of it, enlarged to the same size."""
    steps = {"real": searches.real, "enlarged": searches.at(searches.shape[0], max(2, searches.shape[0] // KNOWN))}
    both = steps["real"].value().merge(steps["enlarged"].value(), on=["kind", "setting", "size"], suffixes=("_all", ""))
    return page.records_table(
        f"Recall over {count(int(both['size'][0]))} vectors: all real, and enlarged from {count(int(both['real'][0]))}",
        ({"index": NAMES[row["kind"]], "setting": setting_text(row["kind"], row["setting"]),
          "real": linked(plain(row["recall_all"]), steps["real"]), "enlarged": linked(plain(row["recall"]), steps["enlarged"]),
          "difference": signed(row["recall"] - row["recall_all"])}
         for _, row in both[both["kind"] != EXACT].iterrows()), numeric_from=2)
