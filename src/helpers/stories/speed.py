"""The chapter *Costs and speed*: what `make bench` measured, machine by machine. Growth and padding: `stories.growth`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from helpers.costs import contenders
from helpers.costs.measurements import GOALS, Measurements, fraction, per_item
from helpers.costs.timing import Spread
from helpers.pages import figures, page
from helpers.pages.compare import with_interval
from helpers.pages.fragments import Fragment, Html, badge
from helpers.pages.numbers import count, interval, joined, plain, signed
from helpers.pages.rates import PUBLISHED_HEADS, rates_beside_published, rounds_cell

NOT_YET = "not measured yet; `make bench` measures"
CAPTIONS = {"rerank": "Re-ranking", "encode": "Encoding", "search": "BM25 search", "train": "Fine-tuning"}
HEADS = {"rerank": "pairs/s", "encode": "texts/s", "search": "queries/s", "train": "real tokens/s"}


# ---- which machine ----

def about(measurements: Measurements) -> Fragment:
    """Which machine was measured, when, at which commit, and how busy it was."""
    sections = [section for name in measurements.content["sections"]
                if name != "serve" and (section := measurements.section(name))]  # that is *The search application*'s
    if not sections:
        return page.prose(f"No measurements come with this copy of the book: {NOT_YET}.")
    of, loads = measurements.content["machine"], [load for section in sections for load in section["load"]]
    what = of["gpu"] or f"{of['cpu']}, one of its {of['cores']} cores ({', '.join(of['flags'])})"
    dates, commits = (sorted({section[name][:12] for section in sections}) for name in ("measured", "commit"))
    here = "" if measurements.is_here else "**This page was made on another machine: the numbers below are not its own.**"
    return page.prose(
        f"Measured on {what}, {of['memory_gib']} GiB of memory, in {of['dtype']}, on {joined([date[:10] for date in dates])}, at "
        f"commit {joined(commits)}. `bench/{measurements.name}.json` has every round. The machine's load was "
        f"{plain(min(loads), 1)} to {plain(max(loads), 1)} on {of['cores']} cores, the benchmark itself included.",
        busy(loads, of["cores"]), here)


def busy(loads: Sequence[float], cores: int) -> str:
    """A warning, if other programs competed for the cores."""
    if max(loads) <= cores + 0.5:
        return ""
    return "Other programs were running: times are longer than they need be; ratios suffer less, since contenders take turns."


# ---- goals ----

def goals_table(machines: Sequence[Measurements]) -> Fragment:
    """Each goal on each machine: the ratio with its interval, and whether it is met."""
    ratios = [(goal, own.kind, own.against_ours(goal.section, goal.slower)) for goal in GOALS for own in machines
              if own.section(goal.section) is not None]
    if not ratios:
        return page.prose(f"The goals of speed: {NOT_YET}.")
    return page.records_table("How many times as fast this book's code is: the median over rounds, with an interval for it", (
        {"comparison": goal.what, "machine": machine, "times as fast": times_cell(measured),
         "goal": f"{goal.least[machine]:g}×" if machine in goal.least else "", "met": verdict(measured, goal.least.get(machine))}
        for goal, machine, measured in ratios), numeric_from=2)


def verdict(measured: Spread, least: float | None) -> Html:
    """Whether a goal is met: by the whole interval, by the median alone, or not."""
    if least is None:
        return badge("no goal for such a machine", "off")
    if measured.low >= least:
        return badge("met", "yes")
    return badge("met by the median", "weak") if measured.median >= least else badge("missed", "no")


def times_cell(measured: Spread) -> Html:
    """A ratio with its interval below."""
    return with_interval(f"{plain(measured.median, 2)}×", interval(measured.low, measured.high, 2))


# ---- contenders ----

def contenders_table(measurements: Measurements, name: str) -> Fragment:
    """Each contender of a section: its rate, its time relative to the book's, and what the section knows besides."""
    section = measurements.section(name)
    if section is None:
        return page.prose(f"{CAPTIONS[name]}: {NOT_YET}.")
    return page.records_table(
        f"{CAPTIONS[name]}: {work(section, name)}; median, slowest and fastest of {section['rounds']} rounds",
        ({"contender": contender, HEADS[name]: rounds_cell(1 / np.array(per_item(section, contender))),
          "time, relative": times_cell(measurements.against_ours(name, contender)), **beside(section, contender)}
         for contender in section["contenders"] if contender != contenders.PRODUCTS))


def beside(section: Mapping[str, Any], contender: str) -> dict[str, str]:
    """What a section knows of a contender besides its time, by column."""
    cells = {}
    if "flops" in section:
        cells["of the matrix rate"] = f"{100 * fraction(section, contender).median:.0f} %"
    if "measures" in section:
        cells |= {measure: plain(value) for measure, value in section["measures"][contender].items()}
    if "drift" in section:
        cells["drift"] = signed(max(section["drift"][contender].values(), key=abs), 4)  # the larger of those of both measures
    if "steps" in section:
        tokens = section["tokens"][contender]
        cells["padded over real tokens"] = plain(tokens["padded"] / tokens["real"])
    return cells


def work(section: Mapping[str, Any], name: str) -> str:
    """What a round of a section does."""
    if name == "search":
        return f"{count(section['items'])} queries on {count(section['texts'])} texts, {section['depth']} deep"
    if name == "train":
        return (f"{section['steps']} steps of {section['items'] // section['steps']} examples of {section['shortest']} to "
                f"{section['longest']} tokens")
    length = section["tokens"] / section["items"]
    return f"{count(section['items'])} {'pairs' if name == 'rerank' else 'texts'} of {length:.0f} tokens"


def setting(measurements: Measurements, name: str) -> Fragment:
    """What sentence-transformers' best setting is, and how it was chosen."""
    section = measurements.section(name)
    if section is None:
        return page.prose()
    best, tried = section["setting"], [one["per_second"] for one in section["tried"]]
    return page.prose(f"The best of {len(tried)} settings that were tried on a sample: {best['dtype']}, {best['attention']} "
                      f"attention, batches of {best['batch_size']}. The worst of them reaches "
                      f"{plain(min(tried) / max(tried), 2)} of its rate.")


def ratios_plot(measurements: Measurements) -> Fragment:
    """Every contender's time relative to the book's, on a logarithmic axis, with its interval."""
    dots = [(f"{CAPTIONS[name]}: {contender}", measurements.against_ours(name, contender)) for name in CAPTIONS
            if (section := measurements.section(name)) for contender in section["contenders"]
            if contender not in (contenders.PRODUCTS, contenders.OURS, contenders.LUCENE)]
    if not dots:
        return page.prose()
    figure, (axis,) = figures.new(height=0.4 * len(dots) + 1.2, width=7.5)
    for place, (name, measured) in enumerate(reversed(dots)):
        error = [[measured.median - measured.low], [measured.high - measured.median]]
        drawn = axis.errorbar(measured.median, place, xerr=error, fmt="o", capsize=3, color=figures.COLOURS[0])
        figures.hover(drawn.lines[0], [f"{name}: {plain(measured.median, 2)} times the book's time"])
    axis.axvline(1, color="0.5", lw=1)
    axis.set(xlabel="time, relative to this book's", xscale="log", yticks=range(len(dots)),
             yticklabels=[name for name, _ in reversed(dots)])
    ticks = [tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
             if min(m.low for _, m in dots) / 2 <= tick <= 2 * max(m.high for _, m in dots)]
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_xticks([], minor=True)
    ratios = "; ".join(f"{name} {plain(m.median, 2)} times {interval(m.low, m.high, 2)}" for name, m in dots)
    return figures.show(figure, f"Time of each contender relative to this book's. {ratios}.",
                        "Right of the line: slower than this book's code.")


# ---- models of many sizes ----

def sizes_table(measurements: Measurements) -> Fragment:
    """Queries a minute of the study's six shapes, with the matrix rate that each reaches, beside its table 5.5."""
    section = measurements.section("sizes")
    if section is None:
        return page.prose(f"Queries a minute by model size: {NOT_YET}.")
    speed, products = section["speed"], section["contenders"][contenders.PRODUCTS]["seconds"]
    top = section["product_flops"] / float(np.median(products))
    rows = [[*row, f"{100 * section['flops'][size] / float(np.median(speed['sizes'][size]['seconds'])) / top:.0f} %"]
            for size, row in rates_beside_published([(speed, None)]).items()]
    return page.show_table(f"Queries a minute, {section['candidates']} candidates each: Steensland (2021), table 5.5, and random "
                           "weights here", (*PUBLISHED_HEADS, "here", "relative", "of the matrix rate"), rows, numeric_from=2)
