"""The network of the expansion: from a passage's vector to a score of every word; how it is kept."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn

WEIGHTS, WORDS = "model.safetensors", "words.json"


class Expansion(nn.Module):
    """A linear layer and a layer norm in front of word embeddings that stay as they are.

    Args:
        embeddings: (words, dimensions), a row a word.
        width: dimensions of a passage's vector.
        dropout: of that vector, in training.
    """

    def __init__(self, embeddings: Any, width: int, dropout: float = 0.0):
        super().__init__()
        self.register_buffer("embeddings", embeddings)
        self.dropout = nn.Dropout(dropout)
        self.transform = nn.Linear(width, embeddings.shape[1])
        self.norm = nn.LayerNorm(embeddings.shape[1])
        self.scale = nn.Parameter(torch.zeros(()))  # its logarithm
        self.bias = nn.Parameter(torch.zeros(len(embeddings)))

    def scores(self, vectors: Any) -> Any:
        """The score of every word, (passages, words), for vectors of (passages, width)."""
        return self.scale.exp() * self.norm(self.transform(self.dropout(vectors))) @ self.embeddings.T + self.bias

    def forward(self, vectors: Any, asked: Any) -> dict[str, Any]:
        """The mean over passages of the cross-entropy between the words' shares and the softmax of their scores.

        Args:
            vectors: (passages, width).
            asked: (passages, words), each row of sum 1: the share that each word has of those in the passage's queries.
        """
        with torch.autocast(vectors.device.type, enabled=False):  # bfloat16 has too few digits for so many words
            loss = -(asked * self.scores(vectors).log_softmax(1)).sum(1).mean()
        return {"loss": loss}


def save(folder: Path, model: Expansion, words: pd.DataFrame, log: dict[str, Any]) -> None:
    """Keep the weights, word embeddings included, the words with their terms, and `log.json`."""
    from safetensors.torch import save_file

    save_file({name: weight.contiguous() for name, weight in model.state_dict().items()}, folder / WEIGHTS)
    (folder / WORDS).write_text(json.dumps(words[["word", "term"]].to_dict("list")))
    (folder / "log.json").write_text(json.dumps(log, indent=1))


def load(folder: Path) -> tuple[Expansion, pd.DataFrame]:
    """The network, ready to score, and its words: columns word and term, a row for each of its scores."""
    from safetensors.torch import load_file

    weights = load_file(folder / WEIGHTS)
    model = Expansion(weights["embeddings"], weights["transform.weight"].shape[1])
    model.load_state_dict(weights)
    return model.eval(), pd.DataFrame(json.loads((folder / WORDS).read_text()))
