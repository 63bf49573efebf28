"""Pinning: a profile's hub models by commit hash, since a branch moves and a key would not."""

import os
import re

from helpers import paths
from helpers.data import hub
from press import chapters
from press.fetching import texts_in

COMMIT = re.compile(r"[0-9a-f]{40}")


def pin(profile: str) -> list[str]:
    """Replace branches and tags of hub models in a profile's file by the commits that they stand for now; nothing else changes.

    Returns:
        What was replaced, as `old -> new`.

    Raises:
        BadInput: for a profile that is not sound.
        NetworkNeeded: if the hub does not answer; the file is as it was then.
    """
    commits = {}
    for old in dict.fromkeys(text for text in texts_in(chapters.profile(profile)) if text.startswith("hub:")):
        source, _, revision = old.removeprefix("hub:").partition("@")
        if revision and not COMMIT.fullmatch(revision):
            commits[old] = f"hub:{source}@{hub.commit(source, revision)}"
    if commits:
        file = paths.PROFILES / f"{profile}.yaml"
        draft = file.with_name(f".{file.name}.part")
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        draft.write_text("".join(_replaced(line, commits) for line in lines), encoding="utf-8")
        os.replace(draft, file)
    return [f"{old} -> {new}" for old, new in commits.items()] or ["every hub model is pinned"]


def _replaced(line: str, commits: dict[str, str]) -> str:
    if line.lstrip().startswith("#"):
        return line
    whole = "|".join(re.escape(old) for old in sorted(commits, key=len, reverse=True))
    return re.sub(rf"({whole})(?![\w./-])", lambda match: commits[match[1]], line)
