"""The chapter *Beyond flat search*: exact and approximate nearest neighbours (David 2020, section 4.4; Zhan et al. 2020)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from helpers.costs.search_speed import search_speed
from helpers.costs.step_cost import query_seconds
from helpers.encoders.embeddings import PASSAGES
from helpers.encoders.nearest_neighbours import EXACT, HNSW, IVF, ann_runs, settings
from helpers.networks import backbone
from helpers.pages import figures, page
from helpers.pages.compare import with_interval
from helpers.pages.fragments import Fragment, Html, linked
from helpers.pages.numbers import count, interval, plain, seconds, signed
from helpers.steps import Step
from helpers.stories.model_size import speed_text
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.testbed import Testbed

KINDS = (EXACT, HNSW, IVF)
NAMES = {EXACT: "exact (IndexFlatIP)", HNSW: "HNSW (IndexHNSWFlat)", IVF: "IVF (IndexIVFFlat)"}
SETTINGS = {EXACT: "", HNSW: "efSearch", IVF: "nprobe"}
QUERY_TOKENS, QUERY_ROUNDS = 16, 15  # of a query whose encoding is timed
KNOWN = 4  # the check of the synthetic vectors starts from one real vector in so many


@dataclass(frozen=True)
class Searches:
    """An encoder over a testbed, and what every index is measured with."""

    bed: Testbed
    encoder: BiEncoder
    M: int
    ef_search: tuple[int, ...]
    nprobe: tuple[int, ...]
    timed: int
    rounds: int
    noise: float
    seed: int

    @property
    def cases(self) -> list[tuple[str, int]]:
        """Every kind with each of its settings."""
        return settings(self.ef_search, self.nprobe)

    @property
    def shape(self) -> tuple[int, int]:
        """How many texts the collection has, and the dimensions of their vectors."""
        return np.load(self.encoder.embeddings(self.bed).value() / PASSAGES, mmap_mode="r").shape

    def at(self, size: int, known: int | None = None) -> Step:
        """The measurements over a collection of one size."""
        return search_speed(self.encoder.embeddings(self.bed), self.encoder.query_embeddings(self.bed), size, self.M,
                            list(self.ef_search), list(self.nprobe), self.timed, self.rounds, self.noise, self.seed, known)

    @property
    def real(self) -> Step:
        """The measurements over the real collection."""
        return self.at(self.shape[0])

    @property
    def runs(self) -> Step:
        """What every index finds in the real collection."""
        return ann_runs(self.encoder.embeddings(self.bed), self.encoder.query_embeddings(self.bed), self.bed.store,
                              self.bed.query_step, self.M, list(self.ef_search), list(self.nprobe), self.seed)

    @property
    def encoding(self) -> Step:
        """The time of encoding one query alone, on one thread."""
        return query_seconds(backbone.resolve(self.encoder.backbone), QUERY_TOKENS, QUERY_ROUNDS)


def sizes_of(searches: Searches, sizes: Sequence[int]) -> dict[int, Step]:
    """The measurement at each size, smallest first."""
    return {size: searches.at(size) for size in sorted(set(sizes))}


def speeds(steps: Mapping[int, Step]) -> pd.DataFrame:
    """All sizes in one table."""
    return pd.concat([step.value() for step in steps.values()], ignore_index=True)


def median(step: Step) -> float:
    """The median over the rounds of a measurement."""
    return float(np.median(step.value()))


def fastest(found: pd.DataFrame, size: int, kind: str, target: float) -> Any:
    """The row of the fastest setting of a kind that reaches the recall; None if none does."""
    rows = found[(found["size"] == size) & (found["kind"] == kind) & (found["recall"] >= target)]
    return None if rows.empty else rows.sort_values("alone").iloc[-1]


def setting_text(kind: str, setting: int) -> str:
    """Such as `efSearch = 40`."""
    return f"{SETTINGS[kind]} = {setting}" if SETTINGS[kind] else ""


def size_text(row: Any) -> str:
    """How many vectors, and whether all of them are real: `100,000 (94,000 synthetic)`."""
    made = int(row["size"] - row["real"])
    return count(int(row["size"])) + (f" ({count(made)} synthetic)" if made else "")


def rate(row: Any, how: str = "alone") -> Html:
    """Queries a second: the median with the quartiles below it."""
    return with_interval(speed_text(row[how]), f"[{speed_text(row[f'{how}_low'])}, {speed_text(row[f'{how}_high'])}]")


def size_table(found: pd.DataFrame, steps: Mapping[int, Step], target: float) -> Fragment:
    """Each size: exact search, and of either approximate index the fastest setting that reaches the recall."""
    rows = []
    for size, step in steps.items():
        exact = fastest(found, size, EXACT, 0.0)
        cells: list[Any] = [size_text(exact), linked(rate(exact), step), rate(exact, "together")]
        for kind in (HNSW, IVF):
            best = fastest(found, size, kind, target)
            if best is None:
                cells += ["none reaches it", "", ""]
            else:
                cells += [linked(rate(best), step), setting_text(kind, int(best["setting"])), pays_after(best, exact)]
        rows.append(cells)
    heads = [head for kind in (HNSW, IVF) for head in (f"{kind}, one by one", "at", "building repaid after")]
    return page.show_table(f"Queries a second: exact search, and the fastest setting with recall of at least {plain(target, 2)}",
                           ("vectors", "exact, one by one", "exact, all in one call", *heads), rows)


def pays_after(row: Any, exact: Any) -> str:
    """How many queries must be searched one by one before building the index has cost less than it saves."""
    saved = 1 / exact["alone"] - 1 / row["alone"]
    return f"{count(round((row['build'] - exact['build']) / saved))} queries" if saved > 0 else "never"


def setting_table(found: pd.DataFrame, size: int, step: Step) -> Fragment:
    """Every setting at one size."""
    rows = []
    for _, row in found[found["size"] == size].iterrows():
        kind, error = row["kind"], 1.96 * row["recall_error"]
        exact = kind == EXACT
        share = plain(row["recall"]) if exact else with_interval(
            plain(row["recall"]), interval(max(0.0, row["recall"] - error), min(1.0, row["recall"] + error)))
        rows.append([NAMES[kind], setting_text(kind, int(row["setting"])), linked(share, step), rate(row), rate(row, "together"),
                     seconds(row["build"]), count(round(row["bytes"] / 1e6))])
    first = found[found["size"] == size].iloc[0]
    return page.show_table(f"Every setting over {size_text(first)} vectors",
                           ("index", "setting", "recall of the exact top ten", "queries a second, one by one", "all in one call",
                            "building", "MB"), rows, numeric_from=2)


def curves(found: pd.DataFrame) -> Fragment:
    """Recall against queries a second, a curve an index kind; a panel for the largest real collection and one for the largest."""
    real = found.loc[found["size"] == found["real"], "size"]
    sizes = sorted({*real.nlargest(1), found["size"].max()})
    figure, panels = figures.new(columns=len(sizes), width=7.5, height=3.8)
    said = []
    for axis, size in zip(panels, sizes, strict=True):
        rows = found[found["size"] == size]
        for kind, marker, colour in zip(KINDS, "*os", figures.COLOURS, strict=False):
            line = rows[rows["kind"] == kind].sort_values("recall")
            axis.plot(line["recall"], line["alone"], marker=marker, color=colour, label=NAMES[kind],
                      ls="-" if len(line) > 1 else "none", markersize=10 if kind == EXACT else 4)
            said.append(f"{kind} over {size_text(rows.iloc[0])} vectors: " + ", ".join(
                f"{speed_text(speed)} at recall {plain(share, 2)}"
                for share, speed in zip(line["recall"], line["alone"], strict=True)))
        axis.set(title=f"{size_text(rows.iloc[0])} vectors", xlabel="recall of the exact top ten", yscale="log")
    panels[0].set_ylabel("queries a second")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figures.show(figure, f"Queries a second over recall. {'; '.join(said)}.",
                        "Recall against speed, queries searched one by one; each point is a setting.")


def growth(found: pd.DataFrame, target: float, encoding: float) -> Fragment:
    """Time of a query over the collection's size, beside the time of encoding the query.

    Args:
        found: all sizes.
        target: the recall that an approximate index must reach.
        encoding: seconds that a query's encoding takes.
    """
    figure, (axis,) = figures.new()
    sizes, said = sorted(found["size"].unique()), []
    for kind, marker, colour in zip(KINDS, "*os", figures.COLOURS, strict=False):
        best = {size: fastest(found, size, kind, 0.0 if kind == EXACT else target) for size in sizes}
        line = {size: 1000 / row["alone"] for size, row in best.items() if row is not None}
        axis.plot(list(line), list(line.values()), marker=marker, color=colour, label=NAMES[kind])
        said += [f"{kind}: {value:.3g} ms at {count(size)}" for size, value in line.items()]
    axis.axhline(1000 * encoding, color="#808080", ls="--", label="encoding the query")
    axis.set(xlabel="vectors", ylabel="milliseconds a query", xscale="log", yscale="log")
    axis.legend(loc="upper left", bbox_to_anchor=(0, 0.94))
    alt = f"Milliseconds of a query over the number of vectors. {'; '.join(said)}; encoding the query: {1000 * encoding:.3g} ms."
    return figures.show(figure, alt, f"Time of a query; approximate indexes at recall of at least {plain(target, 2)}.")


def check_table(searches: Searches) -> Fragment:
    """How far synthetic vectors behave like real ones: the real collection against a part of it, enlarged to the same size."""
    texts, _ = searches.shape
    real, part = searches.real, searches.at(texts, max(2, texts // KNOWN))
    there, made = real.value(), part.value()
    rows = [[NAMES[a["kind"]], setting_text(a["kind"], int(a["setting"])), linked(plain(a["recall"]), real),
             linked(plain(b["recall"]), part), signed(b["recall"] - a["recall"])]
            for (_, a), (_, b) in zip(there.iterrows(), made.iterrows(), strict=True) if a["kind"] != EXACT]
    first = made.iloc[0]
    caption = f"Recall over {count(int(first['size']))} vectors: all real, and enlarged from {count(int(first['real']))}"
    return page.show_table(caption, ("index", "setting", "real", "enlarged", "difference"), rows, numeric_from=2)


def spent(searches: Searches, steps: Mapping[int, Step]) -> Fragment:
    """What the measurements themselves cost."""
    all_steps = {"embeddings of the passages": searches.encoder.embeddings(searches.bed),
                 **{f"search over {count(size)} vectors": step for size, step in steps.items()},
                 "runs of every index": searches.runs, "encoding a query": searches.encoding}
    return page.measurements_table(all_steps)
