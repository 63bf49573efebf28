"""Steps on a real Slurm of two nodes on this machine: `BOOK_SLURM=1 pytest tests/test_slurm.py`, as root (Debian packages)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slurm
@pytest.mark.skipif(os.environ.get("BOOK_SLURM") != "1", reason="starts a Slurm: BOOK_SLURM=1")
def test_two_jobs_give_what_one_process_gives_though_one_is_cancelled(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BOOK_")} | {"PYTHONPATH": str(HERE)}
    done = subprocess.run(["bash", HERE / "slurm" / "one_machine.sh", sys.executable, HERE / "slurm" / "check.py", tmp_path],
                          env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.endswith("the same in two jobs and in one process\n")
