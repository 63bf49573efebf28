"""A generated collection, and the memory that steps need on it."""

import os
import subprocess
import sys

import pytest

from bench import stream
from bench.stream import generate
from helpers.data.collection import open_collection


def test_a_generated_collection_is_one_in_ms_marcos_format(tmp_path):
    folder = generate(tmp_path / "a", 300, 10)
    collection = open_collection(str(folder))
    texts = list(collection.texts("passage"))
    assert [text.doc_id for text in texts] == [str(n) for n in range(300)]
    assert all(stream.SHORTEST <= len(text.body.split()) <= stream.LONGEST for text in texts)
    assert set(collection.splits) == {"train", "test"}
    for split in collection.splits:
        queries, qrels = collection.queries(split), collection.qrels("passage", split)
        assert len(queries) == 10
        for query_id, doc_id in qrels[["query_id", "doc_id"]].itertuples(index=False):
            words = set(queries.set_index("query_id").loc[query_id, "text"].split())
            assert words <= set(texts[int(doc_id)].body.split())
    words = [word for text in texts for word in text.body.split()]
    assert words.count("the") > 20 * words.count("government") > 0


def test_the_same_sizes_give_the_same_files(tmp_path):
    first, again = (generate(tmp_path / name, 10_500, 5) for name in "ab")
    assert {f.name: f.read_bytes() for f in first.iterdir()} == {f.name: f.read_bytes() for f in again.iterdir()}
    assert len((first / "collection.tsv").read_text().splitlines()) == 10_500  # more than are drawn at once


def test_the_memory_of_a_process_and_of_its_children_is_counted():
    script = ("import subprocess, sys, time; held = bytearray(60_000_000); "
              "subprocess.Popen([sys.executable, '-c', 'held = bytearray(90_000_000); print(1, flush=True); input()']).wait()")
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        sizes = [stream.private(pid) for pid in stream.family(process.pid)]
        process.communicate("\n")
    assert len(sizes) == 2 and sizes[0] > 60_000_000 and sizes[1] > 90_000_000
    assert stream.private(process.pid) == 0 and stream.family(process.pid) == []  # it has ended
    assert list(stream.family(os.getpid()))[0] == os.getpid()


@pytest.mark.slow
def test_steps_of_a_ranking_are_measured(tmp_path):
    """Of a plain step, one in the JVM and one with a network; what they stand on is made first."""
    folder = generate(tmp_path / "collection", 60, 30)
    for stage in ("tokens", "BM25 search", "re-ranking"):
        section = stream.one(stage, folder, tmp_path / "store")
        assert section["megabytes"] > 20 and section["seconds"] >= 0, stage
    with pytest.raises(RuntimeError, match="no such stage"):
        stream.one("no such stage", folder, tmp_path / "store")
