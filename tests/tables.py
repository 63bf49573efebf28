"""Reading what a page shows."""

import re
from html import unescape


def cells(fragment):
    """The rows of a table as texts, the header first."""
    rows = re.findall(r"<tr>(.*?)</tr>", fragment.html, re.DOTALL)
    return [[re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text))).strip()
             for text in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]
