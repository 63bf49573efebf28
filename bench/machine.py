"""The machine that is measured: one core of it, or two, how fast it multiplies matrices, and the file of what was measured."""

import json
import os
import re
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.costs import timing
from helpers.errors import BadInput
from helpers.steps import ledger, numerics

SIDE, PRODUCTS = 1024, 40  # of the matrices whose product is timed, and how many in a round: 86 GFLOP


def seconds_of(rounds: timing.Rounds) -> dict[Any, dict[str, list[float]]]:
    """The times, as the results' file has them."""
    return {name: {"seconds": values} for name, values in rounds.seconds.items()}


def keep_to(cores: int) -> None:
    """Keep this process, and all that it starts from now on, on so many cores, a thread each; BadInput where there are fewer."""
    if hasattr(os, "sched_setaffinity"):
        if len(own := sorted(os.sched_getaffinity(0))) < cores:
            raise BadInput(f"{cores} cores are wanted, and this process has {len(own)}", mend="leave the section out: `--only`")
        os.sched_setaffinity(0, own[-cores:])
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = str(cores)  # read by libraries that are loaded after this


class Products:
    """A round of matrix products, of the type and on the device that networks use here: so many `flops`, operations."""

    def __init__(self) -> None:
        import torch

        of = torch.bfloat16 if numerics.dtype() == "bf16" else torch.float32
        side = SIDE if numerics.device() == "cpu" else 8 * SIDE
        self._a, self._b = (torch.randn(side, side, device=numerics.device()).to(of) for _ in range(2))
        self.flops = 2.0 * side**3 * PRODUCTS

    def __call__(self) -> None:
        """Multiply."""
        import torch

        with torch.inference_mode():
            for _ in range(PRODUCTS):
                self._a @ self._b


def file_of(out: str) -> Path:
    """The file to write: the given one, or this machine's own."""
    return Path(out) if out else paths.BENCH / f"{timing.name_of(timing.describe())}.json"


def add(file: Path, name: str, section: dict[str, Any]) -> None:
    """Put a section into a file, in place of an earlier one; the others stay. BadInput if the file is another machine's."""
    own = {key: value for key, value in timing.describe().items() if key != "threads"}  # those are the sections' own
    is_ours = file.exists() and file != timing.no_machines(name)
    content = timing.read(file) if is_ours else {"machine": own, "sections": {}}
    if timing.name_of(content["machine"]) != timing.name_of(own):
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
