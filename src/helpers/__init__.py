"""Helpers of *Neural Ranking, Reproduced*: from a collection of texts to a page of measured results.

The packages follow the data: `data` -> `retrieval` -> `reranking`, `encoders`, `pretraining` (which stand on `networks`) ->
`evaluation` -> `stories` -> `pages` -> `publishing`. Everything slow is a step (`steps`), kept in a store. `costs` and `bench`
measure what it takes, `forecast` foretells it, `remote` fetches what is not here. `testbed` is where every chapter begins.
"""

__version__ = "0.1.0"
