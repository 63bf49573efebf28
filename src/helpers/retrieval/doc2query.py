"""Passages expanded with the queries that a model would ask of them (doc2query: Nogueira et al. 2019, arXiv:1904.08375)."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

from helpers.data.lines import json_lines
from helpers.data.texts import Texts
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone
from helpers.retrieval.lucene import build
from helpers.retrieval.term_recall import content
from helpers.steps import numerics, step

QUERIES = "queries.jsonl"


@step(version=1, form="folder", network=True)
def generated_queries(store: Path, generator: Backbone, queries: int, top_k: int, max_length: int, query_length: int,
                      batch_size: int, seed: int, *, folder: Path) -> None:
    """Generate so many queries for every text by a sequence-to-sequence model: JSON lines of id and queries, in the store's
    order.

    Args:
        top_k: likely tokens that each is drawn from; 1 for the likeliest, which give but one query (ValueError for several).
        max_length: tokens read of a text.
        query_length: tokens written of a query.
    """
    from transformers import AutoModelForSeq2SeqLM

    if queries > 1 and top_k == 1:
        raise ValueError(f"{queries} queries of the likeliest tokens are one query: raise `top_k`")
    tokenizer = generator.tokenizer()
    model = generator.build(AutoModelForSeq2SeqLM).eval().to(numerics.device())
    drawn: dict[str, Any] = {"do_sample": True, "top_k": top_k} if top_k > 1 else {"do_sample": False}
    fine_tuning.seed_everything(seed)
    stream = ((text.doc_id, content(text)) for text in Texts(store))
    with open(folder / QUERIES, "w", encoding="utf-8") as lines:
        while batch := list(islice(stream, batch_size)):
            generated = ask(model, tokenizer, [text for _, text in batch], queries, max_length, query_length, drawn)
            for (doc_id, _), own_queries in zip(batch, generated, strict=True):
                lines.write(json.dumps({"id": doc_id, "queries": own_queries}, ensure_ascii=False) + "\n")


def ask(model: Any, tokenizer: Any, texts: list[str], queries: int, max_length: int, query_length: int,
        drawn: dict[str, Any]) -> list[list[str]]:
    """The queries of each text of a batch."""
    import torch

    fed = tokenizer(texts, padding=True, truncation=True, max_length=max_length, return_tensors="pt").to(model.device)
    with torch.inference_mode():
        written = model.generate(input_ids=fed["input_ids"], attention_mask=fed["attention_mask"], max_new_tokens=query_length,
                                 num_return_sequences=queries, **drawn)
    words = [query.strip() for query in tokenizer.batch_decode(written, skip_special_tokens=True)]
    return [words[start:start + queries] for start in range(0, len(words), queries)]


@step(version=1, form="folder")
def expanded_index(store: Path, generated: Path, *, folder: Path) -> None:
    """A Lucene index in which every text is followed by its queries."""
    build(((text.doc_id, "\n".join([content(text), *line["queries"]]))
           for text, line in zip(Texts(store), json_lines(generated / QUERIES), strict=True)), folder)
