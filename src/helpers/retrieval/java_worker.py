"""The process that has the JVM: reads (function, arguments) from its standard input, writes results to its output.

`helpers.retrieval.java` starts it as `python -m helpers.retrieval.java_worker`. Both ends are this program's own, hence pickle;
what Java prints goes to standard error. It ends when its input does.
"""

import contextlib
import os
import pickle
import signal
import sys


def main() -> None:
    """Serve calls until the other end closes; a Ctrl-C is the other end's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    calls, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints to standard output must not mix with the answers
    from helpers.retrieval import java

    java.configure()
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
