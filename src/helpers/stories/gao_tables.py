"""Tables 1 to 4 of Gao & Callan (2021) beside this run: a column with its verdicts, and a table in full."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.significance import Interval
from helpers.pages import page, plots
from helpers.pages.compare import beside_published, effects_beside, mean_link, table_value
from helpers.pages.fragments import Fragment
from helpers.stories.readiness import NONE, STUDIED, STUDY, BySize
from helpers.systems.evaluated import Systems
from helpers.systems.starting_points import CONDENSER, START

NOT_RUN = "not run"


def columns(sizes: Sequence[int], of_study: Sequence[str]) -> dict[int, str]:
    """The study's column that stands for each size: the first for the smallest of several, the last for the largest."""
    if not 1 <= len(sizes) <= len(of_study):
        raise BadInput(f"{len(sizes)} training sizes", mend=f"give one to {len(of_study)}, smallest first, 0 for all")
    return dict(zip(sizes, [*of_study[:len(sizes) - 1], of_study[-1]], strict=True))


def printed_lead(table: str, column: str) -> float:
    """Condenser's lead over BERT in a column of the study."""
    condenser, bert = (published.value(STUDY, table, row, column).amount for row in (STUDIED[CONDENSER], STUDIED[START]))
    return condenser - bert


def beside_the_study(systems: BySize, table: str, columns: Mapping[int, str], measure: str,
                     judged: Fragment | None = None) -> Fragment:
    """A table of the study beside this run, a part for each training size, whose column `columns` names; the effects of all sizes
    in one figure. They are differences from the start, and from the first starting point where the start is left out."""
    if not systems:
        return page.prose()
    rows = {size: {STUDIED[start]: system for (start, n), system in systems.items() if n == size} for size in columns}
    names = list(rows[next(iter(columns))])
    base = STUDIED[START] if STUDIED[START] in names else names[0]
    parts: list[Fragment] = []
    effects: dict[str, tuple[float, Interval]] = {}
    for size, column in columns.items():
        parts.append(beside_published(STUDY, table, column, measure, rows[size], base, judged=judged, pictured=False))
        tests = {row: system.against(rows[size][base], measure) for row, system in rows[size].items() if row != base}
        own = effects_beside(STUDY, table, column, tests, base)
        effects |= {f"{row}, {column.rpartition(' / ')[2]}": pair for row, pair in own.items()}
    caption = f"Effects in {measure} by training set, published and measured."
    drawn = plots.forest(effects, f"difference from {base}", caption).html if effects else ""
    return Fragment("".join(part.html for part in parts) + drawn,
                    data={"values": [value for part in parts for value in part.data["values"]]})


def in_full(table: str, measures: Mapping[str, str], systems: BySize, sizes: Mapping[int, str],
            references: Systems = NONE) -> Fragment:
    """Every value that a table of the study prints, and beside it what this run measured for it, or that it did not.

    Args:
        measures: what stands here for a group of columns, `Natural Question / Top-20`; empty for one that was not run.
        sizes: the training sizes of this run in words.
        references: what needs no training, by the study's names of their rows.
    """
    printed = published.cells(STUDY, table)
    suffixes, starts = training_sizes(printed, measures), {row: start for start, row in STUDIED.items()}
    by_suffix = {suffix: size for size, suffix in columns(list(sizes), suffixes).items()}
    heads = {suffix: f"here, for {suffix}{f': {sizes[by_suffix[suffix]]}' if suffix in by_suffix else ''}" for suffix in suffixes}
    records, data = [], []
    for group, measure in measures.items():
        for row in dict.fromkeys(row for row, column in printed if column == group or column.startswith(f"{group} / ")):
            # which system stands for each column of the row: none needs a size where the study's row has none
            own = {"": references.get(row), **{suffix: systems.get((starts.get(row, ""), by_suffix.get(suffix, -1)))
                                               for suffix in suffixes}}
            record: dict[str, Any] = {"column": group, "system": row}
            for suffix, system in own.items():
                entry = printed.get((row, f"{group} / {suffix}" if suffix else group))
                record[suffix or "published"] = entry.shown if entry else ""
                record[heads.get(suffix, "here")] = NOT_RUN if entry else ""
                if entry and system and measure:
                    record[heads.get(suffix, "here")] = mean_link(system, measure)
                    data.append(table_value(entry, measure, system.mean(measure).mean, system.source))
            records.append(record)
    return page.records_table(f"{published.published_name(STUDY)}, table {table} in full, published and here", records,
                              numeric_from=2, values=data)


def training_sizes(printed: Iterable[tuple[str, str]], groups: Iterable[str]) -> list[str]:
    """The training sizes of a table, smallest first, as the columns of its groups end: those of a row that has them all, since
    there are rows that have the last alone."""
    rows = list(printed)
    found = [[column.removeprefix(f"{group} / ") for name, column in rows if name == row and column.startswith(f"{group} / ")]
             for group in groups for row in dict.fromkeys(row for row, _ in rows)]
    return max(found, key=len)
