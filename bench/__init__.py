"""The benchmark: this book's code beside others' on the same work, in turns, on this machine.

    python -m bench                 # every section, into bench/<machine>.json, which the chapter `speed` shows
    python -m bench --only rerank   # one of them; the others in the file stay

Measurements belong to a machine, so they are no steps: they are made by hand on a quiet machine, and committed.
"""
