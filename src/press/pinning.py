"""Pinning: a profile's hub models by commit hash, since a branch moves and a key would not."""

import os
import re
from pathlib import Path

from helpers import paths
from helpers.data import hub
from press import chapters
from press.fetching import DATASETS, texts_in

COMMIT = re.compile(r"[0-9a-f]{40}")


def pin(profile: str) -> list[str]:
    """Replace branches and tags of hub models in a profile's file by the commits that they stand for now; nothing else changes.

    Returns:
        What was replaced, as `old -> new`.

    Raises:
        BadInput: for a profile that is not sound.
        NetworkNeeded: if the hub cannot be asked; the file is as it was then.
    """
    content = chapters.profile(profile)
    parts = [content["shared"], *content["chapters"].values()]
    values = [text for part in parts for name, value in part.items() if name not in DATASETS for text in texts_in(value)]
    commits = {}
    for old in dict.fromkeys(text for text in values if text.startswith("hub:")):
        source, _, revision = old.removeprefix("hub:").partition("@")
        if revision and not COMMIT.fullmatch(revision):
            commits[old] = f"hub:{source}@{hub.commit(source, revision)}"
    file = paths.PROFILES / f"{profile}.yaml"
    if commits:
        _write(file, "".join(_replaced(line, commits) for line in file.read_text(encoding="utf-8").splitlines(keepends=True)))
    return [f"{old} -> {new}" for old, new in commits.items()]


def _replaced(line: str, commits: dict[str, str]) -> str:
    if line.lstrip().startswith("#"):
        return line
    whole = "|".join(re.escape(old) for old in sorted(commits, key=len, reverse=True))
    return re.sub(rf"({whole})(?![\w./-])", lambda match: commits[match[1]], line)


def _write(file: Path, text: str) -> None:
    draft = file.with_name(f".{file.name}.part")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, file)
