"""Recorded runs: what is shipped, that it is sound, and that it can be had again."""

import json
import zipfile
from types import SimpleNamespace

import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file

from dry_steps import importable, write_page
from helpers import paths, steps
from helpers.errors import BadInput
from helpers.pages.rates import SPOT_CHECK
from helpers.steps import ledger, rebuild, recipe, registry
from helpers.steps.recorded import Recorded, unpacked
from helpers.steps.store import Store, place_of
from press import execute, record, step_digests
from press.record import drift_of


@pytest.fixture
def fake(places, monkeypatch):
    """Empty store, empty results, no chapters."""
    monkeypatch.setattr(ledger, "commit", lambda: "unknown")
    importable(monkeypatch)
    return places("RESULTS", "CHAPTERS", "ROOT")


def make_step(form, value):
    def recorded_for_test(n: int) -> object:
        return value
    return steps.step(version=1, form=form)(recorded_for_test)(1)


def pages_use(**pages):
    """Write pages of executed chapters that used the given manifests' values."""
    fields = ("step", "key", "numerics", "seconds", "inputs")
    for name, used in pages.items():
        write_page(name, {"ledger": [{field: line.get(field) for field in fields} for line in used]})


def stored(name, key, form="json", content="{}", numerics="exact"):
    """An entry in the store, as a step would leave it."""
    def fill(folder):
        (folder / "value.json").write_text(content)
    manifest = {"step": name, "form": form, "numerics": numerics}
    return Store(paths.store()).write(name, recipe.sha256(key), manifest, fill)


def shipped():
    return sorted(f"{entry.manifest['step']} {entry.numerics}" for entry in Recorded(paths.RESULTS).entries())


def ship(step):
    """Compute a step and record it, whatever it cost."""
    pages_use(chapter=[step.entry().manifest])
    list(record.record(over=-1))
    return Recorded(paths.RESULTS).entries()[0]


def alter(entry, text, **past):
    """Give a recorded value another content, another past if one is given, and make its manifest and its pack agree."""
    def fill(folder):
        (folder / "value.json").write_text(text)
    manifest = entry.manifest
    store = Store(paths.store() / "altered")
    Recorded(paths.RESULTS).add([store.write(manifest["step"], manifest["key"], manifest | past, fill)])


def timing(**line):
    """A measurement of time that a page used, of a step that is one."""
    def timed_for_test(n: int) -> object:
        return n
    steps.step(version=1, form="json", timing=True)(timed_for_test)
    return stored("timed_for_test", line.pop("name", "1"), numerics="measured").manifest | line


def frame(texts, numbers):
    return pd.DataFrame({"id": texts, "x": numbers})


@pytest.mark.parametrize(("old", "new", "drift"), [
    (frame(["a", "b"], [1.0, 2.0]), frame(["b", "a"], [2.0, 1.0]), 0.0),
    (frame(["a", "b"], [1.0, 2.0]), frame(["b", "a"], [2.25, 1.0]), 0.25),
    (frame(["a", "b"], [1, 2]), frame(["a", "c"], [1, 2]), float("inf")),
    (frame(["a"], [1]), frame(["a", "a"], [1, 1]), float("inf")),
    (frame(["a"], [1]), frame(["a"], [1]).rename(columns={"x": "y"}), float("inf")),
    (pd.DataFrame({"x": [2.0, 1.0]}), pd.DataFrame({"x": [1.0, 2.5]}), 0.5),
    (frame(["a", "a"], [1.0, 2.0]), frame(["a", "a"], [2.0, 1.0]), 0.0),  # several rows of one query, in another order
    (frame(["a"], [True]), frame(["a"], [False]), 1.0),
    (frame(["a", "b"], [1.0, 2.0]), frame(["a", "b"], [1.0, float("nan")]), float("inf")),
    ([0.0, 1.0], [0.0, float("nan")], float("inf")),
    (1, 1.5, 0.5), (2, 2, 0.0), ("a", "a", 0.0), ("a", "b", float("inf")), ("1", 1, float("inf")), (None, None, 0.0),
    ([1, [2, 3.0]], [1, [2, 3.5]], 0.5), ([1], [1, 2], float("inf")),
    ({"a": [1, "x"]}, {"a": [1.25, "x"]}, 0.25), ({"a": [1, "x"]}, {"a": [1, "y"]}, float("inf")),
    ({"a": 1}, {"b": 1}, float("inf")), ({}, {}, 0.0), ([], {}, float("inf"))])
def test_drift(old, new, drift):
    assert drift_of(old, new) == drift


def test_only_slow_small_values_are_recorded_that_are_not_quickly_made_from_others(fake, monkeypatch):
    monkeypatch.setattr(record, "LIMIT", 100)
    slow = {"seconds": 30}
    below = [{"step": "x", "key": "y", "seconds": 29}]
    uses = [stored("slow", "1").manifest | slow, stored("quick", "2").manifest | {"seconds": 1},
            stored("large", "3", content=" " * 101).manifest | slow,
            stored("index", "4", form="folder").manifest | slow,
            stored("slow_by_inputs", "5").manifest | {"seconds": 1, "inputs": below},
            stored("measured", "7").manifest | {"seconds": 0.1, "inputs": [{"step": "slow", "key": recipe.sha256("1")} | slow]},
            {"step": "not_there", "key": "6", "numerics": "exact"} | slow]
    pages_use(one=uses[:3], two=uses[2:] + uses[:1])
    texts = list(record.record(over=20))
    assert shipped() == ["slow exact", "slow_by_inputs exact"]
    assert sum(line.startswith("recorded") for line in texts) == 2
    assert any(line.startswith("left out large") for line in texts)


def test_all_timings_of_a_page_are_recorded_and_no_spot_check(fake, monkeypatch):
    timed, check = (timing(name=key, seconds=1) for key in "12")
    pages_use(one=[timed, check, stored("slow", "3").manifest | {"seconds": 100}])
    data_of = execute.data_of
    monkeypatch.setattr(execute, "data_of", lambda page: [*data_of(page), {SPOT_CHECK: check["key"]}])
    list(record.record(over=5))
    assert shipped() == ["slow exact", "timed_for_test measured"]


def test_timings_are_not_verified(fake, capsys):
    pages_use(one=[timing(seconds=100)])
    list(record.record(over=5))
    assert record.verify(sample=5, budget=100, seed=1) == 0
    assert not capsys.readouterr().out


def test_recording_again_changes_nothing(fake):
    ship(make_step("json", {"x": 1}))
    before = {file.name: file.read_bytes() for file in paths.RESULTS.iterdir()}
    assert list(record.record(over=-1)) == []
    assert {file.name: file.read_bytes() for file in paths.RESULTS.iterdir()} == before


def test_an_unused_or_damaged_value_is_not_recorded(fake):
    stored("unused", "1")
    damaged = stored("damaged", "2")
    (damaged.folder / "value.json").write_text("[]")
    pages_use(chapter=[damaged.manifest | {"seconds": 10}])
    list(record.record(over=5))
    assert shipped() == []


@pytest.mark.parametrize(("value", "other", "code"), [({"x": 0.5}, {"x": 0.7}, 1), ({"x": "a"}, {"x": "b"}, 1),
                                                      ([1], [1, 1], 1), ({"x": 0.5}, {"x": 0.52}, 0)])
def test_verify_agrees_with_an_honest_record_or_a_small_drift_and_not_with_an_altered_one(fake, capsys, value, other, code):
    entry = ship(make_step("json", value))
    assert record.verify(sample=3, budget=60, seed=1) == 0
    assert "agrees" in capsys.readouterr().out
    alter(entry, json.dumps(other))
    assert record.verify(sample=1, budget=60, seed=None) == code
    assert ("DIFFERS" if code else "agrees") in capsys.readouterr().out


@pytest.mark.parametrize("sample", [1, 10**9])
@pytest.mark.parametrize(("budget", "makeable", "said"), [
    (-1, True, "left out, 0"), (60, False, "left out, it rests on texts that are not here"), (60, True, "agrees")])
def test_verify_names_what_it_leaves_out(fake, capsys, monkeypatch, budget, makeable, said, sample):
    ship(make_step("json", {"x": 0.5}))
    monkeypatch.setattr(steps.Step, "makeable", makeable)
    assert record.verify(sample, budget, seed=1) == 0
    assert said in capsys.readouterr().out


def pack_of(step):
    """The pack of a recorded step, of which the store has nothing."""
    ship(step)
    Store(paths.store()).remove(step.name, step.key)
    assert step.lookup()[1] == "recorded"
    [pack] = paths.RESULTS.glob("*.zip")
    return pack


@pytest.mark.parametrize("damage", [
    lambda content: content[:-1], lambda content: b"", lambda content: content.replace(b"PK", b"PQ", 1),
    lambda content: content + b"\r\n"])
def test_a_damaged_or_forged_pack_is_told_and_never_used(fake, damage):
    step = make_step("json", {"x": 1})
    pack = pack_of(step)
    pack.write_bytes(damage(pack.read_bytes()))
    for use in (step.lookup, lambda: list(record.record(over=-1)), lambda: record.verify(1, 60, 1)):
        with pytest.raises(BadInput, match=f"{pack.name}: this pack of recorded runs is damaged. Mend: restore it from git"):
            use()


@pytest.mark.parametrize("more", [{"{place}/value.json": '{"x": 2}'}, {"{place}/more": ""}, {"manifests": ""}])
def test_a_forged_pack_with_the_name_of_its_bytes_is_told_and_never_used(fake, more):
    step = make_step("json", {"x": 1})
    pack, place = pack_of(step), f"{step.key[:20]}/exact"
    files = {file.name: file.read_text() for file in [zipfile.Path(pack, "manifests")]} | {f"{place}/value.json": '{"x": 1}'}
    with zipfile.ZipFile(pack, "w") as archive:
        for name, content in (files | {name.format(place=place): content for name, content in more.items()}).items():
            archive.writestr(name, content)
    pack.rename(pack.with_name(f"{step.name}-{recipe.sha256(pack.read_bytes())[:16]}.zip"))
    with pytest.raises(BadInput, match="is damaged. Mend: restore"):
        step.lookup()


def test_a_record_whose_key_is_not_that_of_its_recipe_is_never_used(fake):
    step = make_step("json", {"x": 1})
    entry = ship(step)
    Store(paths.store()).remove(step.name, step.key)
    alter(entry, "{}", recipe=entry.manifest["recipe"] | {"arguments": {"n": 2}})
    assert step.lookup() == (None, "missing")


def test_the_same_entries_give_the_same_pack_in_whatever_order_they_came(fake, monkeypatch):
    entries = [stored("a_step", key) for key in "123"]
    recorded, other = Recorded(paths.RESULTS), Recorded(paths.RESULTS.parent / "other")
    recorded.add(entries)
    other.add(reversed(entries))
    [pack], [same] = (list(one.root.iterdir()) for one in (recorded, other))
    assert (pack.name, pack.read_bytes()) == (same.name, same.read_bytes())
    recorded.add([stored("a_step", "4")])
    assert pack.exists() and len(list(recorded.root.iterdir())) == 2, "what is recorded stays as it is, new entries lie beside it"
    assert all(recorded.find("a_step", recipe.sha256(key), "exact") for key in "1234")
    recorded.add([entries[0]])
    assert len(recorded.entries()) == 4, "an entry takes its own place"
    for largest, count, files in ((4, 4, [3, 3]), (3, 2, [2, 2])):  # an entry has 2 bytes; values and one more of manifests
        monkeypatch.setattr("helpers.steps.recorded.LARGEST", largest)
        recorded.write("a_step", recorded.entries()[:count])
        assert [len(zipfile.ZipFile(pack).namelist()) for pack in recorded.root.iterdir()] == files
    recorded.write("a_step", [])
    assert not list(recorded.root.iterdir()) and recorded.find("a_step", recipe.sha256("1"), "exact") is None


def test_the_own_class_of_a_recorded_value_comes_first(fake):
    for numerics in ("a-class", "own", "z-class"):  # a pack each
        Recorded(paths.RESULTS).add([stored("a_step", "1", numerics=numerics)])
    found = [Recorded(paths.RESULTS).find("a_step", recipe.sha256("1"), wanted) for wanted in ("own", "z-class", "none")]
    assert [entry.numerics for entry in found] == ["own", "z-class", "a-class"]


def test_verify_reads_all_of_the_store(fake, capsys):
    entry = ship(make_step("json", {"x": 1}))
    (Store(paths.store()).place(entry.manifest["step"], entry.manifest["key"]) / entry.numerics / "value.json").write_text("{")
    assert record.verify(sample=1, budget=60, seed=1) == 1
    assert "damaged, and computed again when it is needed" in capsys.readouterr().out


@pytest.mark.slow
def test_every_shipped_entry_is_sound_and_says_where_it_comes_from():
    step_digests.import_all()
    base, entries = record.WarmUp().model.key, Recorded(paths.RESULTS).entries()
    recipes = recipe.unfolded(recipe.folded([entry.manifest["recipe"] for entry in entries]))  # what they share is made once
    for entry, made in zip(entries, rebuild(recipes), strict=True):
        manifest, place = entry.manifest, place_of(entry.manifest)
        assert manifest["files"] == {name: {"size": len(content), "sha256": recipe.sha256(content)} for name in manifest["files"]
                                     for content in [(entry.folder / name).read_bytes()]}, place
        for name in ("machine", "versions", "commit", "seconds", "finished", "started", "numerics"):
            assert manifest[name] not in (None, "", {}), f"{place} does not say its {name}"
        assert made.key == manifest["key"], place
        assert (manifest["form"] == "folder") == (manifest["key"] == base), "weights of another model than the base"
        limit = record.LIMIT_OF_BASE if manifest["key"] == base else record.LIMIT
        assert sum(file["size"] for file in manifest["files"].values()) <= limit
        assert_class_follows_from_inputs(manifest)


def at_odds(manifests):
    """Which recorded runs rest on another computation of a recorded input than the recorded one: by key, both times."""
    finished = {(own["key"], own["numerics"]): own["finished"] for own in manifests}
    return {(own["step"], own["key"], part["key"]) for own in manifests for part in told(own).values()
            if finished.get((part["key"], part["numerics"]), part["finished"]) != part["finished"]}


def test_no_shipped_entry_rests_on_another_computation_than_the_one_beside_it():
    assert at_odds(list(Recorded(paths.RESULTS).manifests())) == set(), "remove these entries, then `make book` and `make record`"
    below = {"step": "run", "key": "a", "numerics": "exact", "finished": "today"}
    above = {"step": "table", "key": "b", "numerics": "exact", "finished": "today", "inputs": [below | {"finished": "yesterday"}]}
    assert at_odds([below, above]) == {("table", "b", "a")} and at_odds([above]) == set()


def told(line):
    """All lines of a manifest's inputs that are told in full, by key: elsewhere a step is named alone."""
    full = {part["key"]: part for part in line.get("inputs", []) if "numerics" in part}
    return {key: part for own in full.values() for key, part in told(own).items()} | full


def assert_class_follows_from_inputs(line, known=None):
    known = told(line) if known is None else known
    below = {name for part in line["inputs"] for name in known[part["key"]]["numerics"].split("+")} - {"exact"}
    own = set(line["numerics"].split("+")) - {"exact"}
    step = registry.STEPS[line["step"]]
    made_of = {"measured"} if step.timing else below
    assert (own and below <= own) if step.network else own == made_of, line["step"]
    for part in line["inputs"]:
        if part.get("inputs"):  # those that were told of before have none
            assert_class_follows_from_inputs(part, known)


def test_the_base_is_the_one_set_of_weights_that_is_recorded(fake, monkeypatch):
    def weights_for_test(n: int, *, folder: object) -> None:
        save_file({"w": torch.full((2,), float(n))}, folder / "model.safetensors")

    base, other = (steps.step(version=1, form="folder")(weights_for_test)(n) for n in (1, 2))
    monkeypatch.setattr(record, "WarmUp", lambda: SimpleNamespace(model=base))
    base.value()
    pages_use(chapter=[other.entry().manifest])
    list(record.record(over=-1))
    [kept] = map(unpacked, Recorded(paths.RESULTS).entries())
    assert load_file(kept.folder / "model.safetensors")["w"].tolist() == [1, 1]
    monkeypatch.setattr(Store, "take", None)
    assert Recorded(paths.RESULTS).find(base.name, base.key, "") == kept, "it is unpacked once"
    assert drift_of(base.value(), other.value()) == 1
    monkeypatch.setattr(record, "LIMIT_OF_BASE", 10)
    Recorded(paths.RESULTS).write(base.name, [])
    assert ["left out" in line for line in record.record(over=-1)] == [True]
