"""Fine-tuning: this book's training of a cross-encoder beside the stock Trainer in bfloat16, on examples of mixed lengths.

Examples are made up, since the time of a step does not depend on what they say. The model, the examples, their number in a step,
what is adjusted (all of it) and dropout (none) are the same. The stock Trainer pads each batch to its longest; the training of
the book's re-rankers (`helpers.reranking.listwise`) puts a batch's texts into one row without padding.
"""

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from bench import machine
from bench.work import Scale
from helpers.costs.timing import OURS, PRODUCTS, STOCK_TRAINER, Prepare, always, interleave
from helpers.networks import backbone, fine_tuning
from helpers.networks.backbone import encoder_flops
from helpers.reranking.listwise import LONGEST_GRADIENT, ListwiseTraining, optimiser, rows_of
from helpers.steps import numerics

BATCH = 16
SHORTEST, LONGEST = 16, 256  # tokens of an example; all lengths between are as frequent


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Time some steps of training, each round on a new copy of the model, and count real and padded tokens."""
    from transformers import AutoConfig

    products, model, data = machine.Products(), backbone.resolve(scale.model.backbone), examples(scale.steps * BATCH)
    times = interleave({PRODUCTS: always(products), STOCK_TRAINER: stock(model, data, scale.steps),
                        OURS: ours(model, data, scale.steps)}, rounds, report=True)
    config = AutoConfig.from_pretrained(model.source)
    forward = encoder_flops(config, [len(one["input_ids"]) for one in data], backbone.layers(model)) / len(data)
    return {"contenders": machine.seconds_of(times), "items": scale.steps * BATCH, "steps": scale.steps, "shortest": SHORTEST,
            "longest": LONGEST, "tokens": {name: times.given[name] for name in (STOCK_TRAINER, OURS)},
            "flops": 3 * forward * scale.steps * BATCH, "product_flops": products.flops}


def examples(number: int) -> list[dict[str, Any]]:
    """Made-up examples whose lengths are drawn evenly from the shortest to the longest; every other one is relevant."""
    random = np.random.default_rng(1)
    lengths = random.integers(SHORTEST, LONGEST + 1, size=number)
    return [{"input_ids": random.integers(1_000, 30_000, size=n).tolist(), "labels": [float(place % 2)],
             "token_type_ids": [0] * 12 + [1] * (n - 12)} for place, n in enumerate(lengths.tolist())]


class Counting:
    """A collator that counts the tokens of each batch.

    `batches` has real and all tokens of each; the Trainer may ask for one batch more than it trains on.
    """

    def __init__(self, collator: Callable[[list[dict[str, Any]]], Any]):
        self._collator, self.batches = collator, list[tuple[int, int]]()

    def __call__(self, batch: list[dict[str, Any]]) -> Any:
        """The collated batch."""
        made = self._collator(batch)
        self.batches.append((int(made["attention_mask"].sum()), made["input_ids"].numel()))
        return made


def network(model: backbone.Backbone, **settings: Any) -> Any:
    """A new copy of the model, the same for both."""
    from transformers import AutoModelForSequenceClassification

    fine_tuning.seed_everything(1)
    return model.build(AutoModelForSequenceClassification, num_labels=1, hidden_dropout_prob=0.0,
                       attention_probs_dropout_prob=0.0, problem_type="multi_label_classification", **settings)


def stock(model: backbone.Backbone, data: list[dict[str, Any]], steps: int) -> Prepare:
    """The Trainer with its defaults, but for bfloat16 and the number of steps. A round gives the `loss`, and the `real` and
    `padded` tokens that were read."""
    def made_ready() -> Callable[[], Any]:
        from transformers import DataCollatorWithPadding, PrinterCallback, Trainer, TrainingArguments

        folder, counting = tempfile.TemporaryDirectory(), Counting(DataCollatorWithPadding(model.tokenizer()))
        arguments = TrainingArguments(
            output_dir=folder.name, per_device_train_batch_size=BATCH, max_steps=steps, bf16=numerics.dtype() == "bf16",
            use_cpu=numerics.device() == "cpu", save_strategy="no", report_to=[], disable_tqdm=True, log_level="error",
            logging_steps=steps)
        trainer = Trainer(model=network(model), args=arguments, train_dataset=data, data_collator=counting)
        trainer.remove_callback(PrinterCallback)

        def work() -> dict[str, float]:
            with folder:
                done = trainer.train()
            real, padded = map(sum, zip(*counting.batches[:done.global_step], strict=True))
            return {"loss": float(done.training_loss), "real": real, "padded": padded}

        return work

    return made_ready


def ours(model: backbone.Backbone, data: list[dict[str, Any]], steps: int) -> Prepare:
    """The steps of `listwise_cross_encoder`, likewise."""
    def made_ready() -> Callable[[], Any]:
        import torch

        trained = network(model, attn_implementation=backbone.attention()).to(numerics.device()).train()
        optimizer, schedule = optimiser(trained, ListwiseTraining(batch_size=BATCH), steps)
        order = np.random.default_rng(1).permutation(len(data)).reshape(steps, BATCH)

        def work() -> dict[str, float]:
            losses, read = list[float](), 0
            for batch in order:
                rows = [data[n] for n in batch]
                ids, types, labels = ([row[name] for row in rows] for name in ("input_ids", "token_type_ids", "labels"))
                with torch.autocast(numerics.device(), torch.bfloat16, enabled=numerics.dtype() == "bf16"):
                    logits = rows_of(trained, ids, types, 0.0)[:, 0].float()
                loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.tensor(labels).to(logits)[:, 0])
                loss.backward()
                torch.nn.utils.clip_grad_norm_(trained.parameters(), LONGEST_GRADIENT)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad(set_to_none=True)
                losses.append(float(loss.detach()))
                read += sum(map(len, ids))
            return {"loss": float(np.mean(losses)), "real": read, "padded": read}

        return work

    return made_ready
