"""A verdict is one of five words, each of which follows from one interval.

A claim is a difference of two systems, the first less the second, in a measure, with direction and margin, declared before its
runs unless its note in `published/claims.yaml` says otherwise: the margin is half the published effect, and .01 at least; where
there is no such effect, the claim says why it is another. *The interval* holds the difference with 95 %, over queries and
trainings; the 90 % interval is two one-sided tests at .05 each (Schuirmann 1987).

| word | a claim that there is a difference | a claim that there is none, or that nothing is gained |
|---|---|---|
| agrees | the interval is on the claimed side of zero | the 90 % interval lies within the margin; of nothing gained: below it |
| disagrees | the interval is on the other side of zero | the interval excludes zero, and the 90 % one leaves the margin |
| too small to matter | before both: the 90 % interval lies within the margin | |
| cannot tell | otherwise: the smallest difference that would be seen stands beside it | otherwise |
| not tested | not run, not trained, no treatment, or another thing was measured: its reason stands beside it | likewise |

That a study found a difference not significant is a statement on its sample, so that such a claim is judged by its direction. A
claim over several rivals is one claim for each. Claims are declared one by one and tested once, without correction; how many of
all their words chance would give is the scoreboard's (`false_discovery_rate`). Comparisons that are no claim have an interval and
no word. The rules look at differences alone: whether a value lies above or below the published one changes no word.

One rule for all studies decides whether a claim can be compared with its study, by what its backbone was before.

A bi-encoder that was trained on questions with their answers ranks well before any fine-tuning, so a claim on what a fine-tuning
or a pre-training makes of a bi-encoder says little where it starts from one. What is known of backbones stands in
`published/backbones.yaml`, which network a claim rests on in `published/claims.yaml`.
"""

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from helpers import paths
from helpers.data import package_index
from helpers.evaluation.significance import Paired

ALPHA = 0.05
MARGIN = 0.01  # the least margin of a measure between 0 and 1

AGREES, DISAGREES, SMALL, OPEN, UNTESTED = "agrees", "disagrees", "too small to matter", "cannot tell", "not tested"
WORDS = {AGREES: "yes", DISAGREES: "no", SMALL: "none", OPEN: "weak", UNTESTED: "off"}  # with the class of their colour
DIRECTIONS = HIGHER, LOWER, NO_DIFFERENCE, NO_GAIN = "higher", "lower", "no-difference", "no-gain"


@dataclass(frozen=True)
class Verdict:
    """A word with what it rests on."""

    word: str  # one of `WORDS`
    comparison: Paired | None = None  # None where nothing was measured
    margin: float = MARGIN  # that it was judged by
    reason: str = ""  # why the claim was not tested, or what the reader must know


def judge(direction: str, comparison: Paired, margin: float = MARGIN) -> str:
    """The word for a claim of a direction; ValueError for a direction that is none of `DIRECTIONS`."""
    if direction not in DIRECTIONS:
        raise ValueError(f"direction {direction!r}: {', '.join(DIRECTIONS)}")
    whole, narrow = comparison.difference, comparison.narrow
    positive, negative = whole.low > 0, whole.high < 0
    claimed, denied = (negative, positive) if direction == LOWER else (positive, negative)
    below, above = narrow.high < margin, narrow.low > -margin
    if direction == NO_GAIN:
        return AGREES if below else DISAGREES if claimed else OPEN
    if direction == NO_DIFFERENCE:
        return AGREES if below and above else DISAGREES if claimed or denied else OPEN
    return SMALL if below and above else AGREES if claimed else DISAGREES if denied else OPEN


def false_discovery_rate(tested: int, decided: int) -> float:
    """The share of the words *agrees* and *disagrees* that chance would give, at most: of so many tested claims of a difference
    5 % would be decided by chance, were there none (Benjamini & Hochberg 1995); 0 for none decided."""
    return min(1.0, ALPHA * tested / decided) if decided else 0.0


def effect_ratio(measured: float, measured_base: float, published: float, published_base: float) -> float | None:
    """Effect ratio from means (Breuer et al. 2021): measured over published improvement; None if that was zero."""
    effect = published - published_base
    return None if effect == 0 else (measured - measured_base) / effect


def delta_relative_improvement(measured: float, measured_base: float, published: float, published_base: float) -> float | None:
    """Published less measured relative improvement (Breuer et al. 2021); None where a baseline is zero."""
    if 0 in (measured_base, published_base):
        return None
    return (published - published_base) / published_base - (measured - measured_base) / measured_base


PACKAGED = "MiniLM"


@functools.cache
def known_backbones() -> dict[str, tuple[str, str]]:
    """By name what each listed backbone was trained as (`bi-encoder`, `none`) and on what."""
    content = paths.listed(paths.PUBLISHED / "backbones.yaml")["backbones"]
    return {name: (group["kind"], group["trained_by"]) for group in content for name in group["names"]}


def short_name(spec: str) -> str:
    """The last part of a backbone's name: `packaged` for `packaged:0,1,2`, `bert-base-uncased` for that model of the hub."""
    if spec.startswith("packaged"):
        return "mpnet" if spec == package_index.SPEC else "packaged"
    return as_label(Path(spec.removeprefix("hub:").partition("@")[0]).name)


def as_label(name: str) -> str:
    """The name of a file or folder as a label in tables and sentences: signs that Markdown or HTML could read are `_` there."""
    return re.sub(r"[^\w .,:+@=()-]", "_", name)


def model_name(spec: str) -> str:
    """How tables and prose call a backbone: `MiniLM` for the packaged one, with the layers that are kept and the width, if it has
    not all, else its own name."""
    match = re.fullmatch(r"packaged(?::([\d,]+))?(?:/(\d+))?", spec)
    if match is None:
        return "MPNet" if spec == package_index.SPEC else short_name(spec)
    notes = [note for part, note in zip(match.groups(), (f"layers {match[1]}", f"{match[2]} wide"), strict=True) if part]
    return f"{PACKAGED} ({', '.join(notes)})" if notes else PACKAGED


def why_not_comparable(carried_by: str, backbone: str) -> str:
    """Why a claim that rests on such a kind of network is not comparable with a chapter's backbone; empty if it is, or if the
    claim rests on none, or no network takes part."""
    if not carried_by or not backbone:
        return ""
    name = short_name(backbone)
    if name not in known_backbones():
        return f"nothing is known of how {name} was trained before"
    kind, trained_by = known_backbones()[name]
    return f"the backbone was a {kind} before: {trained_by}" if kind == carried_by else ""
