"""A reader's own copy: the template with other values in its parameter cell, and nothing else changed."""

import json

import nbformat
import pytest

from helpers import paths
from helpers.errors import BadInput
from press import chapters


@pytest.mark.parametrize("profile", ["almanac", "mini"])
@pytest.mark.parametrize("chapter", chapters.templates())
def test_a_copy_declares_the_profile_s_values_and_is_else_the_template(chapter, profile, tmp_path, monkeypatch):
    file = chapters.write_copy(chapter, profile, {}, tmp_path)
    values = chapters.resolve(chapter, profile, {})
    before, after = (nbformat.read(f, as_version=4).cells for f in (chapters.template(chapter), file))
    differ = [cell.metadata.get("tags") for cell, old in zip(after, before, strict=True) if cell != old]
    assert differ in ([], [["parameters"]])
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    known = chapters.schema(chapter)
    assert {name: parameter.default for name, parameter in known.items()} == values


def test_values_from_the_command_line_come_last(tmp_path):
    file = chapters.write_copy("candidates", "mini", {"depths": "[5]", "backbone": 'a "folder"'}, tmp_path)
    source = next("".join(cell["source"]) for cell in json.loads(file.read_text())["cells"]
                  if "parameters" in cell["metadata"].get("tags", []))
    assert "depths: list[int] = [5]  # numbers of candidates" in source
    assert """backbone: str = 'a "folder"'  # """ in source


def test_a_copy_that_is_there_is_not_overwritten(tmp_path):
    (tmp_path / "seeds.ipynb").write_text("my work")
    with pytest.raises(BadInput, match="rename it"):
        chapters.write_copy("seeds", "mini", {}, tmp_path)
    assert (tmp_path / "seeds.ipynb").read_text() == "my work"
