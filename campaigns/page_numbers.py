"""The safety net: what every page of the recorded default book shows, as one file of numbers, `tests/pages.tsv`.

    .venv/bin/python campaigns/page_numbers.py            # what the pages made here show otherwise than the file, line by line
    .venv/bin/python campaigns/page_numbers.py --write    # replaces it; a commit that moves a number names the difference

A line has a page, a system, a claim or a published cell, a measure, and its mean, or the claim's evidence and word. Three pages
stand there a second time, with a changed parameter.
"""

import difflib
import sys
from collections.abc import Iterator
from typing import Any

from helpers import paths
from helpers.errors import BadInput
from helpers.pages import carried
from press import chapters, execute

FILE = paths.ROOT / "tests" / "pages.tsv"
VARIANTS = {"seeds": {"seeds": "[1, 2]"}, "sequence_length": {"lengths": "[64, 256]"},
            "epochs": {"seeds": "[1, 2]"}}  # all from recorded runs


def known(*pages: str) -> list[str]:
    """The lines of the file, or of some pages."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    return [line for line in lines if not pages or line.partition("\t")[0] in pages]


def differences(made: list[str], before: list[str]) -> list[str]:
    """What changed, `- ` before and `+ ` now."""
    return [line for line in difflib.ndiff(before, made) if line[0] in "-+"]


def lines_of(page: str) -> Iterator[str]:
    """The lines of a chapter's executed page."""
    file = paths.CHAPTERS / f"{page}.ipynb"
    if not file.exists():
        raise BadInput(f"no page of {page!r}", file=file, mend="run `make book`")
    data = execute.data_of(file)
    for part in data:
        if "run" in part and (part["run"]["profile"] != "almanac" or part["run"]["changed"]):
            raise BadInput(f"the page is of {part['run']['profile']}", file=file, mend="run `make book`")
    yield from shown(page, data)


def lines_of_variant(chapter: str) -> Iterator[str]:
    """The lines of a chapter's page in `VARIANTS`, which is executed if it is not there."""
    given = VARIANTS[chapter]
    file, _ = execute.run(execute.request(chapter, "almanac", given))
    yield from shown(" ".join([chapter, *(f"{name}={value}" for name, value in given.items())]), execute.data_of(file))


def shown(page: str, data: list[dict[str, Any]]) -> Iterator[str]:
    """The lines of what a page carries: the means of its systems, its published cells and its claims."""
    for part in data:
        for value in part.get("values", []):
            yield "\t".join([page, *(str(value[name]) for name in ("study", "table", "row", "column", "measure")),
                             f"{value['measured']:.4g}", str(value["verdict"] or "")])
        for claim in part.get("claims", []):
            yield "\t".join([page, "claim", claim["claim"], claim["evidence"], claim["verdict"]])
        if "evaluations" in part:
            for label, system in carried.unpacked(part["evaluations"]).items():
                for measure in system.values:
                    yield "\t".join([page, "mean", label, str(measure), f"{system.values[measure].mean():.4g}"])


if __name__ == "__main__":
    made = [line for name in chapters.names() for line in lines_of(name)]
    made += [line for chapter in VARIANTS for line in lines_of_variant(chapter)]
    if "--write" in sys.argv:
        FILE.write_text("\n".join(made) + "\n", encoding="utf-8")
    elif moved := differences(made, known()):
        sys.exit("\n".join([*moved, f"{len(moved)} lines differ"]))
