"""Fine-tuning: this book's settings of the Trainer beside its defaults in bfloat16, on examples of mixed lengths.

Examples are made up, since the time of a step does not depend on what they say. The model, the examples, their number in a step
and dropout (none) are the same. The stock Trainer takes examples in random order and pads each batch to its longest; the book's
settings group examples by length and choose the attention that trains faster.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from helpers.costs import machine
from helpers.costs.contenders import OURS, PRODUCTS, STOCK_TRAINER
from helpers.costs.timing import Prepare, always, interleave
from helpers.networks import backbone, fine_tuning
from helpers.networks.fine_tuning import PairDataset
from helpers.networks.flops import encoder_flops
from helpers.networks.training_settings import Training
from helpers.steps import numerics
from press.bench.work import Scale

BATCH = 16
SHORTEST, LONGEST = 16, 256  # tokens of an example; all lengths between are as frequent
GROUPED = 50  # batches that the Trainer sorts by length together: a round is one such group, of all lengths


def measure(scale: Scale, rounds: int) -> dict[str, Any]:
    """Time some steps of training, each round on a new copy of the model, and count real and padded tokens."""
    from transformers import AutoConfig

    products, model, data = machine.Products(), backbone.resolve(scale.model.backbone), examples(4 * GROUPED * BATCH)
    times = interleave({PRODUCTS: always(products), STOCK_TRAINER: stock(model, data, scale.steps),
                        OURS: ours(model, data, scale.steps)}, rounds, report=True)
    config = AutoConfig.from_pretrained(model.source)
    forward = encoder_flops(config, [len(one["input_ids"]) for one in data.examples], backbone.layers(model)) / len(data)
    return {"contenders": times.as_json(), "items": scale.steps * BATCH, "steps": scale.steps, "shortest": SHORTEST,
            "longest": LONGEST, "tokens": {name: times.given[name] for name in (STOCK_TRAINER, OURS)},
            "flops": 3 * forward * scale.steps * BATCH, "product_flops": products.flops}


def examples(number: int) -> PairDataset:
    """Made-up examples whose lengths are drawn evenly from the shortest to the longest; every other one is relevant."""
    random = np.random.default_rng(1)
    lengths = random.integers(SHORTEST, LONGEST + 1, size=number)
    return PairDataset([{"input_ids": random.integers(1_000, 30_000, size=n).tolist(), "labels": [float(place % 2)],
                         "token_type_ids": [0] * 12 + [1] * (n - 12)} for place, n in enumerate(lengths.tolist())])


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


def stock(model: backbone.Backbone, data: PairDataset, steps: int) -> Prepare:
    """The Trainer with its defaults, but for bfloat16 and the number of steps."""
    from transformers import DataCollatorWithPadding, TrainingArguments

    return training(model, data, lambda folder: TrainingArguments(
        output_dir=str(folder), per_device_train_batch_size=BATCH, max_steps=steps, bf16=numerics.dtype() == "bf16",
        use_cpu=numerics.device() == "cpu", save_strategy="no", report_to=[], disable_tqdm=True, log_level="error",
        logging_steps=steps), DataCollatorWithPadding)


def ours(model: backbone.Backbone, data: PairDataset, steps: int) -> Prepare:
    """The Trainer as `cross_encoder` sets it."""
    from transformers import IntervalStrategy

    def arguments(folder: Path) -> Any:
        made = fine_tuning.training_arguments(folder, len(data), Training(batch_size=BATCH), evaluations=1)
        made.max_steps, made.logging_steps, made.eval_strategy = steps, steps, IntervalStrategy.NO
        return made

    return training(model, data, arguments, fine_tuning.collator, attn_implementation=backbone.attention())


def training(model: backbone.Backbone, data: PairDataset, arguments: Callable[[Path], Any], collator: Callable[[Any], Any],
             **settings: Any) -> Prepare:
    """A contender whose round trains a new copy of the model, and gives the `loss`, and the `real` and `padded` tokens read.

    The Trainer has `arguments` for a folder, the collator makes batches with a tokenizer, `settings` are the model's own.
    """
    def made_ready() -> Callable[[], Any]:
        from transformers import AutoModelForSequenceClassification, PrinterCallback, Trainer

        fine_tuning.seed_everything(1)
        network = model.build(AutoModelForSequenceClassification, num_labels=1, hidden_dropout_prob=0.0,
                              attention_probs_dropout_prob=0.0, problem_type="multi_label_classification", **settings)
        folder, counting = tempfile.TemporaryDirectory(), Counting(collator(model.tokenizer()))
        trainer = Trainer(model=network, args=arguments(Path(folder.name)), train_dataset=data, data_collator=counting)
        trainer.remove_callback(PrinterCallback)

        def work() -> dict[str, float]:
            with folder:
                done = trainer.train()
            real, padded = map(sum, zip(*counting.batches[:done.global_step], strict=True))
            return {"loss": float(done.training_loss), "real": real, "padded": padded}

        return work

    return made_ready
