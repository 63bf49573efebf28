"""The browser tests can fail: one page with every defect that they look for, one without any, and links of all kinds."""

import re

import pytest

from looking import COMPLAINTS, context, dead_links, look_at

pytestmark = [pytest.mark.slow, pytest.mark.browser]
THEME = """<script>const night = matchMedia("(prefers-color-scheme: dark)");
const follow = () => { document.documentElement.dataset.theme = night.matches ? "dark" : "light"; };
follow(); night.addEventListener("change", follow);</script>
<style>body { background: #fff; color: #222; } html[data-theme=dark] body { background: #111; color: #eee; }
a { color: inherit; } .box { overflow-x: auto; } td { min-width: 300px; } svg { width: 300px; height: 40px; }</style>"""
WIDE = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
GOOD = f"""<!DOCTYPE html><html lang="en"><head><title>Good</title>{THEME}</head><body><main><h1 id="top">Good</h1>
<p style="color: var(--none, inherit)">Text. <a href="other.html#there">Other</a> <a href="https://doi.org/10.1000/1">outside</a></p>
<div class="box" role="region" tabindex="0" aria-label="Numbers">{WIDE}</div>
<figure class="box" tabindex="0"><svg role="img" aria-label="Two lines that fall from left to right" viewBox="0 0 300 40">
<rect width="300" height="40" fill="#0000ff"/><text x="10" y="20" font-size="14" fill="#ffffff">on blue</text></svg></figure>
</main></body></html>"""
BAD = f"""<!DOCTYPE html><html><head><title>Bad</title>{THEME}<script src="missing.js"></script>
<script>console.error("said aloud"); setTimeout(() => {{ throw new Error("thrown"); }});</script>
<link rel="stylesheet" href="https://example.org/style.css"></head><body><main><h1>Bad</h1>
<p style="color: #999; font-size: 9px">pale and small</p><p style="color: #222">dark on dark at night</p>
<details><summary>More</summary><p style="font-size: 10px">small in a fold</p></details>
<img src="missing.png"><img src="missing.png" alt="a text of at least five words">
<a href="nowhere.html">gone</a> <a href="other.html#nothing">no place</a> <a href="../above.html">outside the book</a>
{WIDE}<div class="box">{WIDE}</div>
<figure class="box" tabindex="0"><svg role="img" aria-label="plot" viewBox="0 0 600 80">
<rect width="600" height="80" fill="#eee"/><text x="10" y="40" font-size="14" fill="#ddd">pale in a plot</text></svg></figure>
</main></body></html>"""
OTHER = f"""<!DOCTYPE html><html lang="en"><head><title>Other</title>{THEME}</head>
<body><main><h1 id="there">Other</h1></main></body></html>"""


@pytest.fixture(scope="module")
def looks(tmp_path_factory, browser):
    place = tmp_path_factory.mktemp("pages") / "html"
    place.mkdir()
    (place.parent / "above.html").write_text(OTHER)
    for name, text in (("good", GOOD), ("bad", BAD), ("other", OTHER)):
        (place / f"{name}.html").write_text(text)
    with context(browser) as window:
        return place, {name: look_at(window, place / f"{name}.html", name) for name in ("good", "bad", "other")}


def test_a_good_page_gives_no_complaint(looks):
    assert [line for part in COMPLAINTS for line in getattr(looks[1]["good"], part)] == []


@pytest.mark.parametrize(("part", "pattern"), [
    ("errors", "said aloud"), ("errors", "thrown"), ("failed", "missing.js"), ("outside", r"^https://example.org/style.css"),
    ("images", "missing.png"), ("rules", "^image-alt"), ("rules", "^color-contrast"), ("rules", "^dark: color-contrast"),
    ("rules", "^html-has-lang"), ("pale", r"^1\.1\d: pale in a plot"), ("pale", r"^dark: 1\.1\d: pale in"),
    ("wide", "px wide"), ("boxes", "in no box that scrolls: <table"), ("boxes", "not reached by the keyboard: <div"),
    ("boxes", "without a name: <div"), ("small", "9.0 px: <p"), ("small", "10.0 px: <p"), ("small", r"7\.0 px: <text")])
def test_a_defect_is_found(looks, part, pattern):
    result = getattr(looks[1]["bad"], part)
    assert [line for line in result if re.search(pattern, line)], result


def test_links_to_no_file_to_no_place_and_out_of_the_book_are_found(looks):
    place, seen = looks
    dead = dead_links(list(seen.values()), place)
    assert sorted(line.rsplit("/", 1)[1] for line in dead) == ["above.html", "nowhere.html", "other.html#nothing (no such place)"]
    assert all(line.startswith("bad: ") for line in dead)


def test_pictures_come_with_their_texts(looks):
    assert [picture["text"] for picture in looks[1]["good"].pictures] == ["Two lines that fall from left to right"]
    assert [picture["text"] for picture in looks[1]["bad"].pictures] == [None, "a text of at least five words", "plot"]
