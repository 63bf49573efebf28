"""The campaign of faults, `make faults`: whatever breaks, the value is right or a line says what is wrong.

    python campaigns/faults.py --cases 100 --seed 1 --only store disk

Each case runs in a process of its own, as a command of `book`, first with the fault and then, where that is gone again, without.
It ends as *right* (the very value), as *told* (exit code 2, 130 or 141, and one line), or as a failure: silently *wrong*, a
*traceback*, or a *hang*.
"""

import argparse
import contextlib
import errno
import gzip
import hashlib
import io
import itertools
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
from markdown_it import MarkdownIt

from conftest import write_collection
from dry_steps import write_page
from helpers import paths, steps
from helpers.data.collection import open_collection
from helpers.data.elsewhere import external_run
from helpers.data.runs import queries as query_step
from helpers.data.texts import Texts, text_store
from helpers.evaluation.verdicts import UNTESTED, as_label
from helpers.pages import page as pages
from helpers.pages.fragments import badge, details, escape, explored, table
from helpers.steps import ledger
from helpers.steps.recorded import Recorded
from press import bounds, chapters, cite, cli, comparison, execute, explain, launch, page_header, record, step_digests, variants
from press.edited import notebook_of
from press.names import OPENERS
from press.variants import PageRequest

RIGHT, WRONG, TOLD, TRACEBACK, HANG = "right", "silently wrong", "told", "traceback", "hang"
OUTCOMES = (WRONG, TRACEBACK, HANG, TOLD, RIGHT)
LISTING = chapters.listing  # a case takes its place
PATIENCE = 200  # seconds until a case counts as a hang
Act = Callable[[], Any]  # gives whether what it computed is right
Family = Callable[[random.Random, Path], tuple[Act, Act | None]]  # the case under the fault, and once more without it
FAMILIES: dict[str, Family] = {}
HOSTILE = ["<script>window.hit=1</script>", "\r\r", "\n\n# heading\n\n", "```{include} /etc/passwd\n```", "{raw}`html`", "$$x$$",
           "<!--", "-->", "</table>", "\u202eabc", "\u200b", "x" * 300, "`", "~~~", ":::{raw} html\n", "|", "\x00", "\ud800", "%",
           "[a](javascript:alert(1))", "<img src=x onerror=window.hit=1>", "\u2028", "\x85", '" onmouseover="window.hit=1', "\\",
           "&amp;"]


def family(function: Family) -> Family:
    FAMILIES[function.__name__] = function
    return function


# ---- what is computed ----

@steps.step(version=1, form="table")
def squares(count: int) -> pd.DataFrame:
    with (paths.store() / "computed").open("a") as log:
        log.write("x")
    time.sleep(0.02)
    return pd.DataFrame({"n": range(count), "square": [float(n * n) for n in range(count)]})


@steps.step(version=1, form="folder")
def files(table: pd.DataFrame, *, folder: Path) -> None:
    for part in range(5):
        (folder / f"{part}.txt").write_text(f"{part} {table['square'].sum()}\n" * 2000)


def value_of(count: int) -> str:
    paths.store().mkdir(parents=True, exist_ok=True)
    return (files(squares(count)).value() / "3.txt").read_text()[:40] + repr(float(squares(count).value()["square"].sum()))


def expected(count: int) -> str:
    total = float(sum(n * n for n in range(count)))
    return (f"3 {total}\n" * 2000)[:40] + repr(total)


def is_right(count: int = 300) -> bool:
    return value_of(count) == expected(count)


# ---- faults ----

@family
def store(rng: random.Random, place: Path) -> tuple[Act, None]:
    """Damaged, missing and swapped files of entries."""
    for count in (300, 301):
        value_of(count)
    found = [file for file in sorted((place / "store").rglob("*")) if file.is_file() and file.suffix in (".json", ".gz", ".txt")]
    for file in rng.sample(found, rng.choice((1, 1, 1, 2, 4))):
        content, other = file.read_bytes(), rng.choice(found)
        at = rng.randrange(len(content))
        kind = rng.choice(("flip", "cut", "remove", "swap", "append", "folder", "empty", "swap entries"))
        if kind == "flip":
            file.write_bytes(content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1:])
        elif kind in ("cut", "empty", "append"):
            file.write_bytes({"cut": content[:at], "empty": b"", "append": content + b"x"}[kind])
        elif kind == "swap" and other.exists():
            file.write_bytes(other.read_bytes())
        elif kind == "swap entries" and other.parent.exists() and file.parent.exists():
            if not other.parent.is_relative_to(file.parent):
                shutil.rmtree(file.parent)
                shutil.copytree(other.parent, file.parent)
        elif file.exists():
            file.unlink()
            if kind == "folder":
                file.mkdir()
    return is_right, None


@family
def kills(rng: random.Random, place: Path) -> tuple[Act, Act]:
    """SIGKILL during a step, `book record`, the writing of a chapter's page, or of a comparison."""
    what, delay = rng.choice((lambda _: is_right, a_record, a_page, a_comparison)), rng.uniform(0, 0.12)

    def killed() -> bool:
        act = what(place)
        child = os.fork()
        if child == 0:
            os.close(2)
            act()
            os._exit(0)
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return True
    return killed, lambda: what(place)()


def a_record(place: Path) -> Act:
    """Recording two runs and using them from nothing but `results/`."""
    if not (place / "store").exists():
        is_right()
    lines = [step.entry().manifest for step in (squares(300), files(squares(300)))]
    kept = ("step", "key", "numerics", "seconds", "inputs")
    data = [{"ledger": [{name: lines[0].get(name) for name in kept}]}]
    write_page("one", *data)

    def act() -> bool:
        list(record.record(over=-1))
        shutil.rmtree(place / "store")
        return (squares(300).lookup()[1], len(Recorded(paths.RESULTS).entries())) == ("recorded", 1) and is_right()
    return act


def pack_of(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


@family
def forged(rng: random.Random, place: Path) -> tuple[Act, None]:
    """Packs of recorded runs in which something changed; nine in ten have the name that their bytes ask for."""
    a_record(place)()
    shutil.rmtree(place / "store")
    [pack] = paths.RESULTS.glob("*.zip")
    with zipfile.ZipFile(pack) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    value, line = next(name for name in files if name != "manifests"), files["manifests"]
    content, at, cut = files[value], rng.randrange(len(files[value])), rng.randrange(len(line))
    manifest = json.loads(line.partition(b"\t")[2])
    field = rng.choice(sorted(manifest))
    other = rng.choice((None, {}, [], "", 0, "exact", "x/../y", {"value": 1}))
    kinds: dict[str, Callable[[], dict[str, bytes]]] = {
        "flip": lambda: files | {value: content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1:]},
        "another value": lambda: files | {value: gzip.compress(b"n,square\n0,1\n")},
        "more": lambda: files | {f"{value}.more": content},
        "less": lambda: {"manifests": line},
        "elsewhere": lambda: {value.replace("/", "/x", 1): content, "manifests": line},
        "unlisted class": lambda: files | {value.replace("exact", "cpu-bf16"): content},
        "listed elsewhere": lambda: {name: data.replace(b"exact\t", b"other\t") for name, data in files.items()},
        "no manifests": lambda: {value: content},
        "no line": lambda: files | {"manifests": b""},
        "line cut": lambda: files | {"manifests": line[:cut]},
        "line flipped": lambda: files | {"manifests": line[:cut] + bytes([line[cut] ^ 1 << rng.randrange(8)]) + line[cut + 1:]},
        "a field": lambda: files | {"manifests": line.partition(b"\t")[0] + b"\t" + json.dumps(manifest | {field: other}).encode()
                                    + b"\n"},
        "no field": lambda: files | {"manifests": line.partition(b"\t")[0] + b"\t" + json.dumps(
            {name: one for name, one in manifest.items() if name != field}).encode() + b"\n"}}
    made = pack_of(kinds[rng.choice(sorted(kinds))]())
    if rng.random() < 0.1:
        made = made[:rng.randrange(len(made))]
    named = hashlib.sha256(made if rng.random() < 0.9 else b"").hexdigest()[:16]
    pack.unlink()
    (paths.RESULTS / f"squares-{named}.zip").write_bytes(made)
    return is_right, None


def a_page(place: Path) -> Act:
    cell = nbformat.v4.new_code_cell("1", outputs=[nbformat.v4.new_output("display_data", {"text/html": "<p>x</p>" * 200_000})])
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title"), cell])
    execute.executed = lambda *_: notebook

    def act() -> bool:
        page, _ = execute.run(execute.request("cost", "mini", {}))
        return len(json.loads(page.read_text())["cells"]) == 6  # with badges, exercise, More and parameters
    return act


def a_comparison(place: Path) -> Act:
    page = write_page("cost--abcdef")
    comparison.text = lambda *_: "line\n" * 400_000 + "end\n"
    comparison.read = lambda file: None

    def act() -> bool:
        comparison.write_all()
        return page.with_name(f"{page.stem}{variants.COMPARED}.md").read_text().endswith("end\n")
    return act


@family
def races(rng: random.Random, place: Path) -> tuple[Act, None]:
    """Eight processes that compute one key, or eight that share inputs, as chapters side by side do."""
    counts = [300] * 8 if rng.random() < 0.5 else [rng.choice((300, 301, 302)) for _ in range(8)]

    def act() -> bool:
        (place / "store").mkdir()
        children = []
        for count in counts:
            children.append(os.fork())
            if children[-1] == 0:
                os._exit(0 if is_right(count) else 1)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        return codes == [0] * 8 and len((place / "store" / "computed").read_text()) == len(set(counts))
    return act, None


NAMES = ("collection", "does_it_work", "recipe", "parameters", "epochs", "seeds", "grid", "model_size")
CELL = """from helpers.data.collection import open_collection
from helpers.data.runs import queries
from helpers.pages import page
page.prose(f"{{len(queries([open_collection(collection).part('queries', 'test')], {size}, 1).value())}} queries in all")"""


def write_book(root: Path) -> None:
    """This book with eight small chapters."""
    for name in ("profiles", "published", "book"):
        shutil.copytree(paths.ROOT / name, root / name, ignore=shutil.ignore_patterns("_build", "chapters", "generated"))
    shutil.copy(paths.ROOT / "CITATION.cff", root)
    (root / "profiles" / "almanac.yaml").write_text("chapters: {}\n")  # it and the findings name chapters that are left out
    (root / "published" / "findings.yaml").write_text("findings: []\nsentences: []\n")
    (root / "notebooks").mkdir()
    metadata = notebook_of(paths.NOTEBOOKS / "cost.ipynb").metadata
    for size, name in enumerate(NAMES, start=1):
        cells = [nbformat.v4.new_markdown_cell(f"# {name}"),
                 nbformat.v4.new_code_cell('collection: str = "almanac"  # what', metadata={"tags": ["parameters"]}),
                 nbformat.v4.new_code_cell(CELL.format(size=size))]
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), root / "notebooks" / f"{name}.ipynb")
    parts = [{"chapters": [{"file": f"chapters/{name}"} for name in NAMES]}]
    (root / "book" / "_toc.yml").write_text(json.dumps({"format": "jb-book", "root": "index", "parts": parts}))


@family
def books(rng: random.Random, place: Path) -> tuple[Act, Act]:
    """SIGKILL while chapters are run and rendered; then eight chapters at once, and the whole book again."""
    root, delay = place / "book", rng.uniform(3, 30)
    env = {**os.environ, "BOOK_ROOT": str(root), "BOOK_STORE": str(root / "store")}
    command = [sys.executable, "-m", "press.cli"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": env}

    def killed() -> bool:
        write_book(root)
        with subprocess.Popen([*command, "build"], **quiet) as run:
            with contextlib.suppress(subprocess.TimeoutExpired):
                run.wait(delay)
            run.kill()
        return True

    def act() -> bool:
        runs = [subprocess.Popen([*command, "chapter", name, "--no-render"], **quiet) for name in NAMES]
        codes = [run.wait() for run in runs]
        subprocess.run([*command, "build"], **quiet, check=False)  # 2: links to the chapters that are left out
        pages = [(root / "book/_build/html/chapters" / f"{name}.html").read_text() for name in NAMES]
        return codes == [0] * 8 and all(f">{size} queries in all" in page for size, page in enumerate(pages, start=1))
    return killed, act


ERRORS = (errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO, errno.EDQUOT)
CALLS = [(os, "mkdir"), (os, "rename"), (os, "fsync"), (os, "open"), (os, "replace"), (Path, "write_text"), (Path, "write_bytes"),
         (Path, "open"), (Path, "mkdir")]


@family
def disk(rng: random.Random, place: Path) -> tuple[Act, Act]:
    """A full or read-only disk: the n-th call that writes fails, and all later ones; or files may not grow beyond some bytes."""
    first, code, limit = rng.randrange(40), rng.choice(ERRORS), rng.randrange(1_000, 20_000)  # what is told fits
    calls = iter(range(10**9))

    def failing(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if next(calls) >= first:
                raise OSError(code, os.strerror(code), str(args[0]) if args else None)
            return original(*args, **kwargs)
        return call

    def act() -> bool:
        if first % 4 == 0:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        else:
            for owner, name in CALLS:
                setattr(owner, name, failing(getattr(owner, name)))
        return is_right()
    return act, is_right


@family
def interrupts(rng: random.Random, place: Path) -> tuple[Act, Act]:
    """Ctrl-C while steps are computed, and while somebody else computes one."""
    delay, waits = rng.uniform(0.02, 0.15), rng.random() < 0.3

    def act() -> bool:
        me, (begun, begin) = os.getpid(), os.pipe()
        if waits and os.fork() == 0:
            os._exit(0 if all(map(is_right, range(300, 320))) else 1)
        if os.fork() == 0:
            os.read(begun, 1)  # what runs when a process has forked would swallow the signal
            time.sleep(delay)
            os.kill(me, signal.SIGINT)
            os._exit(0)
        os.write(begin, b"x")
        return not all(map(is_right, itertools.count(300)))
    return act, is_right


def read_collection(folder: Path) -> list[Any]:
    source = open_collection(str(folder))
    asked = query_step([source.part("queries", "test")], 0, 1, None)
    frames = [asked.value(), source.qrels("document", "test"), external_run(str(folder / "run.trec"), asked, 10).value()]
    return [list(Texts(text_store(source.part("texts", "document")).value())), *(frame.values.tolist() for frame in frames)]


@family
def inputs(rng: random.Random, place: Path) -> tuple[Act, None]:
    """Damaged files of a collection, and of a run."""
    paths.store().mkdir()
    (place / "own").mkdir()
    write_collection(place / "own", "")
    (place / "own" / "run.trec").write_text("".join(f"q{q} Q0 d{d} {d} {5 - d} x\n" for q in (1, 2, 3) for d in (1, 2, 3, 4)))
    before = read_collection(place / "own")
    file = rng.choice(sorted((place / "own").iterdir()))
    content, packed = file.read_bytes(), file.with_name(file.name + ".gz")
    lines = content.splitlines(keepends=True)
    at, number = rng.randrange(len(content)), rng.randrange(len(lines))
    separator = b"\t" if file.name in ("docs.tsv", "queries.tsv") else b" "
    fields = lines[number].split(separator)

    def changed(line: bytes) -> bytes:
        return b"".join([*lines[:number], line, *lines[number + 1:]])

    def with_id(sign: str) -> bytes:
        return changed(separator.join([fields[0] + sign.encode(), *fields[1:]]))

    def pack(content: bytes) -> None:
        file.unlink()
        packed.write_bytes(content)

    gz = gzip.compress(content)
    last = {"qrels.tsv": 3, "run.trec": 4}.get(file.name, len(fields))  # where a number stands
    kinds: dict[str, Act] = {
        "gzip cut": lambda: pack(gz[:rng.randrange(len(gz))]),
        "gzip flip": lambda: pack(gz[:15] + bytes([gz[15] ^ 4]) + gz[16:]),
        "not gzip": lambda: pack(content),
        "packed": lambda: pack(gz),
        "twice": lambda: packed.write_bytes(gz),
        "not UTF-8": lambda: file.write_bytes(content[:at] + bytes([rng.randrange(0x80, 0x100)]) + content[at:]),
        "folder": lambda: (file.unlink(), file.mkdir()),
        "pipe": lambda: (file.unlink(), os.mkfifo(file)),
        "dangling": lambda: (file.unlink(), file.symlink_to("/nowhere")),
        "gone": file.unlink,
        "empty": lambda: file.write_bytes(b""),
        "repeated": lambda: file.write_bytes(content + lines[number]),
        "no id": lambda: file.write_bytes(changed(separator.join([b"", *fields[1:]]))),
        "column more": lambda: file.write_bytes(changed(lines[number].rstrip(b"\n") + separator + b"x\n")),
        "column less": lambda: file.write_bytes(changed(separator.join(fields[:-1]) + b"\n")),
        "header": lambda: file.write_bytes(separator.join([b"qid", *[b"x"] * (len(fields) - 1)]) + b"\n" + content),
        "blank line": lambda: file.write_bytes(changed(b"\n" + lines[number])),
        "number": lambda: file.write_bytes(changed(separator.join(
            [*fields[:last], *[rng.choice((b"nan", b"inf", b"1e999", b"", b"x"))] * (last < len(fields)), *fields[last + 1:]]))),
        "foreign": lambda: file.write_bytes(content.replace(b"q", b"z") if separator == b" " else b""),
        "Windows": lambda: file.write_bytes(content.replace(b"\n", b"\r\n")),
        "mark": lambda: file.write_bytes(b"\xef\xbb\xbf" + content),
        **{f"id {sign!r}": lambda sign=sign: file.write_bytes(with_id(sign))
           for sign in (" ", "\x00", "\x1f", "\u00a0", "\u200b", "\u2028", "\u202e", "\ufeff", "\x85")}}
    kind = rng.choice(sorted(kinds))
    kinds[kind]()
    if packed.exists() and file.name == "run.trec":
        packed.rename(file)  # a run has the name that one gives
    return lambda: read_collection(place / "own") == before, None


NONSENSE = {"int": ["-1", "-5", "1.5", "nan", "inf", "", "[]", "None", "true", "1e2", "1_0.0", "99999999999", "'1'", "0x", "1;2"],
            "float": ["nan", "inf", "-inf", "-1", "", "1,5", "None", "[1]", "1e400", "true", "x"],
            "str": ["\udcff", "a\udc80b"], "bool": ["yes", "1", "", "2", "None", "[]"]}
LISTS = ["[", "{}", "[null]", "[nan]", "[-1]", "x", "[[1]]", "[1,", "(", "None", "[1e400]", '{"a": 1}', "[true, 5]", '["a", "a"]']


@family
def parameters(rng: random.Random, place: Path) -> tuple[Act, None]:
    """Values that no parameter takes: every command refuses them by the parameter's name."""
    chapter = rng.choice(chapters.templates())
    name, one = rng.choice(sorted(chapters.schema(chapter).items()))
    key = next((key for key in (f"{chapter}.{name}", name) if key in bounds.CHOICES), "")
    text = rng.choice(LISTS if one.annotation.startswith("list") else ["median"] if key else NONSENSE[one.annotation])

    def act() -> bool:
        chapters.resolve(chapter, "almanac", {name: text})
        return False  # it was taken
    return act, None


PLACES = ["", "~", "/", "/nowhere", "/dev/null", "/etc/passwd", "irds:", "irds:no-such", "almanach", "\x00", "x" * 5000, ".",
          "..", "PIPE", "EMPTY", "hub:", "hub:a/b", "packaged:", "packaged:99", "packaged:-1", "packaged:x", "almanac[:x]"]
FOLDERS = (".", "..", "/", "~")  # may have texts


@family
def explained(rng: random.Random, place: Path) -> tuple[Act, None]:
    """`book explain` with texts that name nothing, or a pipe that would be waited for, for every parameter that is a name."""
    (place / "empty").mkdir()
    os.mkfifo(place / "pipe")
    name = rng.choice(["split", "tune_split", "unit", *OPENERS]).rpartition(".")[2]
    chapter = rng.choice([one for one in chapters.templates() if name in chapters.schema(one)])
    text = rng.choice([one for one in PLACES if name in ("collection", "backbone") or one not in FOLDERS])
    text = text.replace("PIPE", str(place / "pipe")).replace("EMPTY", str(place / "empty"))
    is_list = chapters.schema(chapter)[name].annotation.startswith("list")

    def act() -> bool:
        list(explain.explain(chapter, {name: json.dumps([text]) if is_list else text}, "mini"))
        return not text and name in ("tune_split", *bounds.MAY_BE_EMPTY)
    return act, None


@family
def files_of_readers(rng: random.Random, place: Path) -> tuple[Act, None]:
    """Profiles, templates, `_toc.yml` and `CITATION.cff` with some bytes changed: an edit, or told."""
    shutil.copytree(paths.NOTEBOOKS, place / "notebooks")
    shutil.copytree(paths.PROFILES, place / "profiles")
    shutil.copytree(paths.BOOK, place / "book", ignore=shutil.ignore_patterns("_build", "chapters", "generated", "_static"))
    shutil.copy(paths.ROOT / "CITATION.cff", place)
    paths.ROOT, paths.BOOK = place, place / "book"
    paths.NOTEBOOKS, paths.PROFILES = place / "notebooks", place / "profiles"
    file = place / rng.choice(("profiles/mini.yaml", "notebooks/cost.ipynb", "book/_toc.yml", "CITATION.cff", "book/_config.yml"))
    content = bytearray(file.read_bytes())
    at = rng.randrange(len(content))
    kind = rng.choice(("flip", "cut", "drop", "double", "noise"))
    if kind == "flip":
        content[at] ^= 1 << rng.randrange(8)
    elif kind in ("cut", "drop"):
        del content[at:len(content) if kind == "cut" else at + rng.randrange(1, 40)]
    else:
        content[at:at] = content[at:at + 50] if kind == "double" else rng.randbytes(5)
    file.write_bytes(content)

    def act() -> bool:
        chapters.resolve("cost", "mini", {})
        LISTING("cost")
        launch.links()
        for name in ("", *chapters.names()):
            cite.bibtex(name)
        return True
    return act, None


@family
def texts(rng: random.Random, place: Path) -> tuple[Act, None]:
    """Hostile texts in every kind of fragment: Markdown sees blocks of HTML and nothing of the data."""
    text = "".join(rng.choice(HOSTILE) for _ in range(rng.randrange(1, 6)))
    typed = text.replace("\ud800", "")  # parameters are Unicode
    request = PageRequest("cost", "mini", dict.fromkeys(chapters.schema("cost"), typed), chapters.resolve("cost", "mini", {}))
    run = {"profile": "mini", "date": "2026-01-01", "commit": "abc", "seconds": 1.0, "parameters": {"models": [typed]}}
    fragments = [table(text, (text, text), [[text, text]]).text, f"<p>{badge(text, 'x').text}</p>",
                 details(text, table("a", ("b",), [[text]])).text,
                 pages.show_table(text, (text,), [[text]]).html, page_header.header(request, run, []), f"<p>{escape(text)}</p>",
                 page_header.warning([{"claims": [{"reason": text, "verdict": UNTESTED, "pair": {}}]}]),
                 f"<p>{as_label(text)}</p>", details("x", explored("q", text)).text]

    def act() -> bool:
        for fragment in fragments:
            tokens = MarkdownIt().parse(fragment)
            if {token.type for token in tokens} - {"html_block"} or any(hit in fragment for hit in ("<script", "<img", "\r")):
                return False
        label = MarkdownIt().parse(f"Only here: {comparison.as_text(text)}.")
        marks = {token.type for block in label for token in block.children or ()}
        return not marks & {"html_inline", "link_open", "code_inline"} and {
            token.type for token in label} <= {"paragraph_open", "inline", "paragraph_close"}
    return act, None


@family
def pipes(rng: random.Random, place: Path) -> tuple[Act, None]:
    """Whoever reads the output goes away after some bytes."""
    chapter, bytes_read = rng.choice(chapters.templates()), rng.randrange(200)

    def act() -> list[str]:
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.close(writer)
            os.read(reader, bytes_read or 1)
            os._exit(0)
        os.close(reader)
        os.dup2(writer, 1)
        return LISTING(chapter) * 50
    return act, None


COMMANDS = ["chapter nope", "explain nope", "pack nope", "parameters nope", "open nope", "answer nope", "export nope",
            "search x --reranker nope", "search x --reranker /etc", "search x --first-stage /etc", "search x -k nan",
            "measure --reranker /nowhere", "measure --candidates -1", "serve --reranker /etc", "serve --reranker nope",
            "serve --port x", "serve --port 99999", "serve --port -1", "verify --budget nan", "verify --sample 0",
            "store --older x", "fetch --profile nope", "pin --profile nope", "why /etc /etc", "unpack /nowhere",
            "explain seeds -p nope 1", "explain seeds --profile /etc/passwd", "address nope", "chapter seeds --workers 0"]


@family
def commands(rng: random.Random, place: Path) -> tuple[Act, None]:
    """Unknown names, odd numbers and odd folders for every command that takes them: refused before anything is done."""
    arguments = rng.choice(COMMANDS).split()

    def act() -> bool:
        with contextlib.redirect_stdout(open(os.devnull, "w")):
            try:
                code = cli.main(arguments)
            except SystemExit as ended:  # argparse's
                code = int(ended.code or 0)
        if code:
            os._exit(code)
        return False  # it was taken
    return act, None


# ---- the campaign ----

def outcome(name: str, seed: int, number: int) -> tuple[str, str]:
    """Of one case, and what was told."""
    with tempfile.TemporaryDirectory(prefix="fault-") as folder:
        place = Path(folder)
        rng = random.Random(f"{seed} {name} {number}")
        code, said = _child(place, lambda: FAMILIES[name](rng, place)[0]())
        last = _judged(code, said, place)
        if last[0] in (RIGHT, TOLD) and name in ("kills", "books", "disk", "interrupts"):
            rng = random.Random(f"{seed} {name} {number}")
            code, said = _child(place, lambda: FAMILIES[name](rng, place)[1]())
            after = _judged(code, said, place)
            return last if after[0] == RIGHT else (WRONG if after[0] == TOLD else after[0], f"afterwards: {after[1]}")
        return last


def _child(place: Path, act: Act) -> tuple[int | None, str]:
    """Run it as a command of `book` in a process of its own: its exit code (None: it hangs), and its standard error."""
    (place / "verdict").unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
        error = os.open(place / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(error, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", buffering=1, closefd=False)
        os.environ.update(BOOK_STORE=str(place / "store"), IR_DATASETS_HOME=str(place / "irds"))
        for name in ("RESULTS", "CHAPTERS"):
            setattr(paths, name, place / name.lower())
            (place / name.lower()).mkdir(exist_ok=True)
        _command(place, act)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            _end_group(child)
            return os.waitstatus_to_exitcode(status), (place / "stderr").read_text(errors="replace")
        time.sleep(0.003)
    _end_group(child)
    os.waitpid(child, 0)
    return None, ""


def _command(place: Path, act: Act) -> None:
    mark, code = os.open(place / "verdict", os.O_WRONLY | os.O_CREAT), 1
    me = os.getpid()

    def listing(chapter: str) -> Iterator[str]:
        result = act()
        if isinstance(result, list):
            yield from map(str, result)
            result = True
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        os.write(mark, (RIGHT if result else WRONG).encode())

    chapters.listing, ledger.progress = listing, lambda line: None
    try:
        code = cli.main(["parameters", "cost"])
        sys.stdout.flush()
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        os._exit(code if os.getpid() == me else 3)


def _end_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _judged(code: int | None, said: str, place: Path) -> tuple[str, str]:
    lines = [one for one in said.splitlines() if one.strip() and not one.startswith(("usage: ", "       "))]
    shown = lines[-1][:200] if lines else ""
    if code is None:
        return HANG, ""
    if code == 0:
        return (RIGHT if (place / "verdict").read_text() == RIGHT else WRONG), shown
    told = "Traceback" not in said and code in (2, 130, 141) and len(lines) == (code != 141)
    return (TOLD if told else TRACEBACK), shown


def campaign(cases: int, seed: int, only: list[str]) -> int:
    """Run it and print its table; the number of failures."""
    step_digests.import_all()  # once for all cases
    counts = {name: Counter[str]() for name in FAMILIES if not only or name in only}
    for name, counted in counts.items():
        for number in range(cases // 50 if name == "books" else cases):  # a minute for each
            result, said = outcome(name, seed, number)
            counted[result] += 1
            if result in (WRONG, TRACEBACK, HANG):
                print(f"{name} {number}: {result}: {said}", flush=True)
    print(f"\n{'family':18}{'tried':>8}" + "".join(f"{kind:>16}" for kind in OUTCOMES))
    for name, counted in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        print(f"{name:18}{counted.total():8}" + "".join(f"{counted[kind]:16}" for kind in OUTCOMES))
    return sum(counted[kind] for counted in counts.values() for kind in (WRONG, TRACEBACK, HANG))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100, help="of each family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], choices=[*FAMILIES], metavar="FAMILY", help=", ".join(FAMILIES))
    options = parser.parse_args()
    sys.exit(1 if campaign(options.cases, options.seed, options.only) else 0)
