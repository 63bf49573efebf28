"""The explorer's data: movements, outcomes, grades and texts, and how they reach the page."""

import json
import re
from types import SimpleNamespace
from urllib.parse import parse_qs

import pandas as pd
import pytest

from helpers import paths
from helpers.data.collection_base import Text
from helpers.evaluation import measures
from helpers.pages import explorer
from helpers.systems.evaluated import Evaluation
from toys import Value, run_of

HOSTILE = "</script><script>alert('x')</script> & \"quoted\" \u2028\u2029 \u202eاختبار " + "w" * 400
RUNS = {"BM25": {"q1": "abcd", "q2": "abc", "q3": "ab", "q5": "ab"},
        "re-ranking": {"q1": "cabd", "q2": "bca", "q3": "ba", "q5": "ba"},
        "dense search": {"q1": "cea", "q2": "ab", "q3": "e", "q4": "e", "q5": "ae"}}
QRELS = [("q1", "c", 3), ("q1", "d", 1), ("q2", "a", 2), ("q4", "e", 3), ("q5", "f", 2), ("q5", "a", 0), ("q5", "gone", 3)]


class Texts(dict):
    """A text store in memory."""

    def __iter__(self):
        return iter(self.values())

    def __contains__(self, doc):
        return doc in self.keys()


def systems_of(runs):
    return {name: Evaluation(name, run_of(**rankings), pd.DataFrame(), Value()) for name, rankings in runs.items()}


def bed_of(qrels=QRELS, min_relevance=2, queries=("q1", "q2", "q3", "q4", "q5"), **columns):
    judgments = pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"])
    judged = [query for query in queries if query in set(judgments["query_id"])]
    frame = pd.DataFrame({"query_id": queries, "text": [f"text of {query}" for query in queries], **columns})
    return SimpleNamespace(query_frame=frame, qrels=judgments, min_relevance=min_relevance, judged=judged, collection="tiny",
                           unit="passage", store=SimpleNamespace(value=lambda: None),
                           per_query=lambda run, names: measures.per_query(run, judgments, names, min_relevance, judged))


@pytest.fixture
def texts(monkeypatch):
    known = Texts({doc: Text(doc, f"title {doc}", f"body {doc}") for doc in "zabcdef"})
    monkeypatch.setattr(explorer, "Texts", lambda folder: known)
    return known


@pytest.fixture
def collected(texts):
    def collect(runs=RUNS, bed=None, depth=3, whole=0, before=None):
        bed = bed or bed_of()
        labels = pd.DataFrame({"style": ["plain", "oblique"] * (len(bed.query_frame) // 2) + ["plain"]})
        return explorer.collect(bed, systems_of(runs), labels, depth, whole, before)
    return collect


def column(data, query, system):
    """What a column shows: passages with their movement, or with both movements in the first one."""
    rows = next(entry for entry in data["queries"] if entry["id"] == query)["rankings"][system]
    return [(data["passages"][seat][0], *(moves if system == 0 else moves[system - 1:system])) for seat, _, _, moves in rows]


def test_each_column_shows_its_first_passages_with_their_movement_against_the_first(collected):
    data = collected()
    assert column(data, "q1", 0) == [("a", -1, -2), ("b", -1, "gone"), ("c", 2, 2)]
    assert column(data, "q1", 1) == [("c", 2), ("a", -1), ("b", -1)]
    assert column(data, "q1", 2) == [("c", 2), ("e", "new"), ("a", -2)]


def test_grades_stand_with_the_judged_passages_alone(collected):
    data = collected(depth=4)
    first = data["queries"][0]["rankings"][0]
    assert [grade for _, _, grade, _ in first] == [None, None, 3, 1]
    assert [grade for _, _, grade, _ in data["queries"][4]["rankings"][0]] == [0, None]
    assert [grade for _, _, grade, _ in data["queries"][2]["rankings"][0]] == [None, None]


def test_answers_stand_with_their_ranks_everywhere_even_where_no_column_shows_them(collected):
    data = collected(depth=1)
    answers = {query["id"]: [(data["passages"][seat][0], grade, ranks) for seat, grade, ranks in query["relevant"]]
               for query in data["queries"]}
    assert answers == {"q1": [("c", 3, [3, 1, 1])], "q2": [("a", 2, [1, 3, 1])], "q3": [], "q4": [("e", 3, [None, None, 1])],
                       "q5": [("f", 2, [None, None, None])]}  # a judged passage that the collection lacks is left out


def test_outcomes_by_the_reciprocal_rank_within_what_is_shown(collected):
    data = collected()
    members = {name: [query["id"] for query in data["queries"] if number in query["classes"]]
               for number, name in enumerate(data["classes"])}
    assert members == {"re-ranking helped": ["q1"], "re-ranking hurt": ["q2"], "dense search helped": ["q1", "q4"],
                       "dense search hurt": [], "BM25 missed it": ["q4", "q5"], "no ranking shows it": ["q5"]}
    shallow = collected(depth=1)
    lost = [query["id"] for query in shallow["queries"] if shallow["classes"].index("BM25 missed it") in query["classes"]]
    assert lost == ["q4", "q5"], "what BM25 has beyond the passages shown is not missed"


def test_a_third_stage_is_compared_with_the_second(collected):
    data = collected({**RUNS, "pairs": {"q1": "acbd", "q2": "abc"}}, before={"pairs": "re-ranking", "absent": "BM25"})
    assert [place for *_, place in data["systems"]] == [None, 0, 0, 1]
    assert [(data["passages"][seat][0], moves[2]) for seat, _, _, moves in data["queries"][0]["rankings"][3]] == [
        ("a", 1), ("c", -1), ("b", 0)]
    members = {name: [query["id"] for query in data["queries"] if number in query["classes"]]
               for number, name in enumerate(data["classes"])}
    assert (members["pairs helped"], members["pairs hurt"]) == (["q2"], ["q1"])
    html = explorer.examples(data, 2).html
    assert "The largest gain by pairs: text of q2" in html and "The largest loss by pairs: text of q1" in html


def test_without_any_judgments_nothing_is_claimed(collected):
    data = collected(bed=bed_of(qrels=[]))
    assert all(query["classes"] == [] and query["relevant"] == [] for query in data["queries"])
    assert data["grades"] == [(0, "irrelevant", "✕")]
    assert explorer.examples(data, 3).html == ""


@pytest.mark.parametrize(("grades", "min_relevance", "scale"), [
    ([0, 1], 1, [(0, "irrelevant", "✕"), (1, "relevant", "●")]),
    ([2, 3], 2, [(0, "irrelevant", "✕"), (1, "related", "○"), (2, "answers in part", "◐"), (3, "answers fully", "●")]),
    ([2, 0], 2, [(0, "irrelevant", "✕"), (1, "related", "○"), (2, "answers in part", "●")]),
    ([-2, 1], 1, [(-2, "grade -2", "✕"), (-1, "grade -1", "✕"), (0, "irrelevant", "✕"), (1, "relevant", "●")]),
    ([4], 3, [*((n, name, sign) for n, name, sign in ((0, "irrelevant", "✕"), (1, "related", "○"), (2, "answers in part", "○"),
                                                    (3, "answers fully", "◐"), (4, "grade 4", "●")))])])
def test_the_scale_of_grades(grades, min_relevance, scale):
    assert explorer.scale(grades, min_relevance) == scale


def test_a_large_collection_is_left_at_what_is_shown_or_relevant_and_each_text_stands_once(collected):
    data = collected(depth=1, whole=6)
    assert not data["whole"]
    assert [doc for doc, _, _ in data["passages"]] == ["a", "c", "b", "e", "f"]


def test_a_small_collection_comes_as_a_whole_with_what_is_shown_first(collected):
    data = collected(whole=7)
    assert data["whole"]
    assert [doc for doc, _, _ in data["passages"]] == list("abcefzd")
    assert data["passages"][0] == ["a", "title a", "body a"]


# ---- the data file ----

def content_of(scripts):
    """The data as a page has it when all scripts have run."""
    first, source = re.fullmatch(r"window.nrExplorer=(.*);\nnrExplorer.from=(.*);\n", scripts[0]).groups()
    assert source == "document.currentScript.src"
    content = json.loads(first)
    for script in scripts[1:]:
        content["passages"] += json.loads(re.fullmatch(r"Object.assign\(nrExplorer.passages,(.*)\);\n", script)[1]).values()
    return content


def test_hostile_text_survives_the_script_and_nothing_of_it_is_markup():
    scripts = explorer.as_scripts({"text": HOSTILE, "__proto__": "x"})
    assert content_of(scripts) == {"text": HOSTILE, "__proto__": "x", "passages": [], "part": 250, "size": 0}
    assert re.fullmatch(r"[\x20-\x7e\n]+", scripts[0])
    assert not set("<>&") & set(scripts[0])


def test_passages_beyond_the_first_come_in_files_of_their_own(monkeypatch):
    monkeypatch.setattr(explorer, "PART", 2)
    scripts = explorer.as_scripts({"passages": [["a"], ["b"], ["c"], ["d"], [HOSTILE]]})
    assert [script.count('["') for script in scripts] == [2, 2, 1]
    assert content_of(scripts)["passages"] == [["a"], ["b"], ["c"], ["d"], [HOSTILE]]
    assert not set("<>&") & set(scripts[2])


def test_the_same_data_gives_the_same_file_and_address(collected, tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "BOOK", tmp_path)
    first, second = explorer.write(collected(), "one"), explorer.write(collected(), "two")
    files = {file.name: file.read_bytes() for file in (tmp_path / "_static" / "explorer").iterdir()}
    assert files["one.js"] == files["two.js"] == explorer.as_scripts(collected())[0].encode()
    assert set(files) == {"one.js", "two.js"}
    assert first[0].replace("one", "two") == second[0]
    assert first[1] == len(files["one.js"])
    assert explorer.write(collected(depth=1), "one")[0] != first[0]


# ---- what the chapter shows ----

def test_the_front_page_shows_the_query_that_re_ranking_helps_most_with_its_ranks(collected):
    data = collected()
    assert (data["helped_most"], data["hurt_most"]) == ("q1", "q2")
    shown = explorer.hero(data)
    assert (shown["ranks"], shown["queries"], shown["whole"]) == ([3, 1, 1], 5, False)
    assert [(name, [grade for _, _, grade in rows]) for name, rows in shown["columns"]] == [
        ("BM25", ["", ""]), ("re-ranking", ["● answers fully", ""])]
    assert shown["grades"]["re-ranking"][0][0] == "3" and {len(rows) for rows in shown["grades"].values()} == {5}
    assert collected(runs={"BM25": RUNS["BM25"]})["helped_most"] == "q1"


def test_examples_are_the_largest_gain_the_largest_loss_and_what_only_dense_search_finds(collected):
    html = explorer.examples(collected(), 2).html
    captions = re.findall(r"<caption>(.*?)</caption>", html)
    assert captions == ["The largest gain by re-ranking: text of q1", "The largest loss by re-ranking: text of q2",
                        "BM25 misses it, dense search puts it first: text of q4"]
    assert re.findall(r'<a href="#nr-explorer" data-explore="(.*?)"', html) == ["q=q1", "q=q2", "q=q4"]
    first = html.split("</table>")[0]
    assert "<small>● answers fully, ▲2</small>" in first
    assert "<small>new</small>" in first
    assert first.count("<tr>") == 3


def test_numbers_by_label_lead_to_their_queries(collected):
    html = explorer.by_label(collected()).html
    rows = {re.search(r'<th scope="row">(.*?)<', row)[1]: [re.sub("<.*?>", "", cell) for cell in re.findall(r"<td.*?</td>", row)]
            for row in re.findall(r'<tr><th scope="row">.*?</tr>', html)}
    assert rows == {"oblique": ["2", "0", "1", "1", "0", "1", "0"], "plain": ["3", "1", "0", "1", "0", "1", "1"]}
    links = [parse_qs(link.replace("&amp;", "&")) for link in re.findall(r'data-explore="(.*?)"', html)]
    assert {"style": ["oblique"], "outcome": ["re-ranking hurt"]} in links
    assert {"style": ["plain"]} in links


def test_labels_are_the_collections_or_by_rule():
    own = explorer.labels(bed_of(queries=("q1",), answer_type=["HUM"], style=["plain"]))
    assert own.to_dict("list") == {"answer type": ["HUM"], "style": ["plain"]}
    bed = bed_of(queries=("q1", "q2"))
    bed.query_frame["text"] = ["when did it rain", "of and"]
    assert explorer.labels(bed).to_dict("list") == {"answer type": ["NUM", "none"]}
