"""`book export`: the systems of a chapter as TREC runs, each with its ir_metadata header.

The chapter is executed once more, with all its steps kept, and its last cell writes the runs; its page stays as it is.
"""

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from helpers.errors import BadInput
from press import chapters, execute


def export(chapter: str, profile: str, given: dict[str, str], names: Sequence[str], folder: Path) -> list[Path]:
    """Write runs of a chapter's systems, named as the page calls them, all if none is named; the files. BadInput for a system
    that is not the chapter's."""
    made_by = f"book export {chapter} --profile {profile}"
    with tempfile.TemporaryDirectory() as draft:
        with patch.dict(os.environ, BOOK_EXPORT=draft, BOOK_EXPORT_AS=made_by):
            execute.executed(chapters.template(chapter), chapters.resolve(chapter, profile, given))
        made = {file.stem: file for file in sorted(Path(draft).glob("*.run"))}
        chosen = ["-".join(name.split()).replace("/", "_") for name in names] or list(made)
        if unknown := [name for name in chosen if name not in made]:
            raise BadInput(f"no system {unknown[0]!r} in {chapter}", mend=f"choose from {', '.join(made)}")
        folder.mkdir(parents=True, exist_ok=True)
        return [Path(shutil.copyfile(made[name], folder / f"{chapter}.{name}.run")) for name in chosen]
