"""Text as the command line prints it: rows in columns, and what is too long cut."""

from collections.abc import Sequence
from typing import Any


def columns(rows: Sequence[Sequence[Any]], right: Sequence[int] = ()) -> str:
    """Rows as text in columns, those named set to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
    lines = [[cell.rjust(width) if place in right else cell.ljust(width)
              for place, (cell, width) in enumerate(zip(row, widths, strict=True))] for row in cells]
    return "\n".join("  ".join(line).rstrip() for line in lines)


def shortened(text: str, longest: int) -> str:
    """A text, cut after so many characters."""
    return text if len(text) <= longest else f"{text[:longest]} …"
