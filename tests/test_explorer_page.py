"""The explorer in a real browser, from the file system: what it shows, how it is driven, and that hostile texts stay texts."""

import shutil
import subprocess
from urllib.parse import urlencode

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from helpers import paths
from helpers.data.collection_base import Text
from helpers.pages import explorer
from helpers.retrieval.bm25 import K1, B
from helpers.systems.evaluated import RerankingExperiment
from helpers.systems.testbed import Testbed
from test_explorer import HOSTILE, RUNS, Texts, bed_of, systems_of

pytestmark = [pytest.mark.slow, pytest.mark.browser]
FOUR = {name: RUNS.get(name, {"q1": "acbd"}) for name in ("BM25", "re-ranking", "pairs", "dense search")}
BEFORE = {"pairs": "re-ranking"}
QUERIES = ["how iron rusts", "why bread browns", "where clouds form", "who heats ovens", "iron or wood"]
TRAP = "<img src=x onerror=\"document.documentElement.dataset.owned='yes'\">"


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page with the explorer and the given data; in the end no script may have complained."""
    page, errors = browser.new_page(), []
    page.set_default_timeout(120_000)  # milliseconds; a busy machine is no defect
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: message.type == "error" and errors.append(message.text))

    def open_page(data, fragment=""):
        for name in ("explorer.js", "explorer_bm25.js", "explorer.css"):
            shutil.copy(paths.PACKAGE.parents[1] / "book" / "_static" / name, tmp_path / name)
        for number, script in enumerate([""] if data is None else explorer.as_scripts(data)):
            (tmp_path / f"data{f'-{number}' if number else ''}.js").write_text(script)
        scripts = "".join(f'<script defer src="{name}.js"></script>' for name in ("data", "explorer_bm25", "explorer"))
        (tmp_path / "page.html").write_text(
            '<!doctype html><html><head><meta charset="utf-8"><link rel="stylesheet" href="explorer.css"></head><body>'
            f'<h1 id="top">Page</h1><div id="nr-explorer"><noscript>none</noscript></div>{scripts}'
            '<a id="link" href="#nr-explorer" data-explore="style=oblique&amp;q=q4">link</a></body></html>')
        page.goto("about:blank")
        page.goto(f"{(tmp_path / 'page.html').as_uri()}{fragment}")
        return page

    yield open_page
    assert errors == []
    assert page.evaluate("document.documentElement.dataset.owned") is None
    page.close()


@pytest.fixture
def browse(opened):
    """The page as it stands after somebody has done something with it."""
    def browsed(data, fragment="", act=lambda page: None):
        page = opened(data, fragment)
        act(page)
        return BeautifulSoup(page.content(), "html.parser")
    return browsed


@pytest.fixture
def collect(monkeypatch):
    """The data of the hand-made runs, with a text or a query changed."""
    def make(whole=10, texts=None, queries=None, depth=3, runs=RUNS, before=None):
        known = Texts({doc: Text(doc, f"title {doc}", f"body {doc} with words about iron") for doc in "zabcdef"})
        known.update(texts or {})
        monkeypatch.setattr(explorer, "Texts", lambda folder: known)
        bed = bed_of()
        bed.query_frame["text"] = queries or QUERIES
        labels = pd.DataFrame({"answer type": ["DESC", "DESC", "LOC", "HUM", "ENTY"],
                               "style": ["plain", "oblique", "plain", "oblique", "plain"]})
        return explorer.collect(bed, systems_of(runs), labels, depth, whole, before)
    return make


def hash_of(**given):
    return "#" + urlencode(given)


def shown(page):
    """What the columns show: titles with their movements."""
    return [[(card.strong.text, [row.find(attrs={"aria-hidden": "true"}).text for row in card.select(".nrx-move")])
             for card in column.select(".nrx-card")] for column in page.select(".nrx-column")]


def ranks(page):
    """The first judged answer's rank by the head of its column."""
    heads, cells = page.select(".nrx-answers thead th[scope=col]")[1:], page.select_one(".nrx-answers tbody tr").select("td")
    return {head.get_text(): cell.get_text() for head, cell in zip(heads, cells, strict=True)}


def text_of(page, place):
    return page.select_one(place).get_text()


def typing(text, *keys):
    """Somebody who types a text into the box and presses keys."""
    def act(page):
        page.locator("#nrx-input").fill(text)
        for key in keys:
            page.keyboard.press(key)
    return act


# ---- what it shows ----

def test_the_page_shows_what_the_data_says(browse, collect):
    data = collect()
    page = browse(data, hash_of(q="q1"))
    expected = [[("title a", ["▼1", "▼2"]), ("title b", ["▼1", "beyond 3"]), ("title c", ["▲2", "▲2"])],
                [("title c", ["▲2"]), ("title a", ["▼1"]), ("title b", ["▼1"])],
                [("title c", ["▲2"]), ("title e", ["new"]), ("title a", ["▼2"])]]
    assert shown(page) == expected
    rows = data["queries"][0]["rankings"]
    assert [[explorer.moved(moves[system - 1]) for *_, moves in rows[system]] for system in (1, 2)] == [
        [moves[0] for _, moves in column] for column in expected[1:]], "the tables of the chapter write it alike"
    assert [badge.text for badge in page.select(".nrx-column .nrx-grade.nrx-good")] == ["● answers fully"] * 3
    assert ranks(page) == {"BM25": "3", "re-ranking": "1", "dense search": "1"}
    assert text_of(page, ".nrx-status") == "1 of 5"
    assert {kind.text for kind in page.select(".nrx-kind")} == {"DESC", "plain", "re-ranking helped", "dense search helped"}


def test_a_third_stage_has_its_column_and_its_arrows_are_from_the_second(browse, collect):
    page = browse(collect(runs=FOUR, before=BEFORE), hash_of(q="q1"))
    columns = shown(page)
    assert [moves for _, moves in columns[0]] == [["▼1", "▼2"], ["▼1", "beyond 3"], ["▲2", "▲2"]]
    assert columns[2] == [("title a", ["▲1"]), ("title c", ["▼1"]), ("title b", ["="])]
    assert ranks(page) == {"BM25": "3", "re-ranking": "1", "pairs": "2", "dense search": "1"}
    assert [note.text for note in page.select(".nrx-from")] == [
        "the first stage", "arrows: places from BM25", "arrows: places from re-ranking", "arrows: places from BM25"]
    assert "1 higher than in re-ranking" in page.select(".nrx-column")[2].get_text()


def test_words_with_the_stem_of_a_query_word_are_marked(browse, collect):
    page = browse(collect(texts={"a": Text("a", "Ironing", "Rusted IRON, irons and rusts: with environs.")}), hash_of(q="q1"))
    assert [mark.text for mark in page.select_one(".nrx-card").select("mark")] == ["Ironing", "Rusted", "IRON", "irons", "rusts"]


def test_without_data_the_page_says_how_to_get_it(browse):
    assert "run this chapter again" in text_of(browse(None), "#nr-explorer")


# ---- how it is driven ----

@pytest.mark.parametrize(("given", "status", "text"), [
    ({}, "1 of 5", "how iron rusts"),
    ({"outcome": "BM25 missed it", "style": "plain"}, "1 of 1", "iron or wood"),
    ({"style": "oblique", "q": "q4"}, "2 of 2", "who heats ovens"),
    ({"style": "oblique", "q": "q1"}, "not among the 2 that fit", "how iron rusts"),
    ({"style": "nonsense", "q": "nonsense"}, "1 of 5", "how iron rusts"),
    ({"outcome": "dense search hurt"}, "not among the 0 that fit", "how iron rusts")])
def test_the_address_holds_query_and_filters(browse, collect, given, status, text):
    page = browse(collect(), hash_of(**given))
    assert (text_of(page, ".nrx-status"), text_of(page, ".nrx-query")) == (status, text)


def test_typing_lists_the_queries_with_all_words_and_enter_takes_the_first(browse, collect):
    page = browse(collect(), "", typing("IRON o"))
    assert [row.get_text() for row in page.select("#nrx-list [role=option]")] == [
        "how iron rusts DESC, plain", "iron or wood ENTY, plain", "Rank the collection by BM25 for “IRON o”"]
    assert [row["aria-selected"] for row in page.select("#nrx-list [role=option]")] == ["true", "false", "false"]
    assert text_of(browse(collect(), "", typing("wood", "Enter")), ".nrx-query") == "iron or wood"
    assert text_of(browse(collect(), "", typing("iron", "ArrowDown", "Enter")), ".nrx-query") == "iron or wood"


def test_a_filter_and_the_buttons_walk_through_what_fits_and_the_browser_goes_back(opened, collect):
    page = opened(collect(), hash_of(q="q2"))
    status, query = page.locator(".nrx-status"), page.locator(".nrx-query")
    page.locator("#nrx-style").select_option("plain")
    page.wait_for_function("location.hash === '#style=plain'")
    assert (status.inner_text(), query.inner_text()) == ("1 of 3", "how iron rusts")
    page.get_by_label("next query").click()
    page.wait_for_function("location.hash === '#style=plain&q=q3'")
    assert (status.inner_text(), query.inner_text()) == ("2 of 3", "where clouds form")
    page.go_back()
    page.wait_for_function("document.querySelector('.nrx-query').textContent === 'how iron rusts'")
    page.go_back()
    page.wait_for_function("document.querySelector('.nrx-query').textContent === 'why bread browns'")
    assert status.inner_text() == "2 of 5"
    page.locator("#nrx-answer-type").select_option("DESC")
    page.wait_for_function("location.hash === '#answer+type=DESC&q=q2'")
    assert status.inner_text() == "2 of 2", "a query that fits stays"
    assert page.get_by_label("next query").is_disabled()
    assert page.get_by_label("previous query").is_enabled()


def test_a_link_of_the_page_shows_its_query(opened, collect):
    page = opened(collect(), hash_of(q="q1"))
    page.locator("#link").click()
    page.wait_for_function("location.hash === '#style=oblique&q=q4'")
    assert page.locator(".nrx-query").inner_text() == "who heats ovens"


def test_a_phone_shows_one_ranking_at_a_time(opened, collect):
    hostile = {"texts": {"c": Text("c", HOSTILE, HOSTILE)}, "queries": [HOSTILE, *QUERIES[1:]]}
    page = opened(collect(**hostile, runs=FOUR, before=BEFORE), hash_of(q="q1"))
    page.set_viewport_size({"width": 390, "height": 800})
    columns = page.locator(".nrx-column")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, "no text makes a phone's page wider"
    assert [column.is_visible() for column in columns.all()] == [True, False, False, False]
    page.locator(".nrx-tabs button").nth(3).click()
    assert [column.is_visible() for column in columns.all()] == [False, False, False, True]
    assert page.locator(".nrx-tabs [aria-pressed=true]").all_inner_texts() == ["dense search"]
    page.set_viewport_size({"width": 1250, "height": 800})
    assert all(column.is_visible() for column in columns.all())


# ---- hostile texts ----

@pytest.mark.parametrize("text", [HOSTILE, f"</script>{TRAP}", "<!--<script>", "​\x7f😀" * 50])
def test_a_hostile_passage_or_query_stays_text(browse, collect, text):
    queries = [text, "b", "c", "d", text]
    page = browse(collect(texts={"c": Text("c", text, text)}, queries=queries), hash_of(q="q1"), typing(text[:30]))
    assert text_of(page, ".nrx-query") == text
    card = page.select(".nrx-column")[1].select_one(".nrx-card")
    assert (card.strong.get_text(), card.p.get_text()) == (text, text)
    assert page.find_all("img") == []
    assert len(page.find_all("script")) == 3


@pytest.mark.parametrize("given", [{"q": TRAP}, {"text": TRAP}, {"style": TRAP}, {"text": HOSTILE}])
def test_a_hostile_address_stays_text(browse, collect, given):
    page = browse(collect(), hash_of(**given))
    assert page.find_all("img") == []
    if "text" in given:
        assert text_of(page, ".nrx-query") == given["text"]


def test_the_command_quotes_the_query_for_the_shell(browse, collect):
    for text in ("it's $(touch x)", "-k 3", "'; touch x; '"):
        code = text_of(browse(collect(), hash_of(text=text)), ".nrx-asking code")
        command = f"printf '%s\\n' {code.removeprefix('.venv/bin/book ')}"
        words = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout.splitlines()
        assert words[:5] == ["search", "--unit", "passage", "--collection", "tiny"]
        assert words[-1] == text
        assert ("--" in words) == text.startswith("-")


# ---- BM25 in the browser, and the real data ----

def test_passages_are_loaded_when_a_query_needs_them_and_all_of_them_for_ones_own(opened, collect, monkeypatch):
    monkeypatch.setattr(explorer, "PART", 5)
    page = opened(collect(), hash_of(q="q1"))
    scripts = page.locator("head script")
    assert (scripts.count(), page.locator(".nrx-card").count()) == (0, 9)
    page.evaluate("location.hash = 'text=iron'")
    page.locator(".nrx-status", has_text="a query of your own").wait_for()
    assert (scripts.count(), page.evaluate("nrExplorer.passages.filter(Boolean).length")) == (1, 7)


def test_a_query_of_ones_own_is_ranked(browse, collect):
    texts = {"d": Text("d", "Rust", "Rusting iron"), "e": Text("e", "Rust", "rust and more rust, more of other words besides")}
    page = browse(collect(texts=texts), hash_of(text="rusted"))
    assert [title for title, _ in shown(page)[0]] in (["Rust"], ["Rust", "Rust"])
    assert text_of(page, ".nrx-status") == "a query of your own"
    assert "No passage holds a word" in text_of(browse(collect(), hash_of(text="the of zebra")), ".nrx-column")


@pytest.fixture(scope="module")
def real(session_store):
    """BM25 on the default chapter's queries, and what its page would be given."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOOK_STORE", str(session_store))
        bed = Testbed("almanac", "passage", queries=200)
        first = RerankingExperiment.of_bm25(bed, 20).baseline()
        yield first, explorer.collect(bed, {"BM25": first}, explorer.labels(bed), 10, 10_000)


def test_bm25_in_the_browser_is_lucenes_for_every_test_query(real, opened):
    first, data = real
    page = opened(data, hash_of(text="iron"))
    page.wait_for_function("nrExplorer.passages.filter(Boolean).length === nrExplorer.size")
    result = page.evaluate("""() => {
      const ids = nrExplorer.passages.map(([id]) => id);
      const built = nrBm25.index(nrExplorer.passages.map(([, title, body]) => `${title}\n${body}`));
      return nrExplorer.queries.map(({text}) => nrBm25.search(built, text, nrExplorer.k1, nrExplorer.b, 100, ids).map(
        ([seat, score]) => [ids[seat], score]));
    }""")
    assert (data["k1"], data["b"]) == (K1, B)
    expected = first.run
    rows = [(query["id"], doc, score) for query, run in zip(data["queries"], result, strict=True) for doc, score in run]
    frame = pd.DataFrame(rows, columns=expected.columns)
    assert frame[["query_id", "doc_id"]].equals(expected[["query_id", "doc_id"]])
    assert (frame["score"] - expected["score"]).abs().max() < 2e-4  # Anserini rounds to four decimals
