"""Documents expanded with generated queries (`retrieval.doc2query`), or with single words, before they are indexed."""

import json
import re
from collections import Counter
from collections.abc import Container, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.lines import json_lines
from helpers.data.texts import Texts, relevant_places
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone
from helpers.networks.fine_tuning import by_name
from helpers.retrieval import java
from helpers.retrieval.indexes import analysed, build
from helpers.retrieval.term_weights import PassageTraining, content, write_lines
from helpers.steps import step

QUERIES = "queries.jsonl"


@step(version=1, form="folder")
def expanded_index(store: Path, generated: Path, *, folder: Path) -> None:
    """A Lucene index in which every text is followed by its queries."""
    build(((text.doc_id, "\n".join([content(text), *line["queries"]]))
           for text, line in zip(Texts(store), json_lines(generated / QUERIES), strict=True)), folder)


# Training a small expansion of documents: which words will be asked of a passage, from its vector alone.
#
# The form is TILDE's (Zhuang & Zuccon 2021, doi 10.1145/3404835.3462922): one score for each word of the vocabulary, all words at
# once and independent of each other. TILDE reads the passage with a BERT that it fine-tunes; here the encoder stays as it is, and
#
#     score(word | passage) = scale * embedding(word) . LayerNorm(W vector(passage) + b) + bias(word)
#
# W, b, the layer norm, the scale and the biases are learned; the word embeddings are the backbone's own input embeddings, as in a
# BERT's tied output layer. Of the vocabulary the words remain that are one piece and one term of the index: no stop words.

WEIGHTS, WORDS = "model.safetensors", "words.json"
VECTORS = "passages.npy"  # of a folder of `embeddings.passage_embeddings`
WORD = re.compile(r"[a-z0-9]+")


@step(version=1, form="folder", network=True, resumable=True)
@by_name
def word_expansion(passages: Path, store: Path, queries: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int,
                   backbone: Backbone, training: PassageTraining, *, folder: Path, checkpoints: Path) -> None:
    """Learn which words the queries of a passage have; keep the weights, the words with their terms, and `log.json`.

    Args:
        passages: the folder of the vectors of the store's texts, in its order.
        store: the text store of what may be read: in a training that of a split's articles.

    Raises:
        ValueError: if fewer than two relevant passages have a query with a known word.
    """
    from safetensors.torch import save_file

    words = vocabulary(backbone.tokenizer())
    asked = asked_words(queries, relevant_places(store, queries, qrels, min_relevance), words)
    vectors = np.load(passages / VECTORS, mmap_mode="r")
    examples = {str(place): {"vector": np.array(vectors[place]), "words": counts} for place, counts in asked.items()}
    train, evaluation = sides = fine_tuning.parted(examples, training.evaluation_passages, training.seed,
                                                   "relevant passages have queries of known words")
    fine_tuning.seed_everything(training.seed)
    model = expansion_network(word_embeddings(backbone, list(words["piece"])), vectors.shape[1], training.dropout)
    trainer = fine_tuning.trained(
        model, training, training.evaluations, checkpoints, sides, lambda batch: batched(batch, len(words)),
        label_names=["asked"], eval_on_start=True, train_sampling_strategy="random")  # a vector has no length
    save_file({name: weight.contiguous() for name, weight in model.state_dict().items()}, folder / WEIGHTS)
    (folder / WORDS).write_text(json.dumps(words[["word", "term"]].to_dict("list")))
    (folder / "log.json").write_text(json.dumps({
        "passages": len(train), "evaluation_passages": len(evaluation), "vocabulary": len(words),
        "words_asked": len({word for own in asked.values() for word in own}), "steps": trainer.state.max_steps,
        "parameters": sum(part.numel() for part in model.parameters()),
        "log": fine_tuning.logged(trainer, "step", "epoch", "loss", "eval_loss", "learning_rate")}, indent=1))


def expansion_network(embeddings: Any, width: int, dropout: float = 0.0) -> Any:
    """A linear layer and a layer norm in front of word embeddings that stay as they are.

    Its `scores` are those of every word, (passages, words), for vectors of (passages, width). Called with vectors and `asked`,
    (passages, words), the share that each word has of those in the passage's queries, it gives the `loss`: the mean over passages
    of the cross-entropy between the shares, each row of sum 1, and the softmax of the scores.

    Args:
        embeddings: (words, dimensions), a row a word.
        width: dimensions of a passage's vector.
        dropout: of that vector, in training.
    """
    import torch
    from torch import nn

    class Expansion(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("embeddings", embeddings)
            self.dropout = nn.Dropout(dropout)
            self.transform = nn.Linear(width, embeddings.shape[1])
            self.norm = nn.LayerNorm(embeddings.shape[1])
            self.scale = nn.Parameter(torch.zeros(()))  # its logarithm
            self.bias = nn.Parameter(torch.zeros(len(embeddings)))

        def scores(self, vectors: Any) -> Any:
            return self.scale.exp() * self.norm(self.transform(self.dropout(vectors))) @ self.embeddings.T + self.bias

        def forward(self, vectors: Any, asked: Any) -> dict[str, Any]:
            with torch.autocast(vectors.device.type, enabled=False):  # bfloat16 has too few digits for so many words
                return {"loss": -(asked * self.scores(vectors).log_softmax(1)).sum(1).mean()}

    return Expansion()


def vocabulary(tokenizer: Any) -> pd.DataFrame:
    """The words of a tokenizer that are one piece and one term of the index: columns word, piece (its id) and term, by word."""
    pieces = tokenizer.get_vocab()
    words = sorted(word for word in pieces if WORD.fullmatch(word))
    terms = java.call(analysed, words)
    rows = [(word, pieces[word], terms[word][0]) for word in words if len(terms[word]) == 1]
    return pd.DataFrame(rows, columns=["word", "piece", "term"])


def asked_words(queries: pd.DataFrame, relevant: dict[str, list[int]], words: pd.DataFrame) -> dict[int, Counter[int]]:
    """How many queries of a passage hold each word, by the passage's place in the store and the word's in the vocabulary; the
    places of each query's relevant passages are as `relevant_places` has them."""
    known = {word: number for number, word in enumerate(words["word"])}
    asked: dict[int, Counter[int]] = {}
    for query, text in zip(queries["query_id"], queries["text"], strict=True):
        own = {known[word] for word in WORD.findall(text.lower()) if word in known}
        for place in relevant.get(query, []) if own else []:
            asked.setdefault(place, Counter()).update(own)
    return asked


def word_embeddings(backbone: Backbone, pieces: list[int]) -> Any:
    """The backbone's input embeddings of word pieces, (words, dimensions), scaled to a mean length of 1."""
    from transformers import AutoModel

    table = backbone.build(AutoModel).get_input_embeddings().weight.detach()[pieces].float()
    return table / table.norm(dim=1).mean()


def batched(examples: Sequence[dict[str, Any]], words: int) -> dict[str, Any]:
    """The vectors of examples, (passages, dimensions), and the shares of their words, (passages, words), each row of sum 1."""
    import torch

    asked = torch.zeros(len(examples), words)
    for row, example in enumerate(examples):
        for word, count in example["words"].items():
            asked[row, word] = count / example["words"].total()
    return {"vectors": torch.tensor(np.stack([example["vector"] for example in examples])), "asked": asked}


CHUNK = 500  # passages scored at a time


@step(version=1, form="folder", network=True)
def expansion_words(model: Path, passages: Path, store: Path, words: int, *, folder: Path) -> None:
    """The `words` likeliest words that each text lacks, in the form of generated queries, so that the same index takes them: JSON
    lines of id and queries (one, of these words, the likeliest first), in the store's order.

    Words are told apart as in the index: a text that has `rusted` does not lack `rust`, and of two words with one stem only the
    likelier is added.

    Args:
        model: the folder of `word_expansion`.
        passages: the folder of the vectors of the store's texts, in its order.
    """
    import torch
    from safetensors.torch import load_file

    weights, table = load_file(model / WEIGHTS), json.loads((model / WORDS).read_text())
    network = expansion_network(weights["embeddings"], weights["transform.weight"].shape[1])
    network.load_state_dict(weights)
    vectors = iter(np.load(passages / VECTORS, mmap_mode="r"))

    def added(texts: list[str]) -> list[list[str]]:
        scores = network.eval().scores(torch.tensor(np.stack(list(islice(vectors, len(texts)))))).numpy()
        terms = java.call(analysed, texts)
        return [[" ".join(lacking(row, table["word"], table["term"], set(terms[text]), words))]
                for text, row in zip(texts, scores, strict=True)]

    with torch.inference_mode():
        write_lines(store, added, CHUNK, folder / QUERIES, "queries")


def lacking(scores: np.ndarray, words: Sequence[str], terms: Sequence[str], has: Container[str], most: int) -> list[str]:
    """The `most` words of the highest scores, (words,), each with a term of its own that is none of those that the text `has`;
    equal scores in the words' order."""
    added: dict[str, str] = {}
    for place in np.argsort(-scores, kind="stable"):
        if len(added) == most:
            break
        if terms[place] not in has:
            added.setdefault(terms[place], words[place])
    return list(added.values())


@step(version=1, form="table")
def added_words(expansion: Path, documents: list[str], words: int) -> pd.DataFrame:
    """The first words that were added to some documents: columns doc_id, words (with spaces between them)."""
    doc_ids = set(documents)
    rows = [(line["id"], " ".join(line["queries"][0].split()[:words])) for line in json_lines(expansion / QUERIES)
            if line["id"] in doc_ids]
    return pd.DataFrame(rows, columns=["doc_id", "words"])
