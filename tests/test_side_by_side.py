"""Chapters side by side: who takes turns, and what is told of their progress."""

import os
import select
import subprocess
import sys
import threading
from types import SimpleNamespace

import nbformat
import psutil
import pytest

from helpers.errors import BadInput
from helpers.networks.callbacks import Progress
from helpers.steps import computation, numerics
from press import execute, side_by_side, terminal

# ---- side by side ----

@pytest.fixture
def chapters(monkeypatch):
    """Chapters that only note under which settings they ran; `current` ones are up to date, `broken` ones fail."""
    noted = SimpleNamespace(current=(), broken=(), ran=[])
    both = threading.Barrier(2, timeout=20)

    def run(name, tell=None):
        if tell is not None:
            tell(f"{name}: cell 1, step 2, loss 0.5")
        noted.ran.append((name, tell is None, os.environ.get("OMP_NUM_THREADS"), numerics.cores(),
                          computation.TURNS in os.environ))
        if name in ("left", "right"):
            both.wait()  # breaks unless both run at once
        if name in noted.broken:
            raise BadInput(f"{name} is broken")
        return None, True

    monkeypatch.setattr(execute, "request", lambda name, profile, given: name)
    monkeypatch.setattr(execute, "is_current", lambda name: name in noted.current)
    monkeypatch.setattr(execute, "run", run)
    monkeypatch.setattr(side_by_side, "kernels", lambda chapters: 2)
    return noted


def test_two_run_at_once_with_a_thread_each_and_are_told_of_in_one_line(chapters, capsys):
    before = dict(os.environ)
    chapters.current = ("old",)
    lines = dict(side_by_side.run_all(["old", "left", "right"], "mini"))
    assert lines["old"] is None
    assert lines["left"] > 0
    assert sorted(chapters.ran) == [("left", False, "1", 1, True), ("right", False, "1", 1, True)]
    assert dict(os.environ) == before
    assert "left: cell 1, step 2, loss 0.5" in capsys.readouterr().err


def test_after_a_failure_what_runs_is_finished_and_nothing_is_begun(chapters):
    chapters.broken = ("left", "right")
    with pytest.raises(BadInput, match="is broken"):
        list(side_by_side.run_all(["left", "right", "later"], "mini"))
    assert {name for name, *_ in chapters.ran} == {"left", "right"}


def test_one_alone_has_all_cores_and_a_bar_of_its_cells(chapters, monkeypatch):
    monkeypatch.setattr(side_by_side, "kernels", lambda chapters: 1)
    threads = os.environ.get("OMP_NUM_THREADS")
    assert [name for name, _ in side_by_side.run_all(["one", "two"], "mini")] == ["one", "two"]
    assert [line[1:3] for line in chapters.ran] == [(True, threads)] * 2


def test_room_is_a_core_and_memory(monkeypatch):
    monkeypatch.setattr(numerics, "device", lambda: "cpu")
    monkeypatch.setattr(numerics, "cores", lambda: 8)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("Memory", (), {"available": 17e9}))
    assert [side_by_side.kernels(n) for n in (1, 2, 50)] == [1, 2, 3]
    monkeypatch.setattr(numerics, "device", lambda: "cuda")
    assert side_by_side.kernels(50) == 1
    monkeypatch.setattr(numerics, "device", lambda: "cpu")
    monkeypatch.setenv("BOOK_CLUSTER", "tcp://somewhere")
    assert side_by_side.kernels(50) == 1


# ---- taking turns ----

OTHER = """
import sys
from helpers.steps import computation
with computation.turn(alone={alone}):
    print("in", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def other(tmp_path, monkeypatch):
    """Start another process, which says when it is in and stays until its input ends."""
    monkeypatch.setenv(computation.TURNS, str(tmp_path))
    started = []

    def start(alone):
        process = subprocess.Popen([sys.executable, "-c", OTHER.format(alone=alone)], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def is_in(process, seconds=0.5):
    """Whether the process is in after a while."""
    return bool(select.select([process.stdout], [], [], seconds)[0])


def test_who_measures_waits_until_the_others_are_out_and_lets_nobody_in(other):
    both = other(alone=False), other(alone=False)
    assert all(is_in(one, 20) for one in both)
    measuring = other(alone=True)
    assert not is_in(measuring, 2)
    late = other(alone=False)
    assert not is_in(late, 2)
    for one in both:
        one.kill()  # whoever dies is out
    assert is_in(measuring, 20)
    assert not is_in(late)
    measuring.kill()
    assert is_in(late, 20)


def test_a_step_within_a_measurement_asks_nobody_and_the_next_one_does(other):
    with computation.turn(alone=True):
        with computation.turn(alone=False):
            assert computation.TURNS not in os.environ  # nor does what is started within
        assert is_in(other(alone=True), 20)
    assert computation.TURNS in os.environ


# ---- progress ----

TRAINING = """
import time
from helpers.steps import ledger
with ledger.bar("training step", 4) as shown:
    shown.mininterval = 0
    for number in range(4):
        time.sleep(0.5)
        shown.set_postfix_str(f"loss {1 / (number + 1):.3f}", refresh=False)
        shown.update()
"""


@pytest.mark.slow
def test_step_loss_and_time_left_stand_beside_the_cells(tmp_path):
    cells = [nbformat.v4.new_code_cell(source) for source in ("1 + 1", TRAINING)]
    source, told = tmp_path / "toy.ipynb", list[str]()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), source)
    with terminal.on_terminal():  # another bar, below which the cells' would move
        execute.executed(source, {}, told.append)
    assert any(line.startswith("toy:  50%|") and line.endswith("1/2, training step 2 of 4, loss 0.500, 00:01 left")
               for line in told), told
    assert "2/2" in told[-1]


def test_the_last_line_of_each_is_told():
    told, lines = list[str](), ["", ""]
    cells, steps = (terminal.LastLine(told.append, lines, place) for place in range(2))
    for file, text in ((cells, "\r1/2"), (steps, "  bm25 ...\n"), (steps, "\r\n"), (steps, "\rstep 1\rstep 2\n"),
                       (cells, "\r2/2")):
        file.write(text)
    assert told == ["1/2", "1/2, bm25 ...", "1/2, step 2", "2/2, step 2"]


def test_on_standard_error_a_text_takes_the_place_of_the_last(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "PAUSES", (0.0, 0.0))
    with terminal.on_terminal() as show:
        show("a long line")
        show("short")
    assert "\ra long line\rshort      \rshort" in capsys.readouterr().err


def test_the_loss_is_the_mean_since_the_log_had_a_line(capsys):
    shown, state = Progress(SimpleNamespace(_tr_loss=1.5, _globalstep_last_logged=2)), SimpleNamespace(max_steps=9, global_step=4)
    shown.on_train_begin(None, state, None)
    shown._bar.mininterval, state.global_step = 0, 5
    shown.on_step_end(None, state, None)
    shown.on_train_end(None, state, None)
    assert "training step 5 of 9, loss 0.500, 00:00 left" in capsys.readouterr().err
