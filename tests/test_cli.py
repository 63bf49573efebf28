"""The command line when something goes wrong: one line, an exit code, and nothing left behind."""

import errno
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import psutil
import pytest

from helpers import paths
from press import chapters, cli, terminal
from press.search_command import FEEDBACK


def raising(error):
    def listing(chapter):
        raise error
    return listing


@pytest.mark.parametrize(("error", "code", "said"), [
    (OSError(errno.ENOSPC, "No space left on device", "/full"), 2, "/full"),
    (PermissionError(errno.EACCES, "Permission denied", "/closed"), 2, "/closed"), (MemoryError(), 2, "out of memory"),
    (sqlite3.OperationalError("database or disk is full"), 2, "disk is full"),
    (KeyboardInterrupt(), 130, "stopped; finished steps are kept")])
def test_what_is_no_fault_of_the_book_is_one_line(monkeypatch, capsys, error, code, said):
    monkeypatch.setattr(chapters, "listing", raising(error))
    monkeypatch.setattr(terminal, "end_children", lambda: None)  # the tests' own process has others
    assert cli.main(["parameters", "collection"]) == code
    told = capsys.readouterr().err.strip()
    assert said in told
    assert "\n" not in told


def test_a_fault_of_the_book_keeps_its_trace_in_a_file_and_names_it(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(chapters, "listing", raising(KeyError("who knows")))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert cli.main(["parameters", "collection"]) == 3
    told, (file,) = capsys.readouterr().err.strip(), tmp_path.iterdir()
    assert "\n" not in told and str(file) in told and "KeyError: 'who knows'" in file.read_text()


@pytest.mark.parametrize(("arguments", "said"), [
    *((f"verify --budget {budget}", [budget, "is no whole number from 1"]) for budget in ("nan", "-1", "0", "much")),
    *((f"store --older={age}", [age, "give 30d or 12h"]) for age in ("30", "d", "-1d", "3w")),
    ("search bread --first-stage gpt", ["gpt", "bm25"]), ("search bread --feedback rocchio", ["rocchio", *FEEDBACK]),
    ("search bread --unit window", ["document", "passage"])])
def test_a_wrong_argument_is_refused_with_what_may_be_given(arguments, said, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments.split())
    told = capsys.readouterr().err
    assert ended.value.code == 2 and all(word in told for word in said)


def test_a_value_that_is_nested_too_deeply_is_one_of_another_type(capsys):
    assert cli.main(["explain", "seeds", "-p", "seeds", "[" * 20_000 + "]" * 20_000]) == 2
    assert "seeds" in capsys.readouterr().err


def made_an_error():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise ValueError("what pandas' parser says") from None


def dropped():
    class Finalised:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)
    Finalised()
    time.sleep(5)


@pytest.mark.slow
@pytest.mark.parametrize("fate", [made_an_error, dropped])
def test_ctrl_c_stays_one_whatever_is_made_of_it(fate, monkeypatch, capsys, foreground):
    monkeypatch.setattr(chapters, "listing", lambda chapter: fate())
    monkeypatch.setattr(terminal, "end_children", lambda: None)
    assert cli.main(["parameters", "collection"]) == 130
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert "stopped" in capsys.readouterr().err


@pytest.mark.slow
def test_a_closed_pipe_and_a_plain_locale_are_no_tracebacks(tmp_path):
    store = {"BOOK_STORE": str(tmp_path / "später"), "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = f"{sys.executable} -m press.cli parameters cost | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], env=os.environ | store, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) in ((141, ""), (0, ""))
    done = subprocess.run([sys.executable, "-m", "press.cli", "chapter", "nöpe"], env=os.environ | store, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_ctrl_c_stops_a_chapter_and_its_kernel(tmp_path, foreground):
    """The kernel is in a session of its own, where the terminal's signal does not reach it."""
    import nbformat

    from press.edited import notebook_of
    for name in ("notebooks", "profiles", "book/chapters", "results"):
        (tmp_path / name).mkdir(parents=True)
    cells = [nbformat.v4.new_markdown_cell("# Slow"),
             nbformat.v4.new_code_cell("seconds: int = 300  # how long", metadata={"tags": ["parameters"]}),
             nbformat.v4.new_code_cell("import time, pathlib\npathlib.Path('begun').touch()\ntime.sleep(seconds)")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=notebook_of(paths.NOTEBOOKS / "cost.ipynb").metadata),
                   tmp_path / "notebooks" / "slow.ipynb")
    (tmp_path / "profiles" / "almanac.yaml").write_text("shared: {}")
    (tmp_path / "book" / "_toc.yml").write_text("parts: [{chapters: [{file: chapters/slow}]}]")
    run = subprocess.Popen([sys.executable, "-m", "press.cli", "chapter", "slow", "--no-render"], text=True,
                           env=os.environ | {"BOOK_ROOT": str(tmp_path), "BOOK_STORE": str(tmp_path / "store")},
                           stderr=subprocess.PIPE)
    until = time.monotonic() + 300
    while not (tmp_path / "begun").exists():
        assert run.poll() is None and time.monotonic() < until
        time.sleep(0.1)
    children = psutil.Process(run.pid).children(recursive=True)
    run.send_signal(signal.SIGINT)
    told = run.communicate(timeout=60)[1]
    assert run.returncode == 130
    assert "Traceback" not in told and told.endswith("stopped; finished steps are kept\n")
    assert not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)


PAGES = ("README.md", "CONTRIBUTING.md", *(f"book/{name}.md" for name in ("index", "running", "own", "elsewhere", "gpu")))


def test_what_readme_and_pages_name_is_there_and_the_readme_stays_short():
    text = "\n".join((paths.ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    targets = re.findall(r"^([a-z-]+):", (paths.ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert set(re.findall(r"(?:`|^|&& )make ([a-z][a-z-]*)", text, re.M)) <= set(targets)
    known = set(cli._parser()._subparsers._group_actions[0].choices)
    assert set(re.findall(r"(?:`|/bin/|^)book ([a-z][a-z-]+)", text, re.M)) <= known
    assert len((paths.ROOT / "README.md").read_bytes()) < 3_000
