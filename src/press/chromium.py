"""The browser: the system's Chromium, which the browser tests and the PDF use. Nothing downloads one."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.errors import BadInput

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = ("/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
MEND = "`make browser` installs it on Debian and Ubuntu; BOOK_CHROMIUM=/path/to/it names another one"


def find() -> Path:
    """The path of Chromium or Chrome: `BOOK_CHROMIUM` if it is set, else the first on the path; BadInput if there is none."""
    named = os.environ.get("BOOK_CHROMIUM")
    program = next(filter(None, map(shutil.which, [named] if named else [*NAMES, *MAC])), None)
    if program is None and named:
        raise BadInput(f"BOOK_CHROMIUM names no program: {named}", mend="correct it, or unset it")
    if program is None:
        raise BadInput("no Chromium was found", mend=MEND)
    return Path(program)


@contextmanager
def browser() -> Iterator["Browser"]:
    """A running headless browser, driven by Playwright and closed in the end; BadInput if Chromium or Playwright is missing."""
    path = find()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise BadInput("Playwright, which drives Chromium, is not installed", mend="`make env`") from None
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=path) as running:
        yield running
