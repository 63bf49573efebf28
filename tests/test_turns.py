"""Turns: who measures time is alone, who waits is absent, who dies is absent too."""

import select
import subprocess
import sys

import pytest

from helpers.steps import processes

OTHER = """
import sys, time
from helpers.steps import processes
{work}
print("in", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def other(tmp_path, monkeypatch):
    """Start another process, which says when it is in and stays until its input ends."""
    monkeypatch.setenv(processes.TURNS, str(tmp_path))
    started = []

    def start(work):
        process = subprocess.Popen([sys.executable, "-c", OTHER.format(work=work)], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
    processes.go_out()


def is_in(process, seconds=0.5):
    """Whether the process is in after a while."""
    return bool(select.select([process.stdout], [], [], seconds)[0])


def test_who_measures_waits_until_the_others_are_out_and_lets_nobody_in(other):
    processes.come_in()
    measuring = other("held = processes.alone(); held.__enter__()")
    assert not is_in(measuring, 0.5)
    processes.go_out()
    assert is_in(measuring, 20)
    late = other("processes.come_in()")
    assert not is_in(late, 0.5)
    measuring.kill()  # whoever dies is out
    assert is_in(late, 20)


def test_who_measures_begins_anew_as_one_of_many(other):
    with processes.alone():
        processes.come_in()  # a step within a measurement asks nobody
        waiting = other("processes.come_in()")
        # the variable is not there for what is started within, so this one is not asked either
        assert is_in(waiting, 20)
    assert is_in(other("processes.come_in()"), 20)
