"""Where the trace of a fault of the book is kept: nothing leaves as a traceback."""

import tempfile
import traceback


def kept(error: BaseException) -> str:
    """Keep an error's trace in a file, and say where; or why it could not be kept."""
    try:
        with tempfile.NamedTemporaryFile("w", prefix="book-", suffix=".txt", encoding="utf-8", errors="backslashreplace",
                                         delete=False) as file:
            file.writelines(traceback.format_exception(error))
        return f"its trace is in {file.name}, for a report"
    except OSError as full:
        return f"its trace could not be kept ({full})"
