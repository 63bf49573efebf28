"""Where the book is published.

The repository's public address, from which every launch link, citation and clone follows, stands in `book/_config.yml` under
`repository`. The place that this clone came from goes before it, if that is on GitHub, so that a fork's book points to the fork;
`BOOK_REPOSITORY` goes before both.
"""

import os
import re
import subprocess
from typing import NamedTuple

from helpers import paths
from helpers.errors import BadInput
from press import chapters
from press.edited import yaml_of

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


def here() -> Repository:
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


def address(url: str) -> str:
    """Put the repository's address in the place of the old one: in `book/_config.yml`, where all else finds it, and in the
    templates' setup cells; what was done. BadInput if it is no repository on GitHub."""
    old = configured()
    place = parsed(url, old.branch, "the command line") if url else old
    changed = 0
    for file in (paths.BOOK / "_config.yml", *map(chapters.template, chapters.templates())):
        before = file.read_text(encoding="utf-8")
        after = re.sub(rf"{re.escape(old.url)}(?![\w-])", place.url, before)
        if after != before:
            file.write_text(after, encoding="utf-8")
            changed += 1
    return f"{place.url}: {changed} files changed"
