"""What a chapter's page depends on of the code: every module that its template imports, followed through `src`.

Imports are read from the sources, those within functions too, so that nothing has to run. With a module come the files beside it
that are no code, such as the word lists that rules read.
"""

import ast
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

from helpers import paths
from helpers.errors import BadInput
from helpers.steps.digests import sha256
from press import chapters

SOURCES = paths.PACKAGE.parent
PAGE = "press.page_header"  # makes a page of an executed notebook


def of_chapter(chapter: str) -> dict[str, str]:
    """The digest of every file of the packages that a chapter's page depends on, by its path below `src`."""
    own = chapters.chapter(chapter)
    try:
        return digests({PAGE, *imports("\n".join(cell.source for cell in own.code))})
    except SyntaxError as error:
        raise BadInput(f"{(error.text or '').strip()!r} is no Python", file=own.file, mend="mend the cell") from None


def digests(roots: Iterable[str]) -> dict[str, str]:
    """The digest of every file that these modules depend on, by its path below `src`."""
    files = {file for source in closure(roots).values() for file in (source, *_data(source.parent))}
    return {file.relative_to(SOURCES).as_posix(): sha256(file) for file in sorted(files)}


def closure(roots: Iterable[str]) -> dict[str, Path]:
    """The modules of `src` that these import, directly or through others, with their files; the packages around them, too."""
    reached: dict[str, Path] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in reached and (file := _source(SOURCES, name)) is not None:
            reached[name] = file
            waiting += [name.rpartition(".")[0], *_imports(file, sha256(file))]
    return reached


def imports(code: str) -> Iterator[str]:
    """What a source imports, by full names; `from a import b` names both `a` and `a.b`, whether that is a module or not."""
    for node in ast.walk(chapters.parsed(code)):
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


@functools.cache
def _data(folder: Path) -> tuple[Path, ...]:
    """What lies beside a package's modules that is no code, in folders too that are no packages."""
    packages = {file.parent for file in folder.rglob("__init__.py")} - {folder}
    return tuple(file for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix not in (".py", ".pyc")
                 and not packages & set(file.parents))


@functools.cache
def _imports(file: Path, digest: str) -> tuple[str, ...]:
    """What a module imports, once for each content of it: all chapters ask for it."""
    return tuple(imports(file.read_text(encoding="utf-8")))
