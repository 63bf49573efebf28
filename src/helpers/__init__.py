"""Helpers of *Neural Ranking, Reproduced*: from a collection of texts to a page of measured results.

The modules follow the data: `collection` -> `lucene`/`bm25` -> `pairs`/`cross_encoder` -> `rerank` -> `runs` ->
`measures`/`significance` -> `published`/`figures` -> `page`. Everything slow is a step (`steps`), kept in a store.
"""

__version__ = "0.1.0"
