"""The chapter *RepBERT* (Zhan et al. 2020, sections 3 and 4.3)."""

from collections.abc import Mapping
from typing import Any

from helpers.evaluation import published
from helpers.networks import backbone as backbones
from helpers.pages import claims, page
from helpers.pages.compare import above, lead
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count
from helpers.pages.stages import OWN, STUDIED, STUDY, recall_of
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.evaluated import Evaluation, Systems

SETTINGS, TABLE = "text 4.3.1", "1"
ROWS = {"bm25": "BM25(Anserini) [2]", "doctttttquery": "docTTTTTquery [3]", "deepct": "DeepCT [1]", "repbert": "Ours (RepBERT)",
        "untrained": OWN["untrained"]}  # how table 1 calls the stages; the last one is not the study's
BASELINE = ROWS["bm25"]
BESIDE = ("untrained", "minilm")  # the bi-encoder before its training; the backbone compared as others trained it to be


def settings_table(model: BiEncoder, log: Mapping[str, Any]) -> Fragment:
    """The study's settings beside this training's, and what each saw."""
    backbone = backbones.resolve(model.backbone)
    config = backbones.configuration(backbone)
    pairs = log["queries"] * model.epochs
    here = {
        "encoder layers": config.num_hidden_layers if backbone.layers is None else len(backbone.layers),
        "vector dimension": config.hidden_size, "maximum query length": model.query_length,
        "maximum document length": model.max_length, "batch size": model.batch_size, "gradient accumulation steps": 1,
        "training steps": f"{count(log['steps'])}", "query-document pairs seen": count(pairs),
        "initial learning rate": f"{model.learning_rate:g}", "L2 weight decay": f"{model.weight_decay:g}",
        "warm-up steps": count(int(model.warmup * log["steps"])), "dropout": f"{model.dropout:g}"}
    units = {"training steps": " thousand", "query-document pairs seen": " million"}
    rows = [[name, f"{published.value(STUDY, SETTINGS, STUDIED['repbert'], name).printed}{units.get(name, '')}", value]
            for name, value in here.items()]
    return page.show_table(f"{published.published_name(STUDY)}, section 4.3.1: settings, published and here",
                           ("", "published", "this run"), rows)


def by_rows(systems: Systems) -> dict[str, Evaluation]:
    """Evaluations by stage, under the names of table 1."""
    return {ROWS.get(stage, system.label): system for stage, system in systems.items()}


def claims_table(systems: Systems, backbone: str) -> Fragment:
    """The chapter's claim; its control is the backbone before this training."""
    claim, trained = "repbert-beats-bm25", systems["repbert"]
    before = next((systems[stage] for stage in BESIDE if stage in systems), None)
    return claims.judge("repbert", {claim: (trained, systems["bm25"])}, backbone=backbone,
                        controls={claim: before} if before is not None else {})


def signs(systems: Systems) -> dict[str, bool]:
    """What the discussion rests on besides the claim."""
    if not {*BESIDE, "repbert"} <= set(systems):
        return {}
    bm25, repbert, start, zero_shot = (systems[stage] for stage in ("bm25", "repbert", *BESIDE))
    return {"RepBERT is above its start in the mean alone":
                lead(repbert, start, "RR@10") > 0 and not above(repbert, start, "RR@10"),
            "RepBERT is below the zero-shot encoder in the mean": lead(repbert, zero_shot, "RR@10") < 0,
            "every dense list surely holds more than BM25's":
                all(above(dense, bm25, recall_of(bm25)) for dense in (repbert, start, zero_shot))}
