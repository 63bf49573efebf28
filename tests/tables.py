"""Reading what a page shows: a table's cells, and the verdicts on claims."""

import re
from html import unescape


def cells(fragment):
    """The rows of a table as texts, the header first."""
    rows = re.findall(r"<tr>(.*?)</tr>", fragment.html, re.DOTALL)
    return [[re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text))).strip()
             for text in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]


def verdicts_of(fragment):
    """The verdict on each claim."""
    return {line["claim"]: line["verdict"] for line in fragment.data["claims"]}


def caption(fragment):
    """A table's caption."""
    return unescape(re.search(r"<caption>(.*?)</caption>", fragment.html)[1])


def text_of(fragment):
    """The text alternative of a figure."""
    return unescape(re.search(r'aria-label="([^"]*)"', fragment.html)[1])


def evidence(fragment):
    """What each claim's verdict rests on, in words."""
    return {line["claim"]: line["evidence"] for line in fragment.data["claims"]}
