"""`book serve`: the study's search application as a service on this machine, for programs and for people.

    asked.py     what may be asked: a query, and the stages' settings
    models.py    what scores windows, by name
    engine.py    the stages of a request
    batching.py  whose turn it is: what is taken, and scored together, in one worker thread
    app.py       the same over HTTP, with the page for people (`page/`)
"""
