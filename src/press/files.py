"""`book files [WORD]`: the map of the source, each file with the first sentence that it says of itself."""

import ast

from helpers import paths


def listing(word: str = "") -> list[str]:
    """A line for each file of the packages whose path or description has a word."""
    lines = []
    for file in sorted(paths.PACKAGE.parent.rglob("*.py")):
        said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        line = f"{file.relative_to(paths.PACKAGE.parent)}: {' '.join(said.split(chr(10) * 2)[0].split())}"
        lines += [line] if word.lower() in line.lower() else []
    return lines
