"""How to cite the book, a chapter, or one run of a chapter: BibTeX, from CITATION.cff and from what pages keep of their runs.

The page `generated/cite` shows them all, with the commands that compute a run again, and the licences.
"""

import json
import re
import shlex
from typing import Any

from helpers import paths
from helpers.errors import BadInput
from helpers.steps import recipe
from press import chapters, execute, repository, variants
from press.edited import yaml_of

SPECIAL = re.compile(r"[\\{}%&#_$~^]")
ESCAPED = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
           "{": r"\textbraceleft{}", "}": r"\textbraceright{}"}  # BibTeX counts braces, escaped ones too
KEY = "neural-ranking-reproduced"


def citation() -> dict[str, Any]:
    """The content of CITATION.cff: title, authors, version, date."""
    file = paths.ROOT / "CITATION.cff"
    content = yaml_of(file)
    fields = content if isinstance(content, dict) else {}
    if missing := [name for name in ("title", "authors", "version", "date-released") if not fields.get(name)]:
        raise BadInput(f"no {missing[0]}", file=file, mend="add it, or restore the file from git")
    people = fields["authors"] if isinstance(fields["authors"], list) else [None]
    if not all(isinstance(one, dict) and ("name" in one or {"family-names", "given-names"} <= one.keys()) for one in people):
        raise BadInput("an author without `name`, or `family-names` and `given-names`", file=file, mend="add them")
    return fields


def entry(kind: str, key: str, title: str, page: str = "", date: str = "", **fields: str) -> str:
    """A BibTeX entry with the book's authors and a page's address; the year is that of the release without a date. Fields without
    a value are left out. Values are LaTeX already."""
    about = citation()
    authors = [f"{{{latex(author['name'])}}}" if "name" in author else
               latex(f"{author['family-names']}, {author['given-names']}") for author in about["authors"]]
    whole = {"author": " and ".join(authors), "title": title, "year": (date or str(about["date-released"]))[:4],
             "url": site(page), "note": f"Version {about['version']}", **fields}
    lines = [f"  {name:<10}= {{{value}}}," for name, value in whole.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def latex(text: Any) -> str:
    """A text with LaTeX's special characters escaped."""
    return SPECIAL.sub(lambda sign: ESCAPED.get(sign[0], f"\\{sign[0]}"), str(text))


def site(page: str) -> str:
    """The address of a page on GitHub Pages; empty while the repository has no public address."""
    place = repository.repository()
    return "" if place.is_placeholder else f"https://{place.owner.lower()}.github.io/{place.name}/{page}"


def of_book() -> str:
    """The entry of the book."""
    return entry("book", KEY, latex(citation()["title"]), publisher="Self-published")


def of_chapter(chapter: str) -> str:
    """The entry of a chapter, whoever runs it."""
    return entry("incollection", f"{KEY}-{chapter}", f"{{{latex(variants.title(chapter))}}}", f"chapters/{chapter}.html",
                 booktitle=latex(citation()["title"]), publisher="Self-published")


def of_run(page: str, run: dict[str, Any]) -> str:
    """The entry of one run: what stands on an executed page (`candidates`, or `candidates--1c472a`) and can be computed again.

    Of the `run` profile, commit, the parameters that are not as the chapter declares them and, if known, the date are given.
    """
    chapter, digest, date = variants.chapter_of(page), parameters_digest(run), run.get("date", "")
    known = chapters.schema(chapter)
    values = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in run["parameters"].items()
                       if name not in known or value != known[name].default)
    note = (f"Run of the profile {run['profile']} at commit {run['commit']}; parameters {digest}: "
            + (f"{values}; all others as the chapter declares them" if values else "all as the chapter declares them")
            + (f"; run on {date[:10]}" if date else ""))
    title = f"{{{latex(variants.title(chapter))}}}: one run of a chapter of {latex(citation()['title'])}"
    return entry("misc", f"{KEY}-{page}-{digest}", title, f"chapters/{page}.html", date, version=latex(run["commit"]),
                 note=latex(note))


def parameters_digest(run: dict[str, Any]) -> str:
    """A short digest of the values of all parameters of a run."""
    return recipe.sha256(recipe.canonical(run["parameters"]))[:10]


def command(page: str, run: dict[str, Any]) -> str:
    """The commands that compute a run again, from its commit on."""
    chapter = variants.chapter_of(page)
    usual = chapters.resolve(chapter, run["profile"], {})
    own = [f" -p {name} {shlex.quote(value if isinstance(value, str) else json.dumps(value))}"
           for name, value in run["parameters"].items() if value != usual.get(name)]
    return (f"git checkout {run['commit'].rstrip('+')}\nmake env\n"
            f".venv/bin/book chapter {chapter} --profile {run['profile']}{''.join(own)}")


LICENCES = """## Licences

| what | where | licence |
|---|---|---|
| code | `src/`, `tests/`, the code in `notebooks/` | MIT |
| text and figures | this site, the prose in `notebooks/` and `book/`, `published/` | CC BY 4.0 |
| the Almanac, the built-in collection | `src/helpers/data/almanac/` | CC0 1.0 |

The studies' numbers are facts taken from the works that the [bibliography](../bibliography.md) lists: cite those, too.
"""

INTRO = """Cite the **book** for its idea, a **chapter** for its experiment, and a **run** for a number: a run names the commit,
the profile and the parameters, and whoever has these can compute it again. A commit that ends in `+` had changes on top of it
that were not committed.
"""


def page() -> str:
    """The page `generated/cite`, in Markdown."""
    place = repository.repository()
    address = ("This copy of the book has no public address yet, so the entries have no `url`: it comes from `repository.url` "
               "in `book/_config.yml`, or from the repository in which GitHub builds the book.") if place.is_placeholder else (
        f"The repository is <{place.url}>, with a [CITATION.cff]({place.url}/blob/{place.branch}/CITATION.cff).")
    parts = ["# How to cite", INTRO, address, "## The book", _block("bibtex", of_book()), LICENCES, "## Chapters and runs"]
    for chapter in chapters.names():
        parts += [f"(cite-{chapter})=\n### {variants.title(chapter)}", _block("bibtex", of_chapter(chapter))]
        baseline = paths.CHAPTERS / f"{chapter}.ipynb"
        for file in [baseline, *(page for page in variants.pages() if variants.chapter_of(page.stem) == chapter)]:
            if file.exists() and (run := execute.run_of(file)):
                kind = "This run" if file == baseline else f"The variant `{file.stem}`"
                parts += [f"{kind}, and how to compute it again:", _block("bibtex", of_run(file.stem, run)),
                          _block("bash", command(file.stem, run))]
    return "\n\n".join(parts) + "\n"


def _block(language: str, text: str) -> str:
    """A block of code, in a fence that nothing in the text can close."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"
