"""The page for people in a browser: what it shows of hostile texts, on a phone, and that it asks nobody else."""

import threading
from types import SimpleNamespace

import pytest
import uvicorn

from press.serve import app
from press.serve.batching import Batcher

pytestmark = [pytest.mark.browser, pytest.mark.slow]
HOSTILE = '<img src=x onerror="document.title=1"> & "quotes"'
WIDE = 390


class Hostile:
    bed, models, texts = SimpleNamespace(collection="toy", unit="document"), {"base": None, "none": None}, 2

    scorers, trial = {}, {}

    def expected(self, asked):
        return []

    def __call__(self, one):
        window = {"id": "d#1", "number": 2, "of": 3, "score": -1.25, "text": f"{HOSTILE} why bread " + "long " * 200}
        old, new = {"rank": 7, "score": 1.5}, {"rank": 1, "score": -1.25}
        results = [{"rank": 1, "doc_id": HOSTILE, "title": HOSTILE, "stages": {"BM25": old, "re-ranked": new}, "window": window},
                   {"rank": 2, "doc_id": "d" * 300, "title": "", "stages": {"re-ranked": new}, "window": window}]
        yield from ()
        return {"query": one.query, "aggregation": "mean", "stages": ["BM25", "re-ranked"], "seconds": {"BM25": 0.01},
                 "added_terms": {}, "results": results}


@pytest.fixture
def address():
    batcher = Batcher(Hostile, 5)
    server = uvicorn.Server(uvicorn.Config(app.application(batcher), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()
    batcher.close()


def test_hostile_texts_stay_texts_and_fit_a_phone(address, browser):
    page = browser.new_page(viewport={"width": WIDE, "height": 800})
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/#query=why+bread&aggregation=mean")
    page.wait_for_selector(".card")
    cards = page.locator(".card").all_inner_texts()
    assert HOSTILE in cards[0] and "▲ up 6" in cards[0] and "✦ new" in cards[1]
    assert "Window 2 of 3 scored highest, −1.250; a document scores as the mean of its windows" in cards[0]
    assert page.title() == "The search application" and page.locator("main img, main script").count() == 0
    assert page.locator("mark").first.inner_text() == "why"
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDE
    page.fill("[name=query]", "another")
    page.press("[name=query]", "Enter")
    page.wait_for_function("location.hash.includes('query=another')")
    page.close()  # the service waits for its connections
    assert said == [] and all(url.startswith((address, "data:")) for url in asked)
