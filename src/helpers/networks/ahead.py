"""Libraries that take seconds to import, imported while something else works that needs no Python: Lucene's indexing, say."""

import importlib
import threading

SLOW = ("transformers.models.auto.tokenization_auto", "transformers.models.bert.tokenization_bert",  # these are needed first
        "torch", "transformers.models.bert.modeling_bert", "transformers.models.auto.modeling_auto")


def import_models() -> None:
    """Begin to import what a cross-encoder or bi-encoder needs, in a thread; whoever needs it sooner waits for it as ever."""
    threading.Thread(target=lambda: [importlib.import_module(name) for name in SLOW], name="imports").start()
