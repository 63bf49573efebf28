"""The step store: one folder an entry, written so that a crash can only lose work, never corrupt it.

    <root>/<step name>/<key, 20 digits>/<numerics class>/manifest.json + the value's files

The files are written to a temporary folder, synced and renamed into place; the manifest comes last, and it lists every
file with size and SHA-256. An entry without a manifest does not exist, and one that is elsewhere than its manifest says, or whose
files are not exactly those, is damaged: both are computed again, never trusted. Rights follow the umask, so that several people
can share a store; one that cannot be written is read.
"""

import contextlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from helpers.steps import digests, recipe

MANIFEST = "manifest.json"
DAMAGED = (OSError, ValueError, LookupError, TypeError, AttributeError)  # what a damaged entry raises where it is read


@dataclass(frozen=True)
class Entry:
    """A finished value: its folder, in a store or in a pack of recorded runs, and its manifest."""

    folder: Any  # a Path, or a zipfile.Path, which reads the same way
    manifest: dict[str, Any]

    @property
    def numerics(self) -> str:
        """The numerics class it was computed in, such as `cpu-bf16` or `exact`."""
        return self.manifest["numerics"]


@dataclass(frozen=True)
class Store:
    """A folder of entries."""

    root: Path

    def place(self, name: str, key: str) -> Path:
        """The folder that holds the entries of one key, one for each numerics class."""
        return self.root / name / key[:20]

    def find(self, name: str, key: str, numerics: str) -> Entry | None:
        """The sound entry of a key: of the wanted numerics class if there is one, else of any other, else None."""
        for folder in sorted(self.place(name, key).glob("*"), key=lambda folder: (folder.name != numerics, folder.name)):
            entry = read_entry(folder)
            if entry is not None and entry.manifest.get("key") == key:
                return entry
        return None

    def manifests(self) -> Iterator[dict[str, Any]]:
        """The manifests of all entries, without a look at the values; what cannot be read is left out."""
        for file in sorted(self.root.glob(f"*/*/*/{MANIFEST}")):
            with contextlib.suppress(*DAMAGED):
                yield parsed(file.read_text(encoding="utf-8"))

    def lock(self, name: str, key: str) -> FileLock:
        """Held while a key is computed; the operating system lets go of it when the process dies."""
        return FileLock(self.lock_file(name, key))

    def lock_file(self, name: str, key: str) -> Path:
        """The file of a key's lock, in a folder that is there."""
        place = self.place(name, key)
        place.parent.mkdir(parents=True, exist_ok=True)
        return Path(str(place) + ".lock")

    def write(self, name: str, key: str, manifest: dict[str, Any], fill: Callable[[Path], None]) -> Entry:
        """Write an entry; `fill` puts the value's files into the empty folder that it is given.

        The caller holds the key's lock. An entry that was there is replaced.
        """
        target = self.place(name, key) / manifest["numerics"]
        target.parent.mkdir(parents=True, exist_ok=True)
        for leftover in target.parent.glob(".work-*"):  # of a run that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        work = target.parent / f".work-{secrets.token_hex(8)}"
        work.mkdir()
        try:
            fill(work)
            files = {str(f.relative_to(work)): fingerprint(f) for f in sorted(work.rglob("*")) if f.is_file()}
            for file in files:
                sync(work / file)
            sync(work)
            if target.exists():
                shutil.rmtree(target)
            work.rename(target)
            sync(target.parent)
            entry, draft = Entry(target, {**manifest, "key": key, "files": files}), target / f"{MANIFEST}.part"
            draft.write_text(line_of(entry.manifest), encoding="utf-8")
            sync(draft)
            draft.rename(target / MANIFEST)
            sync(target)
            return entry
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def take(self, entry: Entry, content: Mapping[str, bytes] | None = None) -> Entry:
        """Write an entry that lies elsewhere, as `write` does, with its files' content, where that has been read."""
        def fill(work: Path) -> None:
            for file in entry.manifest["files"]:
                (work / file).parent.mkdir(parents=True, exist_ok=True)
                (work / file).write_bytes((entry.folder / file).read_bytes() if content is None else content[file])

        return self.write(entry.manifest["step"], entry.manifest["key"], entry.manifest, fill)

    def checkpoints(self, name: str, key: str, numerics: str) -> Path:
        """The folder in which an unfinished computation of a key keeps what it goes on from; it outlives the process."""
        folder = self.place(name, key) / f".checkpoints-{numerics}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def drop_checkpoints(self, name: str, key: str, numerics: str) -> None:
        """Remove them, once the value is finished."""
        shutil.rmtree(self.place(name, key) / f".checkpoints-{numerics}", ignore_errors=True)

    def remove(self, name: str, key: str) -> None:
        """Remove all entries of a key, if there are any."""
        shutil.rmtree(self.place(name, key), ignore_errors=True)


def line_of(manifest: dict[str, Any]) -> str:
    """A manifest as it is kept, in a line."""
    kept = {name: recipe.folded(value) if name == "recipe" else value for name, value in manifest.items()}
    return json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def parsed(line: str) -> dict[str, Any]:
    """The manifest of such a line."""
    manifest = json.loads(line)
    return manifest | {"recipe": recipe.unfolded(manifest["recipe"])} if "recipe" in manifest else manifest


def place_of(manifest: dict[str, Any]) -> str:
    """Where an entry lies in a store: step, key and numerics class."""
    return f"{manifest['step']}/{manifest['key'][:20]}/{manifest['numerics']}"


def read_entry(folder: Path) -> Entry | None:
    """The entry in a folder, or None if it is unfinished or damaged."""
    try:
        if not _is_plain(folder / MANIFEST):
            return None
        manifest = parsed((folder / MANIFEST).read_text(encoding="utf-8"))
        files = [folder / name for name in manifest["files"]]
        there = {file for file in folder.rglob("*") if file.is_symlink() or not file.is_dir()} - {folder / MANIFEST}
        sound = folder.parts[-3:] == tuple(place_of(manifest).split("/")) and there == {*files} and all(map(_is_plain, files))
        return Entry(folder, manifest) if sound and all(
            told == fingerprint(folder / name) for name, told in manifest["files"].items()) else None
    except DAMAGED:
        return None


def _is_plain(file: Path) -> bool:
    """Whether it is a file of its own: a pipe would be waited for, and a link leads out of the entry."""
    return stat.S_ISREG(file.lstat().st_mode)


def fingerprint(file: Path) -> dict[str, Any]:
    """Size in bytes and SHA-256."""
    return {"size": file.stat().st_size, "sha256": digests.sha256(file)}


def sync(path: Path) -> None:
    """Have what is written on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
