"""What a change does to the pages: two renderings of the book side by side, for every page that differs.

Pages are compared by what they say, without what differs between any two runs (dates, seconds, commits, the launch lines). Those
that differ are photographed before and after, and the pixels that differ are marked.

    book diff OLD NEW --to FOLDER -> FOLDER/index.html + pictures
"""

import hashlib
from dataclasses import dataclass
from html import escape
from pathlib import Path

from PIL import Image, ImageChops

from press import chromium, screenshots

VOLATILE = (".nr-said", ".nr-launch", ".nr-badge.nr-profile", ".prev-next-footer", "script", "details:has([id^='step-'])")
WIDTH = 1250  # CSS pixels
MARK, FAINT = (213, 0, 0), 8  # red; a difference of brightness, out of 255, that nobody sees


@dataclass(frozen=True)
class Change:
    """A page that is not what it was.

    Args:
        page: its name, such as `chapters/seeds`.
        kind: `changed`, `new` or `gone`.
        share: of its pixels that differ, from 0 to 1; 1 for a page that is new or gone.
    """

    page: str
    kind: str
    share: float = 1.0


def compare(old: Path, new: Path, target: Path) -> list[Change]:
    """Compare two rendered books and write a report.

    Args:
        old, new: their folders, with an `index.html`.
        target: the report's folder.

    Returns:
        The pages that differ.

    Raises:
        BadInput: if one of the folders is no rendered book, or there is no Chromium and a page differs.
    """
    kinds = differing(old, new)
    target.mkdir(parents=True, exist_ok=True)
    changes = []
    if kinds:
        with chromium.browser() as browser, browser.new_context(
                viewport={"width": WIDTH, "height": 900}, color_scheme="light", reduced_motion="reduce", offline=True) as window:
            camera = window.new_page()
            for page, kind in kinds.items():
                for side, folder in (("old", old), ("new", new)):
                    if (folder / f"{page}.html").exists():
                        screenshots.photograph(camera, folder / f"{page}.html", target / picture(page, side), WIDTH)
                share = mark(*(target / picture(page, side) for side in ("old", "new", "marked"))) if kind == "changed" else 1.0
                changes.append(Change(page, kind, share))
    (target / "index.html").write_text(report(changes), encoding="utf-8")
    (target / "summary.md").write_text(summary(changes), encoding="utf-8")
    return changes


def differing(old: Path, new: Path) -> dict[str, str]:
    """The pages that differ, by name: `changed`, `new` or `gone`."""
    before, after = screenshots.pages(old), screenshots.pages(new)
    found = {}
    for page in dict.fromkeys([*after, *before]):
        if page not in before or page not in after:
            found[page] = "new" if page in after else "gone"
        elif content_digest(old / f"{page}.html") != content_digest(new / f"{page}.html"):
            found[page] = "changed"
    return found


def content_digest(file: Path) -> str:
    """A digest of what a page's article says and shows, without what differs between any two runs."""
    from bs4 import BeautifulSoup

    article = BeautifulSoup(file.read_text(encoding="utf-8"), "lxml").find("article")
    if article is None:
        return ""
    for selector in VOLATILE:
        for element in article.select(selector):
            element.decompose()
    return hashlib.sha256(" ".join(str(article).split()).encode()).hexdigest()


def mark(old: Path, new: Path, target: Path) -> float:
    """Write the new picture, pale, with the pixels that differ in red; the share of them.

    Where one picture is longer, all that the other one lacks differs.
    """
    with Image.open(old) as first, Image.open(new) as second:
        before, after = first.convert("RGB"), second.convert("RGB")
    size = (max(before.width, after.width), max(before.height, after.height))
    difference = ImageChops.difference(on_ground(before, size), on_ground(after, size)).convert("L")
    differs = difference.point(lambda value: 255 * (value > FAINT))
    common = Image.new("L", size, 255)
    common.paste(0, (0, 0, min(before.width, after.width), min(before.height, after.height)))
    differs = ImageChops.lighter(differs, common)
    pale = Image.blend(on_ground(after, size), Image.new("RGB", size, "white"), 0.6)
    pale.paste(MARK, mask=differs)
    pale.save(target)
    return differs.histogram()[255] / (size[0] * size[1])


def on_ground(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """A picture on a white ground of another size."""
    ground = Image.new("RGB", size, "white")
    ground.paste(image)
    return ground


def picture(page: str, side: str) -> str:
    """The file name of a page's picture: `old`, `new` or `marked`."""
    return f"{page.replace('/', '_')}.{side}.png"


def summary(changes: list[Change]) -> str:
    """The pages that differ as Markdown, a line each."""
    lines = [f"| {change.page} | {change.kind} | {_percent(change)} |" for change in ordered(changes)]
    if not lines:
        return "No page differs.\n"
    return "\n".join(["| page | what | pixels that differ |", "|---|---|---|", *lines]) + "\n"


def report(changes: list[Change]) -> str:
    """The report: for each page its pictures before, after, and marked."""
    parts = []
    for change in ordered(changes):
        sides = {"changed": ("old", "new", "marked"), "new": ("new",), "gone": ("old",)}[change.kind]
        page = escape(change.page)
        shots = "".join(SHOT.format(side=side, file=escape(picture(change.page, side)), page=page) for side in sides)
        note = f", {_percent(change)} of its pixels" if change.kind == "changed" else ""
        parts.append(f"<section><h2>{page}: {change.kind}{note}</h2><div>{shots}</div></section>")
    return REPORT.format(body="\n".join(parts) or "<p>No page differs.</p>", count=len(changes))


def ordered(changes: list[Change]) -> list[Change]:
    """The changes, the largest first."""
    return sorted(changes, key=lambda change: (-change.share, change.page))


def _percent(change: Change) -> str:
    return f"{100 * change.share:.1f} %" if change.kind == "changed" else ""


SHOT = """<figure><figcaption>{side}</figcaption>
<a href="{file}"><img loading="lazy" src="{file}" alt="{page}, {side}"></a></figure>"""

REPORT = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>What changed</title>
<style>body {{ font-family: sans-serif; margin: 1rem; background: #ddd; color: #111; }}
div {{ display: grid; grid-template-columns: repeat(3, 1fr); gap: .5rem; align-items: start; max-height: 60rem; overflow: auto; }}
figure {{ margin: 0; }} img {{ display: block; width: 100%; border: 1px solid #888; }} h2 {{ font-size: 1rem; }}</style>
</head><body><h1>What changed: {count} pages</h1>
{body}
</body></html>
"""
