"""`book vespa FOLDER`: the study's search application as a Vespa application package (Steensland 2021, section 4.2).

    package.py   schemas for documents and windows, rank profiles, services, by pyvespa
    onnx.py      the cross-encoder as an ONNX model
    feed.py      documents, and windows as tokens, as JSON lines
    client.py    the study's two queries: documents by BM25, then the aggregated scores of their windows
    command.py   writes all of it into a folder
"""
