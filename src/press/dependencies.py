"""What a chapter's page depends on of the code: every module that its template imports, followed through `src`.

Imports are read from the sources, those within functions too, so that nothing has to run. With a module come the files beside it
that are no code, such as the word lists that rules read.
"""

import ast
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat

from helpers import paths
from helpers.steps import recipe
from press import chapters

SOURCES = paths.PACKAGE.parent
PAGE = "press.page_header"  # makes a page of an executed notebook


def of_chapter(chapter: str) -> dict[str, str]:
    """The digest of every file of the packages that a chapter's page depends on, by its path below `src`."""
    cells = nbformat.read(chapters.template(chapter), as_version=4).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    return digests({PAGE, *imports(code)})


def digests(roots: Iterable[str]) -> dict[str, str]:
    """The digest of every file that these modules depend on, by its path below `src`."""
    files = {file for module in closure(roots) for file in _files(module)}
    return {file.relative_to(SOURCES).as_posix(): _digest(file, *_state(file)) for file in sorted(files)}


def closure(roots: Iterable[str]) -> set[str]:
    """The modules of `src` that these import, directly or through others, themselves and the packages around them included."""
    reached: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in reached and (file := _source(SOURCES, name)) is not None:
            reached.add(name)
            waiting += [name.rpartition(".")[0], *_imports_of(file, *_state(file))]
    return reached


def imports(code: str) -> Iterator[str]:
    """What a source imports, by full names; `from a import b` names both `a` and `a.b`, whether that is a module or not."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@functools.cache
def _source(sources: Path, module: str) -> Path | None:
    """A module's file; None if there is none of this name."""
    place = sources / module.replace(".", "/")
    return next((file for file in (place / "__init__.py", place.with_suffix(".py")) if module and file.is_file()), None)


def _files(module: str) -> Iterator[Path]:
    """A module's file, and what lies beside it that is no code, in folders too that are no packages."""
    if (file := _source(SOURCES, module)) is not None:
        yield file
        yield from _data(file.parent)


@functools.cache
def _data(folder: Path) -> tuple[Path, ...]:
    packages = {file.parent for file in folder.rglob("__init__.py")} - {folder}
    return tuple(file for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix not in (".py", ".pyc")
                 and not packages & set(file.parents))


def _state(file: Path) -> tuple[int, int]:
    state = file.stat()
    return state.st_size, state.st_mtime_ns


@functools.cache
def _digest(file: Path, size: int, changed: int) -> str:
    """A file's digest, taken once for each state of it: all chapters ask for it."""
    return recipe.sha256(file.read_bytes())


@functools.cache
def _imports_of(file: Path, size: int, changed: int) -> tuple[str, ...]:
    return tuple(imports(file.read_text(encoding="utf-8")))
