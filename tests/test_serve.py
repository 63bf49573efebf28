"""The service, with an engine of nothing: what may be asked, whose turn it is, what is taken, what is dropped."""

import threading
import time
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from helpers.errors import BadInput
from press.serve import app
from press.serve.batching import Batcher, Overloaded
from press.serve.engine import LONGEST, Asked


class Nothing:
    """An engine that answers with the query. Its model reads a candidate in a hundredth of a second; `gate` holds it back, and it
    fails on the query `die`."""

    def __init__(self, gate=None):
        self.bed = SimpleNamespace(collection="toy", unit="passage")
        self.texts, self.models, self.gate, self.slices = 3, {"base": None, "none": None}, gate, []
        self.scorers, self.trial = {"base": self.read}, {"base": ["trial"] * 10}

    def read(self, inputs):
        if inputs[0] != "trial":
            self.slices.append(dict.fromkeys(inputs))
            if self.gate:
                self.gate.wait(20)
        if "die" in inputs:
            raise BadInput("the model died")
        time.sleep(0.01 * len(inputs))
        return [float("nan") if query == "odd" else 1.0 for query in inputs]

    def expected(self, asked):
        return [] if asked.reranker == "none" else [("base", asked.candidates)]

    def __call__(self, asked):
        if asked.query == "bug":
            raise KeyError("a secret")
        if asked.reranker != "none":
            yield "base", [asked.query] * asked.candidates
            yield "base", []  # feedback may bring no new windows
        return {"query": asked.query, "results": []}


def served(engine, timeout=5.0):
    batcher = Batcher(lambda: engine, timeout)
    return batcher, TestClient(app.application(batcher, ("testserver",)), raise_server_exceptions=False)


def test_what_was_slow_in_a_busy_moment_is_forgotten_when_something_is_refused():
    engine = Nothing()
    batcher, client = served(engine)
    quick, engine.scorers["base"] = engine.read, lambda inputs: (time.sleep(0.4 * len(inputs)), engine.read(inputs))[1]
    assert client.get("/search", params={"query": "bread", "candidates": 5}).status_code == 200
    engine.scorers["base"], asked = quick, {"query": "bread", "candidates": 60}
    assert [client.get("/search", params=asked).status_code for _ in range(2)] == [503, 200]
    batcher.close()


@pytest.fixture
def held():
    """An engine that waits, and the gate that lets it go on."""
    gate = threading.Event()
    return Nothing(gate), gate


@pytest.fixture(scope="module")
def client():
    batcher, client = served(Nothing())
    yield client
    batcher.close()


# ---- hostile requests ----

HOSTILE = ["", "   ", "\0", "a\0b", "\x1b[31mred", "\u2028", "\u202eright to left", "a" * LONGEST, "a" * (LONGEST + 1),
           "+-&&||!(){}[]^\"~*?:\\/", "title:* OR 1=1 --", "<script>alert(1)</script>", "'; DROP TABLE texts; --", "🥖" * 50,
           "a " * 900, "../../etc/passwd", "%s%n%00"]


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_query_gives_results_or_is_refused(client, query):
    response = client.get("/search", params={"query": query, "reranker": "none"})
    good = query.strip(" \0\u2028") and len(query) <= LONGEST
    assert response.status_code == (200 if good else 422), response.text
    assert set(response.json()) == ({"query", "results"} if good else {"error"})


@pytest.mark.parametrize("odd", [
    "k=5&k=6", "k=1_0", "k=+5", "k=%205", "k=1.0", "k=-1", "k=ten", "k=NaN", "k=" + "9" * 5000, "query=b", "candidates=1000000",
    "aggregation=median", "reranker=gpt", "feedback=all", "unknown=1", "reranker=%ED%BF%BF"])
def test_a_value_that_makes_no_sense_is_refused_in_words_that_repeat_nothing_of_it(client, odd):
    response = client.get(f"/search?query=a&{odd}")
    assert response.status_code in (400, 422)
    assert len(response.json()["error"]) < 600
    assert "gpt" not in response.text and "median" not in response.text


def test_what_is_not_there_and_who_asks_by_another_name(client):
    assert (client.get("/nothing").status_code, client.get("/nothing").json()) == (404, {"error": "not found"})
    assert client.get("/page.py").status_code == 404
    assert client.post("/search").status_code == 405
    assert client.get("/health", headers={"Host": "evil.example"}).status_code == 400  # a name of another site that leads here
    assert client.get("/health", headers={"Host": "[::1"}).json() == {"error": "the service is not known by this host"}
    assert client.get("/search?query=7&candidates=1&k=3").json()["query"] == "7"


def test_numeric_addresses_are_known_where_other_machines_may_ask():
    assert app._is_known("192.168.1.5:8350", app.HOSTS, True) and app._is_known("[::1]:8350", app.HOSTS, False)
    assert not app._is_known("192.168.1.5:8350", app.HOSTS, False) and not app._is_known("evil.example", app.HOSTS, True)


def test_the_page_loads_nothing_from_elsewhere(client):
    for path in ("/", "/page.css", "/page.js", "/health"):
        response = client.get(path)
        assert response.status_code == 200
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
        assert "http:" not in response.text and "https:" not in response.text
        assert "innerHTML" not in response.text and "style=" not in response.text
    health = client.get("/health").json()
    assert health["rerankers"] == ["base", "none"] and 20 < health["per_second"]["base"] < 110


def test_queries_are_cleaned_and_defaults_are_the_study_s():
    asked = Asked(query=" a\0b\x9fc\u2028 ")
    assert asked.query == "a b c"
    assert (asked.candidates, asked.aggregation, asked.feedback) == (20, "max", "none")


# ---- turns, costs, the end ----

def asked(query, candidates=1, **more):
    return Asked(query=query, candidates=candidates, **more)


def begun(engine):
    while not engine.slices:
        time.sleep(0.005)


def test_what_waits_is_scored_together_and_small_requests_go_ahead(held):
    engine, gate = held
    batcher, order = Batcher(lambda: engine, 30), []
    for query, candidates in (("large", 100), ("middle", 20), ("a", 2), ("b", 2)):
        future = batcher.submit(asked(query, candidates))
        future.add_done_callback(lambda done: order.append(done.result()["query"]))
        begun(engine)
    gate.set()
    batcher.close()
    assert sorted(order[:2]) == ["a", "b"] and order[2:] == ["middle", "large"]
    assert set(engine.slices[0]) == {"large"} and {"a", "b", "middle"} <= set(engine.slices[1])  # some 25 inputs each
    with pytest.raises(Overloaded):
        batcher.submit(asked("too late"))


def test_what_cannot_be_done_in_time_is_refused_with_the_seconds_until_it_may_be(held):
    engine, gate = held
    batcher, client = served(engine, timeout=3)  # a hundredth of a second a candidate: .9 seconds at most
    alone = client.get("/search", params={"query": "x", "candidates": 150})
    assert alone.status_code == 503 and "fewer candidates" in alone.json()["error"] and alone.headers["Retry-After"] == "1"
    taken = [batcher.submit(asked("large", 60))]
    begun(engine)
    with pytest.raises(Overloaded) as refused:
        for _ in range(9):
            taken.append(batcher.submit(asked("another", 80)))
    assert refused.value.seconds == 1 and len(taken) == 3  # .6 and twice .8 of the 2.75 seconds in which the last is due
    small = batcher.submit(asked("small", 5))
    with pytest.raises(Overloaded):
        for _ in range(200):
            taken.append(batcher.submit(asked("many", 5)))
    assert len(taken) < 30  # as many as are done before they are due
    gate.set()
    assert small.result(5)["query"] == "small"
    batcher.close()
    assert all(one.result(0) for one in taken)


def test_a_request_that_is_taken_is_not_kept_from_its_end_by_smaller_ones():
    batcher = Batcher(lambda: Nothing(), 4)
    large = batcher.submit(asked("large", 50))
    refused, until = 0, time.monotonic() + 3.9
    while time.monotonic() < until and not large.done():
        try:
            batcher.submit(asked("small", 15))
        except Overloaded:
            refused += 1
            assert batcher.submit(asked("BM25 alone", reranker="none"))  # it takes a moment
        time.sleep(0.005)
    assert large.result(4)["query"] == "large" and refused
    batcher.close()


def test_who_waits_too_long_is_told_and_what_nobody_waits_for_is_dropped(held):
    engine, gate = held
    batcher, client = served(engine, timeout=1)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(client.get("/search", params={"query": "slow", "candidates": 2})))]
    threads[0].start()
    begun(engine)
    left = batcher.submit(asked("left", 8))
    assert left.cancel()
    threads[0].join()
    assert [answer.status_code for answer in answers] == [504]
    gate.set()
    assert client.get("/search", params={"query": "after", "candidates": 2}).status_code == 200
    batcher.close()
    assert [*map(list, engine.slices)] == [["slow"], ["after"]]


def test_a_request_that_fails_takes_nobody_with_it(held, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    engine, gate = held
    batcher, client = served(engine)
    futures = [batcher.submit(asked(query)) for query in ("a", "b", "die", "c", "odd")]
    gate.set()
    assert [futures[n].result(5)["query"] for n in (0, 1, 3)] == ["a", "b", "c"]
    with pytest.raises(BadInput, match="no numbers"):
        futures[4].result(5)
    response = client.get("/search", params={"query": "die", "candidates": 1})
    assert (response.status_code, response.json()) == (503, {"error": "the model died"})
    told = client.get("/search", params={"query": "bug"})
    assert told.status_code == 500 and "secret" not in told.text and str(tmp_path) in told.json()["error"]
    assert "a secret" in next(tmp_path.iterdir()).read_text()
    batcher.close()


def test_the_end_answers_those_who_wait(held):
    engine, gate = held
    batcher = Batcher(lambda: engine, 30)
    futures = [batcher.submit(asked(str(number), 5)) for number in range(4)]
    threading.Timer(0.1, gate.set).start()
    batcher.close()
    assert [future.result(0)["query"] for future in futures] == ["0", "1", "2", "3"]


def test_what_cannot_be_made_ready_is_told_by_who_makes_it():
    def make():
        raise BadInput("no collection")

    with pytest.raises(BadInput, match="no collection"):
        Batcher(make, 1)
