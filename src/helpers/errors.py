"""One error for bad input: it names the file, the line and the mend."""

from pathlib import Path


class BadInput(ValueError):
    """Input that the reader can mend: what is wrong, in one clause; the file and the 1-based line, if any; what to do about it.
    """

    def __init__(self, what: str, *, file: Path | str | None = None, line: int | None = None, mend: str = ""):
        place = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(f"{place}{what}" + (f". Mend: {mend}" if mend else ""))
        self.file, self.line, self.mend = file, line, mend


class NetworkNeeded(RuntimeError):
    """Something that a reader named must be fetched, and could not be."""
