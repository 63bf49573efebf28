"""Windows: overlapping word windows of a document, with its title in front (Steensland 2021, section 4.1.2)."""

from collections.abc import Iterator
from typing import NamedTuple

from helpers.data.collection_base import Text

WHOLE = 1_000_000  # words of a window that no document outgrows: the whole document is one window
TITLE_LIMIT = 50  # a longer title is left out: it would push the document into too many windows (Steensland 4.1.2)


class Window(NamedTuple):
    """A window of a document; `window_id` is `<doc_id>#<number>`, numbers from 0."""

    window_id: str
    doc_id: str
    text: str


def windows(text: Text, words: int, overlap: int) -> Iterator[Window]:
    """Cut a text into windows of `words` words, title included, of which `overlap` are shared with the next one.

    A text that fits gives one window; the last window may be shorter, and no window lies wholly inside another. A text
    without words gives one empty window, so that every document can be scored.

    Raises:
        ValueError: unless 0 <= overlap < words, less the title's words.
    """
    title = text.title.split()
    if len(title) >= min(TITLE_LIMIT, words):
        title = []
    size = words - len(title)
    if not 0 <= overlap < size:
        raise ValueError(f"overlap {overlap} must be at least 0 and below the {size} words that the title leaves")
    body, start, number = text.body.split(), 0, 0
    while True:
        piece = body[start:start + size]
        yield Window(f"{text.doc_id}#{number}", text.doc_id, " ".join(title + piece))
        if start + size >= len(body):
            return
        start, number = start + size - overlap, number + 1


def doc_of(window_id: str) -> str:
    """The document of a window id."""
    return window_id.rsplit("#", 1)[0]
