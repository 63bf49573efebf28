"""Libraries that take seconds to import, imported while something else works that needs no Python: Lucene's indexing, say."""

import importlib
import threading

SLOW = ("torch", "transformers.models.bert.modeling_bert", "transformers.models.bert.tokenization_bert",
        "transformers.models.auto.modeling_auto", "transformers.models.auto.tokenization_auto")


def import_models() -> None:
    """Begin to import what a cross-encoder or bi-encoder needs, in a thread; whoever needs it sooner waits for it as ever."""
    threading.Thread(target=lambda: [importlib.import_module(name) for name in SLOW], name="imports").start()
