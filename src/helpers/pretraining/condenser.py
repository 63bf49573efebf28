"""Condenser: an encoder that is pre-trained to put the text into its [CLS] state (Gao & Callan 2021, section 4.2).

    tokens -> early layers -> late layers -> masked words (equation 11)
                   |               |
                 tokens          [CLS]
                   `------. .------'
                           v
                   head layers -> masked words (equation 10)

What the late layers add, the head sees only through [CLS]. Without head layers this is plain masked language modelling.
"""

from typing import Any

import torch
from torch import nn
from transformers.models.bert.modeling_bert import BertLayer, BertPredictionHeadTransform

from helpers.pretraining.whole_word_masking import IGNORED


class Condenser(nn.Module):
    """A BERT encoder with the output of a language model and, for Condenser, the head.

    ValueError for an encoder of another architecture, or with no late layer left.

    Args:
        encoder: a `BertModel`; its weights are what is kept in the end.
        early: layers below the short circuit; 0 for tokens as they are embedded.
        head_layers: layers of the head, made here with random weights; 0 for plain masked language modelling.
    """

    def __init__(self, encoder: Any, early: int, head_layers: int):
        super().__init__()
        if encoder.config.model_type != "bert":
            raise ValueError(f"the head is made of BERT's layers; this encoder is of type {encoder.config.model_type!r}")
        if head_layers and not 0 <= early < encoder.config.num_hidden_layers:
            raise ValueError(f"early {early}: at least one of the {encoder.config.num_hidden_layers} layers must be late")
        self.encoder, self._early = encoder, early
        self.output = WordOutput(encoder.config)
        self.head = nn.ModuleList(BertLayer(encoder.config) for _ in range(head_layers))
        for made in (self.output, self.head):
            made.apply(self._initialised)

    def forward(self, input_ids: Any, attention_mask: Any, labels: Any) -> dict[str, Any]:
        """The sum of both losses (equation 12), and what the evaluation needs.

        The labels, (texts, tokens) as the other two, are the pieces to be guessed, `IGNORED` elsewhere.

        Returns:
            `loss`, the mean over the pieces of each part, summed; `parts`, (texts, 4): the sums of the late and of the head's
            loss, the pieces guessed right by the late states (0 in training), and the pieces in all.
        """
        late, early = self.states(input_ids, attention_mask)
        guessed = labels != IGNORED
        truth = labels[guessed]
        table = self.encoder.embeddings.word_embeddings.weight
        scores = self.output(late[guessed], table)
        late_loss = nn.functional.cross_entropy(scores.float(), truth, reduction="none")
        head_loss = torch.zeros_like(late_loss)
        if len(self.head):
            condensed = self.condensed(late, early, attention_mask)
            head_loss = nn.functional.cross_entropy(self.output(condensed[guessed], table).float(), truth, reduction="none")
        right = torch.zeros_like(late_loss) if self.training else (scores.argmax(-1) == truth).float()  # a pass over all scores
        pieces = torch.stack([late_loss, head_loss, right, torch.ones_like(right)], -1).detach()
        text = guessed.nonzero()[:, 0]
        parts = pieces.new_zeros(len(labels), 4).index_add_(0, text, pieces)
        return {"loss": late_loss.mean() + head_loss.mean(), "parts": parts}

    def states(self, input_ids: Any, attention_mask: Any) -> tuple[Any, Any]:
        """The states after the last layer and after the early ones, (texts, tokens, dimensions) each (equations 7 and 8)."""
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True).hidden_states
        return hidden[-1], hidden[self._early]

    def condensed(self, late: Any, early: Any, attention_mask: Any) -> Any:
        """The head's states: its input is the late [CLS] state with the early states of all other tokens (equation 9)."""
        states = torch.cat([late[:, :1], early[:, 1:]], dim=1)
        unseen = (1 - attention_mask[:, None, None, :].to(states.dtype)) * torch.finfo(states.dtype).min
        for layer in self.head:
            states = layer(states, attention_mask=unseen)
        return states

    def _initialised(self, module: nn.Module) -> None:
        """BERT's own initialisation."""
        if isinstance(module, nn.Linear):
            module.weight.data.normal_(mean=0.0, std=self.encoder.config.initializer_range)
            module.bias.data.zero_()


class WordOutput(nn.Module):
    """From a state to a score for every word piece: BERT's transform, then the embeddings' own table (tied), and a bias.

    One output serves the late states and the head's.
    """

    def __init__(self, config: Any):
        super().__init__()
        self.transform = BertPredictionHeadTransform(config)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, states: Any, table: Any) -> Any:
        """Scores, (pieces, vocabulary), of states (pieces, dimensions) with the table of embeddings (vocabulary, dimensions)."""
        return nn.functional.linear(self.transform(states), table, self.bias)
