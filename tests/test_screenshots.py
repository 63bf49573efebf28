"""Pictures of pages: which pages, which files, and a sheet that shows all of them."""

import re

import pytest
from PIL import Image

from press import chromium

PAGE = """<!DOCTYPE html><html lang="en"><meta name="viewport" content="width=device-width"><title>x</title><style>
body {{ margin: 0; height: {height}px; background: #fff; }} @media (prefers-color-scheme: dark) {{ body {{ background: #000; }} }}
</style></html>"""


@pytest.fixture
def book(tmp_path):
    for name, height in (("index", 1000), ("chapters/a", 15_000), ("_static/no_page", 10), ("_sources/none", 10)):
        file = tmp_path / "html" / f"{name}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(PAGE.format(height=height))
    return tmp_path / "html"


def test_the_pages_of_a_book_are_all_but_the_theme_s_own(book):
    assert chromium.pages(book) == ["index", "chapters/a"]


def test_the_sheet_escapes_names_and_tells_what_was_cut():
    sheet = chromium.contact_sheet(["index", "a&b"], {"a&b"})
    assert "a&amp;b (cut after 12,000 px)" in sheet
    assert "a&b" not in sheet
    assert sheet.count("<img ") == 2 * len(chromium.KINDS)
    assert len(set(re.findall(r'alt="([^"]+)"', sheet))) == 2 * len(chromium.KINDS)


@pytest.mark.slow
@pytest.mark.browser
def test_every_page_is_photographed_in_every_kind(book, tmp_path, chromium_there):
    sheet = chromium.take(book, tmp_path / "shots")
    shown = re.findall(r'src="([^"]+)"', sheet.read_text())
    assert sorted(shown) == sorted(file.name for file in sheet.parent.glob("*.png"))
    for name, height in (("index", 1000), ("chapters/a", chromium.TALLEST)):
        for kind in chromium.KINDS:
            with Image.open(sheet.parent / chromium.picture(name, kind.name)) as image:
                assert image.size == (kind.width, height)
                assert image.convert("RGB").getpixel((5, 5)) == ((0, 0, 0) if kind.colours == "dark" else (255, 255, 255))
