"""The Lucene index of a collection, over whole texts or over their windows, and the terms that its analyser makes of a text."""

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from helpers.data.texts import Texts
from helpers.data.windows import windows
from helpers.errors import BadInput
from helpers.networks.backbone import Backbone
from helpers.retrieval import java
from helpers.steps import step

THREADS = "2"
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
                 "-index", str(folder), "-generator", "DefaultLuceneDocumentGenerator", "-threads", THREADS,
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
