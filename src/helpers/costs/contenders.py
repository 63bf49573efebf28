"""What the benchmark compares, by the names under which the files of measurements keep it."""

OURS, FROM_TEXTS = "this book", "this book, from texts"
PRODUCTS = "matrix products"
CROSS_ENCODER, CROSS_ENCODER_BEST = "CrossEncoder.predict, default", "CrossEncoder.predict, best setting"
SENTENCE_TRANSFORMER = "SentenceTransformer.encode, default"
SENTENCE_TRANSFORMER_BEST = "SentenceTransformer.encode, best setting"
STOCK_TRAINER = "stock Trainer, bf16"
LUCENE, BM25S, BM25S_NUMBA = "Lucene (this book)", "bm25s", "bm25s, compiled by numba"
