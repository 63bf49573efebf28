"""The discussion: a paragraph stands beside the verdicts that it was written for, and nowhere else."""

import pytest

from helpers.evaluation.verdicts import CONTRADICTED, KINDS, SUPPORTED
from helpers.pages import claims
from helpers.pages.discussion import discussion, paragraphs
from helpers.pages.fragments import Fragment

WRITTEN_FOR = {"bert-mean-beats-bm25": CONTRADICTED, "mean-of-passages-beats-maximum": CONTRADICTED,
               "bert-max-not-significantly-above-bm25": CONTRADICTED}


def shown(**verdicts):
    lines = [{"claim": claim, "verdict": verdict} for claim, verdict in (WRITTEN_FOR | verdicts).items()]
    return discussion("does_it_work", Fragment(data={"claims": lines})).markdown


def test_a_paragraph_is_shown_beside_its_verdicts_alone():
    assert "The mean loses" in shown()
    other = shown(**{"bert-mean-beats-bm25": SUPPORTED})
    assert "The mean loses" not in other
    assert "another outcome of *BERT-Mean ranks better than BM25*" in other
    assert "The maximum beats BM25" in other and "**Threats.**" in other


@pytest.mark.parametrize("chapter", paragraphs())
def test_paragraphs_rest_on_claims_of_their_chapter_and_are_as_long_as_a_discussion(chapter):
    own = {claim.id for claim in claims.load().values() if claim.chapter == chapter}
    for paragraph in paragraphs()[chapter]:
        assert set(paragraph["rests_on"]) <= own
        assert set(paragraph["rests_on"].values()) <= set(KINDS)
    assert 150 <= sum(len(paragraph["text"].split()) for paragraph in paragraphs()[chapter]) <= 400
