"""Texts, queries and judgments: collections of every form, their texts, windows and tokens, what kinds of question there are."""
