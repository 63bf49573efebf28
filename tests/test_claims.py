import re
from dataclasses import replace

import pytest
import yaml

from helpers import paths
from helpers.errors import BadInput
from helpers.evaluation import published
from helpers.evaluation.verdicts import AGREES, DIRECTIONS, DISAGREES, UNTESTED, why_not_comparable
from helpers.pages import claims, results
from helpers.pages.claims import Claim, published_evidence
from helpers.pages.results import differences
from press import chapters
from toys import of_values

CLAIMS = claims.load()
COMPARED = [name for name, claim in CLAIMS.items() if claim.evidence.get("row") and claim.evidence.get("against")]


def compared(claim):
    """The two published entries that a claim rests on."""
    where = claim.evidence
    first = published.value(claim.study, where["table"], where["row"], where["column"])
    second = published.value(claim.study, where.get("against_table") or where["table"], where["against"],
                             where.get("against_column") or where["column"])
    return first, second


# ---- published/claims.yaml ----

def test_there_are_at_least_33_claims_of_all_five_studies_and_none_is_lost_to_a_repeated_id():
    raw = yaml.safe_load((paths.PUBLISHED / "claims.yaml").read_text(encoding="utf-8"))["claims"]
    assert [claim["id"] for claim in raw] == list(dict.fromkeys(claim.declared for claim in CLAIMS.values()))
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", claim["id"]) for claim in raw)
    assert len(CLAIMS) >= 33 and {claim.study for claim in CLAIMS.values()} == set(published.STUDIES)


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_is_complete_and_its_evidence_a_published_value_or_a_section(name):
    claim, where = CLAIMS[name], CLAIMS[name].evidence
    assert claim.direction in DIRECTIONS
    assert claim.significant in (True, False, None)
    assert all(isinstance(text, str) and text for text in (claim.claim, claim.measure, claim.test, claim.chapter))
    assert set(where) <= {"table", "row", "against", "column", "against_column", "against_table", "section", "less"}
    assert where.get("against") or where["section"]  # compared with a value, or explained in a section
    if where.get("row"):
        published.value(claim.study, where["table"], where["row"], where["column"])
    else:
        assert published_evidence(claim).startswith(published.published_name(claim.study))


@pytest.mark.parametrize("name", COMPARED)
def test_the_evidence_compares_two_values_of_the_claims_measure_in_its_direction(name):
    claim, (first, second) = CLAIMS[name], compared(CLAIMS[name])
    assert first.measure == second.measure == claim.measure and first is not second
    if claim.direction in ("higher", "lower"):
        assert first.value != second.value
        assert claim.direction == ("higher" if first.value > second.value else "lower")
    if (claim.study, claim.evidence["table"], claim.evidence["against"]) == ("steensland2021", "5.1", "BM25"):
        assert claim.significant == bool(first.mark)  # the table marks significance, and against BM25 only


@pytest.mark.parametrize("name", CLAIMS)
def test_a_margin_is_half_of_the_published_effect_or_says_why_not(name):
    margin = CLAIMS[name].margin
    assert margin["value"] >= 0.01 and margin["because"]
    if margin["because"].startswith("half of the published effect"):
        first, second = compared(CLAIMS[name])
        assert margin["value"] == pytest.approx(max(0.01, abs(first.amount - second.amount) / 2))


def test_the_contents_list_every_template_and_claims_name_a_chapter_of_them():
    assert sorted(chapters.names()) == chapters.templates()
    assert {claim.chapter for claim in CLAIMS.values()} <= set(chapters.names())


def test_a_chapter_that_measures_is_called_by_a_question_that_the_sidebar_holds():
    titles = [chapters.chapter(name).title for name in chapters.names() if name != "explorer"]
    assert [title for title in titles if not title.endswith("?") or len(title) > 45] == []
    assert len(set(titles)) == len(titles)


def test_two_claims_of_one_name_are_refused(tmp_path, monkeypatch):
    raw = yaml.safe_load((paths.PUBLISHED / "claims.yaml").read_text(encoding="utf-8"))["claims"][:1]
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump({"claims": raw + raw}), encoding="utf-8")
    monkeypatch.setattr(paths, "PUBLISHED", tmp_path)
    with pytest.raises(BadInput, match="claims.yaml: two claims are called 'bert-mean-beats-bm25'. Mend: rename one"):
        claims.load.__wrapped__()


@pytest.mark.parametrize("name, text", [
    ("bert-mean-beats-bm25", "0.571† compared with 0.517 RR@10 (Steensland (2021), table 5.1, significant)"),
    ("distilbert-encodes-faster", "David (2020), figure 4.2"),
    ("first-stages-converge-at-depth", "0.319 compared with 0.232, less 0.376 compared with 0.371 RR@10"),
    ("distilled-student-beats-teacher", "0.634† compared with 0.619† RR@10"),  # table 5.6, another row and column
    ("longer-sequences-lower-scores", "0.2637 compared with 0.3036 AP")])  # table B.2 against table 4.2
def test_published_evidence_in_words(name, text):
    assert published_evidence(CLAIMS[name]).startswith(text)


def test_a_bi_encoder_that_was_one_before_is_not_comparable_and_a_cross_encoder_of_it_is():
    assert "the backbone was a bi-encoder before" in why_not_comparable("bi-encoder", "packaged:0,1,2")
    assert why_not_comparable("", "packaged") == why_not_comparable("bi-encoder", "hub:google-bert/bert-base-uncased@main") == ""
    assert why_not_comparable("bi-encoder", "hub:a/some-model@main") == "nothing is known of how some-model was trained before"
    assert why_not_comparable("bi-encoder", "") == ""  # no network of ours takes part


# ---- verdicts on a chapter ----

def evaluation(label, values, first=0, **other):
    queries = [f"q{number}" for number in range(first, first + len(values))]
    return of_values({"RR@10": values, **other}, label, queries)


BETTER = [0.5] * 3 + [1.0] * 3
BASE = [0.0] * 3 + [0.75] * 3  # six positive differences, of mean .375: p = 2 / 2^6 = .031


@pytest.fixture
def chapter(monkeypatch):
    """A chapter of two claims, and the measurements for them."""
    known = {name: Claim(name, "steensland2021", f"The claim {name}", CLAIMS["bert-mean-beats-bm25"].evidence, "RR@10",
                         "higher", None, "", "chapter", {"value": 0.05}, declared=name) for name in ("first", "second")}
    monkeypatch.setattr(claims, "load", lambda: known)
    better, base = evaluation("better", BETTER), evaluation("base", BASE)
    return {"first": (better, base), "second": (better, base)}


@pytest.fixture
def pair(chapter):
    """The two systems of the chapter's first claim, which here is the only one."""
    claims.load().pop("second")
    return chapter["first"]


def declare(name, **changes):
    """Change what a claim of the chapter declares."""
    claims.load()[name] = replace(claims.load()[name], **changes)


def judged(chapter, **options):
    """Verdicts by claim."""
    return {line["claim"]: line["verdict"] for line in claims.judge("chapter", chapter, **options).data["claims"]}


def test_the_table_links_the_measured_effect_to_its_step(chapter):
    html = claims.judge("chapter", chapter).html
    assert 'href="#step-0123456789"' in html
    assert "0.571† compared with 0.517 RR@10" in html


@pytest.mark.parametrize("measured, not_run", [(["first"], []), (["first", "second", "third"], []), (["first"], ["third"]),
                                               (["first"], ["second", "third"])])
def test_every_claim_has_a_measurement_or_a_reason_and_no_other_has(chapter, measured, not_run):
    with pytest.raises(BadInput, match="claim '(third|second)' and the chapter 'chapter' do not agree"):
        claims.judge("chapter", dict.fromkeys(measured, chapter["first"]) | dict.fromkeys(not_run, "no"))


def test_a_claim_that_is_not_run_gives_its_reason_and_has_no_link(chapter):
    shown = claims.judge("chapter", {**chapter, "second": "needs a <larger> model"})
    second = shown.data["claims"][1]
    assert (second["verdict"], second["evidence"], second["key"]) == (UNTESTED, "needs a <larger> model", None)
    assert "pair" not in second
    assert "needs a &lt;larger&gt; model" in shown.html
    assert shown.html.count('class="nr-measured"') == 1


def test_a_system_compared_with_itself_is_not_tested(chapter):
    one = evaluation("run 1", BETTER)
    assert judged({**chapter, "second": (one, one)})["second"] == UNTESTED


def test_what_decides_nothing_shows_its_effect_and_the_reasons(chapter):
    declare("first", carried_by="bi-encoder")
    line = claims.judge("chapter", chapter, untested={"first": "it did not train"}, backbone="packaged").data["claims"][0]
    assert line["verdict"] == UNTESTED
    assert line["evidence"].startswith("+0.375")
    assert "it did not train; the backbone was a bi-encoder before" in line["evidence"]
    assert judged(chapter, untested={"first": ""}, backbone="hub:google-bert/bert-base-uncased@main")["first"] == AGREES


def test_a_row_of_a_published_table_has_the_word_of_the_claim_on_its_pair(chapter):
    shown = claims.judge("chapter", {**chapter, "second": "no"})
    known = published.column("steensland2021", "5.1", "MRR@10")
    assert results.word_of(shown, known["BERT-Mean"], known["BM25"]) == AGREES
    assert results.word_of(shown, known["BERT-Max"], known["BM25"]) == ""
    assert results.word_of(None, known["BERT-Mean"], known["BM25"]) == ""


# ---- rivals, controls, other measures ----

def test_a_claim_over_several_rivals_is_a_claim_for_each():
    deepct = CLAIMS["repbert-beats-improved-exact-match/DeepCT"]
    assert [entry.shown for entry in deepct.printed] == ["0.304", "0.243"]
    assert (deepct.margin["value"], deepct.rival) == (0.0305, "DeepCT")
    assert claims.rivals("repbert-beats-improved-exact-match") == ["doc2query", "docTTTTTquery", "DeepCT"]


def test_a_rival_that_is_missing_is_not_tested_and_leaves_the_others(pair):
    declared = claims.load().pop("first")
    for rival in ("low", "high"):
        claims.load()[f"first/{rival}"] = replace(declared, id=f"first/{rival}", rival=rival)
    high = (evaluation("better", BETTER), evaluation("rival", [0.75] * 3 + [1.0] * 3))
    assert judged({"first": {"low": pair, "high": high}}) == {"first/low": AGREES, "first/high": DISAGREES}
    assert judged({"first": {"low": pair}}) == {"first/low": AGREES, "first/high": UNTESTED}
    assert judged({"first": "neither is here"}) == {"first/low": UNTESTED, "first/high": UNTESTED}


def test_the_lead_over_a_control_stands_beside_the_word(pair):
    declare("first", control="the start: what training adds")
    assert "control" not in claims.judge("chapter", {"first": pair}).data["claims"][0]
    shown = claims.judge("chapter", {"first": claims.Compared(*pair, evaluation("start", BASE))})
    assert shown.data["claims"][0]["verdict"] == AGREES
    assert "over the start: what training adds: +0.375" in shown.html


def test_systems_on_different_queries_are_compared_unpaired(pair):
    easy, hard = evaluation("easy", [0.9, 0.8, 0.7]), evaluation("hard", [0.1, 0.2], 3)
    line = claims.judge("chapter", {"first": (easy, hard)}).data["claims"][0]
    # of the 10 ways to choose 2 of 5 values one is as extreme; two-sided 2 / 10
    assert line["evidence"].startswith("+0.650")
    assert "3 and 2 queries" in line["evidence"]
    assert line["verdict"] == AGREES


def test_another_measure_may_stand_for_the_declared_one(pair):
    first, second = evaluation("a", BETTER, **{"R@100": BASE}), evaluation("b", BASE, **{"R@100": BETTER})
    assert judged({"first": claims.Compared(first, second, measure="R@100")}) == {"first": DISAGREES}


def test_a_difference_that_turns_on_judged_texts_alone_says_so(pair):
    declare("first", measure="nDCG@10")
    other = {"nDCG(judged_only=True)@10": [0.0] * 6}
    first, second = evaluation("a", BETTER, **{"nDCG@10": BETTER, **other}), evaluation("b", BASE, **{"nDCG@10": BASE, **other})
    second.values["nDCG(judged_only=True)@10"] = 0.25
    line = claims.judge("chapter", {"first": (first, second)}).data["claims"][0]
    assert "of the other sign on judged texts alone: −0.250" in line["evidence"]
    shown = differences("feedback", {"a": (first, second)}, "nDCG@10").html
    assert "of the other sign on judged texts alone: −0.250" in shown


@pytest.mark.parametrize("waits, end", [({}, ""), ({"waits_for": "a GPU"}, "; it waits for a GPU")])
def test_a_pair_that_these_parameters_leave_out_is_not_run(waits, end, pair):
    declare("first", **waits)
    line = claims.judge("chapter", {"first": claims.pair({"a": pair[0]}, "a", "b")}).data["claims"][0]
    assert (line["verdict"], line["evidence"]) == (UNTESTED, "needs b, which these parameters leave out" + end)
    assert claims.pair({"a": 1, "b": 2}, "a", "b", 3, "AP") == (1, 2, 3, "AP")
