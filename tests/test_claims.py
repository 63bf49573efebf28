import re

import pandas as pd
import pytest
import yaml

from helpers import paths
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.verdicts import INSIGNIFICANT, NOT_RUN, SIGNIFICANT
from helpers.pages import claims
from helpers.pages.claims import Claim, published_evidence
from helpers.systems.evaluated import Evaluation
from press import chapters

CLAIMS = claims.load()
MEASURED = [name for name, claim in CLAIMS.items() if claim.evidence.get("row")]
PROSE = [name for name in CLAIMS if name not in MEASURED]
COMPARED = [name for name in MEASURED if CLAIMS[name].evidence.get("against")]


def compared(claim):
    """The two published entries that a claim rests on."""
    where = claim.evidence
    first = published.value(claim.study, where["table"], where["row"], where["column"])
    second = published.value(claim.study, where.get("against_table") or where["table"], where["against"],
                             where.get("against_column") or where["column"])
    return first, second


# ---- published/claims.yaml ----

def test_there_are_at_least_33_claims_of_all_five_studies():
    assert len(CLAIMS) >= 33
    assert {claim.study for claim in CLAIMS.values()} == set(published.STUDIES)


def test_no_claim_is_lost_to_a_repeated_id():
    raw = yaml.safe_load((paths.PUBLISHED / "claims.yaml").read_text(encoding="utf-8"))["claims"]
    assert [claim["id"] for claim in raw] == list(CLAIMS)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in CLAIMS)


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_is_complete(name):
    claim = CLAIMS[name]
    assert claim.direction in ("higher", "lower", "no-difference")
    assert claim.significant in (True, False, None)
    assert all(isinstance(text, str) and text for text in (claim.claim, claim.measure, claim.test, claim.chapter))
    assert set(claim.evidence) <= {"table", "row", "against", "column", "against_column", "against_table", "section"}


@pytest.mark.parametrize("name", MEASURED)
def test_the_evidence_is_a_published_value(name):
    where = CLAIMS[name].evidence
    published.value(CLAIMS[name].study, where["table"], where["row"], where["column"])
    assert where.get("against") or where.get("section")  # compared with a value, or explained in a section


@pytest.mark.parametrize("name", PROSE)
def test_evidence_in_prose_names_its_section(name):
    assert CLAIMS[name].evidence["section"]
    assert published_evidence(CLAIMS[name]).startswith(published.published_name(CLAIMS[name].study))


@pytest.mark.parametrize("name", COMPARED)
def test_the_evidence_compares_two_values_of_the_claims_measure(name):
    first, second = compared(CLAIMS[name])
    assert first.measure == second.measure == CLAIMS[name].measure
    assert first is not second


@pytest.mark.parametrize("name", [name for name in COMPARED if CLAIMS[name].direction != "no-difference"])
def test_the_direction_is_that_of_the_published_values(name):
    first, second = compared(CLAIMS[name])
    assert CLAIMS[name].direction == ("higher" if first.value > second.value else "lower")
    assert first.value != second.value


def test_significance_against_bm25_is_that_of_the_mark():
    # Steensland's tables mark significance, and against BM25 only.
    for name in COMPARED:
        claim = CLAIMS[name]
        if claim.study == "steensland2021" and claim.evidence["against"] == "BM25":
            assert claim.significant == bool(compared(claim)[0].mark)


# ---- published/chapters.yaml ----

def test_every_claim_names_a_known_chapter():
    assert {claim.chapter for claim in CLAIMS.values()} <= set(claims.chapter_plan())


def test_a_chapter_is_either_in_the_book_or_has_a_reason_why_not():
    """A template that the contents do not list runs by name, but its claims are not run in the book."""
    for chapter, plan in claims.chapter_plan().items():
        assert (chapter in chapters.names()) != bool(plan.get("not_run")), chapter
        assert plan["title"]


def test_every_chapter_of_the_contents_has_a_template():
    assert all((paths.NOTEBOOKS / f"{chapter}.ipynb").exists() for chapter in chapters.names())


def test_every_template_is_in_the_plan():
    assert {file.stem for file in paths.NOTEBOOKS.glob("*.ipynb")} <= set(claims.chapter_plan())


# ---- reading and showing ----

def test_two_claims_of_one_name_are_refused(tmp_path, monkeypatch):
    raw = yaml.safe_load((paths.PUBLISHED / "claims.yaml").read_text(encoding="utf-8"))["claims"][:1]
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump({"claims": raw + raw}), encoding="utf-8")
    monkeypatch.setattr(paths, "PUBLISHED", tmp_path)
    with pytest.raises(BadInput, match="claims.yaml: two claims are called 'bert-mean-beats-bm25'. Mend: rename one"):
        claims.load.__wrapped__()


def test_published_evidence_in_words():
    assert published_evidence(CLAIMS["bert-mean-beats-bm25"]) == \
        "0.571† against 0.517 RR@10 (Steensland (2021), table 5.1, significant)"
    assert published_evidence(CLAIMS["distilbert-encodes-faster"]) == "David (2020), figure 4.2"


@pytest.mark.parametrize("name, values", [
    ("distilled-student-beats-teacher", "0.634† against 0.619† RR@10"),  # table 5.6, another row and column
    ("longer-sequences-lower-scores", "0.2637 against 0.3036 AP"),  # table B.2 against table 4.2
])
def test_evidence_from_another_column_or_table(name, values):
    assert published_evidence(CLAIMS[name]).startswith(values)


# ---- verdicts on a chapter ----

class Source:
    """Stands for the step that was measured."""

    key = "0123456789abcdef"


def evaluation(label, values):
    frame = pd.DataFrame({"RR@10": values}, index=pd.Index([f"q{number}" for number in range(len(values))]))
    return Evaluation(label, pd.DataFrame(), frame, Source())


@pytest.fixture
def chapter(monkeypatch):
    """A chapter of two claims, and the measurements for them."""
    made = {name: Claim(name, "steensland2021", f"The claim {name}", CLAIMS["bert-mean-beats-bm25"].evidence, "RR@10",
                        "higher", None, "", "chapter") for name in ("first", "second")}
    monkeypatch.setattr(claims, "load", lambda: made)
    better, base = evaluation("better", [0.5] * 3 + [1.0] * 3), evaluation("base", [0.0] * 3 + [0.75] * 3)
    return {"first": (better, base), "second": (better, base)}


def test_the_verdicts_of_a_chapter_are_corrected_together(chapter):
    # Six positive differences: p = 2 / 2^6 = 0.031, significant alone. Two such claims: Holm makes it 0.0625.
    both = claims.judge("chapter", chapter).data["claims"]
    assert {found["claim"]: found["verdict"] for found in both} == {"first": INSIGNIFICANT, "second": INSIGNIFICANT}
    assert "p 0.062" in both[0]["evidence"]
    claims.load().pop("second")
    alone = claims.judge("chapter", {"first": chapter["first"]})
    assert [found["verdict"] for found in alone.data["claims"]] == [SIGNIFICANT]
    assert "p 0.031" in alone.html


def test_the_table_links_the_measured_effect_to_its_step(chapter):
    html = claims.judge("chapter", chapter).html
    assert 'href="#step-0123456789"' in html
    assert "0.571† against 0.517 RR@10" in html


@pytest.mark.parametrize("name", ["third", None])
def test_claims_and_measurements_must_agree(chapter, name):
    measured = dict(chapter, third=chapter["first"]) if name else {"first": chapter["first"]}
    with pytest.raises(BadInput, match="claim '(third|second)' and the chapter 'chapter' do not agree"):
        claims.judge("chapter", measured)


# ---- pairs that were picked, and claims that were not run ----

@pytest.mark.parametrize("picked_from, p, verdict", [(1, "0.031", SIGNIFICANT), (2, "0.062", INSIGNIFICANT),
                                                     (10, "0.312", INSIGNIFICANT), (100, "1.000", INSIGNIFICANT)])
def test_p_of_a_picked_pair_is_multiplied_by_what_it_was_picked_from(chapter, picked_from, p, verdict):
    claims.load().pop("second")
    found = claims.judge("chapter", {"first": chapter["first"]}, picked_from=picked_from).data["claims"][0]
    assert found["verdict"] == verdict
    assert f"p {p}," in found["evidence"]


def test_a_picked_pair_is_corrected_for_the_other_claims_too(chapter):
    both = claims.judge("chapter", chapter, picked_from=3).data["claims"]
    assert all("p 0.188," in found["evidence"] for found in both)  # 2 / 64, times three pairs, times two claims


def test_a_claim_that_is_not_run_gives_its_reason(chapter):
    shown = claims.judge("chapter", {"first": chapter["first"]}, not_run={"second": "needs a <larger> model"})
    first, second = shown.data["claims"]
    assert second == {"claim": "second", "verdict": NOT_RUN, "evidence": "needs a <larger> model", "key": None}
    assert "needs a &lt;larger&gt; model" in shown.html
    assert shown.html.count('class="nr-measured"') == 1  # the other claim's: what is not run has no step to link to
    assert first["verdict"] == SIGNIFICANT


def test_a_claim_that_is_not_run_does_not_count_in_the_correction(chapter):
    found = claims.judge("chapter", {"second": chapter["second"]}, not_run={"first": "no"}).data["claims"]
    assert [line["claim"] for line in found] == ["first", "second"]  # in the order of the claims
    assert "p 0.031," in found[1]["evidence"]


def test_a_chapter_may_test_none_of_its_claims():
    reasons = {claim.id: "because" for claim in CLAIMS.values() if claim.chapter == "distillation"}
    found = claims.judge("distillation", {}, not_run=reasons).data["claims"]
    assert [line["verdict"] for line in found] == [NOT_RUN] * len(reasons)


@pytest.mark.parametrize("not_run", [{}, {"third": "no such claim"}, {"second": "no", "third": "no such claim"}])
def test_every_claim_has_a_measurement_or_a_reason_and_no_other_has(chapter, not_run):
    with pytest.raises(BadInput, match="claim '(third|second)' and the chapter 'chapter' do not agree"):
        claims.judge("chapter", {"first": chapter["first"]}, not_run=not_run)


def test_a_system_compared_with_itself_is_not_run():
    one = evaluation("run 1", [0.1, 0.2, 0.3])  # the very same evaluation, not an equal one
    shown = claims.judge("seeds", {"seeds-differ-little": (one, one)})
    assert shown.data["claims"][0]["verdict"] == "not run"


def test_what_cannot_be_compared_shows_its_effect_and_the_reason(chapter):
    better, worse = evaluation("first", [0.9, 0.8, 0.9, 0.7]), evaluation("second", [0.1, 0.2, 0.1, 0.3])
    shown = claims.judge("chapter", {**chapter, "first": (better, worse)}, incomparable={"first": "other models"})
    line = shown.data["claims"][0]
    assert line["verdict"] == "not comparable"
    assert line["evidence"].startswith("+0.650")
    assert line["evidence"].endswith("4 queries; other models")


# ---- claims on two groups of queries ----

def test_two_groups_of_queries_are_compared_unpaired(chapter):
    claims.load().pop("second")
    easy, hard = evaluation("easy", [0.9, 0.8, 0.7]), evaluation("hard", [0.1, 0.2])
    line = claims.judge("chapter", {}, groups={"first": (easy, hard)}).data["claims"][0]
    # of the 10 ways to choose 2 of 5 values one is as extreme; two-sided 2 / 10
    assert line["evidence"].startswith("+0.650")
    assert line["evidence"].endswith("p 0.200, 3 against 2 queries")
    assert (line["verdict"], line["key"]) == (INSIGNIFICANT, Source.key)


def test_groups_and_pairs_are_corrected_together(chapter):
    groups = {"first": (evaluation("easy", [0.9, 0.8, 0.7]), evaluation("hard", [0.1, 0.2]))}
    first, second = claims.judge("chapter", {"second": chapter["second"]}, groups=groups).data["claims"]
    assert "p 0.062, 6 queries" in second["evidence"]  # the smaller p: 2 / 64, times two
    assert "p 0.200," in first["evidence"]


def test_a_claim_on_groups_counts_as_measured(chapter):
    groups = {"third": chapter["first"]}
    with pytest.raises(BadInput, match="claim '(third|second)' and the chapter 'chapter' do not agree"):
        claims.judge("chapter", {"first": chapter["first"]}, groups=groups)
