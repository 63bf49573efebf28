"""Collections that the book may not ship, known by their digests: what was recorded on them can be shown without them.

A recipe names a collection by its digests, so a page whose results are recorded needs no more of it. Whoever has the folder puts
it where the page looks for it, or gives it as the parameter: the same texts make the same keys, and what is missing is computed.
"""

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.data.collection_base import Collection, Text
from helpers.errors import BadInput

LIST = paths.PUBLISHED / "elsewhere.yaml"


@functools.cache
def listed() -> dict[str, dict[str, Any]]:
    """What is known of each collection, by the folder where the book looks for it."""
    return paths.listed(LIST)


def known_file(file: Path) -> dict[str, Any] | None:
    """Size and SHA-256 of a file of such a folder; None for any other."""
    folders = {(paths.ROOT / folder).resolve(): own for folder, own in listed().items()}
    return folders.get(file.parent.resolve(), {"files": {}})["files"].get(file.name)


class Folder(Collection):
    """A folder that a reader brings: where its judgments are those of a listed collection, that one's rules hold."""

    folder: Path
    judged_by: str  # the files of queries and judgments, as an error names them

    def rule(self, unit: str, split: str) -> int:
        """As the list has it, else every grade above 0."""
        own = self._listed(unit, split)
        return own["relevant_from"].get(unit, 1) if own else super().rule(unit, split)

    def every_grade_gains(self, unit: str, split: str) -> bool | None:
        """As the list has it, else ir_measures' value."""
        return None if self._listed(unit, split) else super().every_grade_gains(unit, split)

    def lacks(self, what: str) -> BadInput:
        """The error where queries or judgments are wanted of a folder without them."""
        return BadInput(f"no {what} in this folder", file=self.folder, mend=f"add {self.judged_by}; without them it can be "
                        "searched, served and pre-trained on, and nothing be measured")

    def _listed(self, unit: str, split: str) -> dict[str, Any] | None:
        digest = self.part("qrels", unit, split).digest
        return next((own for own in listed().values() if digest in own["digests"].values()), None)


class Elsewhere(Collection):
    """A collection that is not here. BadInput where its texts, queries or judgments are wanted."""

    def __init__(self, spec: str):
        own = listed()[spec]
        self.spec, self.name, self.licence = spec, Path(spec).name, own["licence"]
        self.units, self.splits = tuple(own["relevant_from"]), tuple(own["splits"])
        self._own = own

    @classmethod
    def opens(cls, spec: str) -> bool:
        """A folder that is listed, and not there."""
        return spec in listed() and not Path(spec).is_dir()

    @property
    def is_here(self) -> bool:
        """It cannot."""
        return False

    def texts(self, unit: str) -> Iterator[Text]:
        """They are not here."""
        raise self.lacks("texts")

    def rule(self, unit: str, split: str) -> int:
        """As the list has it."""
        return self._own["relevant_from"][unit]

    def every_grade_gains(self, unit: str, split: str) -> bool | None:
        """None: the recorded runs were measured so."""
        return None

    def text_digest(self, unit: str) -> str:
        """As the list has it."""
        return self._own["digests"][f"texts {unit}"]

    def frame_digest(self, kind: str, *names: str) -> str:
        """As the list has it."""
        return self._own["digests"][" ".join((kind, *names))]

    def lacks(self, what: str) -> BadInput:
        """The error where any of it is wanted."""
        return BadInput(f"the {what} of this collection are not part of the book", file=Path(self.spec), mend=self._own["mend"])
