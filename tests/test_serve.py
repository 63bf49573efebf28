"""The service, with an engine of nothing: what may be asked, how requests are batched, what happens when there are too many."""

import json
import threading
import time
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from helpers.errors import BadInput
from press.serve import app
from press.serve.asked import LONGEST, Asked
from press.serve.batching import Batcher, Overloaded


class Nothing:
    """An engine that answers with the query; `gate` holds it back, and the query `die` is more than it can do."""

    def __init__(self, gate=None):
        self.bed = SimpleNamespace(collection="toy", unit="passage")
        self.texts, self.models, self.pairwise, self.gate, self.batches = 3, {"base": None, "none": None}, None, gate, []

    def __call__(self, requests):
        self.batches.append([request.query for request in requests])
        if self.gate:
            self.gate.wait(20)
        if any(request.query == "die" for request in requests):
            raise BadInput("the Java worker died")
        return [{"query": request.query, "results": []} for request in requests]


def served(engine, waiting=8, timeout=5.0, most=100):
    batcher = Batcher(lambda: engine, lambda asked: asked.candidates, most, waiting)
    return batcher, TestClient(app.application(batcher, timeout, ["testserver"]), raise_server_exceptions=False)


@pytest.fixture
def held():
    """An engine that waits, and the gate that lets it go on."""
    gate = threading.Event()
    return Nothing(gate), gate


@pytest.fixture
def client():
    batcher, client = served(Nothing())
    yield client
    batcher.close()


# ---- hostile requests ----

HOSTILE = ["", "   ", "\0", "a\0b", "\x1b[31mred", "\u2028", "\u202eright to left", "a" * LONGEST, "a" * (LONGEST + 1),
           "+-&&||!(){}[]^\"~*?:\\/", "title:* OR 1=1 --", "<script>alert(1)</script>", "'; DROP TABLE texts; --", "🥖" * 50,
           "a " * 900, "../../etc/passwd", "%s%n%00"]
BODIES = [b"", b"{", b"null", b"[]", b"5", b'"x"', b"\xff\xfe", b"[" * 30_000, b'{"query": "\\ud800"}', b'{"query": 5}',
          b'{"query": ["a"]}',
          b'{"query": null}', b'{"query": "a", "k": NaN}', b'{"query": "a", "k": 1e999}', b'{"query": "a", "k": -1}', b'{"k": 3}',
          b'{"query": "a", "k": "ten"}', b'{"query": "a", "candidates": 1000000}', b'{"query": "a", "aggregation": "median"}',
          b'{"query": "a", "reranker": "gpt"}', b'{"query": "a", "pairwise": "sum"}', b'{"query": "a", "feedback": "all"}',
          b'{"query": "a", "unknown": 1}', b'{"query": "a", "k": true}',
          b'{"query": "a", "k": "5"}', b'{"query": "a", "k": 5, "k": 6}',
          b'{"query": "' + b"x" * 1_000_000 + b'"}', b'{"query": "a", "pairwise": "\\udfff"}']


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_query_gives_results_or_is_refused(client, query):
    posted = client.post("/search", content=json.dumps({"query": query}))
    for response in (posted, client.get("/search", params={"query": query})):
        good = query.strip(" \0\u2028") and len(query) <= LONGEST
        assert response.status_code == (200 if good else 422), response.text
        assert set(response.json()) == ({"query", "results"} if good else {"error"})


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_a_hostile_body_is_refused_in_words_that_repeat_nothing_of_it(client, body):
    response = client.post("/search", content=body)
    assert response.status_code in (400, 413, 422)
    assert len(response.json()["error"]) < 600
    assert "gpt" not in response.text and "median" not in response.text


def test_what_is_not_there_and_who_asks_by_another_name(client):
    assert client.get("/search?query=a&k=5&k=6").status_code == 422
    assert (client.get("/nothing").status_code, client.get("/nothing").json()) == (404, {"error": "not found"})
    assert client.get("/page.py").status_code == 404
    assert client.put("/search").status_code == 405
    assert client.get("/health", headers={"Host": "evil.example"}).status_code == 400  # a name of another site that leads here
    assert client.get("/search?query=a&query=b&k=%00").status_code == 422


def test_the_page_loads_nothing_from_elsewhere(client):
    for path in ("/", "/page.css", "/page.js", "/health"):
        response = client.get(path)
        assert response.status_code == 200
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
        assert "http:" not in response.text and "https:" not in response.text
        assert "innerHTML" not in response.text and "style=" not in response.text
    assert client.get("/health").json()["rerankers"] == ["base", "none"]


def test_queries_are_cleaned_and_defaults_are_the_study_s():
    asked = Asked(query=" a\0b\x9fc\u2028 ")
    assert asked.query == "a b c"
    assert (asked.candidates, asked.aggregation, asked.feedback, asked.pairwise) == (20, "max", "none", "none")


# ---- batches, the bound, time-outs, the end ----

def asking(client, engine, count):
    """The answers as they come, and the threads that ask: the first is at work in the engine, so the others wait."""
    answers = []

    def ask(number):
        answers.append(client.post("/search", json={"query": f"q{number}"}))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
        while not engine.batches:
            time.sleep(0.01)
    return answers, threads


def test_what_waits_is_computed_together_up_to_a_sum_of_costs(held):
    engine, gate = held
    batcher = Batcher(lambda: engine, lambda asked: asked.candidates, 50, 16)
    futures = [batcher.submit(Asked(query="first"))]
    while not engine.batches:
        time.sleep(0.01)
    futures += [batcher.submit(Asked(query=str(number))) for number in range(5)]
    gate.set()
    assert [future.result(5)["query"] for future in futures] == ["first", *"01234"]
    assert engine.batches == [["first"], ["0", "1"], ["2", "3"], ["4"]]  # 20 candidates each
    batcher.close()
    with pytest.raises(Overloaded):
        batcher.submit(Asked(query="too late"))


def test_overload_is_told_and_over_when_it_is_over(held):
    engine, gate = held
    batcher, client = served(engine, waiting=2, most=20)
    answers, threads = asking(client, engine, 8)
    while len(answers) < 4:  # one runs, perhaps one is held for the next batch, two wait
        time.sleep(0.01)
    refused = [answer for answer in answers if answer.status_code == 503]
    assert len(refused) >= 4
    assert all(answer.headers["Retry-After"] == "1" for answer in refused)
    gate.set()
    for thread in threads:
        thread.join()
    codes = [answer.status_code for answer in answers]
    assert set(codes) == {200, 503} and 3 <= codes.count(200) <= 4
    assert client.post("/search", json={"query": "after"}).status_code == 200
    batcher.close()


def test_who_waits_too_long_is_told_and_is_not_computed(held):
    engine, gate = held
    batcher, client = served(engine, timeout=0.5)
    answers, threads = asking(client, engine, 3)
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [504] * 3
    gate.set()
    assert client.post("/search", json={"query": "after"}).status_code == 200
    batcher.close()
    assert engine.batches == [["q0"], ["after"]]  # the one that ran, and the last


def test_a_request_that_fails_takes_nobody_with_it(held):
    engine, gate = held
    batcher, client = served(engine)
    futures = [batcher.submit(Asked(query=query)) for query in ("a", "b", "die", "c")]
    gate.set()
    assert [futures[n].result(5)["query"] for n in (0, 1, 3)] == ["a", "b", "c"]
    response = client.post("/search", json={"query": "die"})
    assert (response.status_code, response.json()) == (503, {"error": "the Java worker died"})
    batcher.close()


def test_the_end_answers_those_who_wait(held):
    engine, gate = held
    batcher, _ = served(engine)
    futures = [batcher.submit(Asked(query=str(number), candidates=200)) for number in range(4)]
    threading.Timer(0.1, gate.set).start()
    batcher.close()
    assert [future.result(0)["query"] for future in futures] == ["0", "1", "2", "3"]


def test_what_cannot_be_made_ready_is_told_by_who_makes_it():
    def make():
        raise BadInput("no collection")

    with pytest.raises(BadInput, match="no collection"):
        Batcher(make, lambda _: 1, 1, 1)
