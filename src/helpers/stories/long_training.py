"""The chapter *Encoders*: trainings that go on until the held-out loss is level, as the study's did (David 2020, section 4.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from helpers.pages import page, training
from helpers.pages.compare import above, mean_link, test_cells
from helpers.pages.encoders import BEFORE, POOLINGS, measures
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, seconds, signed
from helpers.pages.training import Logs, curve
from helpers.stories import encoders
from helpers.stories.encoders import MEASURE, grouped, means
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation, Systems, evaluate_values
from helpers.systems.testbed import Testbed

SHORT, LONG = "short training", "long training"
LEARNED = 0.95  # of the first held-out loss: a training that ends above it did not learn
RATES = {"packaged:0,1,2": 1e-4}  # of others, that of the short training
LEFT_OUT = "This run leaves the long trainings out: `-p epochs '[1, 2]'` runs them."

Models = Mapping[str, BiEncoder]


def models(short: Models, epochs: Sequence[int]) -> dict[str, BiEncoder]:
    """Models once more, with all training queries and so many passes over them, if any are named."""
    return {name: replace(model, queries=0, epochs=passes, learning_rate=RATES.get(model.backbone, model.learning_rate))
            for passes in epochs[:1] for name, model in short.items()}


def evaluations(trained: Models, bed: Testbed, depth: int) -> dict[str, Evaluation]:
    """Each by exact search over the whole collection, its values alone."""
    return {name: evaluate_values(f"{name}, {LONG}", model.run(bed, depth), bed, measures(depth))
            for name, model in trained.items()}


def losses(logs: Logs) -> Fragment:
    """The loss on held-out queries over the steps."""
    if not logs:
        return page.prose(LEFT_OUT)
    return training.evaluation_curves(logs, "Loss on held-out queries over the long trainings.")


def trainings_table(trained: Models, logs: Logs) -> Fragment:
    """Whether each learned, and whether it came to its end."""
    return page.records_table("The long trainings; levelled is one whose loss falls by less than "
                              f"{training.LEVEL:.0%} from one evaluation to the last", (
        {"model": name, "learning rate": f"{trained[name].learning_rate:g}", "training queries": count(log["queries"]),
         "optimiser steps": count(log["steps"]), "evaluation loss": training.change(loss),
         "change at the end": f"{signed(100 * (loss.iloc[-1] / loss.iloc[-2] - 1), 0)} %",
         "levelled": "yes" if training.levelled(loss) else "no", "accuracy on held-out triplets": training.change(right)}
        for name, log in logs.items() for loss, right in [(curve(log, "eval_loss"), curve(log, "eval_accuracy"))]))


def table(before: Systems, after: Systems, long: Systems) -> Fragment:
    """Each model as it is, after the short training and after the long one, and what the second adds to the first."""
    tests = {name: system.against(after[name], MEASURE) for name, system in long.items()}
    return page.records_table(f"{MEASURE} as each model is, after the short training, and after the long one", (
        {"model": name, BEFORE: mean_link(before[name], MEASURE), SHORT: mean_link(after[name], MEASURE),
         LONG: mean_link(system, MEASURE),
         **dict(zip(("long less short", "p"), test_cells(tests[name]), strict=True))}
        for name, system in long.items()))


def ranges_table(after: Systems, long: Systems) -> Fragment:
    """How far apart the poolings of each encoder lie after both trainings, and in the study."""
    if not (names := pooled(long)):
        return page.prose()
    return encoders.pooling_table({state: {name: systems[name] for name in names} for state, systems in
                                   ((SHORT, after), (LONG, long))})


def pooled(systems: Systems) -> list[str]:
    """The names of those whose encoder has another pooling among them."""
    return [name for name in systems if sum(other.split(" / ")[0] == name.split(" / ")[0] for other in systems) > 1]


def cost(trained: Models) -> Fragment:
    """Seconds of the long trainings."""
    return page.records_table("What the long trainings cost, on a machine that may have done other work", (
        {"model": name, "training": seconds(training.took(model.log))} for name, model in trained.items()))


def signs(before: Systems, after: Systems, long: Systems, logs: Logs) -> dict[str, bool]:
    """What the discussion rests on; nothing without long trainings, and of poolings nothing where each encoder has one alone."""
    if not long:
        return {}
    lines, best = [curve(log, "eval_loss") for log in logs.values()], max(long, key=means(long).__getitem__)
    found = {"the long trainings have levelled": all(map(training.levelled, lines)),
             "in every long training the held-out loss fell": all(line.iloc[-1] < LEARNED * line.iloc[0] for line in lines),
             "after the long training the best encoder is surely above its short one": above(long[best], after[best], MEASURE)}
    if not (names := pooled(long)):
        return found
    apart, untrained = map(mean_less_maximum, (long, before))
    poolings = grouped(means({name: long[name] for name in names})).idxmax()
    return found | {
        "after the long training every encoder's mean and maximum lie further apart than before any training":
            bool(apart) and all(gap > untrained[encoder] for encoder, gap in apart.items()),
        "after the long training the mean is every encoder's best pooling":
            all(name.endswith(f" / {POOLINGS['mean']}") for name in poolings)}


def mean_less_maximum(systems: Systems) -> dict[str, float]:
    """How far pooling by the mean ranks above pooling by the maximum, by encoder, where it has both."""
    values, mean, maximum = means(systems), f" / {POOLINGS['mean']}", f" / {POOLINGS['max']}"
    maxima = {name.removesuffix(maximum): value for name, value in values.items() if name.endswith(maximum)}
    return {encoder: values[encoder + mean] - value for encoder, value in maxima.items() if encoder + mean in values}
