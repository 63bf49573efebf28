"""What a test does where there is no Chromium: it is skipped, unless `BOOK_BROWSER=required` (CI) says that it must not be."""

import os

import pytest


def skip_or_fail(reason: object) -> None:
    (pytest.fail if os.environ.get("BOOK_BROWSER") == "required" else pytest.skip)(str(reason))
