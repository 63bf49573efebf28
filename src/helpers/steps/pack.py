"""Packs: missing steps that want a GPU, with all that they need, in files that travel to a machine which has nothing of the book.

    pack([model.scores(bed, run, 100) for model in models], folder)     # here: code.tar, part-000.tar, ...
    python -m helpers.steps.work part-*.tar --minutes 12 --out done     # there, see `work`
    unpack(folder)                                                      # here: what came back enters the store, under its keys

What needs no network is computed here before. Parts are a tar file, cut. `plan.json` lists the steps in the order in which they
should be computed, each with its recipe, and the SHA-256 of every file. Weights travel as they are: the key of a backbone is the
digest of its files.
"""

import functools
import io
import itertools
import json
import re
import secrets
import statistics
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath
from typing import Any

from helpers import paths
from helpers.errors import BadInput
from helpers.steps import ledger, recipe, registry
from helpers.steps.computation import Step
from helpers.steps.recorded import Recorded
from helpers.steps.store import MANIFEST, Entry, Store, line_of, place_of, read_entry

PLAN, ASKED = "plan.json", "asked"  # ASKED: a folder of the store, in which a pack's plan is kept until its results come back
PART = 16 * 2**20  # bytes
LENT = "accelerate"  # goes along: transformers' Trainer wants it, which most machines with transformers lack; Python alone
UNUSED = "test_utils"  # of it
UNKNOWN_SECONDS = 600.0  # of a step that was never computed here


@dataclass
class Plan:
    """What is to be computed there, and what has to travel."""

    steps: dict[str, Step] = field(default_factory=dict)  # by key, every one after its inputs
    carried: dict[str, Entry] = field(default_factory=dict)  # the values here that they read, by key
    wanted: set[str] = field(default_factory=set)  # the keys of those whose values come back

    @classmethod
    def of(cls, steps: Iterable[Step]) -> "Plan":
        """What these steps need, in their order. BadInput if every value is here already."""
        plan = cls()
        for step in steps:
            plan.want(step)
        if not plan.steps:
            raise BadInput("no value that wants a network is missing, so there is nothing to pack",
                           mend="ask for other parameters")
        return plan

    def want(self, step: Step) -> None:
        """Plan a step, unless its value is here. Of a step without a network, such as measures of a ranking, what it rests on
        comes back in its place, and it is computed here then; one that reads a model's folder, which stays there, goes along."""
        if step.lookup()[0] is not None:
            return
        missing = [part for part in step.inputs() if part.lookup()[0] is None]
        if step.definition.timing:
            raise BadInput(f"{step.name} measures time, which belongs to the machine it was measured on",
                           mend="pack what computes, and measure here")
        if not step.definition.network and all(part.definition.form != "folder" for part in missing):
            for part in missing:
                self.want(part)
        elif self._is_for_there(step):
            self.wanted.add(step.key)

    def _is_for_there(self, step: Step) -> bool:
        """Whether a missing step is planned: one with a network, or with such a one below it. Others are computed here."""
        if step.key in self.steps:
            return True
        there = [part for part in step.inputs() if part.lookup()[0] is None and self._is_for_there(part)]
        if not (step.definition.network or there):
            step.entry()
            return False
        self.steps[step.key] = step
        self.carried |= {part.key: part.entry() for part in step.inputs() if part.key not in self.steps}
        return True


def pack(steps: Iterable[Step], folder: Path, part: int = PART) -> dict[str, Any]:
    """Write what the missing ones of these steps need, best first, into parts of at most `part` bytes.

    Returns:
        The plan: `steps` (key, step, seconds, wanted, inputs, recipe), `modules` that define them, `files` with their SHA-256.

    Raises:
        BadInput: if the folder is not empty, or a backbone cannot travel.
    """
    plan = Plan.of(steps)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise BadInput("the folder for the pack is not empty", file=folder, mend="give a new one")
    recipes = {key: step.recipe() for key, step in plan.steps.items()}
    files = {f"store/{place_of(entry.manifest)}/{name}": (entry.folder / name).read_bytes
             for entry in plan.carried.values() for name in sorted(entry.manifest["files"])}
    files |= {f"store/{place_of(entry.manifest)}/{MANIFEST}": line_of(entry.manifest).encode for entry in plan.carried.values()}
    files |= {name: file.read_bytes for name, file in _backbones(recipes.values()).items()}
    described = {
        "id": secrets.token_hex(8), "modules": sorted(set[str]().union(*map(registry.modules, recipes.values()))),
        "files": {name: recipe.sha256(content()) for name, content in files.items()},
        "steps": [{"key": key, "step": step.name, "seconds": expected_seconds(step.name), "wanted": key in plan.wanted,
                   "inputs": [one.key for one in step.inputs() if one.key in plan.steps], "recipe": recipe.folded(recipes[key])}
                  for key, step in plan.steps.items()]}
    with tarfile.open(folder / "code.tar", "w") as code:
        for file in sorted(paths.PACKAGE.rglob("*")):
            if file.suffix in (".py", ".yaml", ".txt"):
                code.add(file, f"src/helpers/{file.relative_to(paths.PACKAGE).as_posix()}")
        for lent in distribution(LENT).files or ():  # the licence is among them
            if UNUSED not in lent.parts and ".." not in lent.parts and "__pycache__" not in lent.parts:
                code.add(lent.locate(), f"src/{lent.as_posix()}")
    text = json.dumps(described, sort_keys=True).encode()
    write_parts(folder, "part", itertools.chain([(PLAN, text)], ((name, content()) for name, content in files.items())), part)
    asked = paths.store() / ASKED
    asked.mkdir(parents=True, exist_ok=True)
    (asked / f"{described['id']}.json").write_bytes(text)
    return described


def _backbones(recipes: Iterable[dict[str, Any]]) -> dict[str, Path]:
    """The files of the packaged backbone, if a recipe reads it, where `backbone.resolve` finds them there."""
    specs = {part["data"][1] for one in recipes for part in recipe.parts(one) if part.get("data", [""])[0] == "backbone"}
    if odd := sorted(spec for spec in specs if not re.fullmatch(r"packaged[:\d,]*", spec)):
        raise BadInput(f"the backbone {odd[0]} does not travel", mend="pack steps that read the packaged one")
    if not specs:
        return {}
    folder = Path(registry.KINDS["backbone"]({"data": ["backbone", "packaged"]}).source)
    return {f"site/{folder.parent.name}/__init__.py": folder.parent / "__init__.py"} | {
        f"site/{folder.parent.name}/{folder.name}/{file.relative_to(folder).as_posix()}": file
        for file in sorted(folder.rglob("*")) if file.is_file() and not file.name.startswith(".") and file.suffix != ".md"}


def expected_seconds(name: str) -> float:
    """The median seconds of the recorded computations of a step."""
    known = [manifest.get("seconds", UNKNOWN_SECONDS) for manifest in Recorded(paths.RESULTS).manifests(name)]
    return round(statistics.median(known), 1) if known else UNKNOWN_SECONDS


def write_parts(folder: Path, name: str, files: Iterable[tuple[str, bytes]], size: int) -> None:
    """Write files into an archive that is cut into `<name>-000.tar`, `<name>-001.tar`, ... of at most `size` bytes; each stands
    there when it is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as whole:
        with tarfile.open(fileobj=whole, mode="w") as archive:
            for file, content in files:
                member = tarfile.TarInfo(file)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        whole.seek(0)
        for number, part in enumerate(iter(functools.partial(whole.read, size), b"")):
            (folder / "draft").write_bytes(part)
            (folder / "draft").replace(folder / f"{name}-{number:03}.tar")


def members(files: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    """The names and contents of the plain files in archives that were cut; a warning where a part is damaged or missing, BadInput
    for a member that is no plain file, or whose name leads out."""
    for _, parts in itertools.groupby(sorted(files), lambda file: file.name.rpartition("-")[0]):
        with tempfile.TemporaryFile() as whole:
            for file in parts:
                whole.write(file.read_bytes())
            whole.seek(0)
            try:
                with tarfile.open(fileobj=whole, mode="r:") as archive:
                    for member in archive:
                        place = PurePosixPath(member.name)
                        if not member.isfile() or place.is_absolute() or ".." in place.parts:
                            raise BadInput(f"{member.name!r} is no plain file of a pack", file=file, mend="fetch the parts again")
                        yield member.name, archive.extractfile(member).read()  # type: ignore[union-attr]
            except tarfile.TarError as error:
                ledger.warn(f"{file}: damaged, or not all parts are here ({error}): fetch them again")


def parts_of(folder: Path, name: str) -> list[Path]:
    """The parts in a folder; BadInput if there are none."""
    if not (found := sorted(folder.glob(f"{name}-*.tar"))):
        raise BadInput(f"no {name}-000.tar here", file=folder, mend="give the folder that the parts are in")
    return found


def unpack(folder: Path) -> list[str]:
    """Put what came back into the store, under the keys of its recipes; a line for each entry.

    An entry enters only if a pack of this store asked for its key, its recipe has that key, and every file has its SHA-256; one
    without its manifest, which comes last, was being written when the worker ended. Values that are here already stay. BadInput
    names the first entry that is otherwise; it is not kept.
    """
    plans = (paths.store() / ASKED).glob("*.json")
    asked = {line["key"]: line for plan in plans for line in json.loads(plan.read_text())["steps"]}
    lines, store = list[str](), Store(paths.store())
    with tempfile.TemporaryDirectory() as scratch:
        there = Path(scratch).resolve()
        for name, content in members(parts_of(folder, "done")):
            (there / name).parent.mkdir(parents=True, exist_ok=True)
            (there / name).write_bytes(content)
        for place in sorted(there.glob("*/*/*")):
            if not (place / MANIFEST).is_file():
                lines.append(f"{place.relative_to(there)} was not written to its end")
                continue
            entry = read_entry(place)
            known = asked.get(entry.manifest["key"]) if entry else None
            if not (entry and known and entry.manifest.get("recipe") == recipe.unfolded(known["recipe"])
                    and entry.manifest["step"] == known["step"]):
                raise BadInput(f"{place.relative_to(there)} is not what a pack of this store asked for, or is damaged",
                               file=folder, mend="unpack what `helpers.steps.work` wrote for a pack that was made here")
            name, key = known["step"], known["key"]
            with store.lock(name, key):
                if read_entry(store.place(name, key) / entry.numerics) is not None:
                    lines.append(f"{name} {key[:10]} was here already")
                    continue
                store.take(entry)
            lines.append(f"{name} {key[:10]} {entry.numerics}, {entry.manifest['seconds']:.0f} s")
    return lines
