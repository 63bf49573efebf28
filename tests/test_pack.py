"""Packs: steps computed by a process that has the pack alone, and what is refused on the way back."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from bare_environment import REFUSED, bare_python
from helpers.errors import BadInput
from helpers.steps import numerics
from helpers.steps import work as worker
from helpers.steps.pack import PART, expected_seconds, members, pack, parts_of, unpack, write_parts
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.starting_points import Pretraining
from helpers.systems.testbed import Testbed
from packed_steps import packed_double, packed_input, packed_sleep, packed_sum, packed_timing
from test_bi_encoder import passages  # noqa: F401

TESTS = Path(__file__).parent


@pytest.fixture(autouse=True)
def store(own_store):
    return own_store / "store"


def total(extra=1):
    """A step for there on a step for there, each on one that is computed here."""
    return packed_sum(packed_sum(packed_input(2), packed_input(3)), packed_input(extra))


def work(packed, out, minutes=2.0, python=sys.executable):
    """Run the worker on a pack, with the pack's own code and without this process's store."""
    with tarfile.open(packed / "code.tar") as code:
        code.extractall(packed, filter="data")
    env = {name: value for name, value in os.environ.items() if not name.startswith("BOOK_")}
    env |= {"PYTHONPATH": f"{packed / 'src'}{os.pathsep}{TESTS}", "BOOK_DEVICE": "cpu", "BOOK_DTYPE": "fp32"}
    command = [python, "-m", "helpers.steps.work", *map(str, parts_of(packed, "part")), "--jobs", "1"]
    return subprocess.run([*command, "--minutes", str(minutes), "--out", str(out)], env=env, capture_output=True, text=True,
                          check=False, cwd=packed)


@pytest.fixture(scope="module")
def worked(tmp_path_factory):
    """A store that asked for two values, and what came back."""
    place = tmp_path_factory.mktemp("worked")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOOK_STORE", str(place / "store"))
        plan = pack([total(), packed_sum(packed_input(7), packed_input(1))], place / "pack")
        assert [(line["step"], line["wanted"]) for line in plan["steps"]] == [("packed_sum", w) for w in (False, True, True)]
        assert total().lookup()[1] == "missing"
    done = work(place / "pack", place / "done")
    assert done.returncode == 0, done.stdout + done.stderr
    return place


@pytest.fixture
def done(worked, store):
    """The parts of these, and a store of the test's own that asked for them."""
    shutil.copytree(worked / "store", store)
    return worked / "done"


def test_a_value_computed_elsewhere_enters_the_store_under_its_key(tmp_path, done):
    assert len(unpack(done)) == 2
    entry, source = total().lookup()
    assert (source, entry.manifest["key"], total().value()) == ("stored", total().key, 6)
    assert entry.numerics.startswith("cpu-fp32-torch")
    assert f"packed_sum {total().key[:10]} was here already" in unpack(done)
    with pytest.raises(BadInput, match="nothing to pack"):
        pack([total()], tmp_path / "again")


def test_what_needs_no_network_is_computed_here_from_what_comes_back_and_no_measurement_of_time_travels(tmp_path):
    plan = pack([packed_double(packed_sum(packed_input(1), packed_input(1)))], tmp_path / "pack")
    assert [(line["step"], line["wanted"]) for line in plan["steps"]] == [("packed_sum", True)]
    with tarfile.open(tmp_path / "pack" / "code.tar") as code:
        names = code.getnames()
    assert {"src/helpers/steps/work.py", "src/accelerate/__init__.py"} <= {*names}
    assert not [name for name in names if "__pycache__" in name or "test_utils" in name or ".." in name]
    with pytest.raises(BadInput, match="measures time"):
        pack([packed_timing(1)], tmp_path / "timing")


def test_the_seconds_of_a_step_are_the_median_of_those_recorded(monkeypatch):
    assert expected_seconds("never_computed") == 600
    monkeypatch.setattr("helpers.steps.pack.Recorded.manifests", lambda *_: [{"seconds": own} for own in (1.0, 1.26, 9.0)])
    assert expected_seconds("any") == 1.3


def test_eight_seconds_are_kept_for_the_last_entries_and_what_is_not_done_is_told(tmp_path, monkeypatch):
    begun = []
    monkeypatch.setattr(os, "environ", {**os.environ})
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert worker.main(["--home", str(tmp_path)]) == 2  # without parts
    monkeypatch.setattr(worker, "load", lambda files, home: {})
    monkeypatch.setattr(worker, "work", lambda plan, home, out, until, jobs: begun.append(until) or len(begun) > 1)
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
    assert [worker.main(["--home", str(tmp_path), "--minutes", "2"]) for _ in range(2)] == [1, 0]
    assert begun == [1112, 1112]


def test_a_step_that_will_not_end_in_time_is_not_begun_and_the_deadline_is_kept(tmp_path):
    pack([packed_sleep(300), packed_sum(packed_input(1), packed_input(1))], tmp_path / "pack")
    begun = time.monotonic()
    done = work(tmp_path / "pack", tmp_path / "done", 0.4)
    assert done.returncode == 1
    assert time.monotonic() - begun < 0.4 * 60 + 5
    assert "0 of 2 steps done" in done.stdout and done.stdout.count("not begun") == 2  # 600 s are expected of an unknown step


def test_a_damaged_part_is_told(tmp_path):
    pack([total()], tmp_path / "pack")
    part = parts_of(tmp_path / "pack", "part")[0]
    content = bytearray(part.read_bytes())
    place = content.index(b"value.json") + 512
    content[place:place + 1] = b"9"
    part.write_bytes(content)
    with pytest.raises(BadInput, match="value.json is missing or damaged, and 0 more"):
        worker.load([part], tmp_path / "home")


def forged(done, folder, name, change):
    """Parts with one member of another content, or of another name, in a folder."""
    write_parts(folder, "done", (change(member, content) if member.endswith(name) else (member, content)
                                 for member, content in members(parts_of(done, "done"))), PART)
    return folder


CHANGES = [
    ("value.json", lambda member, content: (member, b"7")),
    ("value.json", lambda member, content: (member.replace("value", "other"), content)),
    ("value.json", lambda member, content: (f"../{member}", content)),
    ("manifest.json", lambda member, content: (member, content.replace(b'"key":"', b'"key":"0'))),
    ("manifest.json", lambda member, content: (member, b"[]")),
    ("manifest.json", lambda member, content: (member, json.dumps(json.loads(content) | {"files": {}}).encode())),
    ("manifest.json", lambda member, content: (member, json.dumps(json.loads(content) | {"numerics": "exact"}).encode()))]


def test_what_no_pack_asked_for_or_is_changed_is_refused(tmp_path, done, monkeypatch):
    for number, (name, change) in enumerate(CHANGES):
        with pytest.raises(BadInput):
            unpack(forged(done, tmp_path / f"forged{number}", name, change))
        assert total().lookup()[1] == "missing", number
    monkeypatch.setenv("BOOK_STORE", str(tmp_path / "other"))
    with pytest.raises(BadInput, match="not what a pack of this store asked for"):
        unpack(done)


def test_an_entry_whose_manifest_is_not_there_was_cut_off_and_stops_no_other(tmp_path, done):
    write_parts(tmp_path / "cut", "done", [*members(parts_of(done, "done"))][:-1], PART)
    assert [line.endswith("was not written to its end") for line in unpack(tmp_path / "cut")] == [False, True]
    assert total().value() == 6


def test_a_part_stands_there_when_it_is_whole(tmp_path):
    def killed():
        yield "second", b"2"
        raise KeyboardInterrupt

    write_parts(tmp_path, "done-1", [("first", b"1")], PART)
    with pytest.raises(KeyboardInterrupt):
        write_parts(tmp_path, "done-2", killed(), 40_000)
    assert dict(members(parts_of(tmp_path, "done"))) == {"first": b"1"}


@pytest.mark.slow
def test_pytorch_and_transformers_alone_compute_the_same_elsewhere(tmp_path, tiny, passages, monkeypatch, request):  # noqa: F811
    """A re-ranker, a bi-encoder with its exact search, and a pre-training, bit for bit."""
    numerics.settle({"BOOK_DEVICE": "cpu", "BOOK_DTYPE": "fp32"})  # whatever an earlier test has asked for
    request.addfinalizer(lambda: numerics.settle(dict.fromkeys(("BOOK_DEVICE", "BOOK_DTYPE"))))
    encoder = BiEncoder(collection=str(passages), negatives=2, backbone="packaged:0", batch_size=4, evaluations=2, epochs=1,
                        evaluation_queries=2, max_length=24, query_length=12)
    words = Pretraining(texts=str(passages), backbone="packaged:0,1", epochs=1, batch_size=4, max_length=24)
    steps = [tiny.model, encoder.run(Testbed(str(passages), "passage"), 3), words.model]
    python = bare_python(tmp_path / "bare")
    subprocess.run([python, "-c", f"import importlib.util as u; assert not any(map(u.find_spec, {REFUSED}))"], check=True)
    pack(steps, tmp_path / "pack")
    shutil.copytree(tmp_path / "store", tmp_path / "here")
    done = work(tmp_path / "pack", tmp_path / "done", 10, python)
    assert done.returncode == 0, done.stdout + done.stderr
    unpack(tmp_path / "done")
    there = [step.lookup()[0].manifest["files"] for step in steps]
    monkeypatch.setenv("BOOK_STORE", str(tmp_path / "here"))
    assert [step.entry().manifest["files"] for step in steps] == there


def test_a_file_that_does_not_fit_a_part_is_cut_and_what_lacks_a_part_is_left_out(tmp_path, capsys):
    content = os.urandom(100_000)
    write_parts(tmp_path / "parts", "part", [("large", content), ("second", content)], 40_000)
    files = parts_of(tmp_path / "parts", "part")
    assert len(files) > 5 and all(file.stat().st_size <= 40_000 for file in files)
    assert dict(members(files)) == {"large": content, "second": content}
    for there in (files[1:], files[:2] + files[3:], files[:-2]):
        assert dict(members(there)).get("second") != content
    assert "not all parts are here" in capsys.readouterr().err
