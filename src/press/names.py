"""Names that a reader gives as parameters: each is opened by what opens it in the run, before anything is computed."""

import re
from collections.abc import Callable
from typing import Any

from helpers.costs import timing
from helpers.data import stsb
from helpers.data.collection import open_collection
from helpers.data.elsewhere import File
from helpers.errors import BadInput
from helpers.evaluation import measures
from helpers.networks import backbone
from helpers.systems import first_stages
from press.bounds import MAY_BE_EMPTY
from press.terminal import shortened


def _code(name: str) -> Any:
    import faiss

    try:
        return faiss.index_factory(384, re.sub(r"^first\d+,", "", name))
    except RuntimeError:
        raise ValueError("FAISS has no such code") from None


OPENERS: dict[str, Callable[[str], Any]] = {name: opener for opener, names in (
    (open_collection, "collection train_collection questions human long_documents general_text"),
    (lambda name: backbone.parse_architecture(backbone.width_of(name)[0]),
     "backbone backbones generator longformer models narrower other_starts plain_backbones student"),
    (lambda name: name in first_stages.STAGES or (backbone.resolve(name) if first_stages.is_given(name) else File(name)),
     "first_stage stages dense"),
    (_code, "codes"),
    (lambda name: timing.chosen(timing.all_machines(), name), "machine"),
    (measures.parse, "fusion.measure"),
    (lambda name: name == "almanac" or stsb.pairs(name, "test").recipe(), "similarity.pairs")) for name in names.split()}


def check(chapter: str, given: dict[str, Any], usual: dict[str, Any]) -> None:
    """BadInput for the first name that stands for nothing: the opener's own, or one with the parameter's name. Those of the
    profile, `usual`, are known."""
    for name, value in given.items():
        opener = OPENERS.get(f"{chapter}.{name}", OPENERS.get(name))
        known = [*(usual[name] if isinstance(value, list) else [usual[name]]), *[""] * (name in MAY_BE_EMPTY)]
        for text in value if isinstance(value, list) else [value]:
            try:
                _ = text in known or opener is None or opener(text)
            except BadInput:
                raise
            except (OSError, ValueError) as error:  # too long for a path, or what no measure is called
                raise BadInput(f"parameter {name} = {shortened(repr(text))}: {getattr(error, 'strerror', '') or error}",
                               mend="give the name of something that is there") from None
