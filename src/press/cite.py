"""How to cite the book or a chapter: BibTeX from CITATION.cff, `generated/cite`; and where the book is published.

The repository's public address, from which every launch link, citation and clone follows, stands in `book/_config.yml` under
`repository`. The place that this clone came from goes before it, if that is on GitHub, so that a fork's book points to the fork;
`BOOK_REPOSITORY` goes before both.
"""

import os
import re
import subprocess
from typing import Any, NamedTuple

from helpers import paths
from helpers.errors import BadInput
from press import chapters
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
    about, place = citation(), repository()
    title, key = latex(about["title"]), "neural-ranking-reproduced"
    site = "" if place.is_placeholder else place.pages
    fields = {"author": " and ".join(f"{{{latex(one['name'])}}}" for one in about["authors"]), "title": title,
              "year": str(about["date-released"])[:4], "publisher": "Self-published", "note": f"Version {about['version']}",
              "url": site and f"{site}chapters/{chapter}.html" if chapter else site}
    if chapter:
        fields |= {"title": f"{{{latex(chapters.chapter(chapter).title)}}}", "booktitle": title}
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@incollection{{{key}-{chapter}," if chapter else f"@book{{{key},", *lines, "}"])


def sections() -> str:
    """The entries of all chapters, in Markdown."""
    return "\n\n".join(f"(cite-{chapter})=\n### {chapters.chapter(chapter).title}\n\n```bibtex\n{bibtex(chapter)}\n```"
                       for chapter in chapters.names())


NOBODY = "OWNER"  # stands for the owner's name until somebody publishes the book
REMOTE = re.compile(r"(?:https://(?:[^@/]*@)?|(?:ssh://)?git@)github\.com[:/](.*)")  # without a name or a token that it holds
ADDRESS = re.compile(r"https://github\.com/([A-Za-z0-9][A-Za-z0-9-]*)/([A-Za-z0-9._-]+?)(?:\.git)?/?")


class Repository(NamedTuple):
    """A repository on GitHub: its owner, its name, and the branch that readers are led to."""

    owner: str
    name: str
    branch: str

    @property
    def url(self) -> str:
        """Its address."""
        return f"https://github.com/{self.owner}/{self.name}"

    @property
    def pages(self) -> str:
        """Where GitHub shows its book."""
        return f"https://{self.owner.lower()}.github.io/{self.name}/"

    @property
    def is_placeholder(self) -> bool:
        """Whether the address was never set."""
        return self.owner == NOBODY


def repository() -> Repository:
    """The repository that this book is built for; BadInput for one that is not GitHub's: Binder and Colab could not open it."""
    usual = configured()
    if own := os.environ.get("BOOK_REPOSITORY"):
        return parsed(own, usual.branch, "BOOK_REPOSITORY")
    try:
        done = subprocess.run(["git", "remote", "get-url", "origin"], cwd=paths.ROOT, capture_output=True, text=True, check=False)
    except OSError:  # no git
        return usual
    remote = REMOTE.fullmatch(done.stdout.strip())
    address = ADDRESS.fullmatch(f"https://github.com/{remote[1]}") if remote else None
    return Repository(address[1], address[2], usual.branch) if address else usual


def configured() -> Repository:
    """The repository that `book/_config.yml` names."""
    try:
        settings = yaml_of(paths.BOOK / "_config.yml")["repository"]
        return parsed(str(settings["url"]), str(settings["branch"]), "book/_config.yml, repository.url")
    except (KeyError, TypeError):
        raise BadInput("no `repository` with `url` and `branch`", file=paths.BOOK / "_config.yml",
                       mend="restore it from git") from None


def parsed(url: str, branch: str, where: str) -> Repository:
    """A repository from its address; `where` names the address's origin in the error."""
    address = ADDRESS.fullmatch(url.strip())
    if address is None:
        raise BadInput(f"{url!r} is no repository on GitHub ({where})", mend="write https://github.com/<owner>/<name>")
    return Repository(address[1], address[2], branch)
