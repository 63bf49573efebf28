"""What the chapters on fine-tuning share: a training's size, its loss curves, its losses beside the study's, its cost, and
whether the model knows the articles that it was trained on.
"""

from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from typing import Any

import pandas as pd
from scipy import special, stats

from helpers.data.runs import cut
from helpers.data.texts import split_of, splits_of
from helpers.evaluation import published
from helpers.evaluation.identity import NEITHER, IdentityGap, by_query, gap_excess, identity_gap, without_rivals
from helpers.pages import page, plots
from helpers.pages.fragments import Fragment, badge, count, interval, plain, seconds, signed
from helpers.pages.results import mean_link, measured, table_value
from helpers.steps import Step, ledger
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.testbed import Testbed
from helpers.systems.zero_shot import ZERO_SHOT

STUDY = "steensland2021"
SHORT = {"computed": "live", "stored": "live", "recorded": "recorded"}
Logs = Mapping[str, dict[str, Any]]  # of trainings, by the model's name
LEVEL = 0.05  # a loss that falls by less than this share from one evaluation to the last has levelled
LOSSES = {"training loss": "loss", "evaluation loss": "eval_loss"}


def training_table(log: dict[str, Any], positives: str = "of them relevant") -> Fragment:
    """What the model was trained on; `positives` are the pairs that should score high."""
    sizes = {"training pairs, over all epochs": "pairs", positives: "positives", "held-out pairs": "evaluation_pairs",
             "optimiser steps": "steps", "parameters": "parameters"}
    return page.records_table("The training", [{"": name, "this run": count(int(log[key]))} for name, key in sizes.items()])


def curve(log: dict[str, Any], key: str) -> pd.Series:
    """One logged quantity over the optimiser steps: `loss`, `eval_loss`, or a part of a distillation's loss."""
    return pd.Series({line["step"]: line[key] for line in log["log"] if key in line}, dtype=float)


def loss_curves(log: dict[str, Any]) -> dict[str, pd.Series]:
    """Training and evaluation loss over the optimiser steps."""
    return {name: curve(log, key) for name, key in LOSSES.items()}


def evaluation_curves(logs: Logs, caption: str, printed: Mapping[str, tuple[str, ...]] = plots.NOTHING) -> Fragment:
    """The evaluation loss of several trainings over the optimiser steps; `printed` as for `ends`."""
    lines = {name: curve(log, "eval_loss") for name, log in logs.items()}
    return plots.curves(lines, "optimiser steps", "evaluation loss", caption, printed=ends(lines, printed))


def ends(lines: Mapping[str, pd.Series], cells: Mapping[str, tuple[str, ...]]) -> dict[str, pd.Series]:
    """Where the thesis says that lines end, at the last step of each; of a line the table, row and column, if it has them."""
    known = published.load(STUDY)
    return {name: pd.Series([known[cell].amount], index=lines[name].index[-1:]) for name, cell in cells.items() if cell in known}


def final(log: dict[str, Any], key: str) -> float:
    """The last value of a logged quantity."""
    return float(curve(log, key).iloc[-1])


def change(line: pd.Series) -> str:
    """Where a logged quantity begins and where it ends: `0.201 → 0.093`."""
    return f"{plain(line.iloc[0])} → {plain(line.iloc[-1])}"


def untrained(log: Mapping[str, Any]) -> bool:
    """Whether a model's evaluation loss is no better than that of a constant guess, within a twentieth."""
    share = log["positives"] / log["pairs"]
    constant = float(special.entr([share, 1 - share]).sum())
    return bool(log["log"][-1]["eval_loss"] > 0.95 * constant)


def untaught(losses: pd.Series) -> str:
    """Why a training cannot be judged by its held-out losses: they did not fall, or their latter half still falls, by a slope
    whose 95 % interval lies below zero and that takes off more than a tenth of the fall; empty if they fell and levelled."""
    fall = losses.iloc[0] - losses.iloc[-1]
    if fall <= 0:
        return f"the held-out loss did not fall: {change(losses)}"
    late = losses.iloc[len(losses) // 2:]
    if len(late) < 3:
        return ""
    line = stats.linregress(late.index.to_numpy(dtype=float), late.to_numpy())
    still = line.slope + float(special.stdtrit(len(late) - 2, 0.975)) * line.stderr < 0
    taken = -line.slope * (late.index[-1] - late.index[0])
    return f"the held-out loss still falls over the latter half: {change(late)}" if still and taken > fall / 10 else ""


def levelled(line: pd.Series) -> bool:
    """Whether a loss no longer falls at the end, by the rule of `LEVEL`. The share is of the value before and not of the whole
    fall, most of which is the first steps', after which any curve would look level."""
    before, last = line.iloc[-2:]
    return bool(last > (1 - LEVEL) * before)


def losses_beside(table: str, rows: Mapping[str, tuple[dict[str, Any], Evaluation]]) -> Fragment:
    """Final losses of a table of the thesis, such as `5.3`, beside this run's: for each row of it the training's log and the
    evaluation that its numbers link to."""
    known = published.cells(STUDY, table)
    columns = {name: key for name, key in (("Final Eval Loss", "eval_loss"), ("Final Training Loss", "loss"))
               if any(column == name for _, column in known)}
    records, data = [], []
    for row, (log, system) in rows.items():
        records.append(dict[str, Any](training=row))
        for name, key in columns.items():
            entry, value = known.get((row, name)), final(log, key)
            records[-1] |= {f"{name}, published": entry.printed if entry else "",
                            f"{name}, measured": measured(plain(value, 4), system)}
            data += [table_value(entry, "loss", value, system.source)] if entry else []
    caption = f"{published.published_name(STUDY)}, table {table}: final losses, published and measured"
    return page.records_table(caption, records, values=data)


def took(log: Step) -> float:
    """Seconds of the training that a log is of, what it started from left out; the weights themselves are not recorded."""
    return log.entry().manifest["inputs"][0]["seconds"]


def beside_thesis(log: Step) -> Fragment:
    """How long a training took, and on what, beside the thesis's."""
    theirs = published.value(STUDY, "text 4.1.2", "BERT-Small", "fine-tuning time").printed
    weights = log.entry().manifest["inputs"][0]
    # an input that stands elsewhere in the manifest, such as queries, is named without its numerics
    kinds, below = ({name for one in part for name in one.get("numerics", "").split("+")} for part in (
        [weights], weights.get("inputs") or []))
    device = "GPU" if any("cuda" in name for name in kinds - below or kinds) else "CPU"
    ours = f"{seconds(took(log))} on a {device}"
    return page.prose(f"The first of these training runs took {ours}, the thesis's about {theirs} hours on a GPU.")


def cost(trainings: Mapping[Any, Step], systems: Mapping[Any, Evaluation]) -> Fragment:
    """What each model cost that was trained: seconds of training and of scoring, and where the numbers come from."""
    return page.records_table("What each model cost, on a machine that may have done other work", (
        {"model": name, "optimiser steps": count(log.value()["steps"]),
         "training": seconds(took(log)), "scoring": seconds(scored["seconds"]),
         "on": page.where(scored["machine"]), "from": badge(SHORT[source], source)}
        for name, log in trainings.items() for scored in [systems[name].source.entry().manifest]
        for source in [ledger.USED[systems[name].source.key]["source"]]))


MEASURE = "RR@10"
TOLERANCE = 0.05  # standard deviations


def identity_table(systems: Systems, bed: Testbed, candidates: int, *untrained: str) -> Fragment:
    """The mean score of unjudged candidates by the split of their article, and the measure with train articles' rivals left out.

    An encoder without training is among the systems, of test or dev queries: what it shows comes from the texts alone. What was
    trained knows its articles if its gap is wider than that encoder's, see `knows_articles`, and than those of others that are
    named (`untrained`).
    """
    split = splitting(bed)
    if split is None:
        return page.prose("Training and test queries share their texts in this collection, so that no text tells them apart.")
    neither = " and ".join(NEITHER[bed.splits[0]])
    without = "no training texts" if len(NEITHER[bed.splits[0]]) > 1 else "neither training texts nor answers"
    encoder = next(name for name in systems if ZERO_SHOT in name)
    excuses = [systems[name] for name in (encoder, *untrained)]
    alone = {name: bed.per_query(without_rivals(system.run, bed.qrels, split, bed.min_relevance), [MEASURE])[MEASURE].mean()
             for name, system in systems.items()}
    return page.records_table(f"Mean scores of unjudged candidates, {bed.splits[0]} queries: train articles, and {neither} "
                              f"articles, which hold {without}", (
        {"system": name, "train articles": signed(shown.seen), f"{neither} articles": signed(shown.neither),
         "gap within queries (standard deviations)": signed(shown.gap),
         "knows them": "" if not any(system.trainings()) else "yes" if all(
             knows_articles(system, other, bed, candidates) for other in excuses) else "no",
         MEASURE: mean_link(system, MEASURE),
         f"{MEASURE}, train articles' rivals left out": plain(float(alone[name]))}
        for name, system in systems.items() for shown in [gap_of(system, bed, candidates)]))


@lru_cache
def knows_articles(system: Evaluation, untrained: Evaluation, bed: Testbed, candidates: int) -> str:
    """Why nothing may be concluded from a system whose gap is wider than that of an untrained one by more than the tolerance, by
    the interval of the excess."""
    if splitting(bed) is None or not any(system.trainings()):
        return ""
    excess = gap_excess(_sums(system, bed, candidates), _sums(untrained, bed, candidates))
    return "" if not excess.low > TOLERANCE else (
        f"the model knows which articles it was trained on: its gap exceeds that of the encoder without training by "
        f"{signed(excess.mean)} {interval(excess.low, excess.high)} standard deviations")


def barred(pairs: Mapping[str, tuple[Evaluation, Evaluation]], untrained: Evaluation, bed: Testbed,
           candidates: int) -> dict[str, str]:
    """For each claim why nothing may be concluded from the two systems that it compares, see `knows_articles`; else empty."""
    return {claim: next(filter(None, (knows_articles(system, untrained, bed, candidates) for system in pair)), "")
            for claim, pair in pairs.items()}


def gap_of(system: Evaluation, bed: Testbed, candidates: int) -> IdentityGap:
    """A system's `identity_gap` over its first candidates."""
    return identity_gap(_sums(system, bed, candidates))


@lru_cache
def _sums(system: Evaluation, bed: Testbed, candidates: int) -> pd.DataFrame:
    """What a system's gap is made of; many claims and comparisons ask for one system's."""
    split = splitting(bed)
    assert split is not None
    return by_query(cut(system.run, candidates), bed.qrels, split, bed.splits[0])


def splitting(bed: Testbed) -> Callable[[str], str] | None:
    """The split of each text's article, which many queries ask for; None where no article is of one split alone."""
    split_alone = bed.source.split_by_article and bed.splits[0] in NEITHER
    return cache(partial(split_of, splits=splits_of(bed.source))) if split_alone else None
