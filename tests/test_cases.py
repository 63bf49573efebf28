"""What people reported of ranking tools, as tables in `cases/`: the line that tells what to mend, or the right value."""

import gzip
import re
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import yaml

from helpers.data import dictionaries
from helpers.data.collection import open_collection
from helpers.data.runs import in_single_precision, ranked, read_trec, to_trec
from helpers.data.texts import Texts
from helpers.errors import BadInput
from helpers.steps import ledger
from helpers.systems.testbed import Testbed
from press.cli import main
from press.why import why
from toys import run_of

TABLES = Path(__file__).parent / "cases"
GOOD = {"tsv": {"collection.tsv": "p1\ta pond\np2\ta river\n", "queries.tsv": "q1\twater\nq2\tstream\n",
                "qrels.tsv": "q1 0 p1 1\nq2 0 p2 1\n"},
        "beir": {"corpus.jsonl": '{"_id": "p1", "text": "a pond"}\n{"_id": "p2", "text": "a river"}\n',
                 "queries.jsonl": '{"_id": "q1", "text": "water"}\n{"_id": "q2", "text": "stream"}\n',
                 "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\tp1\t1\nq2\tp2\t1\n"}}


def rows(table):
    return [pytest.param(row, id=row["report"]) for row in yaml.safe_load((TABLES / f"{table}.yaml").read_text(encoding="utf-8"))]


def write(file, content):
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, dict) and "link" in content:
        file.symlink_to(content["link"])
    else:
        file.write_bytes(bytes_of(content))
    return file


def bytes_of(content):
    if not isinstance(content, dict):
        return content if isinstance(content, bytes) else content.encode()
    repeated = bytes.fromhex(content["hex"]) * content.get("times", 1)
    return content.get("begin", "").encode() + repeated + content.get("end", "").encode()


def good_folder(place, form, given):
    """A good folder of a form, with the given files in place of its own."""
    for name, content in {**GOOD[form], **given}.items():
        if content is not None:
            write(place / name, content)
    return place


def checked(row, made, capsys):
    """Whether a case ends in its line, or gives its value and warns."""
    ledger.WARNED.clear()
    if "line" in row:
        with pytest.raises(BadInput, match=row["line"]) as caught:
            made()
        assert "\n" not in str(caught.value) and caught.value.mend
        return
    value = made()
    assert value == row.get("value", value)
    assert row.get("warns", "") in capsys.readouterr().err
    assert "warns" in row or not ledger.WARNED


@pytest.mark.parametrize("row", rows("folders"))
def test_folders(row, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BOOK_STORE", str(tmp_path / "store"))
    spec = f"{good_folder(tmp_path / 'in', row['form'], row['given'])}{row.get('ask', '')}"

    def read():
        bed, source = Testbed(spec), open_collection(spec)
        texts = [list(text) for text in Texts(bed.store.value())]
        best = bed.qrels.sort_values("relevance", ascending=False, kind="stable").drop_duplicates("query_id")
        run = run_of(**{query: list(bed.qrels.loc[bed.qrels["query_id"] == query, "doc_id"]) for query in best["query_id"]})
        value = {"texts": texts, "queries": source.queries("test").to_numpy().tolist(), "relevant": bed.min_relevance,
                 "measures": (own := bed.per_query(run, ["nDCG@10"])["nDCG@10"]).tolist()}
        beside = ir_measures.iter_calc([ir_measures.nDCG @ 10], bed.qrels.assign(relevance=bed.qrels["relevance"].clip(0)),
                                       run.assign(score=-run.groupby("query_id").cumcount()))
        assert {one.query_id: one.value for one in beside} == own.to_dict()  # the third door
        return {name: value[name] for name in row.get("value", ())}

    checked(row, read, capsys)


def run_file(place, name, row, content):
    """A run, packed if its row says so."""
    if row.get("packed"):
        file = place / f"{name}.gz"
        file.write_bytes(gzip.compress(content.encode()))
        return file
    return write(place / name, content)


@pytest.mark.parametrize("row", rows("runs"))
def test_runs(row, tmp_path, capsys):
    file = run_file(tmp_path, "a.run", row, row["run"])

    def read():
        if "why" in row:
            causes = why(file, run_file(tmp_path, "b.run", row, row["why"]))
            assert [cause.partition(":")[0] for cause in causes] == row["causes"]
            return None
        return {query: list(own["doc_id"]) for query, own in read_trec(file).groupby("query_id")}

    checked(row, read, capsys)


@pytest.mark.parametrize("row", rows("scores"))
def test_tools_that_read_float32_keep_the_order_of_a_written_run(row):
    run = ranked(run_of(q="abcdefgh"[:len(row["floats"])]).assign(score=row["floats"]))
    text = [line.split() for line in to_trec(in_single_precision(run)).splitlines()]
    scores = np.array([line[4] for line in text]).astype(np.float32)
    assert [line[2] for line in text] == list(run["doc_id"])
    assert np.isfinite(scores).all() and (np.diff(scores) < 0).all()


@pytest.mark.parametrize("row", rows("tokens"))
def test_what_a_text_writes_is_text(row, tokenizer):
    assert tokenizer.tokenize(row["text"]) == row["value"]
    assert tokenizer.convert_ids_to_tokens(tokenizer(row["text"])["input_ids"]) == ["[CLS]", *row["value"], "[SEP]"]


@pytest.mark.parametrize("row", rows("commands"))
def test_commands(row, tmp_path, monkeypatch, capsys, store):
    """With one store for all: most have the same texts, whose index is made once."""
    monkeypatch.setattr(dictionaries, "PUBLISHED", {"not/here": ""})  # where they are, a row would train for hours
    folder = good_folder(tmp_path / "in", row.get("form", "tsv"), row.get("given", {}))
    command = [(text if isinstance(text, str) else bytes_of(text).decode()).replace("FOLDER", str(folder))
               for text in row["command"]]
    try:
        code = main(command)
    except SystemExit as error:  # argparse's way
        code = error.code
    output = capsys.readouterr()
    told = row.get("line", row.get("usage"))
    assert code == (0 if told is None else 2), output.err
    assert "Traceback" not in output.err and "\x1b" not in output.out + output.err
    assert re.search(row.get("told", told or ""), output.err) and re.search(row.get("shows", ""), output.out)
