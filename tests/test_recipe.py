"""Recipes and keys: what makes two computations the same one."""

from helpers.steps import recipe


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
