"""Other people's reproductions: every entry names what it repeats and where it was reported."""

import shutil
from pathlib import Path

import pytest

from helpers import paths
from helpers.errors import BadInput
from press import generated, others
from test_front_page import line

DEEPCT = "repbert-beats-improved-exact-match/DeepCT"


def test_a_study_page_shows_others_values_beside_the_printed_one_and_ours():
    tested = {DEEPCT: line(DEEPCT, "agrees")}
    shown = others.section("zhan2020", tested)
    assert "0.243 RR@10 (Zhan et al. (2020), table 1)" in shown
    assert '<a href="https://github.com/AdeDZY/DeepCT/issues/2">0.225, AdeDZY/DeepCT#2</a>' in shown
    assert "DeepCT</a>: agrees, +0.050 [+0.010, +0.090]" in shown
    assert "## What others measured" in generated.study_page("zhan2020", [])
    assert others.section("alarfaj2022", {}) == "We know of none."
    assert "0.382 RR@10, as its authors state" in others.section("gao2021", {})


@pytest.mark.parametrize(("old", "new", "said"), [
    ("AdeDZY/DeepCT#2", "a friend", "no source"), ("[repbert-beats-bm25]", "[bert-max-beats-bm25]", "no claim"),
    ("value: 0.225", "value: 22.5", "no share"), ("value: 0.225", "value: about .2", "could not convert"),
    ('row: "DeepCT [1]"', "row: DeepCT", "has no table 1"), ("    stated: 0.357\n", "", "neither"),
    ("value: 0.225", "values: 0.225", "unexpected keyword")])
def test_a_faulty_entry_is_named_with_its_mend(tmp_path, monkeypatch, old, new, said):
    monkeypatch.setattr(paths, "PUBLISHED", Path(shutil.copytree(paths.PUBLISHED, tmp_path / "published")))
    file = paths.PUBLISHED / others.FILE
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(BadInput, match=rf"entry \d+: .*{said}.*Mend: see the head"):
        others.load()
