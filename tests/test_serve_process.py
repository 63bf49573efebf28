"""The service as a process, on the tiny collection: its stages, its death and return, its end, and its memory."""

import concurrent.futures
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

import numpy as np
import psutil
import pytest

from helpers.data.runs import adhoc_queries
from helpers.networks import backbone
from helpers.retrieval import java
from helpers.systems.testbed import Testbed
from press import search_command
from press.cli import main
from press.rerankers import RERANKERS
from press.search_command import search
from press.serve import engine
from press.serve.engine import Asked

pytestmark = pytest.mark.slow
QUERY = "why does bread turn brown"


@pytest.fixture
def tiny(folder, store):
    return Testbed(str(folder), adhoc_queries=adhoc_queries([]))


@pytest.fixture
def scorers(tiny, tmp_path):
    """Two untrained models, a cross-encoder in a folder and the encoder as it is, and none."""
    from transformers import AutoModelForSequenceClassification

    own = backbone.resolve("packaged:0")
    model = own.build(AutoModelForSequenceClassification, num_labels=1)
    model.save_pretrained(tmp_path / "own")
    own.tokenizer().save_pretrained(tmp_path / "own")
    return {name: engine.load(name, tiny) for name in (str(tmp_path / "own"), "minilm", "none")}


def answered(ranked, query=QUERY, **settings):
    """An engine's answer; what it asks its scorers for is no more than expected."""
    asked = Asked(query=query, **settings)
    asking, expected, scores = ranked(asked), ranked.expected(asked), None
    while True:
        try:
            name, inputs = asking.send(scores)
        except StopIteration as end:
            assert not expected
            return end.value
        assert name == expected.pop(0)[0]
        scores = [float(score) for score in ranked.scorers[name](inputs)] if inputs else []


def test_stages_scores_and_the_window_that_decided(tiny, scorers, monkeypatch):
    one = replace(search_command.FEEDBACK["passages"], min_documents=1)  # of so few documents no two share a term
    monkeypatch.setitem(search_command.FEEDBACK, "passages", one)
    ranked = engine.Engine(tiny, scorers)
    plain, own, zero, fed, silent = (answered(ranked, **asked) for asked in (
        {"reranker": "none"}, {}, {"reranker": "minilm", "aggregation": "mean"},
        {"query": "sugars", "reranker": "minilm", "feedback": "passages"}, {"query": "the of and"}))
    assert [result["doc_id"] for result in plain["results"]] == ["d1", "d4"] and plain["stages"] == ["BM25"]
    assert plain["results"][0]["window"] | {"text": ""} == {"id": "d1#0", "number": 1, "of": 1, "score": None, "text": ""}
    assert own["stages"] == zero["stages"] == ["BM25", "re-ranked"]
    assert own["results"][0]["score"] == own["results"][0]["window"]["score"] >= own["results"][1]["score"]
    assert own["results"][0]["stages"]["BM25"]["rank"] in (1, 2)
    assert fed["stages"] == ["BM25", "re-ranked", "retrieved again", "re-ranked again"]
    assert {result["doc_id"] for result in fed["results"]} == {"d1", "d4"}  # found by the terms of the other one
    assert "BM25" not in next(result for result in fed["results"] if result["doc_id"] == "d4")["stages"] and fed["added_terms"]
    assert silent["results"] == []
    assert json.loads(json.dumps(own, allow_nan=False)) == own


def test_the_service_ranks_as_the_pipeline_does(tiny, folder, store, monkeypatch):
    smaller = RERANKERS["mpnet"]._replace(settings={"backbone": "packaged:0,1"})  # the encoder of base size is fetched
    monkeypatch.setitem(RERANKERS, "mpnet", smaller)
    ranked = engine.Engine(tiny, {name: engine.load(name, tiny) for name in ("both", "base", "minilm", "mpnet")})
    for name, feedback in (("minilm", "none"), ("minilm", "documents"), ("minilm", "passages"), ("both", "none"),
                           ("both", "documents"), ("mpnet", "none")):
        expected = search([QUERY], str(folder), "", name, feedback, 5)
        answer = answered(ranked, reranker=name, feedback=feedback, candidates=100)["results"]
        assert [result["doc_id"] for result in answer] == list(expected["doc_id"])
        assert np.allclose([result["score"] for result in answer], expected["score"], atol=1e-3)


def test_the_java_process_may_die(tiny):
    ranked = engine.Engine(tiny, {"none": None})
    java.start().kill()
    with contextlib.suppress(Exception):
        answered(ranked)
    assert answered(ranked)["results"]


def none_runs(processes):
    """Whether all of these have ended, within some seconds."""
    psutil.wait_procs(processes, timeout=10)
    return not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes)


@contextlib.contextmanager
def service(folder, port=0) -> Iterator[tuple[psutil.Process, int]]:
    command = [sys.executable, "-m", "press.cli", "serve", "--collection", str(folder), "--reranker", "none"]
    process = subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.PIPE, text=True,
                               env=os.environ | {"BOOK_HEAP": "200m"})
    try:
        line = next((line for line in process.stdout if "listening" in line), "")
        yield psutil.Process(process.pid), int(re.search(r":(\d+);", line)[1])
    finally:
        process.kill()
        process.wait()


def ask(port, **asked):
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("GET", "/search?" + urlencode({"query": QUERY, **asked}))
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def ids(answer):
    return answer[0], [(result["doc_id"], result["score"]) for result in answer[1]["results"]]


def test_kill_and_restart_on_the_same_port_lose_nothing_and_leave_nobody(folder, store):
    with service(folder) as (process, port):
        before, java_processes = ids(ask(port)), process.children(recursive=True)
        process.kill()
    with service(folder, port) as (process, again):
        assert again == port and ids(ask(port)) == before and before[0] == 200
        assert none_runs(java_processes)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_answers_what_runs_and_ends_well(folder, store, sign, foreground):
    with service(folder) as (process, port), concurrent.futures.ThreadPoolExecutor(8) as clients:
        children = process.children(recursive=True)
        answers = [clients.submit(ask, port) for _ in range(8)]
        time.sleep(0.05)
        process.send_signal(sign)
        given = [one.exception() or one.result() for one in answers]
        assert process.wait(20) in (0, 130 if sign == signal.SIGINT else 0)
        assert all(isinstance(one, ConnectionError | http.client.HTTPException) or one[0] == 200 for one in given)
        assert none_runs(children)


def test_memory_stays_flat_over_thousands_of_requests(folder, store):
    """Cheap ones: BM25 without a model, one document shown, eight clients, each query another one."""
    def some(clients, port, numbers):
        return set(clients.map(lambda n: ask(port, query=f"bread {n}", k=1)[0], numbers))

    def resident(process):
        return [one.memory_info().rss / 2**20 for one in (process, *process.children(recursive=True))]

    with service(folder) as (process, port), concurrent.futures.ThreadPoolExecutor(8) as clients:
        assert {200} <= some(clients, port, range(300)) <= {200, 503}  # 503: a busy machine cannot keep its time
        first = resident(process)
        assert {200} <= some(clients, port, range(300, 1_200)) <= {200, 503}  # 503: a busy machine cannot keep its time
        last = resident(process)
    print(f"MiB after 300 requests {first}, after 1,200 {last}")
    assert sum(last) < sum(first) + 60  # Java fills its heap, which is limited, before it tidies up


def test_what_is_wrong_is_told_before_anything_listens(folder, store, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        used = str(taken.getsockname()[1])
        for arguments, said in ((["--port", used], "cannot listen"), (["--port", "99999"], "cannot listen"),
                                (["--host", "a" * 70, "--port", "0"], "cannot listen"),
                                (["--reranker", "gpt", "--port", "0"], "no model 'gpt'"),
                                (["--reranker", "/etc", "--port", "0"], "no model '/etc'"),
                                (["--collection", "/nowhere", "--port", "0"], "no collection")):
            assert main(["serve", "--collection", str(folder), *arguments]) == 2
            assert said in capsys.readouterr().err
