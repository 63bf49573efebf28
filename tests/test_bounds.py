"""Values that make no sense are refused by name, before anything runs; those of the book are not."""

from pkgutil import resolve_name

import pytest

from helpers.errors import BadInput
from helpers.systems.recipe import LOSSES
from press import bounds, chapters

NONSENSE = [
    ("seeds", "epochs", "0"), ("seeds", "candidates", "0"), ("collection", "k1", "-1"), ("collection", "b", "2"),
    ("collection", "depth", "50"), ("collection", "recall_depths", "[1, 200]"), ("seeds", "learning_rate", "nan"),
    ("seeds", "learning_rate", "0"), ("seeds", "aggregation", "median"), ("seeds", "seeds", "[]"), ("seeds", "seeds", "[1, 1]"),
    ("seeds", "seeds", '["a"]'), ("seeds", "seeds", "[5000000000]"), ("collection", "queries", "-5"), ("seeds", "unit", "book"),
    ("encoders", "poolings", '["mean", "median"]'), ("recipe", "losses", '["hinge"]'), ("recipe", "negatives", '["none"]'),
    ("candidates", "depths", "[]"), ("long_inputs", "attention_window", "31"), ("parameters", "dropout", "1"),
    ("collection", "queries", "10000000000"), ("nearest_neighbours", "target", "1.5"), ("cost", "devices", '["tpu"]')]


@pytest.mark.parametrize(("chapter", "name", "text"), NONSENSE)
def test_nonsense_is_refused_with_the_name_the_value_and_what_is_allowed(chapter, name, text):
    with pytest.raises(BadInput, match=rf"parameter {name} = .*Mend: (give|choose)") as error:
        chapters.resolve(chapter, "almanac", {name: text})
    assert text.strip('[]"') in str(error.value).replace("'", '"') or text == "[1, 1]"


@pytest.mark.parametrize(("chapter", "name", "text"), [
    ("collection", "b", "1"), ("collection", "queries", "0"), ("depth", "depths", "[]"), ("cost", "devices", "[]"),
    ("seeds", "seeds", "[0]"), ("does_it_work", "warm_up", "0"), ("explorer", "depth", "3"), ("speed", "unit", "")])
def test_ends_of_what_is_allowed(chapter, name, text):
    chapters.resolve(chapter, "almanac", {name: text})


def test_the_table_has_every_name_once_and_none_that_no_chapter_has():
    known = {name for chapter in chapters.templates() for key in chapters.schema(chapter) for name in (key, f"{chapter}.{key}")}
    ranges = [name for names in bounds.RANGES.values() for name in names.split()]
    assert len(set(ranges)) == len(ranges)
    assert {*ranges, *bounds.CHOICES, *bounds.MAY_BE_EMPTY, *bounds.EVEN, *bounds.NOT_ABOVE} - known == set()


def test_a_loss_that_is_registered_may_be_chosen(monkeypatch):
    with pytest.raises(BadInput, match="choose from 'BCE', 'LCE'"):
        chapters.resolve("recipe", "almanac", {"losses": '["hinge"]'})
    monkeypatch.setitem(LOSSES, "hinge", {"hinge": 1.0})
    chapters.resolve("recipe", "almanac", {"losses": '["hinge"]'})


@pytest.mark.parametrize("registry", sorted({value for value in bounds.CHOICES.values() if isinstance(value, str)}))
def test_every_registry_of_choices_has_names(registry):
    assert all(isinstance(name, str) for name in resolve_name(registry))
