"""Completing a bare runtime: what is there stays, what is missing or too old comes in the book's versions."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from extension import load
from helpers import paths
from press import chapters, repository
from test_lock import LOCK, PROJECT, pinned

# Needed to build the book, to print it, or by Jupyter alone, which a runtime has: no chapter imports them.
ELSEWHERE = {"beautifulsoup4", "ipykernel", "jupyter-book", "jupyterlab", "latex2mathml", "lxml", "pillow", "pypdf"}
ALONE = {"pyserini"}  # installed by postBuild and colab.py without the packages that it asks for
BINDER = paths.ROOT / "binder"
LINES = (BINDER / "requirements.txt").read_text().splitlines()
CLONED = ("*.py", "binder", "pyproject.toml", "requirements.lock", "README.md", "src", "notebooks", "profiles", "book/_toc.yml",
          "book/_config.yml")
REQUIRED = [Requirement(line) for line in LINES if line and not line.startswith(("#", "-"))]


@pytest.fixture
def colab(monkeypatch):
    monkeypatch.syspath_prepend(str(paths.ROOT))
    return load("colab", paths.ROOT)


@pytest.mark.parametrize("requirement", REQUIRED, ids=str)
def test_every_version_on_binder_is_the_locked_one(requirement):
    assert pinned(requirement).removesuffix("+cpu") == LOCK[canonicalize_name(requirement.name)]


def test_binder_has_what_a_chapter_needs_and_no_more():
    needed = {canonicalize_name(Requirement(text).name) for text in PROJECT["dependencies"]}
    assert {canonicalize_name(requirement.name) for requirement in REQUIRED} == needed - ELSEWHERE - ALONE


@pytest.mark.parametrize("script", ["postBuild", "start"])
def test_binder_s_scripts_can_be_run_and_are_valid_bash(script):
    assert os.access(BINDER / script, os.X_OK)
    subprocess.run(["bash", "-n", BINDER / script], check=True)


def test_binder_s_build_makes_a_small_copy_of_every_chapter(tmp_path):
    """postBuild with stand-ins for pip and book, which note how they are called."""
    for name in ("pip", "book"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/calls\n')
        (tmp_path / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run([BINDER / "postBuild"], cwd=paths.ROOT, check=True, env=env)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert f"pip install --no-cache-dir --no-deps pyserini=={LOCK['pyserini']}" in calls
    assert calls[-1] == f"book open {' '.join(chapters.templates())} --profile mini --to mini"


def test_the_code_of_chapters_imports_nothing_that_binder_lacks():
    """Every module that the package imports at its top, outside what builds and prints the book."""
    names = {"bs4", "latex2mathml", "lxml", "PIL", "pypdf", "jupyter_book", "playwright"}
    for file in sorted(paths.PACKAGE.rglob("*.py")):
        tops = [line for line in file.read_text().splitlines() if line.startswith(("import ", "from "))]
        assert not [line for line in tops if line.split()[1].split(".")[0] in names], file.name


def test_what_is_missing_or_too_old_is_installed_and_what_is_there_stays(colab):
    there = {"same": "2.4.6", "newer": "3.0", "older_minor": "2.0.1", "older_major": "1.99", "zero_same": "0.23.1",
             "zero_older": "0.22.9", "local": "2.1+cu126"}
    pins = {"same": "2.4.6", "newer": "2.4", "older_minor": "2.4", "older_major": "2.0", "zero_same": "0.23.3",
            "zero_older": "0.23.3", "local": "2.13", "absent": "1.0"}
    assert colab.missing(pins, there.get) == {"older_major": "2.0", "zero_older": "0.23.3", "absent": "1.0"}
    assert colab.missing({}, there.get) == {}


@pytest.fixture
def calls(colab, monkeypatch):
    """Run colab's main with a stand-in for pip; the calls, with the constraints that pip would read."""
    made = []

    def run(command):
        kept = Path(command[command.index("-c") + 1]).read_text() if "-c" in command else ""
        made.append((command[command.index("install") + 2:], kept))
        return True

    monkeypatch.setattr(colab.install, "run", run)
    return made


def test_a_runtime_with_its_own_pytorch_keeps_it(colab, calls, monkeypatch):
    monkeypatch.setattr(colab, "installed", {"torch": "2.6.0+cu124", "numpy": "2.0.2", "pandas": "2.2.2"}.get)
    assert colab.main() == 0
    (packages, kept), (book, _) = calls
    assert kept == "torch==2.6.0+cu124\n"
    assert f"pandas=={LOCK['pandas']}" in packages
    assert not [name for name in packages if name.startswith(("numpy", "torch", "pyserini"))]
    assert book == ["--no-deps", f"pyserini=={LOCK['pyserini']}", "-e", str(paths.ROOT)]


def test_a_bare_runtime_gets_the_build_of_pytorch_that_fits_its_processor(colab, calls, monkeypatch):
    for tool, expected in ((None, f"torch=={LOCK['torch']}+cpu"), ("/usr/bin/nvidia-smi", f"torch=={LOCK['torch']}")):
        calls.clear()
        monkeypatch.setattr(colab, "installed", {}.get)
        monkeypatch.setattr(colab.shutil, "which", lambda name, tool=tool: tool)
        monkeypatch.setattr(colab.install.platform, "system", lambda: "Linux")
        assert colab.main() == 0
        assert calls[0][0] == [expected]


@pytest.mark.slow
def test_the_setup_cell_makes_a_python_without_the_book_import_it(tmp_path):
    """The cell as it stands in a template, against a clone of this working tree, in an environment of its own: packages come from
    this one, so nothing is downloaded; only the book is missing."""
    source, runtime, work = tmp_path / "source", tmp_path / "runtime", tmp_path / "content"
    work.mkdir()
    files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *CLONED], cwd=paths.ROOT,
                           capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, files):
        if (paths.ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(paths.ROOT / name, source / name)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *command], cwd=source, check=True)
    subprocess.run([sys.executable, "-m", "venv", runtime], check=True)
    python = runtime / "bin" / "python"
    site = next((runtime / "lib").glob("python*/site-packages"))
    for old in [*site.glob("setuptools*"), *site.glob("_distutils_hack")]:  # venv's own may be too old to build the book
        shutil.rmtree(old)
    (site / "borrowed.pth").write_text(os.pathsep.join(p for p in sys.path if p.endswith("site-packages")) + "\n")
    cell = "".join(json.loads(chapters.template("seeds").read_text())["cells"][1]["source"])
    script = cell + "\nfrom helpers import paths\nfrom press import chapters\n" \
        "from helpers.systems.testbed import Testbed\nprint(paths.ROOT, len(chapters.templates()), Testbed.__module__, sep='|')\n"
    env = {**os.environ, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.file://{source}.insteadOf",
           "GIT_CONFIG_VALUE_0": repository.configured().url, "PYTHONNOUSERSITE": "1", "PIP_NO_INDEX": "1",
           "PIP_NO_BUILD_ISOLATION": "0"}  # 0: do not isolate
    for name in ("PYTHONPATH", "BOOK_ROOT", "VIRTUAL_ENV"):
        env.pop(name, None)
    done = subprocess.run([python, "-c", script], cwd=work, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == f"{work / 'book'}|{len(list(paths.NOTEBOOKS.glob('*.ipynb')))}|helpers.systems.testbed"
    again = subprocess.run([python, "-c", "import helpers; print(helpers.__file__)"], cwd=tmp_path, env=env, capture_output=True,
                           text=True, check=True)
    assert again.stdout.strip().startswith(str(work / "book" / "src"))  # a restarted session finds it, too
