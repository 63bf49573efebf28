"""Texts, queries and judgments: collections of every form, their texts, windows and tokens, what kinds of question there are.

What arguments of these names are, wherever a function takes them and says no more of them:

| name | what |
|---|---|
| `collection` | the text that opens one, see `collection.open_collection`; `unit` is `document` or `passage` |
| `store`, `tokens` | the folders of `texts.text_store` and, of the same texts, `tokens.window_tokens` |
| `words`, `overlap` | words of a window, its title's included, and those that neighbouring windows share |
| `queries` | a frame, columns query_id, text; `queries` that is a number says how many of each split, 0 for all |
| `qrels`, `min_relevance` | a frame, columns query_id, doc_id, relevance, and the lowest grade that counts as relevant |
| `run`, `depth`, `candidates` | a ranked run, see `runs`; texts of a query that are kept in it, and re-ranked |
| `index`, `k1`, `b` | the folder of a Lucene index; BM25's saturation, from 0 on, and length normalisation, 0 to 1 |
| `backbone`, `model` | a pre-trained network (`networks.backbone`); a folder of fine-tuned weights, None for none |
| `pooling`, `normalise`, `token_types` | see `networks.pooling`; are vectors of length 1, passages of a type of their own? |
| `passages`, `query_vectors` | the folders of `encoders.embeddings`, in the order of `store` and of `queries` |
| `max_length`, `query_length` | tokens of a text and of a query, special tokens included unless it says otherwise |
| `rounds`, `timed` | of a measurement of time, after one that does not count; queries that are timed in a round |
| `folder` | the empty folder that a step fills |
"""
