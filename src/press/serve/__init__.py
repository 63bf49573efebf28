"""`book serve`: the study's search application as a service on this machine, for programs and for people.

    asked.py     what may be asked: a query, and the stages' settings
    models.py    what scores windows, by name
    engine.py    the stages, for several requests at once
    batching.py  concurrent requests become batches, in one worker thread
    app.py       the same over HTTP, with the page for people (`page/`)
"""
