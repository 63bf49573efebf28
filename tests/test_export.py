import pandas as pd
import pytest
import yaml

from helpers.data.runs import read_trec
from helpers.errors import BadInput
from helpers.pages import ir_metadata
from press.why import why
from toys import of_values, run_of

LINE = {"key": "k1", "recipe": {"step": "bm25_run", "version": 1, "arguments": {
    "k1": 0.9, "queries": {"step": "queries", "arguments": {"parts": [{"data": ["queries", "test"], "collection": "almanac",
                                                                        "digest": "d"}]}}}},
        "versions": {"pyserini": "1.6.0"}, "commit": "abc", "numerics": "exact",
        "machine": {"cpu": "a CPU", "cores": 2, "system": "Linux"}}


def exported(folder, monkeypatch, line=LINE, **lists):
    monkeypatch.setenv("BOOK_EXPORT", str(folder))
    monkeypatch.setenv("BOOK_EXPORT_AS", "book export collection")
    system = of_values([0.5] * len(lists), "BM25 documents", queries=list(lists), run=run_of(**lists))
    ir_metadata.export([system], {system.source.key: line})
    return folder / "BM25-documents.run"


def test_an_exported_run_has_a_valid_header_and_is_read_as_before(tmp_path, monkeypatch):
    file = exported(tmp_path, monkeypatch, q1="ab", q2="b")
    header = ir_metadata.read(file)
    assert ir_metadata.problems(header) == []
    assert header["data"]["test collection"]["name"] == "almanac"
    assert header["method"]["retrieval"][0]["params"] == {"k1": 0.9}
    assert header["platform"]["software"]["libraries"]["python"] == ["pyserini==1.6.0"]
    pd.testing.assert_frame_equal(read_trec(file), run_of(q1="ab", q2="b"))


# fields that version 0.1 of the schema knows, with values of its types (ir-metadata.org)
SCHEMA = yaml.safe_load("""
schema-version: 0.1
run-version: 1.0
tag: x
platform: {hardware: {cpu: {model: x, number of cores: 1}}, operating system: {kernel: x}, software: {libraries: {python: [x]}}}
research goal: {evaluation: {reported measures: [x]}}
implementation: {executable: {cmd: x}, source: {lang: [x], commit: x}}
method: {automatic: true, retrieval: [{name: x, method: x, params: {}}]}
actor: {team: x, role: x}
data: {test collection: {name: x}}
""")


def test_the_header_has_the_schemas_fields_and_types(tmp_path, monkeypatch):
    def compared(ours, schema, path=""):
        assert isinstance(ours, type(schema)), path
        if isinstance(schema, dict):
            for name, part in schema.items():
                assert name in ours, path
                compared(ours[name], part, f"{path}/{name}")
        elif isinstance(schema, list) and schema:
            compared(ours[0], schema[0], path)

    compared(ir_metadata.read(exported(tmp_path, monkeypatch, q1="a")), SCHEMA)


def test_a_header_that_lacks_something_is_refused(tmp_path):
    system = of_values([0.5], run=run_of(q0="a"))
    header = ir_metadata.metadata(system, LINE, "book export x", "almanac")
    broken = {name: part for name, part in header.items() if name != "actor"} | {"data": {"test collection": {"name": ""}}}
    assert ir_metadata.problems(broken) == [f"{path} is missing or of another kind" for path in ("actor / team",
                                                                                                 "data / test collection / name")]
    with pytest.raises(BadInput, match="actor / team"):
        ir_metadata.write(tmp_path / "x.run", system, broken)


def trec(folder, name, **lists):
    """A run by query: documents with their scores."""
    file = folder / name
    file.write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, docs in lists.items() for doc, score in docs.items()))
    return file


WHOLE = {"a": 3.0, "b": 2.0, "c": 1.0}


@pytest.mark.parametrize("other, causes", [
    ({"q": WHOLE, "r": WHOLE}, []), ({"q": WHOLE}, ["Queries"]),
    ({"q": {"a": 3.0, "b": 2.0}, "r": WHOLE}, ["Truncation", "Documents"]),
    ({"q": {"a": 3.001, "b": 2.0, "c": 1.0}, "r": WHOLE}, ["Numerics"]),
    ({"q": {"a": 2.0, "b": 3.0, "c": 1.0}, "r": WHOLE}, ["Order", "Scores"]),
    ({"q": {"a": 3.0, "c": 3.0, "b": 2.9}, "r": WHOLE}, ["Ties", "Scores"]),
    ({"q": {"a": 30.0, "b": 20.0, "c": 10.0}, "r": {"a": 30.0, "b": 20.0, "c": 10.0}}, ["Scale"])])
def test_why_two_runs_differ(tmp_path, other, causes):
    told = why(trec(tmp_path, "one", q=WHOLE, r=WHOLE), trec(tmp_path, "two", **other))
    assert [line.partition(":")[0] for line in told] == (causes or ["The runs are equal"])


def test_versions_and_parameters_of_two_headers_are_compared(tmp_path, monkeypatch):
    for name, changes in (("one", {}), ("two", {"versions": {"pyserini": "1.7.0"}, "numerics": "cpu-bf16"})):
        (tmp_path / name).mkdir()
        exported(tmp_path / name, monkeypatch, LINE | changes, q1="ab")
    told = why(*(tmp_path / name / "BM25-documents.run" for name in ("one", "two")))
    assert told == [
        "Metadata: implementation, numerics is exact in the first, cpu-bf16 in the second.",
        "Metadata: platform, software, libraries, python, pyserini is 1.6.0 in the first, 1.7.0 in the second."]
