"""The page that says how to cite: the book, each chapter, and each run that the book shows. And the licences."""

from typing import Any

from helpers import paths
from press import chapters, cite, execute, repository, variants

LICENCES = """## Licences

| what | where | licence |
|---|---|---|
| code | `src/`, `tests/`, the code in `notebooks/` | MIT |
| text and figures | this site, the prose in `notebooks/` and `book/`, `published/` | CC BY 4.0 |
| the Almanac, the built-in collection | `src/helpers/almanac/` | CC0 1.0 |

The studies' numbers are facts taken from the works that the [bibliography](../bibliography.md) lists: cite those, too.
"""

INTRO = """Cite the **book** for its idea, a **chapter** for its experiment, and a **run** for a number: a run names the commit,
the profile and the parameters, and whoever has these can compute it again. A commit that ends in `+` had changes on top of it
that were not committed.
"""


def page() -> str:
    """The page `generated/cite`, in Markdown."""
    parts = ["# How to cite", INTRO, _address(), "## The book", _block("bibtex", cite.of_book()), LICENCES,
             "## Chapters and runs"]
    runs = {file.stem: run for file in executed() if (run := run_of(execute.data_of(file)))}
    for chapter in chapters.names():
        parts += [f"(cite-{chapter})=\n### {variants.title(chapter)}", _block("bibtex", cite.of_chapter(chapter))]
        for name in sorted(name for name in runs if variants.chapter_of(name) == chapter):
            kind = "This run" if name == chapter else f"The variant `{name}`"
            parts += [f"{kind}, and how to compute it again:", _block("bibtex", cite.of_run(name, runs[name])),
                      _block("bash", cite.command(name, runs[name]))]
    return "\n\n".join(part for part in parts if part) + "\n"


def executed() -> list[Any]:
    """The executed pages of the chapters, variants too."""
    files = [paths.CHAPTERS / f"{name}.ipynb" for name in chapters.names()]
    return [file for file in files if file.exists()] + variants.pages()


def run_of(data: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What a page keeps of its run; None if it keeps nothing."""
    return next((item["run"] for item in data if "run" in item), None)


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


def _address() -> str:
    place = repository.repository()
    if place.is_placeholder:
        return ("This copy of the book has no public address yet, so the entries have no `url`: it comes from `repository.url` "
                "in `book/_config.yml`, or from the repository in which GitHub builds the book.")
    return f"The repository is <{place.url}>, with a [CITATION.cff]({place.url}/blob/{place.branch}/CITATION.cff)."
