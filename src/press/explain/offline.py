"""Without the network: what a dry run sees of collections and models that would have to be fetched.

Queries and judgments of an ir_datasets id are those of the Almanac's split, a few of them: steps are named by their recipes,
which do not depend on them, and reading half a million of them would take long even where they are there. A model of the hub that
is not here has the shape that its name tells, or BERT-base's. Whatever else needs the network is refused.
"""

import contextlib
import itertools
import re
import socket
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import pandas as pd

from helpers.data import hub
from helpers.data.almanac import Almanac
from helpers.data.irds import IrDatasets
from helpers.networks import backbone

TEXTS = 100  # of a collection: enough to go on with
SHAPE = re.compile(r"L-(\d+)_H-(\d+)_A-(\d+)")  # layers, width and heads in the names of Google's smaller BERTs
BASE = (12, 768, 12)


@contextlib.contextmanager
def stand_ins() -> Iterator[None]:
    """Let nothing reach the network for a while."""
    with (patch.object(socket, "getaddrinfo", _refused), patch.object(socket.socket, "connect", _refused),
          patch.object(IrDatasets, "queries", lambda collection, split: _almanac("queries", collection, split)),
          patch.object(IrDatasets, "qrels", lambda collection, unit, split: _almanac("qrels", collection, unit, split)),
          patch.object(IrDatasets, "texts", lambda collection, unit: itertools.islice(Almanac().texts(unit), TEXTS)),
          patch.object(backbone, "configuration", _configuration(backbone.configuration))):
        yield


def _refused(*_: Any, **__: Any) -> Any:
    raise OSError("a dry run does not use the network")


def _configuration(real: Callable[[backbone.Backbone], Any]) -> Callable[[backbone.Backbone], Any]:
    def configuration(model: backbone.Backbone) -> Any:
        if model.revision is None or hub.is_here(model.source, model.revision):
            return real(model)
        from transformers import BertConfig

        layers, width, heads = map(int, (SHAPE.findall(model.source) or [BASE])[0])
        return BertConfig(num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads, intermediate_size=4 * width)

    return configuration


def _almanac(kind: str, collection: IrDatasets, *names: str) -> pd.DataFrame:
    split = names[-1] if names[-1] in collection.splits else "test"
    return getattr(Almanac(), kind)(*names[:-1], split)
