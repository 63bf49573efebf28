"""How to cite the book or a chapter: BibTeX from CITATION.cff, `generated/cite`."""

from typing import Any

from helpers import paths
from helpers.errors import BadInput
from press import chapters, repository
from press.edited import yaml_of

ESCAPED = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
           "{": r"\textbraceleft{}", "}": r"\textbraceright{}", **{sign: f"\\{sign}" for sign in "%&#_$"}}


def citation() -> dict[str, Any]:
    """The content of CITATION.cff: title, authors with their names, version, date."""
    content = yaml_of(file := paths.ROOT / "CITATION.cff")
    fields = content if isinstance(content, dict) else {}
    if missing := [name for name in ("title", "authors", "version", "date-released") if not fields.get(name)]:
        raise BadInput(f"no {missing[0]}", file=file, mend="add it, or restore the file from git")
    return fields


def latex(text: str) -> str:
    """A text with LaTeX's special characters escaped; braces too, since BibTeX counts those that are escaped by a backslash."""
    return "".join(ESCAPED.get(sign, sign) for sign in text)


def bibtex(chapter: str = "") -> str:
    """The entry of the book, or of a chapter; without a public address no `url`."""
    about, place = citation(), repository.here()
    title, key = latex(about["title"]), "neural-ranking-reproduced"
    site = "" if place.is_placeholder else place.pages
    fields = {"author": " and ".join(f"{{{latex(one['name'])}}}" for one in about["authors"]), "title": title,
              "year": str(about["date-released"])[:4], "publisher": "Self-published", "note": f"Version {about['version']}",
              "url": site and f"{site}chapters/{chapter}.html" if chapter else site}
    if chapter:
        fields |= {"title": f"{{{latex(chapters.chapter(chapter).title)}}}", "booktitle": title}
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@incollection{{{key}-{chapter}," if chapter else f"@book{{{key},", *lines, "}"])
