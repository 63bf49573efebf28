"""A small part of the campaign of faults (`make faults`), with the normal tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_a_part_of_the_campaign_ends_right_or_told():
    """In a process without threads, which forking would not copy."""
    place = Path(__file__).with_name("faults.py")
    paths = os.pathsep.join([str(place.parents[1] / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, str(place), "--cases", "4"], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
