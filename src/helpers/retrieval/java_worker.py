"""The process that has the JVM: reads (function, arguments) from its standard input, writes results to its output.

`helpers.retrieval.java` starts it as `python -m helpers.retrieval.java_worker`. Both ends are this program's own, hence pickle;
what Java prints goes to standard error. It ends when its input does.
"""

import os
import pickle
import sys


def main() -> None:
    """Serve calls until the other end closes."""
    calls, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints to standard output must not mix with the answers
    from helpers.retrieval import java

    java.configure()
    while True:
        try:
            function, arguments = pickle.load(calls)
        except EOFError:
            return
        try:
            answer = (True, function(*arguments))
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller raises it
            answer = (False, error)
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main()
