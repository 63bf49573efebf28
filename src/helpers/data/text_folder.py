"""A folder of text files, as texts to pre-train on: no queries, no judgments.

A document is a `.txt` file in UTF-8; a passage is one of its paragraphs, separated by empty lines. Folders within are read too.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from helpers.data.collection_base import Collection, Text
from helpers.data.lines import text_lines
from helpers.data.msmarco_folder import has_texts
from helpers.errors import BadInput, is_unicode
from helpers.steps import digests, recipe

PARAGRAPHS = re.compile(r"\n\s*\n")


class TextFolder(Collection):
    """The texts of a folder, in the order of their names."""

    units = ("document", "passage")

    def __init__(self, folder: str | Path):
        self.folder = Path(folder).expanduser().resolve()
        self.spec, self.name = str(folder), self.folder.name

    @classmethod
    def opens(cls, spec: str) -> bool:
        """A folder with text files that has no texts in MS MARCO's format."""
        folder = Path(spec).expanduser()
        return bool(spec) and folder.is_dir() and not has_texts(folder) and next(folder.rglob("*.txt"), None) is not None

    def texts(self, unit: str) -> Iterator[Text]:
        """Stream the files, or their paragraphs: `novel.txt` and `novel.txt.0`; BadInput for a file that is not UTF-8."""
        for file in self._files():
            name = file.relative_to(self.folder).as_posix()
            body = "".join(line for _, line in text_lines(file)).replace("\r\n", "\n")
            if unit == "document":
                yield Text(name, "", body)
                continue
            paragraphs = (part.strip() for part in PARAGRAPHS.split(body))
            yield from (Text(f"{name}.{number}", "", part) for number, part in enumerate(filter(None, paragraphs)))

    def text_digest(self, unit: str) -> str:
        """Of names and contents; the unit is part of it."""
        content = [[file.relative_to(self.folder).as_posix(), digests.sha256(file)] for file in self._files()]
        return recipe.sha256(recipe.canonical([content, unit]))

    def sources(self, kind: str, *names: str) -> list[Path]:
        """All files, of either unit."""
        return self._files()

    def _files(self) -> list[Path]:
        files = sorted(file for file in self.folder.rglob("*.txt") if file.is_file())
        if odd := [file for file in files if not is_unicode(str(file))]:
            raise BadInput("the name of this file is not UTF-8", file=odd[0], mend="rename it")
        return files
