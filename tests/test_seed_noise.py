"""The file of what is known of the noise of training."""

import pandas as pd
import pytest
import yaml

from dry_steps import write_page
from helpers.errors import BadInput
from helpers.pages import carried
from helpers.pages.carried import System
from press import seed_noise


@pytest.fixture
def page(places):
    places("CHAPTERS")

    def made(**runs):
        systems = [System(name.strip("_"), "c" * 64, pd.DataFrame({"RR@10": values}, index=["a", "b"]))
                   for name, values in runs.items()]
        return write_page("seeds", {"evaluations": carried.packed(systems)})
    return made


def test_components_by_hand(page):
    # two seeds, two queries, no rest: seeds' means .3 and .5, so a variance of .02; queries' means .3 and .5, so .02, too
    content = yaml.safe_load(seed_noise.text(page(_1=[0.2, 0.4], _2=[0.4, 0.6], BM25=[0.0, 1.0])))
    assert content["measures"]["RR@10"] == pytest.approx({"variance": 0.02, "freedom": 1, "share": 1.0})
    assert content["runs"] == ["c" * 12] * 2


def test_one_seed_says_nothing_of_noise(page):
    with pytest.raises(BadInput, match="fewer than two seeds"):
        seed_noise.text(page(_1=[0.2, 0.4]))
