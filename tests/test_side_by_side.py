"""Chapters side by side: as many at once as there is room for, one thread each, and no new one after a failure."""

import os
import threading
from types import SimpleNamespace

import psutil
import pytest

from helpers.errors import BadInput
from helpers.steps import numerics, processes
from press import execute, side_by_side


@pytest.fixture
def chapters(monkeypatch):
    """Chapters that only note under which settings they ran; `current` ones are up to date, `broken` ones fail."""
    noted = SimpleNamespace(current=(), broken=(), ran=[])
    both = threading.Barrier(2, timeout=20)

    def run(name, tell=None):
        if tell is not None:
            tell(f"{name}: cell 1, step 2, loss 0.5")
        noted.ran.append((name, tell is None, os.environ.get("OMP_NUM_THREADS"), numerics.cores(), processes.TURNS in os.environ))
        if name in ("left", "right"):
            both.wait()  # breaks unless both run at once
        if name in noted.broken:
            raise BadInput(f"{name} is broken")
        return None, True

    monkeypatch.setattr(execute, "request", lambda name, profile, given: name)
    monkeypatch.setattr(execute, "is_current", lambda name: name in noted.current)
    monkeypatch.setattr(execute, "run", run)
    monkeypatch.setattr(side_by_side.dry_run, "check", lambda page: None)
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
