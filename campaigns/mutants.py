"""Change the science in a hundred places, one at a time, and see whether its tests notice: `make mutants`.

A change is another operator, comparison, constant or sign in a module of the floors named here, drawn with a seed. The tests that
import the module run on a copy of `src`, the slow ones last, until one fails; a change that none notices is printed with its
place. It ends with 1 where fewer than nine in ten are noticed.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from helpers import paths

FLOORS = ("evaluation", "retrieval", "reranking", "encoders", "steps")
SWAPS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Lt: ast.LtE,
         ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.And: ast.Or,
         ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In}
MOST = 240  # seconds for the tests of a module: a change that makes them hang is noticed, too


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """What can be changed in a function, with how."""
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        for node in (node for statement in function.body for node in ast.walk(statement)):
            if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS and not _is_text(node):
                yield node, "operator"
            elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
                yield node, "comparison"
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
                yield node, "sign"
            elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
                yield node, "constant"


def _is_text(node: ast.AST) -> bool:
    return any(isinstance(part, ast.JoinedStr) or isinstance(part, ast.Constant) and isinstance(part.value, str)
               for part in ast.walk(node))


def change(node: ast.AST, how: str) -> None:
    """Change it in place."""
    match how:
        case "operator":
            node.op = SWAPS[type(node.op)]()
        case "comparison":
            node.ops[0] = SWAPS[type(node.ops[0])]()
        case "sign":
            node.op = ast.UAdd()
        case "constant":
            node.value += 1


def tests_of(module: Path) -> list[str]:
    """The test files that import a module, by the whole name or from its floor."""
    floor, name = module.parent.name, module.stem if module.stem != "__init__" else module.parent.name
    imported = re.compile(rf"helpers\.{floor}\.{name}\b|from helpers\.{floor} import [^\n]*\b{name}\b")
    return sorted(str(file) for file in (paths.ROOT / "tests").glob("test_*.py") if imported.search(file.read_text()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--floor", choices=FLOORS, action="append")
    parser.add_argument("--minutes", type=float, default=120, help="no change is begun later")
    given, started = parser.parse_args(), time.monotonic()
    source = paths.ROOT / "src"
    modules = [file for floor in given.floor or FLOORS for file in sorted((source / "helpers" / floor).glob("*.py"))
               if tests_of(file)]
    drawn = [(file, number) for file in modules for number in range(len(list(places(ast.parse(file.read_text())))))]
    drawn = random.Random(given.seed).sample(drawn, min(given.changes, len(drawn)))
    noticed, told = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(source, Path(folder) / "src"))
        for file, number in drawn:
            if time.monotonic() - started > given.minutes * 60:
                break
            tree = ast.parse(file.read_text())
            node, how = list(places(tree))[number]
            before = ast.unparse(node)
            change(node, how)
            changed = copy / file.relative_to(source)
            changed.write_text(ast.unparse(tree))
            killed = any(_fails(tests_of(file), copy, which) for which in ("not slow", "slow"))
            changed.write_text(file.read_text())
            noticed, told = noticed + killed, told + 1
            print(f"{'noticed ' if killed else 'SURVIVED'} {how:10} {file.relative_to(source)}:{node.lineno}  {before[:60]}",
                  flush=True)
    print(f"{noticed} of {told} changes noticed")
    return int(noticed < 0.9 * told)


def _fails(tests: list[str], source: Path, which: str) -> bool:
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-x", "-m", which, *tests]
    try:
        done = subprocess.run(command, cwd=paths.ROOT, env={**os.environ, "PYTHONPATH": str(source), "BOOK_ROOT": str(paths.ROOT),
                                                                    "BOOK_STORE": str(source.parent / "store")},
                              capture_output=True, timeout=MOST, check=False)
    except subprocess.TimeoutExpired:
        return True
    if b"while loading conftest" in done.stderr:  # what every test imports fails
        return True
    if done.returncode not in (0, 1, 2, 5):  # 5: none of them is slow
        raise RuntimeError(f"{done.stdout.decode()}\n{done.stderr.decode()}")
    return done.returncode in (1, 2)


if __name__ == "__main__":
    sys.exit(main())
