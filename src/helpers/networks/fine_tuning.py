"""What every fine-tuning of a cross-encoder shares: the pairs as token ids, the Trainer's settings, the loop and its log."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from helpers.data.tokens import WindowTokens, pair_ids, query_ids
from helpers.networks.training_settings import RankerTraining, Training
from helpers.steps import numerics

if TYPE_CHECKING:
    from helpers.networks.early_stopping import KeepBest


@dataclass
class PairDataset:
    """Pairs as token ids, in the shape that `transformers.Trainer` reads."""

    examples: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, number: int) -> dict[str, Any]:
        return self.examples[number]


def datasets(pairs: pd.DataFrame, queries: pd.DataFrame, tokens: WindowTokens, tokenizer: Any, training: RankerTraining,
             seed: int) -> tuple[PairDataset, PairDataset]:
    """Token ids and labels of the pairs, those of training queries and those of held-out queries, drawn with the seed."""
    texts = queries.set_index("query_id")["text"]
    distinct = list(dict.fromkeys(pairs["query_id"]))
    ids = dict(zip(distinct, query_ids(tokenizer, [texts[q] for q in distinct], training.query_length), strict=True))
    held_out = drawn(distinct, training.evaluation_queries, seed)
    sides: tuple[list[dict], list[dict]] = ([], [])
    for query, window, label in pairs[["query_id", "window_id", "label"]].itertuples(index=False):
        input_ids, types = pair_ids(tokenizer, ids[query], tokens[window], training.max_length)
        sides[query in held_out].append({"input_ids": input_ids, "token_type_ids": types, "labels": [float(label)]})
    return PairDataset(sides[0]), PairDataset(sides[1])


def drawn(names: Sequence[str], number: int, seed: int) -> set[str]:
    """Those that are held out: so many, at most a tenth, drawn with the seed."""
    return set(pd.Series(names, dtype=object).sample(n=min(number, max(1, len(names) // 10)), random_state=seed))


def collator(tokenizer: Any) -> Any:
    """Batches padded to their longest example."""
    from transformers import DataCollatorWithPadding

    return DataCollatorWithPadding(tokenizer, pad_to_multiple_of=8)


def training_arguments(folder: Path, examples: int, training: Training, evaluations: int) -> Any:
    """The Trainer's settings: fused AdamW, bf16 where it is fast, batches of similar length; so many evaluations.

    A batch is one batch on any number of GPUs: `helpers.steps.multi_gpu` splits it among processes, and DataParallel, by which
    one process would multiply it, is off.
    """
    from transformers import TrainingArguments

    steps = max(1, -(-examples // training.batch_size) * training.epochs)
    every = max(1, -(-steps // evaluations))
    arguments = TrainingArguments(
        output_dir=str(folder / "trainer"), num_train_epochs=training.epochs, per_device_train_batch_size=training.batch_size,
        per_device_eval_batch_size=64, learning_rate=training.learning_rate, warmup_steps=int(training.warmup * steps),
        weight_decay=training.weight_decay, lr_scheduler_type="linear", optim="adamw_torch_fused", seed=training.seed,
        data_seed=training.seed,
        bf16=numerics.dtype() == "bf16", use_cpu=numerics.device() == "cpu", logging_steps=every,
        eval_strategy="steps", eval_steps=every, save_strategy="no", report_to=[], disable_tqdm=True,
        train_sampling_strategy="group_by_length", dataloader_num_workers=0, log_level="error",
        accelerator_config={"split_batches": True}, average_tokens_across_devices=False)
    if arguments.n_gpu > 1:
        arguments._n_gpu = 1
    return arguments


def fit(trainer: Any, patience: int | None = None, resume: bool = False) -> "KeepBest | None":
    """Train with a progress bar and a last evaluation; with patience, the observer of what early stopping would keep.

    With `resume` the training goes on from the last checkpoint in the trainer's output folder.
    """
    from transformers import PrinterCallback

    from helpers.networks.early_stopping import KeepBest
    from helpers.networks.training_progress import Progress

    observer = None if patience is None else KeepBest(patience)
    trainer.remove_callback(PrinterCallback)
    for callback in (Progress(), observer):
        if callback is not None:
            trainer.add_callback(callback)
    trainer.train(resume_from_checkpoint=resume or None)
    if not any("eval_loss" in line and line["step"] == trainer.state.global_step for line in trainer.state.log_history):
        trainer.evaluate()
    return observer


def summary(trainer: Any, observer: "KeepBest | None" = None) -> dict[str, Any]:
    """Size, duration and losses of a training: the content of `log.json`."""
    parts = getattr(trainer, "logged", ())  # of a loss that has several
    log = logged(trainer, "step", "epoch", "loss", "eval_loss", "learning_rate", *parts)
    model, examples = trainer.model, trainer.train_dataset.examples
    counts = {"pairs": len(examples), "positives": sum(e["labels"][0] for e in examples),
              "evaluation_pairs": len(trainer.eval_dataset), "steps": trainer.state.max_steps,
              "parameters": model.num_parameters(), "trained_parameters": model.num_parameters(only_trainable=True),
              "tokens": sum(len(e["input_ids"]) for e in examples), "log": log}
    return counts if observer is None else {**counts, "best_step": observer.step, "stopped_at": observer.stopped_at}


def logged(trainer: Any, *kept: str) -> list[dict[str, Any]]:
    """The lines of a training's log that have a loss, and of each what is kept."""
    return [{name: line[name] for name in kept if name in line} for line in trainer.state.log_history
            if {"loss", "eval_loss", "eval_late"} & set(line)]


def save(folder: Path, model: Any, tokenizer: Any, log: dict[str, Any]) -> None:
    """Keep a model's weights, its tokenizer, and `log.json`."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "log.json").write_text(json.dumps(log, indent=1))


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy and PyTorch."""
    from transformers import set_seed

    set_seed(seed)
