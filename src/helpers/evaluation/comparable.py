"""Whether a claim can be compared with its study, by what its backbone was before: one rule for all studies.

A bi-encoder that was trained on questions with their answers ranks well before any fine-tuning, so a claim on what a fine-tuning
or a pre-training makes of a bi-encoder says little where it starts from one. What is known of backbones stands in
`published/backbones.yaml`, which network a claim rests on in `published/claims.yaml`.
"""

import functools
import re
from pathlib import Path

from helpers import paths

PACKAGED = "MiniLM"


@functools.cache
def known_backbones() -> dict[str, tuple[str, str]]:
    """By name what each listed backbone was trained as (`bi-encoder`, `none`) and on what."""
    content = paths.listed(paths.PUBLISHED / "backbones.yaml")["backbones"]
    return {name: (group["kind"], group["trained_by"]) for group in content for name in group["names"]}


def short_name(spec: str) -> str:
    """The last part of a backbone's name: `packaged` for `packaged:0,1,2`, `bert-base-uncased` for that model of the hub."""
    if spec.startswith("packaged"):
        return "packaged"
    return as_label(Path(spec.removeprefix("hub:").partition("@")[0]).name)


def as_label(name: str) -> str:
    """The name of a file or folder as a label in tables and sentences: signs that Markdown or HTML could read are `_` there."""
    return re.sub(r"[^\w .,:+@=()-]", "_", name)


def model_name(spec: str) -> str:
    """How tables and prose call a backbone: `MiniLM` for the packaged one, with the layers that are kept and the width, if it has
    not all, else its own name."""
    match = re.fullmatch(r"packaged(?::([\d,]+))?(?:/(\d+))?", spec)
    if match is None:
        return short_name(spec)
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
