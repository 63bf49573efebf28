"""What Vespa is fed with: a JSON object a line, first every document, then every window with its tokens."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from helpers.data.texts import Texts
from helpers.data.tokens import WindowTokens
from helpers.data.windows import windows
from helpers.networks import backbone
from helpers.systems.testbed import Testbed
from press.vespa.package import DOCUMENTS, NAME, WINDOW_LENGTH, WINDOWS


def documents(bed: Testbed) -> Iterator[dict[str, Any]]:
    """Each text as a document to index."""
    for text in Texts(bed.store.value()):
        fields = {"doc_id": text.doc_id, "title": text.title, "text": f"{text.title}\n{text.body}"}
        yield {"put": _id(DOCUMENTS, text.doc_id), "fields": fields}


def window_documents(bed: Testbed) -> Iterator[dict[str, Any]]:
    """Each window as a document, its tokens padded with zeros."""
    reader = WindowTokens(bed.tokens(backbone.resolve("packaged")).value(), bed.store.value())
    for text in Texts(bed.store.value()):
        for number, window in enumerate(windows(text, bed.words, bed.overlap)):
            ids = reader[window.window_id][:WINDOW_LENGTH].tolist()
            yield {"put": _id(WINDOWS, window.window_id), "fields": {
                "doc_id": text.doc_id, "number": number, "text": window.text, "tokens": ids + [0] * (WINDOW_LENGTH - len(ids))}}


def write(bed: Testbed, file: Path) -> int:
    """Write all of it; how many lines."""
    lines = 0
    with file.open("w", encoding="utf-8") as out:
        for source in (documents(bed), window_documents(bed)):
            for one in source:
                out.write(json.dumps(one, ensure_ascii=False) + "\n")
                lines += 1
    return lines


def _id(schema: str, name: str) -> str:
    return f"id:{NAME}:{schema}::{quote(name, safe='')}"
