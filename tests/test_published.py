"""What is printed: the studies' tables as data, and other people's reproductions."""

import shutil
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from helpers import paths
from helpers.errors import BadInput
from helpers.evaluation import published
from press import chapters, generated, page_header
from test_front_page import line

# ---- the studies' tables ----

DIGEST = Path(__file__).parent / "published_digest.yaml"


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """Changes a text in a copy of the transcription, which is then the one that is read (`load` remembers files)."""
    monkeypatch.setattr(paths, "PUBLISHED", Path(shutil.copytree(paths.PUBLISHED, tmp_path / "published")))

    def change(name, old, new, times=-1):
        file = paths.PUBLISHED / f"{name}.yaml"
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1 or times == 1 and old in text
        file.write_text(text.replace(old, new, times), encoding="utf-8")
        published.load.cache_clear()
    yield change
    published.load.cache_clear()


def number(entry):
    """The exact number of a cell, None for words and lists; a list of one number is that number."""
    value = entry.value[0] if isinstance(entry.value, list) and len(entry.value) == 1 else entry.value
    return Decimal(str(value)) if isinstance(value, int | float) else None


def transcribed(study):
    """(cells, sum, marks) of each column of each numbered table; `text` and `figure` entries are in no digest."""
    result = {}
    for entry in published.load(study).values():
        if not entry.table.startswith(("text ", "figure ")):
            key, value = (entry.table, entry.column), number(entry)
            cells, total, marks = result.get(key, (0, Decimal(0), 0))
            result[key] = (cells + (value is not None), total + (value or 0), marks + bool(entry.mark))
    return result


def digested(study):
    digest = yaml.load(DIGEST.read_text(encoding="utf-8"), yaml.BaseLoader)  # every number stays the text it is
    return {(table, column): (int(told["cells"]), Decimal(told["sum"]), int(told["marks"]))
            for table, columns in digest[study].items() for column, told in columns.items()}


def disagreements(study):
    ours, theirs = transcribed(study), digested(study)
    return {key: (ours.get(key), theirs.get(key)) for key in {*ours, *theirs} if ours.get(key) != theirs.get(key)}


# ---- the transcription against the digest ----

@pytest.mark.parametrize("study", published.STUDIES)
def test_every_column_has_the_cells_the_sum_and_the_marks_of_the_digest(study):
    assert disagreements(study) == {}


@pytest.mark.parametrize("old, new, column", [
    ("measure: RR@10, value: 0.619", "measure: RR@10, value: 0.618", ("5.6", "MRR@10(Train)")),
    ("measure: RR@10, value: 0.619", "measure: RR@10, value: 0.6190001", ("5.6", "MRR@10(Train)")),
    ('value: 0.619, mark: "†"', "value: 0.619", ("5.6", "MRR@10(Train)")),
    ("{row: BM25, column: nDCG@20,", "{row: BM25, column: nDCG@10,", ("3.1", "nDCG@20")),
    ("value: 0.424}", 'value: "0.424"}', ("3.1", "nDCG@20")),  # a text is no numeric cell
    ("      - {row: BM25, column: nDCG@20, system: bm25, measure: nDCG@20, value: 0.424}\n", "", ("3.1", "nDCG@20"))])
def test_one_changed_cell_is_noticed(copy, old, new, column):
    assert disagreements("steensland2021") == {}
    copy("steensland2021", old, new)
    assert column in disagreements("steensland2021")


# ---- the files' form ----

@pytest.mark.parametrize("study", published.STUDIES)
def test_entries_are_complete(study):
    for entry in published.load(study).values():
        named = (entry.cite, entry.table, entry.row, entry.column, entry.system, entry.measure)
        assert all(isinstance(text, str) and text for text in named)
        assert isinstance(entry.value, int | float | str | list)
        assert entry.mark in ("", "†")
        assert entry.unit in (None, "percent")
        assert entry.queries is None or entry.queries > 0


def test_measures_between_0_and_1_are():
    fractions = ("RR", "AP", "nDCG", "R", "P", "Rprec", "accuracy")
    for entry in published.everything():
        if entry.unit is None and entry.measure.partition("@")[0] in fractions:
            assert entry.value == "all" or 0 < entry.value < 1  # "all" is figure 5.4 of Steensland


@pytest.mark.parametrize("old, new, said", [
    ("row: BERT-FirstP, column: nDCG@20,", "row: BM25, column: nDCG@20,", "table 3.1 has two values for 'BM25', 'nDCG@20'"),
    ("bm25, measure: nDCG@20, value: 0.424", "bm25, value: 0.424", "steensland2021.yaml: table 3.1, row 'BM25': .*measure"),
    ("measure: nDCG@20, value: 0.424", "measure: nDCG@20, meazure: 1, value: 0.424", "row 'BM25': .*meazure")])
def test_a_cell_that_stands_twice_and_a_missing_or_unknown_field_are_refused(copy, old, new, said):
    copy("steensland2021", old, new)
    with pytest.raises(BadInput, match=said):
        published.load("steensland2021")


# ---- looking values up ----

def test_a_value_knows_its_place_and_mark():
    entry = published.value("steensland2021", "5.1", "BERT-Mean", "MRR@10")
    assert (entry.where, entry.mark) == ("Steensland (2021), table 5.1", "†")
    assert (entry.dataset, entry.split, entry.queries) == ("msmarco-document", "test", 200)  # of the whole table
    dev = published.value("zhan2020", "1", "RepBERT", "MRR@10 / Dev")
    assert (dev.split, dev.queries) == ("dev", 6900)  # its own come before the table's
    assert published.column("zhan2020", "1", "MRR@10 / Dev")["RepBERT"] == dev
    assert published.value("steensland2021", "figure 5.4", "R", "largest").where == "Steensland (2021), figure 5.4"


def test_percentages_are_shown_as_shares_with_their_places():
    assert published.value("gao2021", "1", "BERT", "Spearman / 500").shown == "0.686"
    assert published.value("zhan2020", "2", "5", "RepBERT / improvement").shown == "+0.38"
    assert published.value("gao2021", "2", "BERT", "Accuracy / FULL").shown == "0.80"


def test_each_study_has_its_divergences_with_reason_and_direction():
    listed = yaml.safe_load((paths.PUBLISHED / "divergences.yaml").read_text(encoding="utf-8"))["divergences"]
    assert list(listed) == ["all", *published.STUDIES]
    assert all(len(own) >= 6 for study, own in listed.items() if study != "all")
    assert {tuple(line)[:3] for own in listed.values() for line in own} == {("what", "why", "pushes")}
    named = Counter(chapter for own in listed.values() for line in own for chapter in line.get("chapters", ()))
    assert {*named} <= {*chapters.names()} and max(named.values()) <= page_header.MOST
    assert all(page_header.otherwise(chapter).count("<tr>") == 1 + page_header.MOST for chapter in named)
    assert {line["pushes"].split()[0].strip(";,") for own in listed.values() for line in own} <= {"up", "down", "either", "none"}


@pytest.mark.parametrize("calls, choice", [
    (("steensland2021", "5.1", "BERT-Mean", "nDCG@10"), "BERT-Mean | MRR@10"),  # the cells of the table
    (("steensland2021", "5.1", "BERT-Median", "MRR@10"), "BM25 | Recall@10"),
    (("steensland2021", "9.9", "BM25", "MRR@10"), "5.6, figure 5.1"),  # the tables of the study
    (("steensland2022", "5.1", "BM25", "MRR@10"), ", ".join(published.STUDIES))])
def test_an_unknown_lookup_names_the_choices(calls, choice):
    with pytest.raises(BadInput) as caught:
        published.value(*calls)
    assert choice in caught.value.mend
    assert any(part in str(caught.value) for part in calls)


# ---- other people's reproductions ----

DEEPCT = "repbert-beats-improved-exact-match/DeepCT"


def test_a_study_page_shows_others_values_beside_the_printed_one_and_ours():
    tested = {DEEPCT: line(DEEPCT, "agrees")}
    shown = generated.measured_by_others("zhan2020", tested)
    assert "0.243 RR@10 (Zhan et al. (2020), table 1)" in shown
    assert '<a href="https://github.com/AdeDZY/DeepCT/issues/2">0.225, AdeDZY/DeepCT#2</a>' in shown
    assert "DeepCT</a>: agrees, +0.050 [+0.010, +0.090]" in shown
    assert "## What others measured" in generated.study_page("zhan2020", [])
    assert generated.measured_by_others("alarfaj2022", {}) == "We know of none."
    assert "0.382 RR@10, as its authors state" in generated.measured_by_others("gao2021", {})


@pytest.mark.parametrize(("old", "new", "said"), [
    ("AdeDZY/DeepCT#2", "a friend", "no source"), ("[repbert-beats-bm25]", "[bert-max-beats-bm25]", "no claim"),
    ("value: 0.225", "value: 22.5", "no share"), ("value: 0.225", "value: about .2", "could not convert"),
    ("row: DeepCT,", "row: DeepCTT,", "has no table 1"), ("    stated: 0.357\n", "", "neither"),
    ("value: 0.225", "values: 0.225", "unexpected keyword")])
def test_a_faulty_entry_is_named_with_its_mend(copy, old, new, said):
    copy("others", old, new, times=1)
    with pytest.raises(BadInput, match=rf"entry \d+: .*{said}.*Mend: see the head"):
        generated.others()
