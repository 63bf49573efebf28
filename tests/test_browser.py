"""Every page of a rendered book in a real, headless Chromium: it works from disk, without a network, by day and by night, on
a phone, and with a keyboard alone.

The book is the mini book of test_book.py; `BOOK_HTML=book/_build/html` looks at another one. Without a Chromium these tests
are skipped, unless `BOOK_BROWSER=required` (CI) says that they must not be.
"""

import base64
import hashlib
import itertools
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers.evaluation.significance import Interval
from helpers.evaluation.verdicts import HIGHER, judge
from looking import COMPLAINTS, PHONE, Look, context, dead_links, listen, look_at

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(2400)]  # the first may wait for the whole book
KNOWN_WORD = "reciprocal"  # stands on many pages, whatever the profile
STAND_IN = "This chapter has not been run here."
WALKED = ("index", "chapters/does_it_work", "generated/scoreboard", "search")


@pytest.fixture(scope="module")
def window(browser):
    with context(browser) as made:
        yield made


@pytest.fixture(scope="module")
def html(browser, request):
    named = os.environ.get("BOOK_HTML")
    return Path(named).resolve() if named else request.getfixturevalue("project") / "book" / "_build" / "html"


@pytest.fixture(scope="module")
def looks(window, html) -> list[Look]:
    """Of every page, but of one stand-in alone for chapters that were not run: they differ in title and command."""
    pages = [file for file in sorted(html.rglob("*.html")) if not file.relative_to(html).parts[0].startswith("_")]
    alike = [file for file in pages if STAND_IN in file.read_text()][1:]
    return [look_at(window, file, file.relative_to(html).with_suffix("").as_posix()) for file in pages if file not in alike]


@pytest.fixture
def page(window):
    made = window.new_page()
    yield made
    made.close()


def assert_none(result: list[str]) -> None:
    """Fail with all that was found, each on a line of its own."""
    assert not result, "\n".join([f"{len(result)} found", *result[:60]])


def test_every_page_was_looked_at(looks, html):
    seen = {look.page for look in looks}
    assert {"index", "reading", "bibliography", "search", "generated/scoreboard", "generated/numbers"} <= seen
    assert {f"chapters/{file.stem}" for file in (html / "chapters").glob("*.html") if STAND_IN not in file.read_text()} <= seen
    assert len(seen) == len(looks) > 20


@pytest.mark.parametrize("part", COMPLAINTS)
def test_no_page_is_complained_of(looks, part):
    """See `COMPLAINTS`."""
    assert_none([f"{seen.page}: {line}" for seen in looks for line in getattr(seen, part)])


def test_every_link_of_the_book_leads_somewhere(looks, html):
    assert sum(len(look.links) for look in looks) > 500
    assert_none(dead_links(looks, html))


def test_every_picture_has_a_text_of_its_own(looks):
    assert sum(len(look.pictures) for look in looks) > 10
    for seen in looks:
        texts = [picture["text"] or "" for picture in seen.pictures]
        mute = [picture["what"] for picture, text in zip(seen.pictures, texts, strict=True) if len(text.split()) < 5]
        assert_none([f"{seen.page}: {what}" for what in mute])
        assert len(set(texts)) == len(texts), f"{seen.page}: two pictures with one text"


def walk(page):
    """Every place that the Tab key reaches, from the top of the page to its end."""
    page.evaluate("look.step()")
    places = []
    while len(places) < 3000:
        page.keyboard.press("Tab")
        place = page.evaluate("look.step()")
        if place["tag"] == "body" and places:
            return places
        places.append(place)
    raise AssertionError("the Tab key never comes to the end of the page")


@pytest.mark.parametrize("name", WALKED)
def test_the_tab_key_reaches_everything_and_shows_where_it_is(page, html, name):
    page.goto((html / f"{name}.html").as_uri())
    boxes, folds = page.locator("main .nr-scroll:visible").count(), page.locator("main summary:visible").count()
    targets = set(page.evaluate("look.visibleLinks()"))
    places = walk(page)
    assert_none([place["unseen"] for place in places if place["unseen"]])
    assert sum(place["tag"] == "div" and "nr-scroll" in place["classes"] for place in places) == boxes
    assert sum(place["tag"] == "summary" and place["inside"] == "main" for place in places) == folds
    assert targets - {place["href"] for place in places} == set()
    assert any("search-button" in " ".join(place["classes"]) for place in places)
    assert sum(place["inside"] == "contents" and place["tag"] == "a" for place in places) >= 20


def test_search_by_keyboard_alone_finds_a_known_word(page, html):
    seen = Look("search")
    listen(page, seen)
    page.goto((html / "index.html").as_uri())
    for _ in range(20):
        page.keyboard.press("Tab")
        if "search-button" in " ".join(page.evaluate("look.step()")["classes"]):
            break
    page.keyboard.press("Enter")
    page.keyboard.type(KNOWN_WORD)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/search\.html\?q="))
    page.wait_for_selector("#search-results li a")
    result = page.locator("#search-results li a")
    assert result.count() >= 3
    result.first.click()
    page.wait_for_url(re.compile(r"^(?!.*/search\.html)"))
    assert KNOWN_WORD in page.locator("main").inner_text().lower()
    assert seen.errors + seen.failed + seen.outside == []


def test_the_reader_can_choose_the_theme_with_the_keyboard_and_it_stays(page, html):
    page.goto((html / "index.html").as_uri())
    chosen = []
    for _ in range(3):
        page.locator("main .theme-switch-button").first.focus()
        page.keyboard.press("Enter")
        chosen.append(page.evaluate("document.documentElement.dataset.mode"))
        theme = page.evaluate("document.documentElement.dataset.theme")
        page.goto((html / "reading.html").as_uri())
        assert page.evaluate("document.documentElement.dataset.mode") == chosen[-1]
        assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert sorted(chosen) == ["auto", "dark", "light"]


@pytest.mark.parametrize(("start", "toggle", "place"), [
    ("index", "primary", "reading.html"), ("reading", "secondary", "#verdicts")])
def test_a_phone_opens_the_contents_of_the_book_and_of_a_page_with_the_keyboard(page, html, start, toggle, place):
    page.set_viewport_size(PHONE)
    page.goto((html / f"{start}.html").as_uri())
    page.locator(f"button.{toggle}-toggle:visible").first.focus()
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("Enter")
    page.locator(f"dialog[open] a[href$='{place}']").first.press("Enter", timeout=10_000)
    page.wait_for_url(re.compile(rf"{re.escape(place)}$"))


def test_a_chapter_turns_into_slides_and_back(page, html):
    page.goto((html / "chapters" / "seeds.html").as_uri())
    page.get_by_role("button", name="Show this chapter as slides").click()
    title, method = page.locator("article h1"), page.locator("#method > h2")
    assert (title.is_visible(), method.is_visible(), page.locator(".bd-sidebar-primary").is_visible()) == (True, False, False)
    page.keyboard.press("ArrowRight")
    assert (title.is_visible(), method.is_visible()) == (False, True)
    page.get_by_role("button", name="Slide before").click()
    page.keyboard.press("Escape")
    assert title.is_visible() and method.is_visible() and not page.locator(".nr-turn").is_visible()


PYODIDE = """window.loadPyodide = async () => { let told; return {setStdout: options => { told = options.batched; },
  runPythonAsync: async code => { if (code.includes("1/0")) throw new Error("ZeroDivisionError");
    told(code.includes("depth=3") && code.includes("relevant_from = 2") ? "ran" : "another code"); }}; };"""
NETWORK = re.compile("^https:")


def test_python_is_fetched_when_it_is_asked_for_and_not_before(page, html):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.startswith("http") else None)
    page.goto((html / "generated" / "python_here.html").as_uri())
    made, said, code = page.inner_text("#nr-python-out"), page.locator("#nr-python-said"), page.locator("#nr-python")
    assert "BM25: 0." in made and not asked
    page.route(NETWORK, lambda route: route.abort())
    page.get_by_role("button", name="Run it here").click()
    page.locator("#nr-python-said", has_text="could not be fetched").wait_for()
    assert page.inner_text("#nr-python-out") == made and len(asked) == 1
    page.unroute(NETWORK)
    digest = base64.b64encode(hashlib.sha384(PYODIDE.encode()).digest()).decode()
    page.route(NETWORK, lambda route: route.fulfill(body=PYODIDE, headers={"Access-Control-Allow-Origin": "*"}))
    page.reload()
    code.evaluate("(code, digest) => { code.dataset.digest = `sha384-${digest}`; }", digest)
    for written, result in ((code.input_value().replace("depth=10", "depth=3"), "ran"), ("1/0", "ZeroDivisionError")):
        code.fill(written)
        page.get_by_role("button", name="Run it here").click()
        page.locator("#nr-python-out", has_text=re.compile(f"^{result}$")).wait_for(timeout=9000)
    assert said.inner_text() == "The code has an error."


def test_the_sliders_of_an_interval_give_the_word_of_the_rules(page, html):
    page.goto((html / "reading.html").as_uri())
    shown, inputs = page.locator(".nr-word-of output"), page.locator(".nr-word-of input").all()
    for difference, half, margin in itertools.product((-0.05, -0.02, 0.0, 0.02, 0.05), (0.01, 0.03, 0.06), (0.01, 0.03, 0.06)):
        for control, value in zip(inputs, (difference, half, margin), strict=True):
            control.fill(str(value))
        whole, narrow = (Interval(difference, difference - own, difference + own) for own in (half, half * 1.645 / 1.96))
        assert shown.inner_text() == judge(HIGHER, SimpleNamespace(difference=whole, narrow=narrow), margin)
