"""What changed between two rendered books: which pages, how much of their pictures, and a report of it."""

import pytest
from PIL import Image

from press import cli, page_diff
from press.page_diff import Change

PAGE = """<html><head><title>{date}</title></head><body><nav>{date}</nav><article><h1>T</h1><div class="nr-launch">{date}</div>
<p>{text}</p><span class="nr-said">run {date}</span><span class="nr-badge nr-profile">commit {date}</span>
<details class="nr-details"><summary>Where</summary><span id="step-1">{date}</span></details>
<details class="nr-details"><summary>Parameters</summary>{folded}</details><script>{date}</script></article></body></html>"""


def page(folder, name, text="same", date="2026-01-01", folded="same"):
    file = folder / f"{name}.html"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(PAGE.format(text=text, date=date, folded=folded))


@pytest.fixture
def books(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, date in ((old, "2026-01-01"), (new, "2026-12-31")):
        page(folder, "index", date=date)
        page(folder, "chapters/a", "before" if folder == old else "after", date)
        page(folder, "chapters/b", date=date, folded=folder.name)
        page(folder, "_static/no_page", date)
    page(old, "gone")
    page(new, "added")
    return old, new


def test_pages_differ_by_what_they_say_and_not_by_date_seconds_or_commit(books):
    assert page_diff.differing(*books) == {"added": "new", "chapters/a": "changed", "chapters/b": "changed", "gone": "gone"}


def test_a_folder_that_is_no_rendered_book_is_an_error(books, tmp_path, capsys):
    assert cli.main(["diff", str(tmp_path / "nothing"), str(books[1]), "--to", str(tmp_path / "out")]) == 2
    assert "make book" in capsys.readouterr().err


def test_two_equal_books_need_no_browser(books, tmp_path, monkeypatch):
    monkeypatch.setenv("BOOK_CHROMIUM", "/no/such/program")
    assert page_diff.compare(books[0], books[0], tmp_path / "out") == []
    assert "No page differs" in (tmp_path / "out" / "index.html").read_text()
    assert "No page differs" in (tmp_path / "out" / "summary.md").read_text()


def picture(file, size, *points):
    image = Image.new("RGB", size, "white")
    for point in points:
        image.putpixel(point, (0, 0, 0))
    image.save(file)
    return file


def test_the_share_of_pixels_that_differ_and_their_mark(tmp_path):
    old = picture(tmp_path / "old.png", (10, 10), (1, 1), (2, 2))
    new = picture(tmp_path / "new.png", (10, 10), (1, 1), (3, 3), (4, 4))
    assert page_diff.mark(old, new, tmp_path / "marked.png") == pytest.approx(3 / 100)
    with Image.open(tmp_path / "marked.png") as marked:
        red = [(x, y) for x in range(10) for y in range(10) if marked.getpixel((x, y)) == page_diff.MARK]
        assert red == [(2, 2), (3, 3), (4, 4)]
        assert marked.getpixel((1, 1)) == (153, 153, 153)  # black, paled by six tenths of white


@pytest.mark.parametrize(("old", "new"), [((10, 10), (10, 15)), ((10, 15), (10, 10))])
def test_what_one_picture_lacks_differs(tmp_path, old, new):
    pictures = [picture(tmp_path / f"{n}.png", size) for n, size in enumerate((old, new))]
    assert page_diff.mark(*pictures, tmp_path / "marked.png") == pytest.approx(50 / 150)


def test_the_report_shows_all_pictures_and_escapes_names():
    changes = [Change("a", "changed", 0.01), Change("b&c", "changed", 0.5), Change("d", "new"), Change("e", "gone")]
    report, summary = page_diff.report(changes), page_diff.summary(changes)
    assert all(f"<h2>{name}" in report for name in ("d: new", "e: gone", "b&amp;c: changed, 50.0 %", "a: changed, 1.0 %"))
    assert report.count("<img ") == 2 * 3 + 2
    assert "What changed: 4 pages" in report
    assert "| b&c | changed | 50.0 % |" in summary


@pytest.mark.slow
@pytest.mark.browser
def test_every_changed_page_is_photographed_before_and_after(books, tmp_path, chromium_there):
    changes = page_diff.compare(*books, tmp_path / "out")
    assert [change.share for change in changes] == sorted((change.share for change in changes), reverse=True)
    result = {change.page: change for change in changes}
    assert set(result) == {"chapters/a", "chapters/b", "added", "gone"}
    assert 0 < result["chapters/a"].share < 0.05
    pictures = {file.name for file in (tmp_path / "out").glob("*.png")}
    sides = ("old", "new", "marked")
    assert pictures == {"added.new.png", "gone.old.png", *(f"chapters_{name}.{side}.png" for name in "ab" for side in sides)}
