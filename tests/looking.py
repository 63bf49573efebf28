"""Looking at a page in a real browser: what it says, asks for and shows. The questions about the page are in looking.js."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

from axe_playwright_python.base import AXE_SCRIPT

SCRIPT = Path(__file__).with_suffix(".js")
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
         "rules": {"color-contrast": {"enabled": False}}}  # asked for by itself
GRAVE = ("serious", "critical")
DESK, PHONE = {"width": 1250, "height": 900}, {"width": 390, "height": 844}  # CSS pixels
CONTRAST = 4.5  # WCAG 2 AA, text of ordinary size
SMALL, SMALL_IN_PLOTS = 12, 11  # CSS pixels


# What is complained of, and what is demanded of every page.
COMPLAINTS = {"errors": "the console holds none", "failed": "every request is answered", "images": "every one loads",
              "outside": "nothing is asked of the network", "rules": "axe-core finds nothing grave",
              "pale": "the text of plots stands out by day and by night", "wide": "no page is wider than a phone",
              "boxes": "wide tables and plots scroll in a box that the keyboard reaches",
              "small": "no text is too small on a phone"}


class Look(SimpleNamespace):
    """What one page showed: a list of each kind of complaints, its links, its anchors and its pictures."""

    def __init__(self, page: str):
        super().__init__(page=page, links=[], anchors=set(), pictures=[], **{part: [] for part in COMPLAINTS})


def context(browser):
    """A browser window without network, history or motion."""
    made = browser.new_context(viewport=DESK, color_scheme="light", reduced_motion="reduce", offline=True)
    made.add_init_script(path=SCRIPT)
    made.set_default_timeout(120_000)  # milliseconds; a busy machine is no defect of the book
    return made


def listen(page, seen: Look) -> None:
    """Note what a page says on the console and what it asks for."""
    page.on("console", lambda message: message.type == "error" and seen.errors.append(message.text))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("requestfailed", lambda request: seen.failed.append(f"{request.url}: {request.failure}"))
    page.on("request", lambda request: local(request.url) or seen.outside.append(request.url))
    page.on("websocket", lambda socket: seen.outside.append(socket.url))


def look_at(window, file: Path, name: str) -> Look:
    """Open a page by day, by night and on a phone's width, with all its folds open."""
    seen, page = Look(name), window.new_page()
    listen(page, seen)
    page.goto(file.as_uri())
    page.evaluate("look.unfold()")
    page.evaluate(AXE_SCRIPT)
    seen.links, seen.pictures = page.evaluate("look.links()"), page.evaluate("look.pictures()")
    seen.anchors, seen.images = set(page.evaluate("look.anchors()")), page.evaluate("look.brokenImages()")
    seen.rules = axe(page, RULES) + axe(page, rule("color-contrast"), "{include: look.samples()}")
    seen.pale = page.evaluate("look.paleText", CONTRAST)
    page.emulate_media(color_scheme="dark")
    night(page)
    seen.rules += [f"dark: {line}" for line in axe(page, rule("color-contrast"), "{include: look.samples()}")]
    seen.pale += [f"dark: {line}" for line in page.evaluate("look.paleText", CONTRAST)]
    page.set_viewport_size(PHONE)
    page.goto(file.as_uri())  # anew: the theme decides at the start what scrolls
    page.evaluate("look.unfold()")
    seen.wide, seen.boxes = page.evaluate("look.tooWide()"), page.evaluate("look.boxes()")
    seen.small = page.evaluate("([text, plot]) => look.smallText(text, plot)", [SMALL, SMALL_IN_PLOTS])
    page.close()
    return seen


def night(page) -> None:
    """Wait until the theme has followed the system into dark mode."""
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")


def rule(name: str) -> dict[str, Any]:
    """axe-core's options for one rule."""
    return {"runOnly": {"type": "rule", "values": [name]}}


def axe(page, options: dict[str, Any], part: str = "document") -> list[str]:
    """axe-core's grave findings on a page, or on some of its elements: `rule | selector | what is wrong`."""
    options |= {"resultTypes": ["violations"], "preload": False}  # it would ask for style sheets, which a page on disk may not
    result = page.evaluate(f"axe.run({part}, {json.dumps(options)})")
    return [f"{finding['id']} | {' '.join(map(str, node['target']))} | {' '.join(node['failureSummary'].split())}"
            for finding in result["violations"] if finding["impact"] in GRAVE for node in finding["nodes"]]


def local(url: str) -> bool:
    """Whether an address needs no network."""
    return urlsplit(url).scheme in ("file", "data", "blob", "about")


def dead_links(looks: list[Look], html: Path) -> list[str]:
    """Links of pages that lead to no file, or to no place on a page that was looked at; `#name=value` is for its script."""
    anchors = {(html / f"{seen.page}.html").resolve(): seen.anchors for seen in looks}
    dead = []
    for seen in looks:
        for link in filter(local, seen.links):
            address, fragment = urldefrag(link)
            file = Path(unquote(urlsplit(address).path)).resolve()
            if not file.is_file() or not file.is_relative_to(html.resolve()):
                dead.append(f"{seen.page}: {link}")
            elif fragment and "=" not in fragment and unquote(fragment) not in anchors.get(file, {unquote(fragment)}):
                dead.append(f"{seen.page}: {link} (no such place)")
    return dead
