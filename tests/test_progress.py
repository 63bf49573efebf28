"""What is told of a chapter while it is executed: its cells, and beside them how a training goes."""

from types import SimpleNamespace

import nbformat
import pytest

from helpers.networks.callbacks import Progress
from press import execute, terminal

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
    told = list[str]()
    cells, steps = terminal.joined(told.append)
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
