import sys
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml

from dry_steps import write_template
from helpers import paths
from helpers.data.runs import read_trec
from helpers.errors import BadInput
from helpers.networks import encoder
from helpers.pages import carried
from helpers.reranking.aggregation import reranked
from helpers.steps import step
from press import commands, dry_run
from press.why import why
from toys import of_values, run_of

LINE = {"key": "k1", "recipe": {"step": "bm25_run", "version": 1, "arguments": {
    "k1": 0.9, "queries": {"step": "queries", "arguments": {"parts": [{"data": ["queries", "test"], "collection": "almanac",
                                                                        "digest": "d"}]}}}},
        "versions": {"pyserini": "1.6.0"}, "commit": "abc", "numerics": "exact",
        "seconds": 1.5, "inputs": [{"key": "k0", "seconds": 0.25}],
        "machine": {"cpu": "a CPU", "cores": 2, "system": "Linux", "memory_gib": 16, "flags": ["avx2", "avx512f"], "threads": 1}}


def exported(folder, line=LINE, **lists):
    system = of_values([0.5] * len(lists), "BM25 documents", queries=list(lists), run=run_of(**lists))
    carried.write_run(file := folder / f"{carried.tag(system)}.run", system, line, "book export collection")
    return file


# fields of version 0.1 of the schema (ir-metadata.org), and the book's own: features, threads, numerics, version, key, resources
HEADER = yaml.safe_load("""
schema-version: 0.1
run-version: 1.0
tag: BM25-documents
platform: {hardware: {cpu: {model: a CPU, number of cores: 2, features: avx2 avx512f, threads: 1}, ram: 17 GB},
           operating system: {kernel: Linux}, software: {libraries: {python: [pyserini==1.6.0]}}}
research goal: {evaluation: {reported measures: [RR@10]}}
implementation: {executable: {cmd: book export collection}, source: {lang: [python], commit: abc}, numerics: exact}
method: {automatic: true, retrieval: [{name: BM25 documents, method: bm25_run, version: 1, key: k1, params: {k1: 0.9}}]}
actor: {team: "Neural Ranking, Reproduced", role: reproducer}
data: {test collection: {name: almanac}}
resources: {runtime: {wallclock: 1750 ms}, cpu: {energy used system: not measured}}
""")


def test_an_exported_run_has_a_header_of_the_schema_and_is_read_as_before(tmp_path):
    file = exported(tmp_path, q1="ab", q2="b")
    assert carried.read(file) == HEADER
    pd.testing.assert_frame_equal(read_trec(file), run_of(q1="ab", q2="b"))
    assert file.name == "BM25-documents.run"


def test_versions_and_parameters_of_two_headers_are_compared(tmp_path):
    for name, changes in (("one", {}), ("two", {"versions": {"pyserini": "1.7.0"}, "numerics": "cpu-bf16"})):
        (tmp_path / name).mkdir()
        exported(tmp_path / name, LINE | changes, q1="ab")
    told = why(*(tmp_path / name / "BM25-documents.run" for name in ("one", "two")))
    assert told == [
        "Metadata: implementation, numerics is exact in the first, cpu-bf16 in the second.",
        "Metadata: platform, software, libraries, python, pyserini is 1.6.0 in the first, 1.7.0 in the second."]


@pytest.mark.parametrize("losses, activation", [({"bce": 1.0}, "sigmoid"), ({"lce": 1.0}, "identity")])
def test_an_exported_model_scores_elsewhere_as_it_does_here(tiny, folder, store, tmp_path, monkeypatch, losses, activation):
    import torch
    from sentence_transformers import CrossEncoder
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from helpers.data.texts import Texts
    from helpers.data.windows import windows
    from helpers.steps import numerics
    from helpers.systems.testbed import Testbed

    monkeypatch.setattr(numerics, "dtype", lambda: "fp32")
    bed = Testbed(str(folder), words=6, overlap=2)
    run = bed.bm25(1.2, 0.75, 10)
    scores = replace(tiny, losses=losses).scores(bed, run, 2)
    system = replace(of_values([0.5], "A / B", queries=["q1"], run=scores.value()), source=reranked(scores, "max", run))
    assert encoder.write_of(system.source, tmp_path / "A-_-B")

    found, texts = scores.value(), dict(bed.query_frame[["query_id", "text"]].to_numpy().tolist())
    by_id = {window.window_id: window.text for text in Texts(bed.store.value()) for window in windows(text, 6, 2)}
    pairs = [(texts[query], by_id[window]) for query, window in zip(found["query_id"], found["doc_id"], strict=True)]
    by_name = CrossEncoder(str(tmp_path / "A-_-B"), device="cpu").predict(pairs)
    model, tokenizer = (kind.from_pretrained(tmp_path / "A-_-B") for kind in (AutoModelForSequenceClassification, AutoTokenizer))
    with torch.inference_mode():
        logits = model.eval()(**tokenizer(*map(list, zip(*pairs, strict=True)), padding=True, truncation=True,
                                          return_tensors="pt")).logits[:, 0]
    assert by_name.tolist() == pytest.approx(found["score"].tolist(), abs=1e-5)
    assert (logits.sigmoid() if activation == "sigmoid" else logits).tolist() == pytest.approx(found["score"].tolist(), abs=1e-5)


TEMPLATE = """from helpers.pages import page
from toy_runs import of_values, ranked


def system(name, depth):
    ranking = ranked(depth)
    ranking.entry()
    return of_values([0.5], name, queries=["q1"], run=ranking, source=ranking)


page.provenance([system("A / B", 1), system("C", 2)] if times == 2 else [of_values([0.5])])"""


@pytest.fixture
def chapter(steps_module, monkeypatch):
    """A chapter `fake` whose systems are rankings that were not computed; with another parameter it keeps measures alone."""
    @step(version=1, form="run")
    def ranked(depth: int) -> pd.DataFrame:
        return run_of(q1="ab"[:depth])

    monkeypatch.setitem(sys.modules, "toy_runs", SimpleNamespace(ranked=ranked, of_values=of_values))
    (paths.PROFILES / "almanac.yaml").write_text("shared: {}")
    (paths.BOOK / "_toc.yml").write_text("parts: [{chapters: [{file: chapters/fake}]}]")
    write_template("fake", TEMPLATE)
    return ranked


@pytest.mark.parametrize(("given", "names", "line"), [
    ({"times": "3"}, [], "fake exports no runs.*Mend: take another chapter"), ({"times": "3"}, ["C"], "fake exports no runs"),
    ({}, ["D"], "no system 'D' in fake. Mend: choose from A-_-B, C")])
def test_what_a_chapter_does_not_export_is_refused_before_it_runs(given, names, line, chapter, tmp_path, monkeypatch):
    for depth in (1, 2):
        chapter(depth).value()
    runs, execute = [], dry_run.execute
    monkeypatch.setattr(dry_run, "execute", lambda *of: (runs.append(of), execute(*of)))
    with pytest.raises(BadInput, match=line):
        list(commands.export("fake", "almanac", given, names, tmp_path / "runs"))
    assert len(runs) == 1 and not (tmp_path / "runs").exists()  # the dry run alone


def test_a_chapter_is_run_for_its_runs_and_the_models_of_those_that_were_asked_for(chapter, tmp_path, monkeypatch):
    files = list(commands.export("fake", "almanac", {}, [], tmp_path))
    assert files == [tmp_path / "fake.A-_-B.run", tmp_path / "fake.C.run"]
    assert list(read_trec(files[1])["doc_id"]) == ["a", "b"]
    assert carried.read(files[1])["implementation"]["executable"]["cmd"] == "book export fake --profile almanac"
    monkeypatch.setattr(encoder, "write_of", lambda source, folder: folder.mkdir())
    assert list(commands.export("fake", "almanac", {}, ["A / B"], tmp_path / "one", models=True)) == [
        tmp_path / "one" / "fake.A-_-B.run"]
    assert {file.name for file in (tmp_path / "one").iterdir()} == {"fake.A-_-B.run", "fake.A-_-B"}
