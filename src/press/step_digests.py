"""What a step does, as a digest: so that a change of its meaning cannot pass without a decision.

The digest covers the step's function and, followed through the package, every function, class and constant that it
names. Comments, docstrings and layout do not count. A test compares it with the one accepted in `tests/steps.json`. After a
change decide: if results change, raise the step's `version`; in both cases run `book steps`.
"""

import ast
import importlib
import inspect
import json
import pkgutil
import re
import textwrap
from types import ModuleType
from typing import Any

import helpers
from helpers import paths
from helpers.registry import Registry
from helpers.steps import recipe, registry

ACCEPTED = paths.ROOT / "tests" / "steps.json"
MACHINERY = {*(f"helpers.steps.{name}" for name in ("computation", "digests", "ledger", "recorded", "registry", "store")),
             "helpers.paths", "helpers.errors", "helpers.registry", "helpers.networks.callbacks",
             "helpers.networks.checkpoints", "helpers.data.hub",
             "helpers.data.downloads"}  # how a value is kept or shown, not what it is


def all_steps() -> dict[str, dict[str, Any]]:
    """Version and source digest of every step in the package, by name."""
    import_all()
    return {name: {"version": step.version, "source": source_digest(step.function)}
            for name, step in sorted(registry.STEPS.items()) if step.function.__module__.startswith("helpers.")}


def import_all() -> None:
    """Import every module of the package, so that every step is registered."""
    for module in pkgutil.walk_packages(helpers.__path__, "helpers."):
        importlib.import_module(module.name)


def accept() -> str:
    """Write the present digests to the committed list."""
    ACCEPTED.write_text(json.dumps(all_steps(), indent=1) + "\n")
    return f"{len(registry.STEPS)} steps accepted -> {ACCEPTED.relative_to(paths.ROOT)}"


def source_digest(function: Any) -> str:
    """The digest of a step's function; names count without their module's path: moving a function changes nothing."""
    seen: dict[str, str] = {}
    _visit(function, seen)
    return recipe.sha256(recipe.canonical(sorted((name.rpartition(".")[2], text) for name, text in seen.items())))[:16]


def _visit(thing: Any, seen: dict[str, str]) -> None:
    thing = inspect.unwrap(thing) if callable(thing) else thing
    module = inspect.getmodule(thing)
    name = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
    if module is None or not module.__name__.startswith("helpers.") or module.__name__ in MACHINERY or name in seen:
        return
    source = textwrap.dedent(inspect.getsource(thing))
    seen[name] = ast.unparse(_bare(ast.parse(source)))
    tree = ast.parse(source)  # followed with its annotations: an argument's class is part of what a function does
    scope = dict(vars(module))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("helpers"):
            origin = importlib.import_module(node.module or "")
            scope.update({(alias.asname or alias.name): getattr(origin, alias.name, None) for alias in node.names})
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            _follow(scope.get(node.id), f"{module.__name__}.{node.id}", seen)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = scope.get(node.value.id)
            if isinstance(owner, ModuleType) and owner.__name__.startswith("helpers."):
                _follow(getattr(owner, node.attr, None), f"{owner.__name__}.{node.attr}", seen)


def _follow(thing: Any, name: str, seen: dict[str, str]) -> None:
    if inspect.isfunction(thing) or inspect.isclass(thing) or hasattr(thing, "__wrapped__"):
        _visit(thing, seen)
    elif isinstance(thing, Registry):
        for part in thing:
            _follow(thing[part], f"{name}.{part}", seen)
    elif isinstance(thing, set | frozenset) and name not in seen:
        seen[name] = repr(sorted(thing, key=repr))
    elif isinstance(thing, int | float | str | bytes | tuple | dict | list | re.Pattern) and name not in seen:
        seen[name] = re.sub(r" at 0x\w+", "", repr(thing))  # of a function in it only the name


def _bare(tree: ast.AST) -> ast.AST:
    """The tree without docstrings, annotations, decorators and imports from the package: what it imports is followed itself."""
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [line for line in body if not (  # type: ignore[attr-defined]
                isinstance(line, ast.ImportFrom) and (line.module or "").startswith("helpers."))] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.decorator_list = []
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for argument in [*node.args.args, *node.args.kwonlyargs]:
                argument.annotation = None
    return tree
