"""Fetching one large file: resumed where it stopped, checked by its digest, in place only when it is whole.

What has arrived stays in `<target>.part` when the process dies or the network goes, and the next call goes on from there.
"""

import errno
import functools
import hashlib
import http.client
import os
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from filelock import FileLock
from tqdm import tqdm

from helpers.errors import BadInput, NetworkNeeded

BLOCK = 256 * 2**10  # bytes
TIMEOUT = 30.0  # seconds without a byte
ATTEMPTS = 4  # in a row that bring nothing
PAUSE = 2.0  # seconds between them
SPARE = 64 * 2**20  # bytes of disk left alone
PASSING = {408, 425, 429}  # answers of a server that may be other ones in a while, as those from 500 on
NO_PLACE = {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.EFBIG}


def fetch(url: str, target: Path, size: int | None = None, md5: str | None = None,
          headers: Mapping[str, str] | None = None) -> Path:
    """Fetch a file, or find it there; in both cases it has the digest.

    Args:
        target: where it goes. Other processes that want it wait.
        size: its bytes, if they are known; a part that is longer belongs to another file.

    Raises:
        NetworkNeeded: if it cannot be fetched; the message says what to put where by hand. What has arrived is kept.
        BadInput: for a wrong digest, or too little disk.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    with FileLock(f"{target}.lock"):
        if target.exists():
            _check(url, target, md5, "remove it and call again, or put the right file there")
            return target
        if size is not None and _length(part) > size:  # it belongs to another file
            part.unlink()
        check_room(target.parent, (size or 0) - _length(part), url)
        _receive(url, part, size, headers or {}, by_hand(url, target, size, md5))
        try:
            _check(url, part, md5, "call again; if it happens again, the file at this address is another one")
        except BadInput:
            part.unlink()
            raise
        with part.open("rb") as whole:
            os.fsync(whole.fileno())
        part.replace(target)
    return target


def by_hand(url: str, target: Path | str, size: int | None, md5: str | None) -> str:
    """One line that says what to fetch elsewhere and where to put it."""
    known = ([] if size is None else [bytes_text(size)]) + ([f"md5 {md5}"] if md5 else [])
    return f"{url}{' (' * bool(known)}{', '.join(known)}{')' * bool(known)}\n    -> {target}"


def bytes_text(value: int) -> str:
    """A number of bytes: `812 B`, `4.3 kB`, `18.9 MB`, `25.5 GB`."""
    scaled, units = float(value), ["B", "kB", "MB", "GB"]
    while round(scaled, 1) >= 1000 and len(units) > 1:
        scaled, units = scaled / 1000, units[1:]
    return f"{scaled:.0f} B" if units[0] == "B" else f"{scaled:.1f} {units[0]}"


def check_room(folder: Path, size: int, what: str) -> None:
    """Refuse what would fill the disk; BadInput if fewer than `size` bytes, and a few to spare, are free."""
    free = shutil.disk_usage(folder).free
    if size > 0 and free < size + SPARE:
        raise BadInput(f"{what} takes {bytes_text(size)}, and {bytes_text(free)} of disk are free", file=folder,
                       mend="free some, or move the folder: BOOK_DOWNLOADS, BOOK_STORE, IR_DATASETS_HOME, HF_HOME")


def _receive(url: str, part: Path, size: int | None, headers: Mapping[str, str], by_hand: str) -> None:
    """Append to the part until the file is whole, through interruptions."""
    barren = 0
    while size is None or _length(part) != size:
        before = _length(part)
        try:
            if _stream(url, part, size, headers):
                return
            why = "the connection ended early"
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and before:
                part.unlink()  # the file there is shorter than the part: another one
                continue
            why = f"the server answers {error.code} {error.reason}"
            if error.code < 500 and error.code not in PASSING:
                raise _needed(why, by_hand) from None
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, OSError) and error.errno in NO_PLACE:
                raise BadInput(f"cannot be written: {error.strerror}", file=part,
                               mend="free some disk, or see to the rights of the folder") from None
            why = str(getattr(error, "reason", error)) or type(error).__name__
        barren = 0 if _length(part) > before else barren + 1
        if barren == ATTEMPTS:
            raise _needed(why, by_hand)
        time.sleep(PAUSE)


def _needed(why: str, by_hand: str) -> NetworkNeeded:
    return NetworkNeeded(f"a file could not be fetched: {why}.\nMend: connect to the network and call again, which goes on "
                         f"where it stopped; or fetch it elsewhere and put it there:\n  {by_hand}")


def _stream(url: str, part: Path, size: int | None, headers: Mapping[str, str]) -> bool:
    """Go on with a part, or start it anew if the server will not; whether all that the server announced is there."""
    have = _length(part)
    ask = {"User-Agent": "neural-ranking-reproduced", **headers, **({"Range": f"bytes={have}-"} if have else {})}
    with urllib.request.urlopen(urllib.request.Request(url, headers=ask), timeout=TIMEOUT) as answer:
        resumed = answer.status == http.client.PARTIAL_CONTENT
        if resumed and not answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            part.unlink(missing_ok=True)  # not the range that was asked for
            return False
        start, length = have if resumed else 0, answer.headers.get("Content-Length")
        announced = start + int(length) if length else None
        check_room(part.parent, (announced or size or 0) - have, url)
        with part.open("ab" if resumed else "wb") as out, tqdm(total=announced or size, initial=start, unit="B", unit_scale=True,
                                                               desc=url.rpartition("/")[2], disable=None) as bar:
            while block := answer.read(BLOCK):
                out.write(block)
                bar.update(len(block))
    return announced is None or _length(part) >= announced


def _check(url: str, file: Path, md5: str | None, mend: str) -> None:
    if md5:
        with file.open("rb") as stream:
            own = hashlib.file_digest(stream, functools.partial(hashlib.md5, usedforsecurity=False)).hexdigest()
        if own != md5:
            raise BadInput(f"{url} should have the md5 {md5}, and this has {own}", file=file, mend=mend)


def _length(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0
