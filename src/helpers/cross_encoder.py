"""monoBERT: fine-tuning a cross-encoder on (query, window) pairs (Nogueira & Cho 2019; Steensland 2021, section 4.1).

The encoder reads [CLS] query [SEP] window [SEP]; one linear output on the pooled [CLS] gives the logit of relevance.
Steensland's softmax over two outputs is the sigmoid of their difference, so one output is the same model, and binary
cross-entropy the same loss (his equation 3.2).
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import numerics
from helpers.backbone import Backbone
from helpers.steps import step
from helpers.tokens import WindowTokens, pair_ids, query_ids


@dataclass
class PairDataset:
    """Pairs as token ids, in the shape that `transformers.Trainer` reads."""

    examples: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, number: int) -> dict[str, Any]:
        return self.examples[number]


@step(version=1, form="folder", network=True)
def cross_encoder(pairs: pd.DataFrame, queries: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone,
                  epochs: int, learning_rate: float, batch_size: int, warmup: float, weight_decay: float,
                  dropout: float, max_length: int, query_length: int, evaluation_queries: int, evaluations: int,
                  seed: int, start: Path | None = None, *, folder: Path) -> None:
    """Fine-tune all parameters of a backbone on labelled pairs, and keep weights, tokenizer and `log.json`.

    AdamW, linear warm-up and decay, binary cross-entropy. Some *queries* (not pairs, so that no query is on both sides)
    are held out for the evaluation loss.

    Args:
        pairs: columns query_id, window_id, label.
        queries: columns query_id, text.
        store: the text store that the window tokens belong to.
        tokens: the window tokens.
        backbone: where to start from.
        epochs: passes over the training pairs.
        learning_rate: the peak of the schedule.
        batch_size: pairs an optimiser step.
        warmup: share of the steps in which the rate rises.
        weight_decay: AdamW's.
        dropout: of hidden states and attention; 0 trains faster on a CPU (no masks to draw).
        max_length: tokens of a whole input (256 in the thesis).
        query_length: tokens kept of a query (47 in the thesis).
        evaluation_queries: queries held out, at most a tenth of them.
        evaluations: how often both losses are logged over the training.
        seed: of the head's initialisation, of the order and of dropout.
        start: a model that this step fine-tuned before, to go on from instead of the backbone.
    """
    from transformers import AutoModelForSequenceClassification, DataCollatorWithPadding, PrinterCallback, Trainer

    from helpers.training_progress import Progress

    tokenizer = backbone.tokenizer()
    train, evaluation = (PairDataset(part) for part in examples(
        pairs, queries, WindowTokens(tokens, store), tokenizer, max_length, query_length, evaluation_queries, seed))
    seed_everything(seed)  # before the head is made
    origin = backbone if start is None else Backbone("", str(start))
    model = origin.build(AutoModelForSequenceClassification, num_labels=1, hidden_dropout_prob=dropout,
                           attention_probs_dropout_prob=dropout, attn_implementation=attention(),
                           problem_type="multi_label_classification")  # that is: binary cross-entropy on logits
    arguments = training_arguments(folder, len(train), epochs=epochs, learning_rate=learning_rate,
                                   batch_size=batch_size, warmup=warmup, weight_decay=weight_decay,
                                   evaluations=evaluations, seed=seed)
    trainer = Trainer(model=model, args=arguments, train_dataset=train, eval_dataset=evaluation,
                      data_collator=DataCollatorWithPadding(tokenizer, pad_to_multiple_of=8))
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(Progress())
    trainer.train()
    trainer.evaluate()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    log = [{name: line[name] for name in ("step", "epoch", "loss", "eval_loss", "learning_rate") if name in line}
           for line in trainer.state.log_history if "loss" in line or "eval_loss" in line]
    summary = {"pairs": len(train), "positives": sum(e["labels"][0] for e in train.examples),
               "evaluation_pairs": len(evaluation), "steps": trainer.state.max_steps,
               "parameters": model.num_parameters(), "tokens": sum(len(e["input_ids"]) for e in train.examples)}
    (folder / "log.json").write_text(json.dumps({**summary, "log": log}, indent=1))


@step(version=1, form="json")
def training_log(model: Path) -> dict[str, Any]:
    """What `cross_encoder` logged: pairs, positives, steps, parameters, and `log`, the losses over the steps."""
    return json.loads((model / "log.json").read_text())


def examples(pairs: pd.DataFrame, queries: pd.DataFrame, tokens: WindowTokens, tokenizer: Any, max_length: int,
             query_length: int, evaluation_queries: int, seed: int) -> tuple[list[dict], list[dict]]:
    """Token ids and labels of the pairs, those of training queries and those of held-out queries."""
    texts = queries.set_index("query_id")["text"]
    asked = list(dict.fromkeys(pairs["query_id"]))
    ids = dict(zip(asked, query_ids(tokenizer, [texts[q] for q in asked], query_length), strict=True))
    held_out = set(pd.Series(asked).sample(n=min(evaluation_queries, max(1, len(asked) // 10)), random_state=seed))
    sides: tuple[list[dict], list[dict]] = ([], [])
    for query, window, label in pairs[["query_id", "window_id", "label"]].itertuples(index=False):
        input_ids, types = pair_ids(tokenizer, ids[query], tokens[window], max_length)
        sides[query in held_out].append({"input_ids": input_ids, "token_type_ids": types, "labels": [float(label)]})
    return sides


def training_arguments(folder: Path, examples: int, *, epochs: int, learning_rate: float, batch_size: int,
                       warmup: float, weight_decay: float, evaluations: int, seed: int) -> Any:
    """The Trainer's settings: fused AdamW, bf16 where it is fast, batches of similar length."""
    from transformers import TrainingArguments

    steps = max(1, -(-examples // batch_size) * epochs)
    every = max(1, -(-steps // evaluations))
    return TrainingArguments(
        output_dir=str(folder / "trainer"), num_train_epochs=epochs, per_device_train_batch_size=batch_size,
        per_device_eval_batch_size=64, learning_rate=learning_rate, warmup_steps=int(warmup * steps),
        weight_decay=weight_decay, lr_scheduler_type="linear", optim="adamw_torch_fused", seed=seed, data_seed=seed,
        bf16=numerics.dtype() == "bf16", use_cpu=numerics.device() == "cpu", logging_steps=every,
        eval_strategy="steps", eval_steps=every, save_strategy="no", report_to=[], disable_tqdm=True,
        train_sampling_strategy="group_by_length", dataloader_num_workers=0, log_level="error")


def attention() -> str:
    """Eager attention trains faster than SDPA on a CPU (measured: 1.2 to 1.4 times at 128 to 224 tokens)."""
    return "eager" if numerics.device() == "cpu" else "sdpa"


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy and PyTorch."""
    from transformers import set_seed

    set_seed(seed)
