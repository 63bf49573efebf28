"""Without the network: what a dry run sees of collections and models that would have to be fetched.

Queries and judgments of an ir_datasets id are those of the Almanac's split, a few of them: steps are named by their recipes, so
what is found does not depend on them, and reading half a million of them would take long even where they are there. The
configuration of a hub model is its shape as `published/scale.yaml` has it. Whatever else asks for the network is refused.
"""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.data.almanac import Almanac
from helpers.data.collection import Text
from helpers.data.irds import IrDatasets
from press.forecast import scale

TEXTS = 100  # of a collection: enough to go on with


@contextlib.contextmanager
def stand_ins(hub: bool) -> Iterator[None]:
    """Let nothing reach the network for a while.

    Args:
        hub: whether models of the hub are named; without them transformers is not imported.
    """
    replaced: list[tuple[Any, str, Any]] = [
        (socket, "getaddrinfo", _refused), (socket.socket, "connect", _refused),
        (IrDatasets, "queries", lambda collection, split: _almanac("queries", collection, split)),
        (IrDatasets, "qrels", lambda collection, unit, split: _almanac("qrels", collection, unit, split)),
        (IrDatasets, "texts", lambda collection, unit: _texts(unit))]
    if hub:
        from transformers import AutoConfig

        replaced.append((AutoConfig, "from_pretrained", _configuration(AutoConfig.from_pretrained)))
    with contextlib.ExitStack() as stack:
        for owner, name, instead in replaced:
            own = name in vars(owner)
            stack.callback(*((setattr, owner, name, vars(owner)[name]) if own else (delattr, owner, name)))
            setattr(owner, name, instead)
        yield


def _refused(*_: Any, **__: Any) -> Any:
    raise OSError("a dry run does not use the network")


def _almanac(kind: str, collection: IrDatasets, *names: str) -> pd.DataFrame:
    split = names[-1] if names[-1] in collection.splits else "test"
    return getattr(Almanac(), kind)(*names[:-1], split)


def _texts(unit: str) -> Iterator[Text]:
    for text, _ in zip(Almanac().texts(unit), range(TEXTS), strict=False):
        yield text


def _configuration(real: Any) -> Any:
    def from_pretrained(source: Any, *arguments: Any, **named: Any) -> Any:
        if Path(source).exists():
            return real(source, *arguments, **named)
        from transformers import BertConfig

        found = scale.network(str(source))
        return BertConfig(num_hidden_layers=found.layers, hidden_size=found.dimensions, num_attention_heads=found.heads,
                          intermediate_size=found.inner, vocab_size=found.vocabulary)

    return from_pretrained
