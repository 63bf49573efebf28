"""Lucene indexes of texts, of their first pieces and of windows, built here or by others."""

import functools
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from helpers import paths
from helpers.data import downloads
from helpers.data.irds import named
from helpers.data.texts import Texts
from helpers.data.windows import windows
from helpers.errors import BadInput
from helpers.networks.backbone import Backbone
from helpers.retrieval import java
from helpers.steps import step

INDEXING_THREADS = "2"
BUFFER = "64"  # MB of an index that are in memory before they are written
FEW = 20_000  # texts: seconds of indexing
BLANK = "".join(map(chr, range(33)))  # what Java trims: Anserini leaves out a text of nothing else


@step(version=1, form="folder")
def text_index(store: Path, *, folder: Path) -> None:
    """Index every text of a store as one Lucene document, its title in front (Lucene's English analyser: Porter stems,
    stop words removed), with positions and document vectors for feedback."""
    build(((text.doc_id, f"{text.title}\n{text.body}") for text in Texts(store)), folder)


@step(version=1, form="folder")
def first_pieces_index(store: Path, backbone: Backbone, pieces: int, *, folder: Path) -> None:
    """Index the first word pieces of every text, its title's included, as one Lucene document: what a model with this tokenizer
    sees beside a query (Alarfaj 2022, section 5.7.1). A word that is cut in two is left out."""
    tokenizer = backbone.tokenizer()
    build(((text.doc_id, beginning(tokenizer, f"{text.title} {text.body}", pieces)) for text in Texts(store)), folder)


def beginning(tokenizer: Any, text: str, pieces: int) -> str:
    """The whole words of a text that its first word pieces hold."""
    places = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=True,
                       max_length=pieces + 1)["offset_mapping"]
    if len(places) <= pieces:
        return text
    end = places[pieces][0]  # where the first piece begins that is not seen
    return text[:end] if not text[end - 1:end + 1].isalnum() else text[:end].rpartition(" ")[0]


@step(version=1, form="folder")
def window_index(store: Path, words: int, overlap: int, *, folder: Path) -> None:
    """Index every window of every text as one Lucene document, named by its window id."""
    build(((w.window_id, w.text) for text in Texts(store) for w in windows(text, words, overlap)), folder)


def analysed(texts: Iterable[str]) -> dict[str, list[str]]:
    """The terms that the index holds of each text; stop words give none. In the process that has the JVM."""
    from pyserini.analysis import Analyzer, get_lucene_analyzer

    analyser = Analyzer(get_lucene_analyzer())
    return {text: list(analyser.analyze(text)) for text in texts}


def build(contents: Iterable[tuple[str, str]], folder: Path) -> None:
    """Write a Lucene index of (id, contents) pairs into a folder, through JSON lines in a temporary file.

    BadInput if the index does not hold all of them: Anserini ends well even if it dropped a text, or the disk was full.
    """
    given = 0
    java.start()  # it is asked below
    with tempfile.TemporaryDirectory(dir=folder.parent) as source:
        with open(Path(source) / "texts.jsonl", "w", encoding="utf-8") as lines:
            for doc_id, text in contents:
                given += bool(text.strip(BLANK))
                lines.write(json.dumps({"id": doc_id, "contents": text}, ensure_ascii=False) + "\n")
        java.run("io.anserini.index.IndexCollection", "-collection", "JsonCollection", "-input", source,
                 "-index", str(folder), "-generator", "DefaultLuceneDocumentGenerator", "-threads", INDEXING_THREADS,
                 "-memoryBuffer", BUFFER, "-storePositions", "-storeDocvectors", short=given < FEW)
    try:
        indexed = java.call(documents_of, folder)
    except (RuntimeError, BadInput) as error:
        raise BadInput(f"Lucene's index cannot be read ({error})", file=folder, mend="is the disk full?") from None
    if indexed != given:
        raise BadInput(f"Lucene indexed {indexed:,} of {given:,} texts", file=folder,
                       mend="is the disk full, or an id longer than Lucene's 32,766 bytes?")


def documents_of(index: Path) -> int:
    """How many documents an index holds, in the process that has the JVM."""
    from pyserini.index.lucene import LuceneIndexReader

    return int(LuceneIndexReader(str(index)).stats()["documents"])


# Lucene indexes that others built: Anserini's own, fetched instead of built where `prebuilt.yaml` has one for a collection.
#
# Building the index of 3.2 million documents here takes their 22 GB and hours. Anserini's were built by the same code with the
# same analyser, but from other text: those of MS MARCO's documents hold url, title and body, ours title and body; and its
# passages are as they were published, while ir_datasets mends characters that are wrongly encoded there.

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

    @property
    def archive(self) -> Path:
        """Where the fetched archive lies; once it is unpacked, it may go."""
        return paths.downloads() / self.filename

    def fetch(self) -> Path:
        """The archive, fetched if it is not there yet; NetworkNeeded if it cannot be."""
        return downloads.fetch(self.url, self.archive, self.compressed_size, self.md5)


def describe(name: str) -> Description:
    """The description of an index, from the Anserini jar: no network; BadInput if Anserini has none of that name."""
    if name not in _descriptions():
        raise BadInput(f"Anserini has no inverted index {name!r}", file=TABLE, mend="write the name that this Anserini gives it")
    return _descriptions()[name]


@functools.cache
def _descriptions() -> dict[str, Description]:
    with zipfile.ZipFile(java.anserini_jar()) as jar:
        entries = [entry for member in jar.namelist() if fnmatch(member, DESCRIPTIONS) for entry in json.loads(jar.read(member))]
    return {entry["name"]: Description(entry["name"], entry["filename"], entry["urls"][0], entry["md5"], entry["compressed_size"])
            for entry in entries}


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


@step(version=1, form="folder")
def prebuilt_index(name: str, md5: str, *, folder: Path) -> None:
    """One of Anserini's indexes, whose archive has that digest, fetched, checked and unpacked.

    NetworkNeeded, if the archive is not there and cannot be fetched; BadInput, if Anserini knows another index by that name, or
    the archive is another one.
    """
    description = describe(name)
    if description.md5 != md5:
        raise BadInput(f"the index {name} that this Anserini knows has the MD5 {description.md5}, not {md5}", file=TABLE,
                       mend="write the new one there; what was computed with the old index is then computed again")
    archive = description.fetch()
    downloads.check_room(folder, description.compressed_size, f"the unpacked index {name}")  # Lucene's files hardly pack
    unpack(archive, folder)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the plain files in the archive of an index, so that they lie directly in `folder`, wherever they lay before."""
    with tarfile.open(archive, "r|gz") as members:
        for member in members:
            if member.isfile():
                members.extract(member.replace(name=PurePosixPath(member.name).name), folder, filter="data")
