"""Disk, memory and GPU hours in what `book explain` prints, offline and on a fake book."""

import socket

import nbformat
import pytest

from helpers import paths
from helpers.steps import provenance
from press.forecast import explain, scale_report, workload
from press.forecast.estimates import Expected
from press.forecast.workload import Load

PARAMETERS = 'collection: str = "almanac"  # what\nbackbone: str = "packaged"  # of the model'
CELLS = ("from helpers.systems.base_reranker import base_reranker\nfrom helpers.systems.testbed import Testbed",
         'model = base_reranker(collection, backbone, 100, unit="passage")\nbed = Testbed(collection, "passage", queries=4)',
         "scores = model.scores(bed, bed.bm25(0.9, 0.4, 100), 50)", "frame = scores.value()")
LARGE = 'collection: "irds:msmarco-passage", backbone: "hub:google-bert/bert-base-uncased@main"'


@pytest.fixture
def book(tmp_path, monkeypatch):
    """Three chapters that score the same candidates: two on MS MARCO, one on the Almanac; nothing is known, nothing is open."""
    monkeypatch.setenv("BOOK_STORE", str(tmp_path / "store"))
    for name in ("NOTEBOOKS", "PROFILES", "RESULTS", "BOOK", "CHAPTERS"):
        monkeypatch.setattr(paths, name, tmp_path / name.lower())
        (tmp_path / name.lower()).mkdir()
    monkeypatch.setattr(provenance, "commit", lambda: "abc")
    (paths.BOOK / "_toc.yml").write_text(
        "parts: [{chapters: [{file: chapters/one}, {file: chapters/two}, {file: chapters/small}]}]")
    (paths.PROFILES / "large.yaml").write_text(f"shared: {{}}\nchapters: {{one: {{{LARGE}}}, two: {{{LARGE}}}}}")
    (paths.PROFILES / "almanac.yaml").write_text("shared: {}")
    for name in ("one", "two", "small"):
        made = [nbformat.v4.new_markdown_cell(f"# {name}"),
                nbformat.v4.new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}), *map(nbformat.v4.new_code_cell, CELLS)]
        nbformat.write(nbformat.v4.new_notebook(cells=made), paths.NOTEBOOKS / f"{name}.ipynb")

    def refuse(*_, **__):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "__init__", refuse)


def test_a_chapter_has_a_line_for_each_large_step(book):
    lines = explain.text(explain.plan("one", "large", {})).splitlines()
    assert lines[2].split("  ")[0] == "step to compute"
    assert all(head in lines[2] for head in scale_report.HEADS)
    steps = {line.split()[0]: line for line in lines if line}
    assert steps["window_scores"].split()[2:9] == ["<", "0.1", "3.0", "1.0", "<", "0.1", "never"]
    assert steps["prebuilt_index"].split()[2] == "7.4"  # twice 3.72 GB
    assert steps["text_store"].split()[2] == "3.7"
    told = next(line for line in lines if line.startswith("estimated: "))
    assert "small steps not counted" in told
    assert any("312 TFLOP/s" in line and "35%" in line for line in lines)
    assert not any(line.startswith("expected: ") for line in lines)


def test_the_whole_book_has_columns_and_counts_shared_steps_once(book):
    lines = explain.whole_book("large").splitlines()
    assert lines[0].split("  ")[0] == "chapter"
    assert all(head in lines[0] for head in scale_report.HEADS)
    one, two, small = (line.split() for line in lines[1:4])
    assert one[1:] == two[1:]
    assert len(one) > len(small)
    assert one[3].endswith("+")  # the value that the chapter asks for has no stand-in
    plan = explain.plan("one", "large", {})
    both = next(line for line in lines if line.startswith("chapters on large collections"))
    assert f"each step once: {len(plan.expected)} to compute" in both
    whole = workload.together(scale_report.loads([each.step for each in plan.expected]).values())
    assert f"estimated: {scale_report.cells(whole)[0]} GB of disk" in both
    assert any(line.startswith("the other chapters, each step once:") for line in lines)
    assert any(line.startswith("estimates, ") for line in lines)


def test_the_almanacs_output_is_as_before(book):
    text = explain.whole_book("almanac")
    assert text.splitlines()[0].split("  ")[-1] == "expected"
    assert not any(head in text for head in scale_report.HEADS)
    assert "all chapters, each step once" in text
    assert "estimate" not in text
    assert "expected: " in explain.text(explain.plan("small", "large", {}))


@pytest.mark.parametrize(("value", "said"), [(0, "0.0"), (0.01, "< 0.1"), (3.44, "3.4"), (9.99, "10.0"), (26.4, "26"),
                                             (1240.2, "1,240")])
def test_amounts(value, said):
    assert scale_report.amount(value) == said


def test_what_is_not_there_is_left_empty():
    assert scale_report.cells(None) == ("", "", "", "")
    assert scale_report.cells(Load(disk=2e9, memory=1e9)) == ("2.0", "1.0", "", "")


def test_the_sum_in_words():
    assert scale_report.told({"a": Load(2e9, 1e9), "b": None}) == (
        "estimated: 2.0 GB of disk, up to 1.0 GB of memory, 0 GPU hours; 1 small step not counted")
    assert scale_report.told({"a": Load(0, 1e9, 3e9, 3.9312e17)}) == (
        "estimated: 0.0 GB of disk, up to 1.0 GB of memory, 1.0 GPU hours with up to 3.0 GB of GPU memory")


def test_nothing_to_compute_is_not_large():
    assert not scale_report.is_large(list[Expected]())
