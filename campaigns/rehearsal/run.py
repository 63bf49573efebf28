"""A rehearsal of the studies' own scale by one command, `make rehearsal`: pinned, fetched, and every chapter to its page.

    python -m rehearsal.run                       all chapters of profiles/msmarco.yaml
    python -m rehearsal.run collection seeds      these

The hub and the server of the data are busy, cut connections and move a branch on the way; one chapter is killed in its middle.
"""

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil

from helpers import paths
from press.terminal import columns
from rehearsal import tiny_models
from rehearsal.stage import PROFILE, REDUCED, Stage, stage

FOLDER = paths.BOOK / "_build" / "rehearsal"
KILLED, AFTER = "seeds", 3  # the chapter that is killed, and the steps that it may finish before
MOVED = "google/bert_uncased_L-4_H-512_A-8"  # the model whose branch moves
Row = tuple[str, float, str]  # what, seconds, outcome


def main(chapters: Sequence[str]) -> int:
    """Rehearse, print the table and keep it; 1 if anything stopped."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    rows: list[Row] = []
    for row in play(FOLDER / "book", chapters or list(paths.listed(paths.PROFILES / f"{PROFILE}.yaml")["chapters"])):
        rows.append(row)
        print(f"{row[0]}: {row[2]} ({row[1]:.0f} s)", flush=True)
    shown = [(what, f"{seconds:.0f}", outcome) for what, seconds, outcome in rows]
    table = columns([("what", "seconds", "outcome"), *shown], right=(1,))
    (FOLDER / "rehearsal.txt").write_text(f"{table}\n", encoding="utf-8")
    print(f"\n{table}")
    return int(any(outcome.startswith("stopped") for _, _, outcome in rows))


def play(root: Path, chapters: Sequence[str], killed: str = KILLED, render: bool = True) -> Iterator[Row]:
    """The rehearsal of some chapters in a new folder, rendered or not; each act when it is over."""
    with stage(root) as on:
        yield timed("pin", lambda: pin(on))
        yield timed("fetch", lambda: fetch(on))
        on.reduce()
        for chapter in chapters:
            yield timed(chapter, lambda chapter=chapter: resumed(on, chapter) if chapter == killed else page(on, chapter))
        if render:
            yield timed("render", lambda: rendered(on, chapters))
        yield "outside", 0.0, f"refused: {', '.join(on.refused()) or 'nothing was asked for'}"


def timed(what: str, act: Callable[[], str]) -> Row:
    """An act with its seconds; an error is its outcome."""
    started = time.perf_counter()
    try:
        outcome = act()
    except (AssertionError, OSError) as error:
        outcome = f"stopped: {error}"
    return what, time.perf_counter() - started, outcome


def pin(on: Stage) -> str:
    """The hub is busy first, and nothing is changed; a second call pins, a third finds nothing to do. Then a branch moves."""
    file = on.root / "profiles" / f"{PROFILE}.yaml"
    before = file.read_text(encoding="utf-8")
    on.hub.at, on.hub.status = "/revision/", [429]
    assert on.book("pin", "--profile", PROFILE).returncode == 2, "a busy hub was no error"
    assert file.read_text(encoding="utf-8") == before, "a busy hub left a profile half pinned"
    pinned = done(on, "pin", "--profile", PROFILE).count("->")
    assert "@main" not in "".join(line for line in file.open(encoding="utf-8") if not line.startswith("#")), "a branch is left"
    assert "everything of the hub is pinned" in done(on, "pin", "--profile", PROFILE)
    on.hub.put(MOVED, "main", tiny_models.model(MOVED, seed=2))
    return f"429 told, then {pinned} revisions pinned; a branch has moved since"


def fetch(on: Stage) -> str:
    """Connections end early and the hub is busy while the first call fetches; what it could not fetch, a second one does."""
    on.files.cuts, on.files.status = [20_000, 30_000], [503]
    on.hub.at, on.hub.status, on.hub.cuts = "/weights/", [429], [1000]
    first = on.book("fetch", "--profile", PROFILE)
    missing = first.stdout.count(": failed")
    assert first.returncode == (2 if missing else 0), first.stderr[-2000:]
    done(on, "fetch", "--profile", PROFILE)
    assert not (on.files.cuts or on.files.status or on.hub.cuts or on.hub.status), "a fault did not happen"
    listed = done(on, "fetch", "--profile", PROFILE, "--list")
    assert "to fetch: 0 of" in listed, listed[-2000:]
    kept = on.root / "hf" / "hub" / f"models--{MOVED.replace('/', '--')}" / "snapshots"
    assert on.hub.branches[MOVED, "main"] not in {folder.name for folder in kept.iterdir()}, "the moved branch was fetched"
    return f"{missing} left to the second call; then {listed.partition('to fetch: 0 of ')[2].partition(',')[0]} there"


def page(on: Stage, chapter: str, **settings: str) -> str:
    """A chapter with reduced counts."""
    done(on, "chapter", chapter, "--profile", REDUCED, "--no-render", **settings)
    assert on.page(chapter).exists(), "no page"
    return "page"


def resumed(on: Stage, chapter: str) -> str:
    """A chapter, killed with all its processes after some steps, and called again: these are not computed again.

    The second call has no hub, so that all which it needs has been fetched before.
    """
    before = on.steps()
    process = on.start("chapter", chapter, "--profile", REDUCED, "--no-render")
    while process.poll() is None and len(on.steps().keys() - before) < AFTER:
        time.sleep(0.05)
    assert process.poll() is None, f"not killed: {process.communicate()[1][-2000:]}"
    for one in (*psutil.Process(process.pid).children(recursive=True), process):
        one.kill()
    process.communicate()
    assert not on.page(chapter).exists(), "a page of a chapter that was killed"
    finished = on.steps()
    page(on, chapter, HF_HUB_OFFLINE="1", HF_ENDPOINT="http://127.0.0.1:9")
    after = on.steps()
    assert {step: after.get(step) for step in finished} == finished, "a finished step was computed again"
    return f"killed after {len(finished.keys() - before)} steps, {len(after.keys() - finished)} more without the hub; page"


def rendered(on: Stage, chapters: Sequence[str]) -> str:
    """The book of these pages, whose execution is up to date."""
    told = done(on, "chapter", chapters[-1], "--profile", REDUCED)
    assert f"{chapters[-1]}: up to date" in told, told
    html = on.root / "book" / "_build" / "html" / "chapters"
    lacking = [name for name in chapters if not (on.page(name).exists() and (html / f"{name}.html").exists())]
    assert not lacking, f"no page of {', '.join(lacking)}"  # a page that only says so is no page
    return f"{len(chapters)} pages"


def done(on: Stage, *command: str, **settings: str) -> str:
    """What a command prints; AssertionError with its last words if it fails."""
    run = on.book(*command, **settings)
    assert run.returncode == 0, " ".join(run.stderr.split())[-500:]
    return run.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
