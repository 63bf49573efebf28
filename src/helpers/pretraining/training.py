"""Pre-training: the step itself, the narrower encoder, and what a pre-training leaves in [CLS]."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.windows import WindowTokens
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, attention
from helpers.networks.encoder import build, inputs
from helpers.pretraining.masking import Masked, WholeWordMasking, batch, sampled, spans
from helpers.steps import step

OUTPUT = "pretraining_output.safetensors"  # what is only needed to go on with pre-training: the words' output and the head


@dataclass(frozen=True, kw_only=True)
class MaskedTraining(fine_tuning.Training):
    """The training of an encoder on texts with masked words."""

    mlm_probability: float = 0.15  # share of the words that are masked
    evaluation_texts: int = 200  # held out, at most a tenth
    head_probability: float | None = None  # share of the words masked in the head's own input; None to share the late states'
    late_cls: bool | None = None  # False for a head that sees the early [CLS] state in place of the late one
    evaluations: int | None = None  # over the training; None for one after every epoch


@step(version=1, form="folder", network=True, resumable=True)
@fine_tuning.by_name
def pretrained(texts: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone, early: int, head_layers: int,
               training: MaskedTraining, start: Path | None = None, *, folder: Path, checkpoints: Path) -> None:
    """Pre-train an encoder (Gao & Callan 2021, sections 4.2, 4.3 and 5.1); keep its weights in a folder that loads wherever the
    backbone does, and `log.json`.

    Both losses are measured before the training and on the way, on texts held out, whose masks are the same each time.

    Args:
        texts: column doc_id: which texts are read.
        early: layers below the short circuit to the head.
        head_layers: layers of the head; 0 for plain masked language modelling.
        training: its settings; texts longer than `max_length` are cut into several, and the seed also draws the masks.
        start: a folder of this step, with whose weights, output and head the training goes on.
    """
    from safetensors.torch import load_file, save_file

    from helpers.pretraining.heads import Condenser

    tokenizer = backbone.tokenizer()
    rows = spans(texts["doc_id"].tolist(), WindowTokens(tokens, store), training.max_length)
    masking = WholeWordMasking.of(tokenizer, training.mlm_probability)
    special = (tokenizer.cls_token_id, tokenizer.sep_token_id)
    head_masking = WholeWordMasking.of(tokenizer, training.head_probability) if training.head_probability else None
    train, evaluation = (Masked(side, masking, training.batch_size, training.seed, special, head_masking=head_masking)
                         for side in split(rows, training.evaluation_texts, training.seed))
    fine_tuning.seed_everything(training.seed)  # before output and head are made
    encoder = build(backbone, start, training.dropout, attn_implementation=attention())
    model = Condenser(encoder, early, head_layers, training.late_cls is not False)
    if start is not None:  # a head that only one side has stays as it was made, or is dropped
        own = model.state_dict()
        model.load_state_dict({name: weight for name, weight in load_file(start / OUTPUT).items() if name in own}, strict=False)
    trainer = fine_tuning.trained(
        model, training, training.evaluations or training.epochs, checkpoints, (train, evaluation),
        partial(batch, pad=tokenizer.pad_token_id), compute_metrics=losses, callbacks=[epoch_setter(train)], eval_on_start=True,
        train_sampling_strategy="sequential",  # the dataset keeps its own order, a new one for every epoch
        label_names=["labels"])  # the head's own are no labels of the Trainer's
    fine_tuning.save(folder, encoder, tokenizer, {
        "texts": len(texts), "pieces_of_text": len(train), "evaluation_texts": len(evaluation),
        "tokens": int(sum(len(ids) for ids in train.texts)), "steps": trainer.state.max_steps,
        "parameters": encoder.num_parameters(), "parameters_in_training": sum(part.numel() for part in model.parameters()),
        "log": fine_tuning.logged(trainer, "step", "epoch", "loss", "eval_late", "eval_right", "eval_head", "eval_exchanged")})
    save_file({name: weight.contiguous() for name, weight in model.state_dict().items() if not name.startswith("encoder.")},
              folder / OUTPUT)


def split(rows: list[np.ndarray], held_out: int, seed: int) -> list[list[np.ndarray]]:
    """The texts to be read and those held out, drawn with the seed; ValueError for fewer than two texts."""
    if len(rows) < 2:
        raise ValueError(f"{len(rows)} texts: at least two are wanted, one to read and one to hold out")
    drawn = np.random.default_rng(seed).permutation(len(rows))
    cut = min(held_out, max(1, len(rows) // 10))
    return [[rows[n] for n in sorted(numbers)] for numbers in (drawn[cut:], drawn[:cut])]


def losses(prediction: Any) -> dict[str, float]:
    """Of the held-out texts, over all masked pieces: both losses, the head's with every [CLS] exchanged for another text's, and
    the share guessed right."""
    late, right, pieces, head, exchanged, of_head = np.asarray(prediction.predictions, dtype=np.float64).sum(axis=0)
    of_head = max(1.0, of_head)  # without a head its sums are 0
    return {"late": late / pieces, "right": right / pieces, "head": head / of_head, "exchanged": exchanged / of_head}


def epoch_setter(data: Masked) -> Any:
    """A callback that tells the dataset which epoch begins."""
    from transformers import TrainerCallback

    class EpochSetter(TrainerCallback):
        def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            data.epoch = int(state.epoch or 0)  # it begins, or it is gone on with

    return EpochSetter()


@step(version=1, form="folder", network=True)
def narrowed_encoder(texts: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone, width: int, sample: int, max_length: int,
                     seed: int, *, folder: Path) -> None:
    """Fit a narrower BERT, of so many dimensions, to a backbone, see `networks.narrowing`, on a sample of pieces of the texts
    (column doc_id), of at most `max_length` tokens each; a folder that loads wherever the backbone does."""
    from helpers.networks.narrowing import narrowed

    tokenizer, encoder = backbone.tokenizer(), build(backbone, attn_implementation=attention()).float().eval()
    rows = sampled(texts, WindowTokens(tokens, store), tokenizer, sample, max_length, seed)
    narrowed(encoder, rows, width).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


# How far an encoder's [CLS] tells texts apart before anything was fine-tuned: a gate that a start has to pass. Where all states
# point one way, a fine-tuning begins at the loss of a guess, and what differs afterwards says nothing of the pre-training.

AT_ONCE = 50  # texts


@step(version=1, form="json", network=True)
def cls_cosines(texts: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone, sample: int, max_length: int, seed: int,
                start: Path | None = None) -> dict[str, float]:
    """Cosines of the [CLS] states of a sample of texts (column doc_id), all pairs, in float32: their `mean` and standard
    deviation, `spread`. `start` is a pre-trained encoder's folder, in place of the backbone's weights."""
    import torch

    tokenizer, encoder = backbone.tokenizer(), build(backbone, start).float().eval()
    ids = sampled(texts, WindowTokens(tokens, store), tokenizer, sample, max_length, seed)
    with torch.no_grad():
        states = torch.cat([encoder(**inputs(ids[place:place + AT_ONCE], tokenizer.pad_token_id)).last_hidden_state[:, 0]
                            for place in range(0, len(ids), AT_ONCE)])
    unit = torch.nn.functional.normalize(states.double(), dim=-1).numpy()
    cosines = (unit @ unit.T)[np.triu_indices(len(unit), k=1)]
    return {"mean": float(cosines.mean()), "spread": float(cosines.std())}


# Where [CLS] looks, layer by layer. To hold a whole text it must have read all of it on its way up. The entropy of its attention
# says how much of the text it looks at: all tokens alike, or one, often [SEP], where attention goes that wants nothing.

@step(version=1, form="json", network=True)
def cls_attention(texts: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone, sample: int, max_length: int, seed: int,
                  start: Path | None = None) -> dict[str, list[float]]:
    """Of [CLS]'s attention in every layer, means over heads and a sample of texts, in float32: its `entropy`, 1 where all tokens
    get the same and 0 where one gets all, and the share of it that goes to `words`, neither to [CLS] nor to [SEP]. Arguments as
    of `cls_cosines`.
    """
    import torch

    tokenizer, encoder = backbone.tokenizer(), build(backbone, start, attn_implementation="eager").float().eval()
    found = []
    with torch.no_grad():
        for ids in sampled(texts, WindowTokens(tokens, store), tokenizer, sample, max_length, seed):
            fed = inputs([ids], tokenizer.pad_token_id)
            layers: Any = encoder(**fed, output_attentions=True).attentions
            found.append([(entropy(own[0, :, 0]), words(own[0, :, 0])) for own in layers])
    evenness, share = np.mean(found, axis=0).T.tolist()
    return {"entropy": evenness, "words": share}


def entropy(attention: Any) -> float:
    """How evenly the rows of (heads, tokens) are spread, the mean over heads: Shannon's entropy over that of an even row."""
    import torch

    return float(torch.special.entr(attention.double()).sum(-1).mean() / np.log(attention.shape[-1]))


def words(attention: Any) -> float:
    """What the rows of (heads, tokens) give to all but the first and the last token, the mean over heads."""
    return float(attention[:, 1:-1].double().sum(-1).mean())
