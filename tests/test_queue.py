"""The queue of what is to be computed for the claims: its lines are pages of the book, and it says which comes next."""

import sys

import pytest

from dry_steps import write_template
from helpers import paths
from helpers.errors import BadInput
from helpers.pages import claims
from press import commands, execute

QUEUE = """
- {what: the first, chapter: one, given: {count: 4}, claims: [a-claim], seconds: 90}
- {what: odd texts, chapter: texts, given: {count: 4}, claims: [a-claim], seconds: 90}
- {what: another head, lacks: no chapter has it, claims: [a-claim]}
- {what: the second, chapter: one, given: {count: 5}, claims: [a-claim, another], seconds: 60}
"""


def test_every_line_of_the_queue_is_a_page_that_differs_and_decides_claims():
    known, lines = {claim.partition("/")[0] for claim in claims.load()}, commands.queued()  # behind it stands a rival
    assert len(lines) > 10 and len({line["what"] for line in lines}) == len(lines)
    for line in lines:
        if "lacks" in line:
            assert set(line) == {"what", "lacks", "claims"} and known.issuperset(line["claims"]), line["what"]
            continue
        assert execute.request(line["chapter"], "almanac", commands._given(line)).changed, line["what"]
        assert line["claims"] and known.issuperset(line["claims"]) and line["seconds"] > 0, line["what"]


@pytest.fixture
def lines(steps_module):
    """A queue whose first line is done, whose second one needs texts that are not here, and whose third one nothing expresses."""
    (paths.PROFILES / "almanac.yaml").write_text("shared: {}\n")
    (paths.PROFILES / "queue.yaml").write_text(QUEUE)
    (paths.BOOK / "_toc.yml").write_text("parts: [{chapters: [{file: chapters/one}, {file: chapters/texts}]}]")
    write_template("one", "from dry_steps_module import numbers", "value = numbers(count).value()")
    write_template("texts", "from helpers.errors import BadInput",
                   "raise BadInput('the dictionaries are not here', file='data.noun')")
    sys.modules["dry_steps_module"].numbers(4).value()


def test_the_queue_says_what_is_done_what_is_missing_and_what_comes_next(lines, capsys):
    capsys.readouterr()
    assert list(commands.queue()) == [
        " 1 the first: done; 2 min on two cores; a-claim",
        " 2 odd texts: lacks what is not here (data.noun: the dictionaries are not here); 2 min on two cores; a-claim",
        " 3 another head: not expressed: no chapter has it; a-claim",
        " 4 the second: missing 1, 0 of networks; 60 s on two cores; a-claim, another",
        "next: book pack 4, or here: book chapter one -p count '5'"]
    assert not capsys.readouterr().err
    with pytest.raises(BadInput, match="nothing to pack"):  # its step needs no network and is computed here
        list(commands.pack("4", paths.ROOT, "almanac", {}, 16))
    assert list(commands.queue())[-1] == "next: book pack 4, or here: book chapter one -p count '5'"
    for name, reason in (("5", "no line 5"), ("3", "no chapter has it")):
        with pytest.raises(BadInput, match=reason):
            list(commands.pack(name, paths.ROOT, "almanac", {}, 16))
