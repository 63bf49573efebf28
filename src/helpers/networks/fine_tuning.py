"""What all trainings share: their settings, the texts held out, and the loop of `transformers.Trainer`."""

import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

import pandas as pd

from helpers.networks.checkpoints import DRAFT, Checkpoints
from helpers.steps import Step, numerics, step

# Settings of trainings, declared and documented here once. A system such as `ListwiseReranker` inherits them, and gives them to
# its step by name, `**self.settings(ListwiseTraining)`. In a recipe they stand one by one: keys do not depend on their grouping.

SPECIAL = 3  # tokens of a pair: [CLS] and two [SEP]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings that steps take by name."""

    def settings(self, kind: "type[Settings]") -> dict[str, Any]:
        """Those that `kind` declares, by name."""
        return {field.name: getattr(self, field.name) for field in fields(kind)}


@dataclass(frozen=True, kw_only=True)
class Schedule(Settings):
    """How long and how fast a network is trained: linear warm-up and decay."""

    epochs: int = 1  # passes over the examples
    steps: int | None = None  # optimiser steps, in place of passes; None to count passes
    learning_rate: float = 1e-4  # the peak
    batch_size: int = 16  # examples an optimiser step
    warmup: float = 0.1  # share of the steps in which the rate rises
    max_length: int = 256  # tokens of an input, special tokens included
    seed: int = 1  # of new layers, of the order and of dropout


@dataclass(frozen=True, kw_only=True)
class Training(Schedule):
    """And how it is regularised."""

    weight_decay: float = 0.01  # AdamW's
    dropout: float = 0.0  # of hidden states and attention; 0 trains faster on a CPU (no masks to draw)


@dataclass(frozen=True, kw_only=True)
class FineTuning(Training):
    """And how often it is looked at."""

    evaluations: int = 10  # how often the losses are logged over the training


@dataclass(frozen=True, kw_only=True)
class RankerTraining(FineTuning):
    """The training of a cross-encoder or bi-encoder, with queries held out: not pairs, so that no query is on both sides."""

    query_length: int = 47  # tokens of a query
    evaluation_queries: int = 80  # training queries held out for the evaluation loss, at most a tenth of them

    @property
    def room(self) -> int:
        """Word pieces of a text that an input holds beside the longest query."""
        return self.max_length - self.query_length - SPECIAL


def by_name(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a step's function take settings one by one where it declares them as one argument of a class of `Settings`.

    All are required, but those whose default is None: an absent input. A missing or unknown name is a TypeError, as usual.
    """
    hints = get_type_hints(function)
    kinds = {name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, Settings)}
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = [parameter for parameter in inspect.signature(function).parameters.values() if parameter.name not in kinds]
    flat = [inspect.Parameter(field.name, keyword, default=None if field.default is None else inspect.Parameter.empty)
            for kind in kinds.values() for field in fields(kind)]
    signature = inspect.Signature([parameter for parameter in own if parameter.kind != keyword] + flat
                                  + [parameter for parameter in own if parameter.kind == keyword])

    @functools.wraps(function)
    def flattened(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        grouped = {name: kind(**{field.name: given.pop(field.name) for field in fields(kind) if field.name in given})
                   for name, kind in kinds.items()}
        return function(**given, **grouped)

    flattened.__signature__ = signature  # type: ignore[attr-defined]
    flattened.__annotations__ = {name: hint for name, hint in hints.items() if name not in kinds} | {
        name: hint for kind in kinds.values() for name, hint in get_type_hints(kind).items()}
    return flattened


def parted(examples: Mapping[str, Any], number: int, seed: int, what: str = "texts") -> tuple[list[Any], list[Any]]:
    """The examples to learn from and, by their names, those that are held out: so many, at most a tenth, drawn with the seed.
    ValueError for fewer than two; `what` says of what."""
    if len(examples) < 2:
        raise ValueError(f"{len(examples)} {what}: at least two are wanted, one to read and one to hold out")
    names = pd.Series(list(examples), dtype=object)
    apart = set(names.sample(n=min(number, max(1, len(names) // 10)), random_state=seed))
    return ([one for name, one in examples.items() if name not in apart],
            [one for name, one in examples.items() if name in apart])


def collator(tokenizer: Any) -> Any:
    """Batches padded to their longest example."""
    from transformers import DataCollatorWithPadding

    return DataCollatorWithPadding(tokenizer, pad_to_multiple_of=8)


def training_arguments(checkpoints: Path, examples: int, training: Training, evaluations: int) -> Any:
    """The Trainer's settings: fused AdamW, bf16 where it is fast, batches of similar length; so many evaluations.

    A batch is one batch on any number of GPUs: DataParallel, by which one process would multiply it, is off.
    """
    from transformers import TrainingArguments

    steps = training.steps or max(1, -(-examples // training.batch_size) * training.epochs)
    every = max(1, -(-steps // evaluations))
    arguments = TrainingArguments(
        output_dir=str(checkpoints / DRAFT), num_train_epochs=training.epochs, max_steps=training.steps or -1,
        per_device_train_batch_size=training.batch_size,
        per_device_eval_batch_size=64, learning_rate=training.learning_rate, warmup_steps=int(training.warmup * steps),
        weight_decay=training.weight_decay, lr_scheduler_type="linear", optim="adamw_torch_fused", seed=training.seed,
        data_seed=training.seed,
        bf16=numerics.dtype() == "bf16", use_cpu=numerics.device() == "cpu", logging_steps=every,
        eval_strategy="steps", eval_steps=every, save_strategy="no", report_to=[], disable_tqdm=True,
        train_sampling_strategy="group_by_length", dataloader_num_workers=0, log_level="error")
    if arguments.n_gpu > 1:
        arguments._n_gpu = 1
    return arguments


def trained(model: Any, training: Training, evaluations: int, checkpoints: Path, examples: tuple[Any, Any], collator: Any,
            compute_loss: Any = None, compute_metrics: Any = None, callbacks: Sequence[Any] = (), **arguments: Any) -> Any:
    """The Trainer that has trained a model on the first of `examples`, evaluated on the second, of which the collator makes
    batches; `arguments` take the place of those of `training_arguments`."""
    from transformers import Trainer

    train, evaluation = examples
    args = training_arguments(checkpoints, len(train), training, evaluations)
    vars(args).update(remove_unused_columns=False, **arguments)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=evaluation, data_collator=collator,
                      compute_loss_func=compute_loss, compute_metrics=compute_metrics, callbacks=list(callbacks))
    fit(trainer)
    return trainer


def fit(trainer: Any) -> None:
    """Train with a progress bar and a last evaluation; on from the last checkpoint, if there is one."""
    from transformers import PrinterCallback

    from helpers.networks.callbacks import Progress, Resuming

    checkpoints = Checkpoints(Path(trainer.args.output_dir).parent)
    last = checkpoints.last()
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(Progress(trainer))
    trainer.add_callback(Resuming(trainer, checkpoints))
    trainer.args.eval_on_start = trainer.args.eval_on_start and last is None
    trainer.train(resume_from_checkpoint=last and str(last))
    if trainer.eval_dataset is not None and not any(
            "eval_loss" in line and line["step"] == trainer.state.global_step for line in trainer.state.log_history):
        trainer.evaluate()


def summary(trainer: Any) -> dict[str, Any]:
    """Size, duration and losses of a training: the content of `log.json`."""
    parts = getattr(trainer, "logged", ())  # of a loss that has several
    log = logged(trainer, "step", "epoch", "loss", "eval_loss", "learning_rate", *parts)
    model, examples = trainer.model, trainer.train_dataset
    return {"pairs": len(examples), "positives": sum(e["labels"][0] for e in examples),
            "evaluation_pairs": len(trainer.eval_dataset), "steps": trainer.state.max_steps,
            "parameters": model.num_parameters(), "trained_parameters": model.num_parameters(only_trainable=True),
            "tokens": sum(len(e["input_ids"]) for e in examples), "log": log}


def logged(trainer: Any, *kept: str) -> list[dict[str, Any]]:
    """The lines of a training's log that have a loss, and of each what is kept."""
    return [{name: line[name] for name in kept if name in line} for line in trainer.state.log_history
            if {"loss", "eval_loss", "eval_late"} & set(line)]


def save(folder: Path, model: Any, tokenizer: Any, log: dict[str, Any]) -> None:
    """Keep a model's weights, its tokenizer, and `log.json`."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "log.json").write_text(json.dumps(log, indent=1))


@step(version=1, form="json")
def training_log(model: Path) -> dict[str, Any]:
    """What a training logged: pairs, positives, steps, parameters, and `log`, the losses over the steps."""
    return json.loads((model / "log.json").read_text())


class Trained:
    """A system with a fine-tuned model."""

    @property
    def model(self) -> Step:
        """The model's folder."""
        raise NotImplementedError

    @property
    def log(self) -> Step:
        """The losses over the training, and its size."""
        return training_log(self.model)


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy and PyTorch."""
    from transformers import set_seed

    set_seed(seed)
