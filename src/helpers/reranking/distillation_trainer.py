"""The training loop of a student: `transformers.Trainer` with the four losses of Simplified TinyBERT.

Its attention scores, those before the softmax, `transformers` does not return: they are taken from the projections.
"""

import math
from typing import Any

import torch
from transformers import Trainer

from helpers.errors import BadInput
from helpers.registry import call
from helpers.reranking.losses import PARTS, matched_layers, projection


class DistillationTrainer(Trainer):
    """A Trainer whose loss is the weighted sum of the parts; what has no weight is not computed. It logs each part."""

    def teach(self, teacher: Any, weights: dict[str, float], temperature: float) -> None:
        """Set the teacher, the weight of each part of the loss, and the temperature. The student gets `widen`, which is trained
        with it. BadInput if it is to have the attention of a teacher with another number of heads."""
        self.teacher = teacher.to(self.args.device).requires_grad_(False)
        self.weights = {name: weight for name, weight in weights.items() if weight}
        self.temperature, self.logged = temperature, tuple(PARTS)
        self.reads_states = not set(self.weights) <= {"hard", "soft", "attention"}
        student: Any = self.model
        heads = [model.config.num_attention_heads for model in (student, teacher)]
        if "attention" in self.weights and heads[0] != heads[1]:
            raise BadInput(f"a student of {heads[0]} heads cannot learn the attention of {heads[1]}",
                           mend="give that loss the weight 0")
        self.widen = student.widen = projection(student, teacher).to(self.args.device)
        self.matched = matched_layers(student.config.num_hidden_layers, teacher.config.num_hidden_layers)
        self.scores = {"student": AttentionScores(student), "teacher": AttentionScores(teacher)}
        self.sums: dict[str, float] = dict.fromkeys(self.weights, 0.0)
        self.summed = 0

    def compute_loss(self, model: Any, inputs: dict[str, Any], return_outputs: bool = False,
                     num_items_in_batch: Any = None) -> Any:
        """The weighted sum in training, the hard loss alone in evaluation."""
        student = model(**inputs, output_hidden_states=self.reads_states)
        if not model.training:
            return (student.loss, student) if return_outputs else student.loss
        parts = self.parts(student, inputs)
        for name, part in parts.items():
            self.sums[name] += float(part.detach())
        self.summed += 1
        total = sum(self.weights[name] * part for name, part in parts.items())
        return (total, student) if return_outputs else total

    def parts(self, student: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """The parts of the loss that have a weight; without a teacher's part the teacher does not run."""
        teacher = None
        if not set(self.weights) <= {"hard"}:
            without_labels = {name: value for name, value in inputs.items() if name != "labels"}
            with torch.no_grad(), torch.autocast(self.args.device.type, torch.bfloat16, enabled=self.args.bf16):
                teacher = self.teacher(**without_labels, output_hidden_states=self.reads_states)
        known = {"student": student, "teacher": teacher, "mask": inputs["attention_mask"].bool(), "matched": self.matched,
                 "scores": self.scores, "temperature": self.temperature, "widen": self.widen}
        return {name: call(PARTS[name], **known) for name in self.weights}

    def log(self, logs: dict[str, float], *arguments: Any, **more: Any) -> None:
        """Add the mean of each part since the last line to a line with a training loss."""
        if "loss" in logs and self.summed:
            logs = {**logs, **{name: total / self.summed for name, total in self.sums.items()}}
            self.sums, self.summed = dict.fromkeys(self.weights, 0.0), 0
        super().log(logs, *arguments, **more)


class AttentionScores:
    """Records, on every forward pass, the projections of each encoder layer of a BERT-like model.

        scores = AttentionScores(model)
        model(**batch)
        scores.layers()     # one (batch, heads, tokens, tokens) a layer: queries times keys over the root of the head's width

    ValueError if the model's layers have no `query` and `key` projections.
    """

    def __init__(self, model: Any) -> None:
        self._heads, self._outputs = model.config.num_attention_heads, list[dict[str, Any]]()
        for number, layer in enumerate(getattr(getattr(model.base_model, "encoder", None), "layer", [])):
            modules = {path.rpartition(".")[2]: module for path, module in layer.attention.named_modules()}
            own: dict[str, Any] = {}
            self._outputs.append(own)
            for name in ("query", "key"):
                if name not in modules:
                    raise ValueError(f"layer {number} of {model.config.model_type} has no {name} projection")
                modules[name].register_forward_hook(
                    lambda module, inputs, output, own=own, name=name: own.update({name: output}))
        if not self._outputs:
            raise ValueError(f"{model.config.model_type} has no encoder layers to read")

    def layers(self) -> list[Any]:
        """The scores of the last forward pass, first layer first."""
        of_heads = lambda states: states.float().unflatten(-1, (self._heads, -1)).transpose(1, 2)
        projected = ((of_heads(own["query"]), of_heads(own["key"])) for own in self._outputs)
        return [query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1]) for query, key in projected]
