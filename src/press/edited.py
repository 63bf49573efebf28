"""Files that readers edit, YAML, notebooks and templates: read so that a mistake in one is told with its file and line."""

import functools
from pathlib import Path
from typing import Any

import nbformat
import yaml

from helpers import paths
from helpers.errors import BadInput


class _Once(yaml.SafeLoader):
    """YAML in which no key stands twice, of which the last would win without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"{key.value!r} stands twice", problem_mark=key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


def yaml_of(file: Path) -> Any:
    """What a YAML file says, to be read only; BadInput if it is none."""
    try:
        return _parsed(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        raise BadInput(f"no YAML: {getattr(error, 'problem', None) or str(error).splitlines()[0]}", file=file,
                       line=mark.line + 1 if mark else None, mend="mend it there, or restore the file from git") from None


@functools.lru_cache(maxsize=32)  # contents and profiles are asked for at every chapter, hundreds of times a build
def _parsed(text: str) -> Any:
    return yaml.load(text, _Once)  # noqa: S506 - a safe loader


def filled(template: str, **parts: str) -> str:
    """A file of `book/templates`, with its generated parts where it names them."""
    return (paths.ROOT / "book" / "templates" / template).read_text(encoding="utf-8").format(**parts)


def notebook_of(file: Path) -> nbformat.NotebookNode:
    """A notebook; BadInput if the file is none."""
    try:
        return nbformat.reads(file.read_text(encoding="utf-8"), as_version=4)
    except (ValueError, KeyError, AttributeError, TypeError, nbformat.ValidationError) as error:
        raise BadInput("no notebook", file=file, line=getattr(error.__cause__, "lineno", None),
                       mend="restore it from git") from None
