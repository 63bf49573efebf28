"""Facts on collections, networks and GPUs that estimates rest on: `published/scale.yaml`, which names the sources."""

import functools
from dataclasses import dataclass, replace
from typing import Any

import yaml

from helpers import paths
from helpers.data.windows import WHOLE
from helpers.errors import BadInput
from helpers.networks.flops import encoder_flops


class Unknown(LookupError):
    """Nothing is known of a collection, a network or a step."""


@dataclass(frozen=True)
class TextFacts:
    """The texts of one unit of a collection.

    Args:
        texts: how many there are.
        bytes: of a text on average.
        words: likewise.
        pieces: word pieces, likewise.
        candidate_words: words of a text that BM25 finds, where these are known to be longer; 0 for `words`.
    """

    texts: int
    bytes: float
    words: float
    pieces: float
    candidate_words: float = 0.0

    def windows(self, words: int, overlap: int, candidate: bool = False) -> float:
        """Windows of a text on average, or of one that BM25 finds."""
        length = self._length(candidate)
        return 1.0 if words == WHOLE or length <= words else 1 + (length - words) / (words - overlap)

    def window_pieces(self, words: int, overlap: int, candidate: bool = False) -> float:
        """Word pieces of a window on average: what windows share is in both of them."""
        number = self.windows(words, overlap, candidate)
        return (self._length(candidate) + (number - 1) * overlap) / number * self.pieces / self.words

    def _length(self, candidate: bool) -> float:
        return (candidate and self.candidate_words) or self.words


@dataclass(frozen=True)
class Network:
    """The shape of a transformer.

    Args:
        layers: of the encoder.
        dimensions: of a state.
        heads: of the attention.
        inner: dimensions between the two feed-forward layers.
        vocabulary: word pieces.
        parameters: in all.
        window: tokens that a token attends to, of a Longformer; 0 for all of them.
    """

    layers: int
    dimensions: int
    heads: int
    inner: int
    vocabulary: int
    parameters: int
    window: int = 0

    @property
    def num_hidden_layers(self) -> int:
        """As a configuration of transformers has it."""
        return self.layers

    @property
    def hidden_size(self) -> int:
        """Likewise."""
        return self.dimensions

    @property
    def intermediate_size(self) -> int:
        """Likewise."""
        return self.inner

    def with_layers(self, layers: int) -> "Network":
        """The same with fewer layers: those left out take their matrices with them."""
        removed = (self.layers - layers) * (4 * self.dimensions**2 + 2 * self.dimensions * self.inner)
        return replace(self, layers=layers, parameters=self.parameters - removed)

    def as_longformer(self, window: int) -> "Network":
        """The same with windowed attention, and a second set of projections for global attention."""
        return replace(self, window=window, parameters=self.parameters + self.layers * 3 * self.dimensions**2)

    def forward(self, tokens: float, globally: float = 0.0) -> float:
        """Floating-point operations of one text, see `flops.encoder_flops`.

        Args:
            tokens: of the text.
            globally: tokens of a Longformer that attend to all others, and all others to them: those have keys and values of
                their own in every position.
        """
        if not self.window or tokens <= self.window:
            return encoder_flops(self, [tokens])  # type: ignore[list-item]  # a mean length is no whole number
        full = encoder_flops(self, [tokens]) - self.layers * 4 * self.dimensions * tokens**2  # type: ignore[list-item]
        pairs = tokens * (self.window + 2 * globally)
        return full + self.layers * (4 * self.dimensions * pairs + 4 * self.dimensions**2 * tokens)


@dataclass(frozen=True)
class Gpu:
    """The GPU that hours are told for.

    Args:
        name: of it.
        flops: floating-point operations a second at its peak.
        share: of the peak that is reached.
    """

    name: str
    flops: float
    share: float

    def hours(self, operations: float) -> float:
        """Hours that it takes for so many operations."""
        return operations / (self.flops * self.share) / 3600


@functools.cache
def facts() -> dict[str, Any]:
    """The whole file.

    Raises:
        BadInput: if it has not the parts that it should have.
    """
    file = paths.PUBLISHED / "scale.yaml"
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    if set(content) != {"collections", "models", "gpu", "assumed"}:
        raise BadInput("the facts have other parts than collections, models, gpu, assumed", file=file,
                       mend="see the comments in it")
    return content


def texts(collection: str, unit: str) -> TextFacts:
    """What is known of a collection's texts; Unknown if nothing is."""
    try:
        return TextFacts(**facts()["collections"][collection][unit])
    except KeyError:
        raise Unknown(f"{collection}, {unit}") from None


def network(name: str) -> Network:
    """The shape of a network of the hub, `owner/name`, or of the packaged one; Unknown if there are no facts."""
    try:
        return Network(**facts()["models"][name])
    except KeyError:
        raise Unknown(name) from None


def gpu() -> Gpu:
    """The GPU that hours are told for."""
    return Gpu(**facts()["gpu"])


def assumed(name: str) -> float:
    """One of the assumptions."""
    return float(facts()["assumed"][name])
