"""The browser: the system's Chromium, which the browser tests, the screenshots and the PDF use. Nothing downloads one."""

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
MAC = (Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
       Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"))
MEND = "`make browser` installs it on Debian and Ubuntu; BOOK_CHROMIUM=/path/to/it names another one"


def find() -> Path:
    """The path of Chromium or Chrome: `BOOK_CHROMIUM` if it is set, else the first on the path.

    Raises:
        BadInput: if there is none, or if `BOOK_CHROMIUM` names no program.
    """
    named = os.environ.get("BOOK_CHROMIUM")
    if named:
        found = shutil.which(named)
        if found is None:
            raise BadInput(f"BOOK_CHROMIUM names no program: {named}", mend="correct it, or unset it")
        return Path(found)
    for found in (*map(shutil.which, NAMES), *(str(path) for path in MAC if path.exists())):
        if found:
            return Path(found)
    raise BadInput("no Chromium was found", mend=MEND)


@contextmanager
def browser() -> Iterator["Browser"]:
    """A running headless browser, driven by Playwright and closed in the end.

    Raises:
        BadInput: as `find`, or if Playwright is missing.
    """
    path = find()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise BadInput("Playwright, which drives Chromium, is not installed", mend="`make env`") from None
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path)
        try:
            yield running
        finally:
            running.close()
