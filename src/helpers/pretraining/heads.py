"""What stands on an encoder while it is pre-trained or compared: Condenser's head, and the model of sentences."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from transformers.models.bert.modeling_bert import BertLayer, BertPredictionHeadTransform

from helpers.networks.encoder import pool
from helpers.pretraining.masking import IGNORED

# Condenser: an encoder that is pre-trained to put the text into its [CLS] state (Gao & Callan 2021, section 4.2).
#
#     tokens -> early layers -> late layers -> masked words (equation 11)
#                    |               |
#                  tokens          [CLS]
#                    `------. .------'
#                            v
#                    head layers -> masked words (equation 10)
#
# What the late layers add, the head sees only through [CLS]. Without head layers this is plain masked language modelling.
#
# | variant | what the head sees instead |
# |---|---|
# | early 0 | the tokens as they are embedded, so what the backbone's layers find out must come through [CLS] |
# | other masks | a text with more words masked, as it is embedded (after RetroMAE, Xiao et al. 2022, arXiv:2205.12035) |
# | without late [CLS] | the early [CLS] state: a control with as many weights, to which the late layers say nothing |

class Condenser(nn.Module):
    """A BERT encoder with the output of a language model and, for Condenser, the head.

    ValueError for an encoder of another architecture, or with no late layer left.

    Args:
        encoder: a `BertModel`; its weights are what is kept in the end.
        early: layers below the short circuit; 0 for tokens as they are embedded.
        head_layers: layers of the head, made here with random weights; 0 for plain masked language modelling.
        late_cls: whether the head sees the late [CLS] state.
    """

    def __init__(self, encoder: Any, early: int, head_layers: int, late_cls: bool = True):
        super().__init__()
        if encoder.config.model_type != "bert":
            raise ValueError(f"the head is made of BERT's layers; this encoder is of type {encoder.config.model_type!r}")
        if head_layers and not 0 <= early < encoder.config.num_hidden_layers:
            raise ValueError(f"early {early}: at least one of the {encoder.config.num_hidden_layers} layers must be late")
        self.encoder, self._early, self._late_cls = encoder, early, late_cls
        self.output = WordOutput(encoder.config)
        self.head = nn.ModuleList(BertLayer(encoder.config) for _ in range(head_layers))
        for made in (self.output, self.head):
            made.apply(encoder._init_weights)  # BERT's own

    def forward(self, input_ids: Any, attention_mask: Any, labels: Any, head_ids: Any = None, head_labels: Any = None) -> Any:
        """The sum of both losses (equation 12), and what the evaluation needs.

        Args:
            labels: the pieces to be guessed, `IGNORED` elsewhere; (texts, tokens) as all arguments.
            head_ids: the texts with the head's own masks, of which it then sees the embeddings; `head_labels` belong to them.

        Returns:
            `loss`, the mean over the pieces of each part, summed; `parts`, (texts, 6): of the late states the sum of losses, the
            pieces guessed right (0 in training) and the pieces in all; of the head the sum of losses, that with every [CLS]
            exchanged for another text's (0 in training), and the pieces in all.
        """
        late, early = self.states(input_ids, attention_mask)
        own_losses, scores, truth = self.losses(late, labels)
        right = torch.zeros_like(own_losses) if self.training else (scores.argmax(-1) == truth).float()  # a pass over all scores
        parts, loss = [summed(labels, own_losses, right, torch.ones_like(right))], own_losses.mean()
        if len(self.head):
            tokens, wanted = (early, labels) if head_ids is None else (self.encoder.embeddings(head_ids), head_labels)
            cls = (late if self._late_cls else early)[:, :1]
            head_losses = self.losses(self.condensed(cls, tokens, attention_mask), wanted)[0]
            exchanged = torch.zeros_like(head_losses) if self.training else self.losses(
                self.condensed(cls.roll(1, dims=0), tokens, attention_mask), wanted)[0]
            parts.append(summed(wanted, head_losses, exchanged, torch.ones_like(exchanged)))
            loss = loss + head_losses.mean()
        else:
            parts.append(torch.zeros_like(parts[0]))
        return {"loss": loss, "parts": torch.cat(parts, dim=-1)}

    def losses(self, states: Any, labels: Any) -> tuple[Any, Any, Any]:
        """The cross-entropy of each piece to be guessed, (pieces,), the scores of all, (pieces, vocabulary), and the truth."""
        guessed = labels != IGNORED
        truth = labels[guessed]
        scores = self.output(states[guessed], self.encoder.embeddings.word_embeddings.weight)
        return nn.functional.cross_entropy(scores.float(), truth, reduction="none"), scores, truth

    def states(self, input_ids: Any, attention_mask: Any) -> tuple[Any, Any]:
        """The states after the last layer and after the early ones, (texts, tokens, dimensions) each (equations 7 and 8)."""
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True).hidden_states
        return hidden[-1], hidden[self._early]

    def condensed(self, cls: Any, early: Any, attention_mask: Any) -> Any:
        """The head's states: its input is a [CLS] state, the late one, with the early states of all other tokens (equation 9)."""
        states = torch.cat([cls, early[:, 1:]], dim=1)
        unseen = (1 - attention_mask[:, None, None, :].to(states.dtype)) * torch.finfo(states.dtype).min
        for layer in self.head:
            states = layer(states, attention_mask=unseen)
        return states


def summed(labels: Any, *of_pieces: Any) -> Any:
    """Sums over the pieces of each text, (texts, quantities), of quantities (pieces,) each."""
    pieces = torch.stack(of_pieces, dim=-1).detach()
    return pieces.new_zeros(len(labels), len(of_pieces)).index_add_(0, (labels != IGNORED).nonzero()[:, 0], pieces)


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


class SentenceModel(nn.Module):
    """One encoder for all sentences, with its pooling; the margin is that of the triplet loss."""

    def __init__(self, encoder: Any, pooling: str, margin: float):
        super().__init__()
        self.encoder, self._pooling, self._margin = encoder, pooling, margin

    def forward(self, sentences: list[dict[str, Any]], target: Any) -> dict[str, Any]:
        """The mean loss of pairs (two kinds of sentence) or of triplets (three), from the encoder's inputs of all first
        sentences, of all second, and so on; for the target see `sentence_loss`."""
        states = [(self.encoder(**fed).last_hidden_state, fed["attention_mask"]) for fed in sentences]
        with torch.autocast(target.device.type, enabled=False):  # bfloat16 holds two to three digits of a cosine
            vectors = [pool(hidden.float(), mask, self._pooling) for hidden, mask in states]
            return {"loss": sentence_loss(vectors, target, self._margin)}


def sentence_loss(vectors: Sequence[Any], target: Any, margin: float) -> Any:
    """The regression and the triplet objective of Reimers & Gurevych (2019, section 3).

    Of pairs the mean of (cos(u, v) - y)^2, of triplets the mean of max(0, |a - p| - |a - n| + margin); the margin is 1 there.

    The vectors are those of the first, second (and third) sentences, (examples, dimensions) each; the target is each pair's
    cosine, between 0 and 1, and unused for triplets.
    """
    first, second, *third = vectors
    if third:
        return nn.functional.triplet_margin_loss(first, second, third[0], margin=margin, p=2)
    return (nn.functional.cosine_similarity(first, second, dim=-1) - target).square().mean()
