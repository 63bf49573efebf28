"""doc2query: a model asks queries of a text, which are indexed with it (Nogueira et al. 2019, arXiv:1904.08375).

A given model is an encoder and a decoder. That of the book's own is one network, trained here on the queries of a collection: a
language model of masked words, which sees the whole text, and of the query only what stands to the left of a mask (UniLM: Dong et
al. 2019, arXiv:1905.03197, section 2.2; masks beside the words: Bao et al. 2020, arXiv:2002.12804). It has learned to guess words
from their surroundings before, and nothing in it is new.

    text:   [CLS] iron rusts in wet air [SEP]        every word sees the text
    query:  why does iron rust [SEP]                 each word sees the text, the words before it and itself
    masks:  [MASK] [MASK] [MASK] [MASK] [MASK]       each stands at the place of a word, and sees the text and the words before
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.lines import json_lines
from helpers.data.texts import Texts
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, attention, read_tokenizer
from helpers.networks.encoder import build
from helpers.networks.fine_tuning import by_name
from helpers.networks.inference import mask_of, padded
from helpers.pretraining.masking import IGNORED
from helpers.pretraining.training import OUTPUT
from helpers.retrieval.expansion import QUERIES
from helpers.retrieval.term_weights import PassageTraining, content, write_lines
from helpers.steps import numerics, step


@step(version=1, form="table")
def asked_pairs(queries: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int) -> pd.DataFrame:
    """Each query with the texts that it may be asked of, its relevant ones: columns doc_id, text."""
    relevant = qrels.loc[qrels["relevance"] >= min_relevance, ["query_id", "doc_id"]]
    return relevant.merge(queries, on="query_id")[["doc_id", "text"]]


@step(version=1, form="table")
def asked_queries(generated: Path) -> pd.DataFrame:
    """Generated queries by the text that each was asked of: columns query_id, `<doc_id>~<number>`, and text; no empty ones."""
    rows = [(f"{line['id']}~{number}", query) for line in json_lines(generated / QUERIES)
            for number, query in enumerate(line["queries"]) if query]
    return pd.DataFrame(rows, columns=["query_id", "text"])


@step(version=1, form="table")
def asked_draws(queries: pd.DataFrame, store: Path, seed: int) -> pd.DataFrame:
    """What a bi-encoder learns of generated queries, judgments and draws at once: columns query_id, doc_id, relevance, window_id,
    label. A row for the text that each was asked of, and one for another text, drawn with the seed."""
    ids, random = np.array([text.doc_id for text in Texts(store)]), np.random.default_rng(seed)
    rows = [(query_id, doc_id, label, f"{doc_id}#0", label)
            for query_id, other in zip(queries["query_id"], random.choice(ids, len(queries)), strict=True)
            for asked in [query_id.rpartition("~")[0]]
            for doc_id, label in ((asked, 1), (str(other), 0)) if label or doc_id != asked]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "window_id", "label"])


@step(version=1, form="folder", network=True, resumable=True)
@by_name
def query_writer(pairs: pd.DataFrame, store: Path, start: Path, training: PassageTraining, query_length: int, *, folder: Path,
                 checkpoints: Path) -> None:
    """Learn to ask the queries of a text; keep weights, tokenizer and `log.json`.

    The loss is the cross-entropy of each token of a query, given the text and the tokens before, averaged over tokens. Some texts
    are held out with all their queries.

    Args:
        pairs: columns doc_id, text: a query of that text.
        start: the folder of a language model of masked words, of `pretraining.training.pretrained`.
        query_length: tokens of a query, its end included.

    Raises:
        ValueError: if fewer than two texts have a query.
    """
    from safetensors.torch import save_file

    tokenizer, texts = read_tokenizer(start), Texts(store)
    examples = {str(doc_id): [example(tokenizer, content(texts[str(doc_id)]), query, training.max_length, query_length)
                              for query in own]
                for doc_id, own in pairs.groupby("doc_id", sort=False)["text"]}
    train, evaluation = ([one for own in part for one in own] for part in fine_tuning.parted(
        examples, training.evaluation_passages, training.seed, "texts have queries"))
    fine_tuning.seed_everything(training.seed)
    model = writer(start, training.dropout)
    trainer = fine_tuning.trained(
        model, training, training.evaluations, checkpoints, (train, evaluation),
        partial(batched, pad=tokenizer.pad_token_id, mask=tokenizer.mask_token_id), label_names=["labels"], eval_on_start=True)
    fine_tuning.save(folder, model.encoder, tokenizer, {
        "texts": len(examples), "queries": len(train), "evaluation_queries": len(evaluation), "steps": trainer.state.max_steps,
        "parameters": sum(part.numel() for part in model.parameters()),
        "log": fine_tuning.logged(trainer, "step", "epoch", "loss", "eval_loss", "learning_rate")})
    save_file({name: weight.contiguous() for name, weight in model.state_dict().items() if not name.startswith("encoder.")},
              folder / OUTPUT)


def example(tokenizer: Any, text: str, query: str, max_length: int, query_length: int) -> dict[str, Any]:
    """Token ids of a text, `input_ids`, and of a query without [CLS], `labels`, which [SEP] ends."""
    return {"input_ids": tokenizer(text, truncation=True, max_length=max_length)["input_ids"],
            "labels": tokenizer(query, truncation=True, max_length=query_length + 1)["input_ids"][1:]}


def writer(folder: Path, dropout: float = 0.0) -> Any:
    """The network of a folder of `query_writer`, or of the language model that it begins as.

    Called with what `batched` gives, its `loss` is the mean cross-entropy of a query's tokens.
    """
    from safetensors.torch import load_file

    from helpers.pretraining.heads import Condenser

    class Writer(Condenser):
        def forward(self, labels: Any, **inputs: Any) -> Any:  # type: ignore[override]
            states = self.encoder(**inputs, use_cache=False).last_hidden_state[:, -labels.shape[1]:]
            return {"loss": self.losses(states, labels)[0].mean()}

    encoder = build(Backbone("", str(folder)), None, dropout, attn_implementation=attention(), is_decoder=True)  # keys are kept
    model = Writer(encoder, 0, 0)
    model.load_state_dict(load_file(folder / OUTPUT), strict=False)
    return model


def batched(examples: Sequence[dict[str, Any]], pad: int, mask: int) -> dict[str, Any]:
    """Texts, queries and masks as the network takes them, of T + 2 Q tokens a row: ids, places and types, (rows, tokens); what
    is added to the attention from each token to each, (rows, 1, tokens, tokens); and `labels`, (rows, Q)."""
    import torch

    texts = [one["input_ids"] for one in examples]
    ids, sees, labels = padded(texts, pad), mask_of(texts).bool(), padded([one["labels"] for one in examples], IGNORED)
    words, query = labels.masked_fill(labels == IGNORED, pad), labels.shape[1]
    behind = sees.sum(1, keepdim=True) + torch.arange(query)
    places = torch.cat([torch.arange(ids.shape[1]).expand(len(examples), -1), behind, behind], 1)
    before = torch.ones(query, query, dtype=torch.bool).tril(-1)
    itself, nothing = torch.eye(query, dtype=torch.bool), torch.zeros(query, query, dtype=torch.bool)
    own = torch.cat([torch.cat([before | itself, nothing], 1), torch.cat([before, itself], 1)])  # of words and of masks
    size = ids.shape[1] + 2 * query
    seen = torch.zeros(len(examples), size, size, dtype=torch.bool)
    seen[:, :, :ids.shape[1]] = sees[:, None]
    seen[:, ids.shape[1]:, ids.shape[1]:] = own
    types = (torch.arange(size) >= ids.shape[1]).long().expand(len(examples), -1)
    return {"input_ids": torch.cat([ids, words, torch.full_like(words, mask)], 1), "position_ids": places,
            "token_type_ids": types, "attention_mask": added(seen), "labels": labels}


def added(seen: Any) -> Any:
    """What attention adds to its scores: 0 where a token is seen, (rows, from, to), and the least number elsewhere."""
    import torch

    return torch.zeros(seen.shape, device=seen.device).masked_fill(~seen, torch.finfo(torch.float32).min)[:, None]


@step(version=1, form="folder", network=True)
def written_queries(store: Path, model: Path, queries: int, top_k: int, max_length: int, query_length: int, batch_size: int,
                    seed: int, *, folder: Path) -> None:
    """Ask so many queries of every text by a folder of `query_writer`: JSON lines of id and queries, in the store's order. The
    arguments are those of `generated_queries`."""
    import torch

    tokenizer, network = read_tokenizer(model), writer(model).eval().to(numerics.device())
    drawn = torch.Generator(network.output.bias.device).manual_seed(seed)

    def ask(texts: list[str]) -> list[list[str]]:
        read = tokenizer(texts, truncation=True, max_length=max_length)["input_ids"]
        return [tokenizer.batch_decode(own, skip_special_tokens=True)
                for own in written(network, tokenizer, read, queries, top_k, query_length, drawn)]

    write_lines(store, ask, batch_size, folder / QUERIES, "queries")


def written(network: Any, tokenizer: Any, texts: Sequence[list[int]], queries: int, top_k: int, query_length: int,
            drawn: Any) -> Any:
    """The tokens of `queries` queries of each text, given by its ids, (texts, queries, tokens): each is drawn from the `top_k`
    likeliest, and padding follows [SEP].

    All queries of a text are written side by side behind it, a word of each at a time, and see nothing of each other. Keys and
    values are kept, but for those of the masks.
    """
    import torch

    end, pad, mask = tokenizer.sep_token_id, tokenizer.pad_token_id, tokenizer.mask_token_id
    device = network.output.bias.device
    ids, sees = (part.to(device) for part in (padded(texts, pad), mask_of(texts).bool()))
    table = network.encoder.embeddings.word_embeddings.weight
    with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=numerics.dtype() == "bf16"):
        kept = network.encoder(input_ids=ids, attention_mask=added(sees[:, None].expand(-1, ids.shape[1], -1)),
                               use_cache=True).past_key_values
        words = torch.zeros(len(ids), queries, 0, dtype=torch.long, device=device)
        own = torch.eye(queries, dtype=torch.bool, device=device)
        masks = torch.full(own.shape[:1], mask, device=device).expand(len(ids), -1)
        for place in range(query_length):
            before = own.repeat(1, place)  # of each query's words
            seen = torch.cat([before, own], 1)  # by masks
            fed, places = masks, (sees.sum(1, keepdim=True) + place).expand(-1, queries)
            if place:  # the last words, too: they do not see the masks behind them
                seen = torch.cat([torch.cat([before, torch.zeros_like(own)], 1), seen])
                fed, places = torch.cat([words[:, :, -1], masks], 1), torch.cat([places - 1, places], 1)
            seen = torch.cat([sees[:, None].expand(-1, len(seen), -1), seen.expand(len(ids), -1, -1)], 2)
            states = network.encoder(input_ids=fed, position_ids=places, token_type_ids=torch.ones_like(fed),
                                     attention_mask=added(seen), past_key_values=kept, use_cache=True).last_hidden_state
            kept.crop(-queries)
            likeliest = network.output(states[:, -queries:], table).float().topk(top_k)
            choice = torch.multinomial(likeliest.values.softmax(-1).flatten(0, 1), 1, generator=drawn).view(len(ids), queries, 1)
            over = (words == end).any(2, keepdim=True)
            words = torch.cat([words, likeliest.indices.gather(2, choice).masked_fill(over, pad)], 2)
            if bool((words == end).any(2).all()):
                break
    return words


@step(version=1, form="folder", network=True)
def generated_queries(store: Path, generator: Backbone, queries: int, top_k: int, max_length: int, query_length: int,
                      batch_size: int, seed: int, *, folder: Path) -> None:
    """Generate so many queries for every text by a given model: JSON lines of id and queries, in the store's order.

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

    def ask(texts: list[str]) -> list[list[str]]:
        import torch

        fed = tokenizer(texts, padding=True, truncation=True, max_length=max_length, return_tensors="pt").to(model.device)
        with torch.inference_mode():
            words = model.generate(input_ids=fed["input_ids"], attention_mask=fed["attention_mask"], max_new_tokens=query_length,
                                   num_return_sequences=queries, **drawn)
        written = [query.strip() for query in tokenizer.batch_decode(words, skip_special_tokens=True)]
        return [written[start:start + queries] for start in range(0, len(written), queries)]

    write_lines(store, ask, batch_size, folder / QUERIES, "queries")
