"""Two dictionaries as general text: WordNet 3.0 and the GNU Collaborative International Dictionary of English.

A pre-training reads their definitions; a warm-up also asks what WordNet's nouns mean.

Debian's packages `wordnet-base` and `dict-gcide` carry them, freely licensed (WordNet's licence; GPL-2 or later). The book does
not ship them: what was computed from them is recorded, and only computing anew needs them, installed by

    sudo apt-get install wordnet-base dict-gcide

A folder that holds the packages unpacked (`dpkg-deb -x wordnet-base_*.deb FOLDER`) does as well: `dictionaries:FOLDER`.
"""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from helpers.data.collection_base import Collection, Text
from helpers.errors import BadInput
from helpers.steps import recipe
from helpers.steps.store import fingerprint

NAME = "dictionaries"
PUBLISHED = {  # Debian 12 and 13: wordnet-base 1:3.0-37, dict-gcide 0.48.5+nmu2
    "usr/share/wordnet/data.noun": "fea17d2f9656611334eac790e5d69e47645fa180c4aa481fb4cd9b3520754ca2",
    "usr/share/wordnet/data.verb": "adcf43e35b581e8036d8b5a52d63d9cd3d3b4870b2720d3c03c799df44777bc2",
    "usr/share/wordnet/data.adj": "c89120dfc1f046ddff4a631bf9b7e9fa1a36b5e86565a23bf82dbe14f30b88a7",
    "usr/share/wordnet/data.adv": "444a63bf3955080ab7524f5079cfc07ff9bc682cb98bdb1db73b0fb9829f1139",
    "usr/share/dictd/gcide.dict.dz": "3e6b2cdcbc1b3664c2f1466e3c8e44012e815c4c67fa83fa61f39777cd6e8517",
}
WORDS_JOINED = 80  # short definitions that stand side by side become one text of about so many words
FEWEST_WORDS = 25  # of an entry of GCIDE that is worth reading by itself
GLOSS = re.compile(r"^\d{8} \d\d \w ([0-9a-f]{2}) (.+?) \| (.+)$")
QUESTIONS = ("what is {}", "define {}", "{} meaning", "what does {} mean")  # a noun is asked for in one of these ways, in turns
MARKUP = re.compile(r"\[[^\[\]]*\]|\\[^\\]*\\|[{}]")  # etymologies and sources, pronunciations, cross-references


class Dictionaries(Collection):
    """Definitions, WordNet's first; a text is both a document and a passage. Its queries ask for nouns."""

    form = f"{NAME}(:.*)?"
    units = ("document", "passage")
    splits = ("train",)
    licence = "WordNet 3.0; GPL-2 or later"

    def __init__(self, spec: str):
        self.spec, self.name = spec, NAME
        self._root = Path(spec.partition(":")[2] or "/").expanduser()
        self.is_here = all(file.is_file() for file in self.sources())

    def texts(self, unit: str) -> Iterator[Text]:
        """Stream WordNet's glosses, some to a text, then GCIDE's longer entries; BadInput where they are not installed."""
        for file in map(installed, self.sources()):
            name, packed = file.name.partition(".dict")[0], file.suffix == ".dz"
            with gzip.open(file, "rt", encoding="utf-8", errors="replace") if packed else file.open(encoding="utf-8") as lines:
                for number, body in enumerate(entries(lines) if packed else map(" ".join, joined(glosses(lines)))):
                    yield Text(f"{name}.{number}", "", body)

    def queries(self, split: str) -> pd.DataFrame:
        """A question for each of WordNet's nouns, by the first of its words: columns query_id, text."""
        return pd.DataFrame([(query, text) for query, text, _ in self._asked()], columns=["query_id", "text"])

    def qrels(self, unit: str, split: str) -> pd.DataFrame:
        """The text with the gloss that answers: columns query_id, doc_id, relevance."""
        return pd.DataFrame([(query, doc_id, 1) for query, _, doc_id in self._asked()],
                            columns=["query_id", "doc_id", "relevance"])

    def frame_digest(self, kind: str, *names: str) -> str:
        """Of the files that queries and judgments are made from."""
        return recipe.sha256(recipe.canonical([kind, *names, self.text_digest("passage")]))

    def _asked(self) -> Iterator[tuple[str, str, str]]:
        """Each question: its id, its text, and the id of the text that answers it."""
        file = installed(self.sources()[0])
        with file.open(encoding="utf-8") as lines:
            for number, definitions in enumerate(joined(glosses(lines))):
                for place, definition in enumerate(definitions):
                    noun = definition.partition(":")[0].partition(",")[0]
                    doc_id = f"{file.name}.{number}"
                    yield f"{doc_id}.{place}", QUESTIONS[place % len(QUESTIONS)].format(noun), doc_id

    def text_digest(self, unit: str) -> str:
        """Of the files; where one is missing, that of the published one stands for it."""
        digests = [fingerprint(file)["sha256"] if file.is_file() else known
                   for file, known in zip(self.sources(), PUBLISHED.values(), strict=True)]
        return recipe.sha256(recipe.canonical(digests))

    def sources(self, kind: str = "", *names: str) -> list[Path]:
        """The files, be they there or not."""
        return [self._root / file for file in PUBLISHED]


def installed(file: Path) -> Path:
    """A file that is there; BadInput for one that is not."""
    if not file.is_file():
        raise BadInput("the dictionaries are not here, and no recorded run answers this", file=file,
                       mend="sudo apt-get install wordnet-base dict-gcide, or take no general text")
    return file


def glosses(lines: Iterator[str]) -> Iterator[str]:
    """Of a data file of WordNet, each synonym set in words: `Entity: that which is perceived to have its own existence.`"""
    for line in lines:
        if match := GLOSS.match(line.rstrip()):
            number, fields = int(match[1], 16), match[2].split(" ")
            words = [re.sub(r"\(\w+\)$", "", field).replace("_", " ") for field in fields[:2 * number:2]]
            yield f"{', '.join(words)}: {match[3].strip()}."


def joined(parts: Iterator[str]) -> Iterator[list[str]]:
    """Neighbours, which WordNet orders by topic: so many that a text of them has `WORDS_JOINED` words or a little more."""
    text: list[str] = []
    words = 0
    for part in parts:
        text.append(part)
        words += len(part.split())
        if words >= WORDS_JOINED:
            yield text
            text, words = [], 0
    if text:
        yield text


def entries(lines: Iterator[str]) -> Iterator[str]:
    """GCIDE's entries with enough words, without etymologies, pronunciations and sources."""
    entry: list[str] = []
    for line in [*lines, "end"]:
        if line[:1].strip() and entry:  # a headword stands at the margin
            whole = "".join(entry)
            while (plain := MARKUP.sub("", whole)) != whole:  # brackets within brackets go too
                whole = plain
            text = whole.split()
            if len(text) >= FEWEST_WORDS and text[0][0].isalnum():  # rules of `=` part the files
                yield " ".join(text)
            entry = []
        entry.append(line)
