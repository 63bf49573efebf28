"""What every Python process of a rehearsal does first: it refuses sockets to the outside, and takes addresses from the rehearsal.

The libraries stay as they are; only their lists of what lies where, and with which digest, name the servers of this machine.
"""

import json
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

STAGE = json.loads(Path(os.environ["REHEARSAL"]).read_text(encoding="utf-8"))
HOME = {"127.0.0.1", "::1", "localhost", "0.0.0.0", "", None}


def refuse(event, arguments):
    """Refuse, and note, to ask for an address outside or to connect to one."""
    if event not in ("socket.getaddrinfo", "socket.connect"):
        return
    host = arguments[0] if event == "socket.getaddrinfo" else arguments[1][0] if isinstance(arguments[1], tuple) else ""
    if (host.decode() if isinstance(host, bytes) else host) not in HOME:
        with open(STAGE["refused"], "a", encoding="utf-8") as notes:
            notes.write(f"{host} by {' '.join(sys.orig_argv)}\n")
        raise OSError(f"a rehearsal does not reach {host}")


def downloads(module):
    """ir_datasets' list of downloads."""
    for dataset, entries in STAGE["downloads"].items():
        module.DownloadConfig.contents()[dataset] |= entries


def indexes(module):
    """Anserini's descriptions of its indexes, and the table of those that collections use."""
    known, table = module._descriptions, module._table()
    descriptions = known() | {name: module.Description(**one) for name, one in STAGE["indexes"].items()}
    module._descriptions = lambda: descriptions
    for entry in (entry for units in table.values() for entry in units.values()):
        entry["md5"] = descriptions[entry["index"]].md5


class Finder(PathFinder):
    """Changes a module's lists when it has been executed."""

    AFTER = {"ir_datasets.util.download": downloads, "helpers.retrieval.indexes": indexes}

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name not in cls.AFTER:
            return None
        spec = super().find_spec(name, path, target)
        execute = spec.loader.exec_module
        spec.loader.exec_module = lambda module: (execute(module), cls.AFTER[name](module))
        return spec


sys.addaudithook(refuse)
sys.meta_path.insert(0, Finder)
