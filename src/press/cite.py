"""How to cite the book, a chapter, or one run: BibTeX from CITATION.cff and what pages keep of their runs; `generated/cite`.

The repository's public address, from which every launch link, citation and clone follows, stands in `book/_config.yml` under
`repository`. The place that this clone came from goes before it, if that is on GitHub, so that a fork's book points to the fork;
`BOOK_REPOSITORY` goes before both.
"""

import json
import os
import re
import shlex
import subprocess
from importlib.metadata import Distribution, distributions
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from helpers import paths
from helpers.errors import BadInput
from helpers.pages.fragments import Html, details, table
from helpers.steps import recipe
from press import chapters, execute, variants
from press.edited import filled, yaml_of

ESCAPED = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
           "{": r"\textbraceleft{}", "}": r"\textbraceright{}", **{sign: f"\\{sign}" for sign in "%&#_$"}}


def citation() -> dict[str, Any]:
    """The content of CITATION.cff: title, authors with their names, version, date."""
    content = yaml_of(file := paths.ROOT / "CITATION.cff")
    fields = content if isinstance(content, dict) else {}
    if missing := [name for name in ("title", "authors", "version", "date-released") if not fields.get(name)]:
        raise BadInput(f"no {missing[0]}", file=file, mend="add it, or restore the file from git")
    return fields


def installed() -> Html:
    """The packages that are installed here, folded: each with its version and its licence."""
    rows = sorted((one.name, one.version, licence(one)) for one in distributions())
    caption = f"The {len(rows)} packages that made these pages, with their licences"
    return details(caption, table(caption, ("package", "version", "licence"), rows, numeric_from=9))


def licence(package: Distribution) -> str:
    """What its metadata call it: an SPDX expression, classifiers, or a text; else the first line of its file."""
    told = package.metadata.json
    official = [one.rpartition(" :: ")[2] for one in told.get("classifier", ()) if "License :: OSI Approved :: " in one]
    if named := str(told.get("license_expression") or "; ".join(official) or told.get("license", "")).strip():
        return named.splitlines()[0]
    return next((file.read_text().strip().splitlines()[0] for file in package.files or () if file.name == "LICENSE"), "")


def latex(text: str) -> str:
    """A text with LaTeX's special characters escaped; braces too, since BibTeX counts those that are escaped by a backslash."""
    return "".join(ESCAPED.get(sign, sign) for sign in text)


def bibtex(page: str = "", run: dict[str, Any] | None = None) -> str:
    """The entry of the book, of a page's chapter whoever runs it, or of the run on a page (`candidates--1c472a`): with profile,
    commit, date and the parameters that are not as the chapter declares them. Without a public address no `url`."""
    about, place, chapter = citation(), repository(), variants.chapter_of(page)
    kind, key, book = "incollection" if page else "book", "neural-ranking-reproduced", latex(about["title"])
    site = "" if place.is_placeholder else place.pages
    fields = {"author": " and ".join(f"{{{latex(one['name'])}}}" for one in about["authors"]), "title": book,
              "year": str(about["date-released"])[:4], "publisher": "Self-published", "note": f"Version {about['version']}",
              "url": f"{site}chapters/{page}.html" if site and page else site}
    if page:
        key = f"{key}-{page}"
        fields |= {"title": f"{{{latex(chapters.chapter(chapter).title)}}}", "booktitle": book}
    if run:
        digest, date = recipe.sha256(recipe.canonical(run["parameters"]))[:10], run.get("date", "")[:10]
        known = chapters.schema(chapter)
        values = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in run["parameters"].items()
                           if name not in known or value != known[name].default)
        note = (f"Run of the profile {run['profile']} at commit {run['commit']}; parameters {digest}: "
                f"{f'{values}; all others' if values else 'all'} as the chapter declares them{date and f'; run on {date}'}")
        kind, key = "misc", f"{key}-{digest}"
        fields |= {"title": f"{fields['title']}: one run of a chapter of {book}", "year": date[:4] or fields["year"],
                   "version": latex(run["commit"]), "note": latex(note), "publisher": "", "booktitle": ""}
    return "\n".join([f"@{kind}{{{key},", *(f"  {name} = {{{value}}}," for name, value in fields.items() if value), "}"])


def command(page: str, run: dict[str, Any]) -> str:
    """The commands that compute a run again, from its commit on."""
    usual = chapters.resolve(chapter := variants.chapter_of(page), run["profile"], {})
    own = [f" -p {name} {shlex.quote(value if isinstance(value, str) else json.dumps(value))}"
           for name, value in run["parameters"].items() if value != usual.get(name)]
    return (f"git checkout {run['commit'].rstrip('+')}\nmake env\n"
            f".venv/bin/book chapter {chapter} --profile {run['profile']}{''.join(own)}")


def sections() -> str:
    """The entries of all chapters and of the runs that stand on their pages, in Markdown."""
    parts = []
    for chapter in chapters.names():
        parts += [f"(cite-{chapter})=\n### {chapters.chapter(chapter).title}", block("bibtex", bibtex(chapter))]
        others = (page for page in variants.pages() if variants.chapter_of(page.stem) == chapter)
        for file in (paths.CHAPTERS / f"{chapter}.ipynb", *others):
            if file.exists() and (run := execute.run_of(file)):
                kind = "This run" if file.stem == chapter else f"The variant `{file.stem}`"
                parts += [f"{kind}, and how to compute it again:", block("bibtex", bibtex(file.stem, run)),
                          block("bash", command(file.stem, run))]
    return "\n\n".join(parts)


def block(language: str, text: str) -> str:
    """A block of code, in a fence that nothing in the text can close."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


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
    """The repository that this book is built for; BadInput for an address that is not GitHub's: Binder and Colab could not open
    it."""
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


def write_sitemap() -> None:
    """Write what search engines read beside the rendered pages; without a public address nothing."""
    place, file = repository(), paths.HTML / "sitemap.xml"
    file.unlink(missing_ok=True)
    if not place.is_placeholder:
        pages = sorted(str(page.relative_to(paths.HTML)) for page in paths.HTML.rglob("*.html"))
        urls = "".join(f"<url><loc>{escape(place.pages + page)}</loc></url>\n" for page in pages if not page.startswith("_"))
        file.write_text(filled("sitemap.xml", urls=urls), encoding="utf-8")
