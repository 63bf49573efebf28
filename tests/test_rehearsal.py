"""The rehearsal of the studies' own scale, a part of it. `make rehearsal` is the whole."""

import re

import pytest

from rehearsal import run

CHAPTER = "nearest_neighbours"


@pytest.mark.slow
def test_a_part_of_the_rehearsal_comes_to_its_page(tmp_path):
    """Pinned and fetched through faults; a chapter over an index of others, killed in its middle and ended without the hub."""
    rows = {what: outcome for what, _, outcome in run.play(tmp_path / "book", [CHAPTER], killed=CHAPTER, render=False)}
    assert list(rows) == ["pin", "fetch", CHAPTER, "outside"]
    assert rows["pin"].startswith("429 told, then 10 revisions pinned")
    assert rows["fetch"].endswith("there")
    assert re.fullmatch(r"killed after \d+ steps, \d+ more without the hub; page", rows[CHAPTER])  # two may end at once
    assert rows["outside"] == "refused: nothing was asked for"
