"""`book export`: the systems of a chapter as TREC runs, each with its ir_metadata header.

The chapter is executed once more, with all its steps kept, and its last cell writes the runs; its page stays as it is.
"""

import os
import tempfile
from pathlib import Path

from helpers.errors import BadInput
from helpers.pages import ir_metadata
from press import chapters, execute


def export(chapter: str, profile: str, given: dict[str, str], names: list[str], folder: Path) -> list[Path]:
    """Write runs of a chapter's systems into a folder.

    Args:
        chapter: its name.
        profile: the profile's name.
        given: parameters from the command line, as texts.
        names: of the systems, as the page calls them; all if none is named.
        folder: is made if it is not there.

    Raises:
        BadInput: if a system is not among the chapter's, naming those that are.
    """
    with tempfile.TemporaryDirectory() as draft:
        os.environ["BOOK_EXPORT"], os.environ["BOOK_EXPORT_AS"] = draft, f"book export {chapter} --profile {profile}"
        try:
            execute.executed(chapters.template(chapter), chapters.resolve(chapter, profile, given))
        finally:
            del os.environ["BOOK_EXPORT"], os.environ["BOOK_EXPORT_AS"]
        made = {file.stem: file for file in sorted(Path(draft).glob("*.run"))}
        wanted = ["-".join(name.split()).replace("/", "_") for name in names] or list(made)
        if unknown := [name for name in wanted if name not in made]:
            raise BadInput(f"no system {unknown[0]!r} in {chapter}", mend=f"choose from {', '.join(made)}")
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for name in wanted:
            if missing := ir_metadata.problems(ir_metadata.read(made[name])):
                raise BadInput(f"the metadata of {name}: {'; '.join(missing)}", mend="this is a mistake of the book's")
            target = folder / f"{chapter}.{name}.run"
            target.write_bytes(made[name].read_bytes())
            written.append(target)
        return written
