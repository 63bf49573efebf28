"""Chapters: a template's parameters as a schema, checked values, and a reader's own copy with other values.

The cell tagged `parameters` is the one schema: `name: type = default  # meaning`. The command line, the profiles and
the table on the page all read it. Papermill alone would only warn of an unknown name.
"""

import ast
import contextlib
import functools
import json
import os
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import nbformat
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from helpers import paths
from helpers.data.collection import with_relevance
from helpers.errors import BadInput
from helpers.steps import digests
from press import bounds
from press.edited import notebook_of, yaml_of
from press.terminal import shortened

TYPES = {"int": Annotated[int, Field(ge=0)], "float": Annotated[float, Field(ge=0, allow_inf_nan=False)],
         "bool": bool, "list": list,
         "str": Annotated[str, Field(min_length=0)]}  # any length: pydantic measures it, and refuses what is not Unicode


@dataclass(frozen=True)
class Parameter:
    """One parameter of a chapter, as its cell declares it."""

    name: str
    annotation: str
    default: Any
    meaning: str

    def check(self, value: Any) -> Any:
        """The value in its declared type (an int where a float is due becomes one); BadInput if it is of another type, a number
        below 0 or not finite, or a text that is not Unicode."""
        try:
            kind = eval(self.annotation, {"__builtins__": {}}, TYPES)  # noqa: S307 - our own template's annotation
            return TypeAdapter(kind).validate_python(value, strict=True)
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            raise BadInput(f"parameter {self.name} = {shortened(repr(value))}: {problem}",
                           mend=f"give a value of type {self.annotation}, such as {self.default!r}") from None

    def parse(self, text: str) -> Any:
        """The value of a command-line text: itself for `str`, JSON or a Python literal for the rest, and a list of bare
        words for a list of texts."""
        value: Any = text
        for read in () if self.annotation == "str" else (ast.literal_eval, json.loads):
            with contextlib.suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):  # nested too deeply
                value = read(text)
        if isinstance(value, str) and self.annotation == "list[str]" and re.fullmatch(r"\[.*\]", value):
            value = [word.strip().strip("'\"") for word in value[1:-1].split(",")]  # what a shell has left of the quotes
        return self.check(value)


def listing(chapter: str) -> list[str]:
    """The parameters of a chapter, a line each."""
    return [f"{one.name}: {one.annotation} = {one.default!r}   {one.meaning}" for one in schema(chapter).values()]


def names() -> list[str]:
    """The chapters of the book, in its order."""
    toc = yaml_of(paths.BOOK / "_toc.yml")
    try:
        files = [page["file"] for part in toc["parts"] for page in part["chapters"]]
        return [Path(file).name for file in files if file.startswith("chapters/")]
    except (KeyError, TypeError, AttributeError):
        raise BadInput("no contents, which have `parts` with `chapters` of a `file` each", file=paths.BOOK / "_toc.yml",
                       mend="restore it from git") from None


def templates() -> list[str]:
    """All chapters that can be run, those too that the book's contents do not list yet."""
    return sorted(file.stem for file in paths.NOTEBOOKS.glob("*.ipynb"))


def template(chapter: str) -> Path:
    """The template of a chapter; BadInput if there is none of that name."""
    file = paths.NOTEBOOKS / f"{chapter}.ipynb"
    if not file.exists():
        raise BadInput(f"no chapter {chapter!r}", mend=f"choose from {', '.join(templates())}")
    return file


@dataclass(frozen=True)
class Chapter:
    """A chapter as its template has it, read once for each state of the file; BadInput for a file that is none."""

    file: Path
    notebook: nbformat.NotebookNode

    @functools.cached_property
    def title(self) -> str:
        """The first line of its first cell."""
        return self.notebook.cells[0].source.partition("\n")[0].removeprefix("# ")

    @functools.cached_property
    def code(self) -> list[nbformat.NotebookNode]:
        """Its cells of code."""
        return [cell for cell in self.notebook.cells if cell.cell_type == "code"]

    @functools.cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Its parameters by name, in the cell's order."""
        cell = next((cell for cell in self.code if "parameters" in cell.metadata.get("tags", [])), None)
        if cell is None:
            raise BadInput("no cell is tagged `parameters`", file=self.file, mend="tag the cell that declares them")
        lines, declared, mend = cell.source.splitlines(), dict[str, Parameter](), "write `name: type = default  # meaning`"
        try:
            nodes = ast.parse(cell.source).body
        except SyntaxError as error:
            raise BadInput(f"{(error.text or '').strip()!r} is no Python", file=self.file, mend=mend) from None
        for node in nodes:
            line = lines[(node.end_lineno or node.lineno) - 1]
            if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value and "#" in line):
                raise BadInput(f"{line!r} is no parameter", file=self.file, mend=mend)
            name, meaning = node.target.id, line.split("#", 1)[1].strip()
            declared[name] = Parameter(name, ast.unparse(node.annotation), ast.literal_eval(node.value), meaning)
        return declared


def chapter(name: str) -> Chapter:
    """A chapter by its name; see `template`."""
    return _read(file := template(name), digests.state_of(file))


@functools.cache
def _read(file: Path, state: digests.State | None) -> Chapter:
    return Chapter(file, notebook_of(file))


def schema(name: str) -> dict[str, Parameter]:
    """The parameters of a chapter by name."""
    return chapter(name).parameters


class Profile(BaseModel, extra="forbid"):
    """A profile's file: `shared` values for every chapter that has the parameter, and `chapters` for one alone."""

    shared: dict[str, Any] | None = None
    chapters: dict[str, dict[str, Any] | None] | None = None


def profile_file(name: str) -> Path:
    """The file of a profile: of one in `profiles/` its name will do."""
    return Path(name).expanduser() if name.endswith((".yaml", ".yml")) else paths.PROFILES / f"{name}.yaml"


def profile(name: str) -> dict[str, Any]:
    """The values of a profile, `shared` and `chapters`, by its name or its file; BadInput if there is none, or it names chapters
    or parameters that there are not."""
    file = profile_file(name)
    if not file.is_file():
        there = sorted({file.stem for file in paths.PROFILES.glob("*.yaml")} - {"queue"})
        raise BadInput(f"no profile {name!r}", mend=f"choose from {', '.join(there)}, or give a YAML file")
    try:
        content = Profile.model_validate(yaml_of(file) or {})
    except ValidationError as error:
        raise BadInput(f"no profile, which maps names to values in `shared` and `chapters` ({str(error).splitlines()[0]})",
                       file=file, mend="see profiles/almanac.yaml") from None
    shared, own = content.shared or {}, {name: values or {} for name, values in (content.chapters or {}).items()}
    if unknown := sorted(set(shared) - {parameter for chapter in names() for parameter in schema(chapter)}):
        raise BadInput(f"no chapter has a parameter {unknown[0]!r}", file=file, mend="remove it from `shared`")
    if unknown := sorted(set(own) - set(templates())):
        raise BadInput(f"no chapter {unknown[0]!r}", file=file, mend=f"choose from {', '.join(templates())}")
    return {"shared": shared, "chapters": own}


def resolve(chapter: str, profile_name: str, given: dict[str, str]) -> dict[str, Any]:
    """The values of a chapter's parameters: its defaults, then the profile's, then the given texts. BadInput for an unknown name
    (naming the valid ones), a value of the wrong type, or one that makes no sense (`bounds`)."""
    known, content = schema(chapter), profile(profile_name)
    own = content["chapters"].get(chapter, {})
    for source, where in ((given, "the command line"), (own, str(profile_file(profile_name)))):
        if unknown := sorted(set(source) - set(known)):
            raise BadInput(f"chapter {chapter} has no parameter {unknown[0]!r} ({where})",
                           mend=f"choose from {', '.join(known)}")
    shared = {name: value for name, value in content["shared"].items() if name in known}
    defaults = {name: parameter.default for name, parameter in known.items()}
    values = {**defaults, **shared, **own}
    checked = {name: known[name].check(value) for name, value in values.items()}
    parsed = {name: known[name].parse(text) for name, text in given.items()}
    checked |= parsed | beside(checked, parsed, defaults)
    bounds.check(chapter, checked, defaults)
    return checked


def beside(values: dict[str, Any], given: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """The other values that name files of a folder which the command line replaces by another: the same files there, such as
    published runs for its queries; where one of them is missing, the templates' defaults."""
    changed: dict[str, Any] = {}
    for name, folder in given.items():
        before = values[name]
        if not isinstance(before, str) or "/" not in before or ":" in before:
            continue
        old, new = (json.dumps(f"{with_relevance(place)[0]}/")[:-1] for place in (before, folder))  # how a text begins
        others = {other: json.loads(text.replace(old, new)) for other, value in values.items()
                  if other not in given and old in (text := json.dumps(value))}
        files = [file for value in others.values() for file in (value if isinstance(value, list) else [value])
                 if file.startswith(json.loads(f'{new}"'))]
        whole = all((paths.ROOT / os.path.expanduser(file)).is_file() for file in files)
        changed |= others if whole else {other: defaults[other] for other in others}
    return changed


def open_copies(chapters: Sequence[str], profile: str, given: dict[str, str], to: Path) -> Iterator[str]:
    """Write copies of chapters' templates into a folder, and tell where they are. They are templates still: only the parameter
    cell, which has the profile's values, differs. BadInput if a file is there already, since it may hold own work."""
    for name in chapters:
        values, target = resolve(name, profile, given), to / f"{name}.ipynb"
        if target.exists():
            raise BadInput("there is a copy of this chapter already", file=target, mend="open it, or rename it to get a new one")
        notebook = deepcopy(chapter(name).notebook)
        cell = next(cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", []))
        cell.source = "\n".join(f"{one.name}: {one.annotation} = {values[one.name]!r}  # {one.meaning}"
                                for one in schema(name).values())
        to.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, target)
        yield f"{name} -> {target}"
