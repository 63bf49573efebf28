"""The queue of what is to be computed for the claims: its lines are pages of the book, and it says which comes next."""

import sys

import pytest

from dry_steps import write_template
from helpers import paths
from helpers.errors import BadInput
from helpers.pages import claims
from press import execute, packs

QUEUE = """
- {what: the first, chapter: one, given: {count: 4}, claims: [a-claim], seconds: 90}
- {what: the second, chapter: one, given: {count: 5}, claims: [a-claim, another], seconds: 60}
"""


def test_every_line_of_the_queue_is_a_page_that_differs_and_decides_claims():
    known, lines = {claim.partition("/")[0] for claim in claims.load()}, packs.queued()  # behind it stands a rival
    assert len(lines) > 10 and len({line["what"] for line in lines}) == len(lines)
    for line in lines:
        assert execute.request(line["chapter"], "almanac", packs._given(line)).changed, line["what"]
        assert line["claims"] and known.issuperset(line["claims"]) and line["seconds"] > 0, line["what"]


def test_the_queue_says_what_is_done_what_is_missing_and_what_comes_next(steps_module):
    (paths.PROFILES / "almanac.yaml").write_text("shared: {}\n")
    (paths.PROFILES / "queue.yaml").write_text(QUEUE)
    (paths.BOOK / "_toc.yml").write_text("parts: [{chapters: [{file: chapters/one}]}]")
    write_template("one", "from dry_steps_module import numbers", "value = numbers(count).value()")
    sys.modules["dry_steps_module"].numbers(4).value()
    assert list(packs.queue()) == [
        " 1 the first: done; 2 min on two cores; a-claim",
        " 2 the second: missing 1, 0 of networks; 60 s on two cores; a-claim, another",
        "next: book pack 2, or here: book chapter one -p count '5'"]
    with pytest.raises(BadInput, match="nothing to pack"):  # its step needs no network and is computed here
        list(packs.pack("2", paths.ROOT, "almanac", {}, 16))
    assert list(packs.queue())[-1] == "next: book pack 2, or here: book chapter one -p count '5'"
    with pytest.raises(BadInput, match="no line 3"):
        list(packs.pack("3", paths.ROOT, "almanac", {}, 16))
