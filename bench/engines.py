"""Other engines' contenders, run by a process in an environment of its own, see `engine.py`."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from helpers.errors import BadInput

PYTHON = Path(sys.prefix) / "engines" / "bin" / "python"
SCRIPT = Path(__file__).with_name("engine.py")


@contextmanager
def started(kind: str, source: str, inputs: Sequence[Any]) -> Iterator[dict[str, Callable[[], np.ndarray]]]:
    """The engines by name, each a call that gives the values of all inputs; `kind` is the class of sentence-transformers.

    BadInput if their environment is not there, or if their process ends early.
    """
    if not PYTHON.exists():
        raise BadInput("the other engines are not installed", file=PYTHON, mend="`make bench` installs them")
    with tempfile.TemporaryDirectory() as place:
        job = {"kind": kind, "source": source, "inputs": list(inputs)}
        (Path(place) / "job.json").write_text(json.dumps(job), encoding="utf-8")
        # -P: modules of this folder are not in the way of libraries of the same name
        with subprocess.Popen([PYTHON, "-P", SCRIPT, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield {name: partial(_values, process, Path(place), name) for name in json.loads(_answer(process))}
            finally:
                process.kill()


def _values(process: subprocess.Popen[str], place: Path, name: str) -> np.ndarray:
    assert process.stdin is not None
    print(name, file=process.stdin, flush=True)
    _answer(process)
    return np.load(place / "values.npy")


def _answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    if not (line := process.stdout.readline()):
        raise BadInput("the other engines have ended", mend="read what they printed above")
    return line
