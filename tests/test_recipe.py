"""A change of what a step means cannot pass without a decision; a change of comments and layout passes. Recipes and keys: what
makes two computations the same one."""

import importlib.util
import json
import sys

import pytest

from helpers.steps import recipe, registry
from press import step_digests
from press.step_digests import source_digest

MEND = "raise the version if the results change; in both cases accept the present source with `book steps`"
SOURCE = '''
"""A module."""
import math
from helpers.data.runs import cut

LIMIT = 3
TABLE = {"a": 1}
UNUSED = 1


class Helper:
    """A class."""

    size = 2

    def double(self, x: int) -> int:
        """Twice."""
        return x * self.size


def inner(x: int) -> int:
    """Inner."""
    return x + LIMIT


def unused():
    return 1


def task(x: int, y: int = 1) -> int:
    """Do it."""
    # a comment
    z = inner(x) + TABLE["a"] + Helper().double(y)
    return z + math.floor(1.5) + len(cut.__name__)
'''

CHANGES = {
    "the body": ("z = inner(x)", "z = 2 * inner(x)"),
    "a helper's body": ("x + LIMIT", "x - LIMIT"),
    "a constant of a helper": ("LIMIT = 3", "LIMIT = 4"),
    "a constant's type": ("LIMIT = 3", "LIMIT = 3.0"),
    "a table": ('{"a": 1}', '{"a": 2}'),
    "a method of a class": ("x * self.size", "x + self.size"),
    "an attribute of a class": ("size = 2", "size = 3"),
    "a default": ("y: int = 1", "y: int = 2")}
NO_CHANGES = {
    "the docstring": ('"""Do it."""', '"""Do it\n\n    well.\n    """'),
    "a helper's docstring": ('"""Inner."""', '"""Other."""'),
    "a class's docstring": ('"""A class."""', '"""Another."""'),
    "no docstring": ('    """Do it."""\n', ""),
    "a comment": ("# a comment", "# another one"),
    "layout": ('z = inner(x) + TABLE["a"]', 'z = (inner(x)\n         + TABLE["a"])'),
    "something unused": ("UNUSED = 1", "UNUSED = 2"),
    "an unused function": ("def unused():\n    return 1", "def unused():\n    return 2"),
    "an annotation": ("x: int) -> int:\n    \"\"\"Inner", "x):\n    \"\"\"Inner"),
    "its place": ("LIMIT = 3", "\n\n\nLIMIT = 3")}


@pytest.fixture
def task_of(tmp_path, monkeypatch):
    """Makes a module of the package from a source, one after the other, and gives its function `task`."""
    def make(source):
        file = tmp_path / f"version_{len(list(tmp_path.iterdir()))}.py"
        file.write_text(source)
        spec = importlib.util.spec_from_file_location("helpers._fake_for_test", file)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "helpers._fake_for_test", module)
        spec.loader.exec_module(module)
        return module.task
    return make


@pytest.fixture(scope="module")
def present():
    return step_digests.all_steps()


def test_every_step_is_as_it_was_accepted(present):
    accepted = json.loads(step_digests.ACCEPTED.read_text())
    changed = sorted(name for name in {*present, *accepted} if present.get(name) != accepted.get(name))
    assert not changed, f"what these steps do has changed: {', '.join(changed)}. Mend: {MEND}"


@pytest.mark.slow
def test_digests_depend_on_no_memory_address(present):
    for name in present:
        seen = {}
        step_digests._visit(registry.STEPS[name].function, seen)
        assert seen, f"{name} has no source"
        assert [part for part, text in seen.items() if " at 0x" in text] == []


@pytest.mark.parametrize("what", [*CHANGES, *NO_CHANGES])
def test_a_change_of_meaning_changes_the_digest_and_one_of_words_or_layout_does_not(task_of, what):
    old, new = (CHANGES | NO_CHANGES)[what]
    assert SOURCE.count(old) == 1
    before = source_digest(task_of(SOURCE))
    assert (source_digest(task_of(SOURCE.replace(old, new))) != before) is (what in CHANGES)


@pytest.mark.parametrize(("old", "new"), [('{"a", "b"}', '{"a", "c"}'), ("None", "5"), ('b"x"', 'b"y"'),
                                          ("frozenset({1})", "frozenset({2})"), ("re.compile('a')", "re.compile('b')"),
                                          ("{8, 0}", "{0, 8}")])  # the order of a set depends on its history
def test_constants_of_every_kind_count(task_of, old, new):
    source = "import re\nSETTING = {}\n\n\ndef task(x):\n    return x, SETTING\n"
    before = source_digest(task_of(source.format(old)))
    assert (source_digest(task_of(source.format(new))) != before) is (old != "{8, 0}")


def test_a_function_imported_within_the_function_counts(task_of, monkeypatch):
    from helpers.data import runs
    source = "def task(x):\n    from helpers.data.runs import COLUMNS\n    return COLUMNS\n"
    before = source_digest(task_of(source))
    monkeypatch.setattr(runs, "COLUMNS", ["other"])
    assert source_digest(task_of(source)) != before


class Data:  # stands for a collection part: known by its digest, wherever it lies
    def __init__(self, path, digest):
        self.path, self.digest = path, digest

    def recipe(self):
        return {"data": [self.path], "digest": self.digest}


class Part:  # stands for an input step
    def __init__(self, name, version=1, **arguments):
        self.name, self.version, self.arguments = name, version, arguments

    def recipe(self):
        return recipe_of(self.name, self.version, **self.arguments)


def recipe_of(name="a_step", version=1, **arguments):
    described = {argument: recipe.describe(value) for argument, value in arguments.items()}
    return {"step": name, "version": version, "arguments": described}


def key(**arguments):
    return recipe.key_of(recipe_of(**arguments))


def test_the_parts_of_a_recipe_without_those_of_one_step_and_what_is_below_it():
    below = {"step": "c", "version": 1, "arguments": {}}
    run = {"step": "b", "version": 1, "arguments": {"of": below}}
    whole = {"step": "a", "version": 1, "arguments": {"run": run, "also": below}}
    assert [part["step"] for part in recipe.parts(whole)] == ["a", "b", "c", "c"]
    assert [part["step"] for part in recipe.parts(whole, without="b")] == ["a", "c"]


def test_canonical_json_is_sorted_and_without_spaces():
    value = {"b": [1, 2.5, None], "a": {"d": True, "c": "x"}}
    assert recipe.canonical(value) == '{"a":{"c":"x","d":true},"b":[1,2.5,null]}'
    assert key(a=value) == key(a={"a": {"c": "x", "d": True}, "b": [1, 2.5, None]})


def test_the_types_of_values_the_name_the_version_and_the_names_of_arguments_enter_the_key():
    assert len({key(a=value) for value in (1, 1.0, "1", True)}) == 4
    assert len({recipe.key_of(recipe_of("s", 1, a=1)), recipe.key_of(recipe_of("t", 1, a=1)),
                recipe.key_of(recipe_of("s", 2, a=1)), recipe.key_of(recipe_of("s", 1, b=1))}) == 4


def test_input_steps_enter_by_key():
    part = Part("below", size=3)
    by_hand = {"step": "a_step", "version": 1, "arguments": {"index": [{"inner": {"$step": recipe.key_of(part.recipe())}}]}}
    assert key(index=[{"inner": part}]) == recipe.sha256(recipe.canonical(by_hand))


def test_data_enters_by_digest_and_not_by_path():
    assert key(data=Data("/here", "abc")) == key(data=Data("/elsewhere", "abc")) != key(data=Data("/here", "abd"))
    assert key(a="abc") != key(a=Data("abc", "abc"))


def test_input_steps_lists_direct_inputs_in_order():
    deep = Part("deep")
    one, two = Part("one", below=deep), Part("two")
    result = recipe.input_steps(recipe_of(a=one, b=[1, {"x": two}], c=Data("p", "d"), e="text"))
    assert [part["step"] for part in result] == ["one", "two"]
