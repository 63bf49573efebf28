"""One error for bad input: it names the file, the line and the mend."""

import re
from pathlib import Path

# what a terminal obeys instead of showing it; line ends and tabs stay
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class BadInput(ValueError):
    """Input that the reader can mend: what is wrong, in one clause; file and 1-based line, if any; what to do about it."""

    def __init__(self, what: str, *, file: Path | str | None = None, line: int | None = None, mend: str = ""):
        named = str(file).replace("\n", "\\n").replace("\r", "\\r")  # an error is one line
        place = "" if file is None else f"{named}: " if line is None else f"{named}:{line}: "
        super().__init__(f"{place}{what}" + (f". Mend: {mend}" if mend else ""))
        self.file, self.line, self.mend = file, line, mend


class NetworkNeeded(RuntimeError):
    """Something that a reader named must be fetched, and could not be."""


def printable(text: str) -> str:
    """A text with control characters as escapes, `\\x1b`: what a collection holds never commands a terminal."""
    return CONTROL.sub(lambda sign: sign[0].encode("unicode_escape", "surrogatepass").decode(), text)


def is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8: half of a surrogate pair, or a byte of an argument that is none, cannot."""
    return not re.search("[\ud800-\udfff]", text)
