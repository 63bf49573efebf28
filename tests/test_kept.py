"""`book store`: what is there, what would go, what goes, and what stays because somebody computes it."""

import os
import subprocess
import sys
import time

import pytest

from helpers import paths
from helpers.errors import BadInput
from helpers.steps.store import Store
from press import cli, kept

KEYS = [digit * 64 for digit in "abc"]
DAY = 86_400


@pytest.fixture
def place(places):
    """A store with three keys of two steps, 40, 10 and 0 days old."""
    places()
    store = Store(paths.store())
    for name, key, days in zip(("index", "index", "model"), KEYS, (40, 10, 0), strict=True):
        entry = store.write(name, key, {"step": name, "numerics": "exact"},
                            lambda folder: (folder / "value").write_bytes(b"x" * 5000))
        for file in entry.folder.iterdir():
            os.utime(file, (time.time() - days * DAY,) * 2)
    (paths.downloads() / "x").mkdir(parents=True)
    return store


def left(store):
    return {(folder.parent.name, folder.name[0]) for folder in store.root.glob("*/*") if folder.is_dir() and folder.name != "x"}


def test_the_list_has_keys_size_and_age(place, capsys):
    assert cli.main(["store"]) == 0
    head, index, model, total = capsys.readouterr().out.splitlines()
    assert index.split()[:2] == ["index", "2"] and index.split()[-2:] == ["40.0", "10.0"]
    assert model.split()[:2] == ["model", "1"] and model.split()[-2:] == ["0.0", "0.0"]
    assert total.split()[:2] == ["all", "3"]
    assert len(left(place)) == 3


@pytest.mark.parametrize("options, gone", [
    (["--older", "30d"], {("index", "a")}), (["--older", "200h"], {("index", "a"), ("index", "b")}),
    (["--step", "model"], {("model", "c")}), (["--older", "30d", "--step", "model"], set()), (["--older", "0d"], None)])
def test_what_is_chosen_goes_and_only_on_request(place, options, gone, capsys):
    before = left(place)
    assert cli.main(["store", *options]) == 0
    assert left(place) == before
    assert cli.main(["store", *options, "--no-dry-run"]) == 0
    assert left(place) == before - (before if gone is None else gone)
    assert f"removed {len(before if gone is None else gone)} of" in capsys.readouterr().out


def test_nothing_goes_unless_something_says_what(place):
    with pytest.raises(BadInput, match="--older 30d"):
        list(kept.store(None, "", dry_run=False))
    assert len(left(place)) == 3


def test_what_another_process_holds_stays_with_its_checkpoints(place, capsys):
    place.checkpoints("index", KEYS[0], "exact").joinpath("step").touch()
    code = ("import sys; from pathlib import Path; from helpers.steps.store import Store\n"
            "with Store(Path(sys.argv[1])).lock('index', sys.argv[2]): print('held', flush=True); sys.stdin.read()")
    with subprocess.Popen([sys.executable, "-c", code, str(place.root), KEYS[0]], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        cli.main(["store", "--step", "index", "--no-dry-run"])
        assert left(place) == {("index", "a"), ("model", "c")}
        assert (place.place("index", KEYS[0]) / ".checkpoints-exact" / "step").exists()
        holder.stdin.close()
    assert "removed 1 of 2" in (said := capsys.readouterr().out) and "index aaaaaaaaaa: a process holds it" in said
    assert place.find("index", KEYS[0], "exact") is not None
