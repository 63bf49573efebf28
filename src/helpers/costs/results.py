"""The file of a machine's measurements: one JSON object, a section for each comparison."""

import json
import os
import re
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.costs import machine
from helpers.errors import BadInput
from helpers.steps import ledger


def file_of(out: str) -> Path:
    """The file to write: the given one, or this machine's own."""
    return Path(out) if out else paths.BENCH / f"{machine.name_of(machine.describe())}.json"


def no_machines(name: str) -> Path:
    """The file of a section that is the same on every machine: not one of those that are compared."""
    return paths.BENCH / "everywhere" / f"{name}.json"


def read(file: Path) -> dict[str, Any]:
    """The content of a file; BadInput if it is none of measurements."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadInput(f"not valid JSON ({error})", file=file, mend="restore it from git, or measure again") from None
    if not isinstance(content, dict) or set(content) != {"machine", "sections"}:
        raise BadInput("no measurements: `machine` and `sections` are wanted", file=file, mend="`make bench` writes one")
    return content


def everything() -> dict[str, dict[str, Any]]:
    """The measurements of all machines by name, the latest first."""
    contents = {file.stem: read(file) for file in sorted(paths.BENCH.glob("*.json"))}
    latest = {name: max((section["measured"] for section in content["sections"].values()), default="")
              for name, content in contents.items()}
    return {name: contents[name] for name in sorted(contents, key=latest.__getitem__, reverse=True)}


def add(file: Path, name: str, section: dict[str, Any]) -> None:
    """Put a section into a file, in place of an earlier one; the others stay. BadInput if the file is another machine's."""
    own = machine.describe()
    content = read(file) if file.exists() and file != no_machines(name) else {"machine": own, "sections": {}}
    if machine.name_of(content["machine"]) != machine.name_of(own):
        raise BadInput(f"the measurements are those of {content['machine']['cpu']}", file=file, mend="give another file by --out")
    stamp = {"measured": ledger.now(), "commit": ledger.commit(), "versions": ledger.versions()}
    content["machine"] = own
    content["sections"][name] = {**stamp, **section}
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".part")
    draft.write_text(as_text(content), encoding="utf-8")
    os.replace(draft, file)


def as_text(content: dict[str, Any]) -> str:
    """JSON that can be read and compared line by line: a list of numbers on one line, as numbers of six digits."""
    text = json.dumps(rounded(content), indent=1, ensure_ascii=False)
    return re.sub(r"\[[^\[\]{}\"]+\]", lambda numbers: f"[{' '.join(numbers[0][1:-1].split())}]", text) + "\n"


def rounded(value: Any) -> Any:
    """The same with all fractions cut to six significant digits."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
