"""Lucene indexes that others built: Anserini's own, fetched instead of built where `prebuilt.yaml` has one for a collection.

Building the index of 3.2 million documents here takes their 22 GB and hours. Anserini's were built by the same code with the same
analyser, but not quite from the same text: those of MS MARCO's documents hold url, title and body, ours title and body; and its
passages are as they were published, while ir_datasets mends characters that are wrongly encoded there.
"""

import difflib
import functools
import json
import tarfile
import zipfile
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from helpers import paths
from helpers.data import downloads
from helpers.data.irds import named
from helpers.errors import BadInput
from helpers.retrieval import java, lucene
from helpers.steps import Step, step

TABLE = Path(__file__).with_name("prebuilt.yaml")
DESCRIPTIONS = "prebuilt-indexes/*-inverted.json"  # within the Anserini jar


@dataclass(frozen=True)
class Description:
    """What Anserini says of one of its indexes."""

    name: str  # of the index
    filename: str  # of its archive
    url: str  # where the archive is
    md5: str  # of the archive
    compressed_size: int  # its bytes
    documents: int  # in the index
    total_terms: int  # in all documents

    @property
    def archive(self) -> Path:
        """Where the fetched archive lies; once it is unpacked, it may go."""
        return paths.downloads() / self.filename

    def fetch(self) -> Path:
        """The archive, fetched if it is not there yet; NetworkNeeded if it cannot be."""
        return downloads.fetch(self.url, self.archive, self.compressed_size, self.md5)


def describe(name: str) -> Description:
    """The description of an index, from the Anserini jar: no network; BadInput if Anserini has none of that name."""
    known = _descriptions()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.5) or sorted(known)[:3]
        raise BadInput(f"Anserini has no inverted index {name!r}", mend=f"is it {', '.join(near)}?")
    return known[name]


@functools.cache
def _descriptions() -> dict[str, Description]:
    with zipfile.ZipFile(java.anserini_jar()) as jar:
        entries = [entry for member in jar.namelist() if fnmatch(member, DESCRIPTIONS) for entry in json.loads(jar.read(member))]
    return {entry["name"]: Description(entry["name"], entry["filename"], entry["urls"][0], entry["md5"], entry["compressed_size"],
                                       entry["documents"], entry["total_terms"]) for entry in entries}


def index_names(collection: str, unit: str) -> tuple[str, str] | None:
    """Name and digest of the prebuilt index of what a collection ranks; None if there is none.

    A subset with the texts of the whole, such as `irds:msmarco-passage/trec-dl-2019/judged`, has the index of the whole. BadInput
    if ir_datasets has no such id.
    """
    if not collection.startswith("irds:"):
        return None
    import ir_datasets

    name, _ = named(collection)
    if name.partition("/")[0] not in _table():
        return None
    try:
        entry = _table().get(ir_datasets.docs_parent_id(name), {}).get(unit)
    except KeyError:
        raise BadInput(f"ir_datasets has no dataset {name!r}", mend="see its catalogue for the ids") from None
    return None if entry is None else (entry["index"], entry["md5"])


@functools.cache
def _table() -> dict[str, Any]:
    return paths.listed(TABLE)


def index_of(collection: str, unit: str) -> Step | None:
    """The prebuilt index of a collection's texts as a step; None if there is none."""
    named = index_names(collection, unit)
    return None if named is None else prebuilt_index(*named)


@step(version=1, form="folder")
def prebuilt_index(name: str, md5: str, *, folder: Path) -> None:
    """One of Anserini's indexes, whose archive has that digest, fetched, checked and unpacked.

    NetworkNeeded, if the archive is not there and cannot be fetched; BadInput, if Anserini knows another index by that name, or
    what is in the archive is not that index.
    """
    description = describe(name)
    if description.md5 != md5:
        raise BadInput(f"the index {name} that this Anserini knows has the MD5 {description.md5}, not {md5}", file=TABLE,
                       mend="write the new one there; what was computed with the old index is then computed again")
    archive = description.fetch()
    downloads.check_room(folder, description.compressed_size, f"the unpacked index {name}")  # Lucene's files hardly pack
    unpack(archive, folder)
    documents = java.call(lucene.documents_of, folder)
    if documents != description.documents:
        raise BadInput(f"{documents:,} documents, not {description.documents:,}", file=archive, mend="remove it and call again")


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the index in an archive, a flat folder of plain files, so that its files lie directly in `folder`.

    BadInput for anything else, paths that lead out of the folder above all.
    """
    with tarfile.open(archive, "r|gz") as members:
        for member in members:
            path = PurePosixPath(member.name)
            if member.isdir() and ".." not in path.parts:
                continue
            target = folder / path.name
            if not member.isfile() or path.is_absolute() or ".." in path.parts or len(path.parts) > 2 or target.exists():
                raise BadInput(f"{member.name!r} does not belong into the archive of an index", file=archive,
                               mend="remove the archive and fetch it again")
            members.extract(member.replace(name=path.name), folder, filter="data")
