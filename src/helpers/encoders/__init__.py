"""Bi-encoders: their training and pooling, embeddings, exact and approximate search."""
