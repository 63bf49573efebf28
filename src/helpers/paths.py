"""Where everything lies. Every other module takes its paths from here; nothing else builds a project path."""

import os
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml

PACKAGE = Path(__file__).resolve().parent
ROOT = Path(os.environ.get("BOOK_ROOT", PACKAGE.parent.parent))

NOTEBOOKS = ROOT / "notebooks"
PROFILES = ROOT / "profiles"
PUBLISHED = ROOT / "published"
RESULTS = ROOT / "results"
BENCH = ROOT / "bench"
BOOK = ROOT / "book"
CHAPTERS = BOOK / "chapters"
GENERATED = BOOK / "generated"
HTML = BOOK / "_build" / "html"
ALMANAC = PACKAGE / "data" / "almanac"


def store() -> Path:
    """The reader's own step store; `BOOK_STORE` moves it, to a shared file system for instance."""
    return Path(os.environ.get("BOOK_STORE") or ROOT / ".store")


def downloads() -> Path:
    """What was fetched and is unpacked from there, prebuilt indexes for instance; `BOOK_DOWNLOADS` moves it."""
    return Path(os.environ.get("BOOK_DOWNLOADS") or store() / "downloads")


def listed(file: Path | Traversable) -> Any:
    """What one of the book's own YAML files lists; libyaml reads it eight times as fast as PyYAML."""
    return yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)  # noqa: S506 - a safe loader
