"""Helpers of *Neural Ranking, Reproduced*: from a collection of texts to a page of measured results.

Its packages are floors, each of which uses only those below: `pages`, `systems`, `costs`; then side by side `retrieval`,
`reranking`, `encoders`; then `pretraining`, `networks`, `evaluation`, `data`, `steps`. `press`, the package beside this one,
makes a book of what they give.
"""

__version__ = "0.1.0"
