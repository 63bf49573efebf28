"""A small part of the campaign of faults (`make faults`), with the normal tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import paths


@pytest.mark.slow
def test_a_part_of_the_campaign_ends_right_or_told():
    """In a process without threads, which forking would not copy."""
    place, tests = paths.ROOT / "campaigns" / "faults.py", Path(__file__).parent
    found = os.pathsep.join([str(paths.ROOT / "src"), str(tests), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, str(place), "--cases", "2"], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": found, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
