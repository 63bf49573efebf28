"""What a change does to the pages: two renderings of the book side by side, for every page that differs.

Pages are compared by what they say, without what differs between any two runs (dates, seconds, commits, the launch lines). Those
that differ are photographed before and after, and the pixels that differ are marked.

    book diff OLD NEW --to FOLDER -> FOLDER/index.html + pictures
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from bs4 import BeautifulSoup
from PIL import Image, ImageChops

from press import chromium, screenshots
from press.screenshots import picture

VOLATILE = (".nr-said", ".nr-launch", ".nr-badge.nr-profile", ".prev-next-footer", "script", "details:has([id^='step-'])")
WIDTH = 1250  # CSS pixels
MARK, FAINT = (213, 0, 0), 8  # red; a difference of brightness, out of 255, that nobody sees
SIDES = {"changed": ("old", "new", "marked"), "new": ("new",), "gone": ("old",)}  # the pictures of a page


@dataclass(frozen=True)
class Change:
    """A page that is not what it was."""

    page: str  # its name, such as `chapters/seeds`
    kind: str  # `changed`, `new` or `gone`
    share: float = 1.0  # of its pixels that differ, from 0 to 1; 1 for a page that is new or gone

    @property
    def percent(self) -> str:
        """The share in words; nothing for a page that is new or gone."""
        return f"{100 * self.share:.1f} %" if self.kind == "changed" else ""


def compare(old: Path, new: Path, target: Path) -> list[Change]:
    """Compare two rendered books, folders with an `index.html`, and write a report into a third folder; the pages that differ,
    the largest change first. BadInput if a folder is no rendered book, or there is no Chromium and a page differs."""
    kinds = differing(old, new)
    target.mkdir(parents=True, exist_ok=True)
    changes = []
    if kinds:
        with chromium.window(WIDTH) as camera:
            for page, kind in kinds.items():
                for side, folder in (("old", old), ("new", new)):
                    if side in SIDES[kind]:
                        screenshots.photograph(camera, folder / f"{page}.html", target / picture(page, side), WIDTH)
                changes.append(Change(page, kind, mark(*(target / picture(page, side) for side in SIDES[kind]))
                                      if kind == "changed" else 1.0))
    changes.sort(key=lambda change: (-change.share, change.page))
    (target / "index.html").write_text(report(changes), encoding="utf-8")
    (target / "summary.md").write_text(summary(changes), encoding="utf-8")
    return changes


def diff(old: Path, new: Path, to: Path) -> str:
    """Compare two rendered books; what differs, and where the report is."""
    return summary(compare(old, new, to)) + f"-> {to / 'index.html'}"


def differing(old: Path, new: Path) -> dict[str, str]:
    """The pages that differ, by name: `changed`, `new` or `gone`."""
    before, after = screenshots.pages(old), screenshots.pages(new)
    kinds = {page: "new" if page not in before else "gone" if page not in after else "changed" for page in [*after, *before]}
    return {page: kind for page, kind in kinds.items() if kind != "changed"
            or content_digest(old / f"{page}.html") != content_digest(new / f"{page}.html")}


def content_digest(file: Path) -> str:
    """A digest of what a page's article says and shows, without what differs between any two runs."""
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
    differs = Image.new("L", size, 255)
    common = (0, 0, min(before.width, after.width), min(before.height, after.height))
    difference = ImageChops.difference(before.crop(common), after.crop(common)).convert("L")
    differs.paste(difference.point(lambda value: 255 * (value > FAINT)))
    pale = Image.new("RGB", size, "white")
    pale.paste(after)
    pale = Image.blend(pale, Image.new("RGB", size, "white"), 0.6)
    pale.paste(MARK, mask=differs)
    pale.save(target)
    return differs.histogram()[255] / (size[0] * size[1])


def summary(changes: list[Change]) -> str:
    """The pages that differ as Markdown, a line each."""
    lines = [f"| {change.page} | {change.kind} | {change.percent} |" for change in changes]
    return "\n".join(["| page | what | pixels that differ |", "|---|---|---|", *lines, ""]) if lines else "No page differs.\n"


def report(changes: list[Change]) -> str:
    """The report: for each page its pictures before, after, and marked."""
    rows = [(f"{change.page}: {change.kind}{f', {change.percent} of its pixels' if change.percent else ''}", change.page,
             SIDES[change.kind]) for change in changes]
    return screenshots.sheet(f"What changed: {len(changes)} pages" if changes else "No page differs", rows)
