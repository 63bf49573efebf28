"""What values of a chapter's parameters make sense, by the parameter's name: one table for all commands that take parameters.

A name of one chapter alone, `explorer.depth`, goes before the name for all. What a list may hold is told for one of its items; a
list holds each value once. What a template declares as its default is allowed whatever stands here.
"""

from pkgutil import resolve_name
from typing import Any

from helpers.errors import BadInput

MOST = 10**9  # of any whole number
Range = tuple[float, float]

RANGES: dict[Range, str] = {  # smallest and largest value, and of which parameters
    (0, 1): "b b_grid",
    (0, 0.9): "dropout",
    (0.01, 1): "target",
    (0, 100): "k1 k1_grid margin margins noise",
    (1e-9, 1): "learning_rate learning_rates head_rates whole_rates",
    (0, 2**32 - 1): "seed seeds document_seeds full_seeds other_seeds tried fine_tuning_sizes.steps",  # 0 steps: passes instead
    (1, 100): "within",  # of the list that `embeddings` looks at
    (1, 1024): "threads",
    (1, MOST): """epochs steps section_steps candidates home_candidates depth depths
        recall_depths consistency_depths documents terms finalists patience batch batch_size batch_sizes
        rounds training_rounds triplets tested timed epochs.lengths grid.lengths nearest_neighbours.sizes
        ef_search nprobe divisions negatives""",
    (2, MOST): "size recipe.sizes passages groups mapped M tokens attention_window",
    (8, MOST): "max_length sequence_length.lengths sequence_length.documents lengths",
    (10, MOST): """answer_types.depth encoders.depth first_stage.depth fusion.depth repbert.depth sequence_length.depth
        significance.depth""",  # tables of these have RR@10
    (64, MOST): "first_tokens",  # of which a query may take 47
    (100, MOST): "collection.depth"}  # and this one R@100
CHOICES: dict[str, tuple[str, ...] | str] = {  # as they are, or the registry that has them, which is imported when it is needed
    "aggregation": "helpers.reranking.aggregation:AGGREGATIONS",
    "unit": ("passage", "document"),
    **dict.fromkeys(("pooling", "poolings"), "helpers.networks.encoder:POOLINGS"),
    "precision": ("fp32", "bf16"),
    "devices": ("cpu", "cuda"), "cuts": ("overlap 75", "sections"),
    "losses": "helpers.systems.recipe:LOSSES",
    "training": "helpers.systems.recipe:TRAININGS",
    "negatives": "helpers.systems.rerankers:NEGATIVES",  # where they are no number
    "distillation.without": ("soft", "hidden", "attention"),
    "today": ("hard negatives", "MarginMSE", "MaxSim", "generated queries"),
    "beside": "helpers.systems.first_stages:STAGES",
    "branches": "helpers.systems.starting_points:BRANCHES",
    "pretraining": "helpers.systems.starting_points:PRETRAININGS",
    **dict.fromkeys(("starts", "web_starts"), "helpers.systems.starting_points:NAMES")}
MAY_BE_EMPTY = {"files", "depth.depths", "mismatch.depths", "devices", "distillation.without", "document_seeds",
                "encoders.negatives", "full_seeds", "general_text", "generator", "longformer", "machine", "margins", "narrower",
                "other_starts", "paired", "sequence_length.documents", "student", "thesis_seeds", "today", "tried", "web_starts"}
EVEN = {"attention_window"}  # half of it on each side
NOT_ABOVE = {"recall_depths": "depth"}  # a list that is read further down than it goes has nothing there
_RANGE = {name: limits for limits, names in RANGES.items() for name in names.split()}


def check(chapter: str, values: dict[str, Any], defaults: dict[str, Any]) -> None:
    """BadInput for the first value that makes no sense, with the parameter's name, the value and what is allowed."""
    for name, value in values.items():
        keys = (f"{chapter}.{name}", name)
        limits = next((_RANGE[key] for key in keys if key in _RANGE), (0, MOST))
        choices = next((CHOICES[key] for key in keys if key in CHOICES), None)
        items = value if isinstance(value, list) else [value]
        mend = _problem(name, items, limits, choices) if value != defaults[name] else ""
        if value == [] != defaults[name] and not MAY_BE_EMPTY & set(keys):
            mend = mend or "give at least one"
        other = values.get(NOT_ABOVE.get(name, ""))
        if not mend and other is not None and max(items) > other:
            mend = f"give numbers up to {NOT_ABOVE[name]} = {other}, or raise that"
        if mend:
            raise BadInput(f"parameter {name} = {value!r} makes no sense", mend=mend)


def _problem(name: str, items: list[Any], limits: Range, choices: tuple[str, ...] | str | None) -> str:
    names = {item for item in items if isinstance(item, str)}
    if choices and names and names - set(known := resolve_name(choices) if isinstance(choices, str) else choices):
        return f"choose from {', '.join(map(repr, known))}"
    if any(not isinstance(item, str | bool) and not limits[0] <= item <= limits[1] for item in items):
        return f"give {limits[0]:g} to {limits[1]:g}" if limits[1] < MOST else f"give {limits[0]:g} or more, up to {MOST:,}"
    if name in EVEN and any(item % 2 for item in items):
        return "give an even number"
    return "give each value once" if len(set(items)) < len(items) else ""
