"""A part of each campaign: of faults (`make faults`), and of the rehearsal of the studies' own scale (`make rehearsal`)."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import paths
from rehearsal import run

pytestmark = pytest.mark.slow


def test_a_part_of_the_campaign_ends_right_or_told():
    """In a process without threads, which forking would not copy."""
    place, tests = paths.ROOT / "campaigns" / "faults.py", Path(__file__).parent
    found = os.pathsep.join([str(paths.ROOT / "src"), str(tests), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, str(place), "--cases", "2"], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": found, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_part_of_the_rehearsal_comes_to_its_page(tmp_path):
    """Pinned and fetched through faults; a chapter over an index of others, killed in its middle and ended without the hub."""
    chapter = "nearest_neighbours"
    rows = {what: outcome for what, _, outcome in run.play(tmp_path / "book", [chapter], killed=chapter, render=False)}
    assert list(rows) == ["pin", "fetch", chapter, "outside"]
    assert rows["pin"].startswith("429 told, then 10 revisions pinned")
    assert rows["fetch"].endswith("there")
    assert re.fullmatch(r"killed after \d+ steps, \d+ more without the hub; page", rows[chapter])  # two may end at once
    assert rows["outside"] == "refused: nothing was asked for"
