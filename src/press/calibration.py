"""The page that shows how often verdicts are wrong, from the simulation of `python -m bench --only verdicts`."""

from typing import Any

from helpers.costs import results
from helpers.pages.fragments import table
from helpers.pages.numbers import count, plain

TEXT = """# How far verdicts can be trusted

A verdict is a decision under noise, so its errors can be counted where the truth is known. Systems were drawn with known
effects, seeds and queries, {repetitions} times for each row, and judged by the code and the rules that judge the claims of
this book. A system's mean scatters over seeds by {little} (little) or {much} (much); variances are {query} between queries in the
difference of two systems, and {rest} for what a training does to single queries. Paired seeds share half of what they move.
What is known of trainings is itself estimated anew each time.

{table}

*False* is the share of experiments without any difference whose interval excludes zero: at most .05 is promised. Beside it
is the same share for a test over the queries alone, which averages seeds away: it promises the same and does not keep it.
*Equal* is the share of experiments with a true difference of the margin, here {margin}, that are called too small to matter: at
most .05. *Power* is the share whose interval lies above zero when the true difference is what the page calls the smallest that
would be seen: .80.
The last rows break an assumption: there seeds scatter more than is known of them. With 2,000 experiments a share of .05 has a
standard error of .005.
"""


def page() -> str:
    """The page as Markdown; without a simulation it says how to make one."""
    file = results.no_machines("verdicts")
    if not file.exists():
        return "# How far verdicts can be trusted\n\nNot simulated yet: `python -m bench --only verdicts` does it.\n"
    return text(results.read(file)["sections"]["verdicts"])


def text(simulated: dict[str, Any]) -> str:
    """The page of a simulation's result."""
    rows = [[described(line), *(plain(line[name]) for name in ("detectable", "false", "false_queries_alone", "equal", "power"))]
            for line in simulated["rows"]]
    header = ("experiment", "detectable difference", "false", "false, queries alone", "equal", "power")
    parts = {name: plain(value, 3) for name, value in simulated["components"].items()}
    return TEXT.format(repetitions=count(simulated["repetitions"]), margin=plain(simulated["margin"], 2), **parts,
                       table=table("Errors of verdicts in simulated experiments", header, rows).text)


def described(line: dict[str, Any]) -> str:
    """An experiment in words."""
    parts = [seeds(*line["seeds"]) + (", paired" if line["paired"] else ""), f"{count(line['queries'])} queries"]
    parts += [f"scatter {plain(line['scatter'])}"] if any(line["seeds"]) else []
    parts += [f"{plain(line['wider'], 1)} times as much as is known"] if line["wider"] != 1 else []
    return ", ".join(parts)


def seeds(first: int, second: int) -> str:
    """The seeds of two systems in words."""
    words = [f"{number} seed{'s' * (number > 1)}" if number else "nothing trained" for number in (first, second)]
    return " and ".join(words) if first or second else words[0]
