"""Encoders: their architectures and names."""

from dataclasses import replace

import pytest
import torch

from helpers.evaluation import published
from helpers.networks.backbone import Backbone, build, name_of, parse_architecture
from helpers.pages import encoders
from helpers.pages.encoders import CHECKPOINTS
from helpers.systems.bi_encoder import BiEncoder

ROWS = {name: checkpoint for checkpoint, name in CHECKPOINTS.items()}

POOLER = 768 * 768 + 768
PARAMETERS = {  # of the checkpoints' encoders, as they are published, less the pooler of those that have one
    "BERT": 109_482_240 - POOLER, "RoBERTa": 124_645_632 - POOLER, "ALBERT": 11_683_584 - POOLER, "DistilBERT": 66_362_880,
    "ELECTRA": 108_891_648}


@pytest.mark.slow
@pytest.mark.parametrize("name, expected", PARAMETERS.items())
def test_a_base_size_has_the_parameters_of_its_checkpoint(name, expected):
    with torch.device("meta"):  # without memory for its weights
        assert build(name).num_parameters() == expected


def test_a_spec_is_an_architecture_or_a_backbone():
    assert parse_architecture("BERT") == "BERT"
    assert parse_architecture("ELECTRA/4/256/4") == "ELECTRA/4/256/4"
    assert isinstance(parse_architecture("packaged:0"), Backbone)
    assert (name_of(parse_architecture("packaged:0")), name_of("BERT")) == ("packaged:0", "BERT")


BASE = BiEncoder(queries=1500, data_seed=1)


@pytest.mark.parametrize("spec, name", [
    ("packaged", "MiniLM"), ("packaged:0,1,2", "MiniLM (layers 0,1,2)"), ("hub:bert-base-uncased@86b5e09", "BERT"),
    ("hub:someone/other-model@v1", "other-model"), ("/models/mine/", "mine")])
def test_a_backbone_has_the_studys_name_or_its_own(spec, name):
    assert encoders.label(spec) == name


def test_every_row_of_the_study_can_be_measured_by_a_checkpoint():
    named = {f"{encoders.label(f'hub:x/{checkpoint}@main')} / {pooling}"
             for checkpoint in encoders.CHECKPOINTS for pooling in encoders.POOLINGS.values()}
    assert named == {row for row in published.column(encoders.STUDY, "4.2", "MRR@10") if " / " in row}
    versions = {row for (table, row, _) in published.load(encoders.STUDY) if table == "B.1"}
    assert set(encoders.CHECKPOINTS) == versions - {"all models"}


def test_a_model_for_every_backbone_and_pooling_stands_before_and_after_its_training():
    models = encoders.models(BASE, ["packaged", "packaged:0"], ["mean", "max"])
    both = encoders.variants(models, trained=True)
    assert both == models | {f"{name}, zero-shot": model.zero_shot() for name, model in models.items()}
    assert models == {"MiniLM / Avg": BASE, "MiniLM / Max": replace(BASE, pooling="max"),
                      "MiniLM (layers 0) / Avg": replace(BASE, backbone="packaged:0"),
                      "MiniLM (layers 0) / Max": replace(BASE, backbone="packaged:0", pooling="max")}


@pytest.mark.parametrize("depth, last", [(100, "nDCG@100"), (1000, "nDCG@1000"), (50, "nDCG@10")])
def test_measures_do_not_look_beyond_the_depth(depth, last):
    result = encoders.measures(depth)
    assert result[:4] == ["RR@10", "AP", f"R@{depth}", "Rprec"]
    assert result[-1] == last
