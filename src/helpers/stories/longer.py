"""The section *Trained longer* of *Fine-tuning sizes*: whether more steps take the branches past BM25.

Compared are masked words alone and the head that reads [CLS], with all questions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from helpers.pages import page
from helpers.pages.compare import above, differences_table, lead, measures_table
from helpers.pages.fragments import Fragment
from helpers.stories import fine_tuning_sizes, held_out
from helpers.stories.cls_attention import LOOKED_AT
from helpers.stories.fine_tuning_sizes import HITS
from helpers.stories.readiness import BySize, Starts
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.search_tasks import SearchTask
from helpers.systems.starting_points import MASKED, MLM

STEPS = 600
LEFT_OUT = f"This run leaves the section out: it takes both branches, and trainings of fewer than {STEPS} steps above."


def task(short: SearchTask) -> SearchTask:
    """The same task with more steps."""
    return replace(short, steps=STEPS)


def starts(short: SearchTask, weights: Starts) -> Starts:
    """Both branches; nothing where one is left out, or the trainings are as long already."""
    if short.steps >= STEPS or not set(LOOKED_AT) <= set(weights):
        return {}
    return {name: weights[name] for name in LOOKED_AT}


def fine_tuned(long: SearchTask, chosen: Starts) -> dict[str, Evaluation]:
    """Each branch after its longer trainings with all questions."""
    return {name: system for (name, _), system in fine_tuning_sizes.fine_tuned(long, chosen, [0]).items()}


def loss_figure(losses: Mapping[str, pd.Series]) -> Fragment:
    """The loss on held-out queries of both branches."""
    return held_out.figure(losses) if losses else page.prose(LEFT_OUT)


def table(trained: Systems, short: BySize, sizes: Sequence[int], known: Systems) -> Fragment:
    """BM25, the encoder as its authors left it, and each branch after both kinds of training with all questions."""
    if not trained:
        return page.prose()
    rows = {f"{name}, {kind}": system for name in trained
            for kind, system in (("as above", short[name, sizes[-1]]), (f"{STEPS} steps", trained[name]))}
    return measures_table("Hits with all questions, after trainings of both lengths", {**known, **rows}, HITS)


def comparisons(trained: Systems, bm25: Evaluation) -> Fragment:
    """The head's share after longer trainings, and how far both branches are from BM25."""
    if not trained:
        return page.prose()
    words, reads = (trained[name] for name in LOOKED_AT)
    pairs = {f"{MASKED}, and {MLM}": (reads, words), f"{MASKED}, and BM25": (reads, bm25), f"{MLM}, and BM25": (words, bm25)}
    return differences_table(f"After {STEPS} steps with all questions (first less second)", pairs, HITS[0])


def signs(trained: Systems, short: BySize, sizes: Sequence[int], bm25: Evaluation,
          losses: Mapping[str, pd.Series]) -> dict[str, bool]:
    """What the discussion rests on; nothing where the section is left out."""
    if not trained:
        return {}
    words, reads = (trained[name] for name in LOOKED_AT)
    return {"trained longer, both branches find more in the mean": all(
                lead(own, short[name, sizes[-1]], HITS[0]) > 0 for name, own in trained.items()),
            "trained longer, both find less than BM25 in the mean": all(lead(own, bm25, HITS[0]) < 0 for own in trained.values()),
            "trained longer, the held-out losses end above their lowest": all(
                losses[name].iloc[-1] > losses[name].min() for name in trained),
            "trained longer, the head that reads [CLS] leads masked words, not surely":
                lead(reads, words, HITS[0]) > 0 and not above(reads, words, HITS[0])}
