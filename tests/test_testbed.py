import shutil

import pytest

from helpers.data.elsewhere import external_run
from helpers.errors import BadInput
from helpers.pages import page
from helpers.systems.testbed import Testbed, tuning_bed


def test_k1_changes_the_run_and_not_the_index():
    bed = Testbed("almanac")
    runs = [bed.bm25(k1, 0.4, 10) for k1 in (0.9, 1.2)]
    assert runs[0].key != runs[1].key
    assert runs[0].arguments["index"].key == runs[1].arguments["index"].key


def test_a_larger_sample_of_the_same_seed_holds_the_smaller_one(store):
    small, large = (set(Testbed("almanac", queries=n).query_frame["query_id"]) for n in (20, 50))
    assert len(small) == 20
    assert small < large
    assert set(Testbed("almanac", queries=20, seed=2).query_frame["query_id"]) != small


def test_the_collection_says_what_counts_as_relevant(folder):
    assert Testbed("almanac").min_relevance == 2
    assert Testbed(str(folder)).min_relevance == 1
    assert Testbed("almanac", min_relevance=3).min_relevance == 3
    assert Testbed("almanac[relevant=1]").min_relevance == 1


def test_a_published_run_is_cut_to_the_queries(bed, tmp_path):
    file = tmp_path / "run.txt"
    file.write_text("q1 Q0 d4 1 2.5 x\nq1 Q0 d1 2 1.5 x\nq9 Q0 d1 1 9 x\n")
    run = bed.first_stage(str(file), 0.9, 0.4, depth=1).value()
    assert run[["query_id", "doc_id"]].to_numpy().tolist() == [["q1", "d4"]]


def test_a_published_run_of_other_queries_is_refused(bed, tmp_path):
    file = tmp_path / "run.txt"
    file.write_text("q9 Q0 d1 1 9 x\n")
    with pytest.raises(BadInput, match="ranks none of the queries"):
        external_run(str(file), bed.query_step, 10).value()
    with pytest.raises(BadInput, match="no such file"):
        external_run(str(tmp_path / "gone.txt"), bed.query_step, 10)


def test_what_is_measured_is_not_tuned_on(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "own")
    for file in ("queries.train.tsv", "qrels.train.tsv"):
        (tmp_path / "own" / file).unlink()
    assert tuning_bed(str(tmp_path / "own"), "document", "dev", 0) is None
    assert tuning_bed(str(folder), "document", "", 0) is None
    assert tuning_bed(str(folder), "document", "train", 0).splits == ("train",)
    with pytest.raises(BadInput, match="no split 'dev'. Mend: choose from test, train, or add its queries"):
        tuning_bed(str(folder), "document", "dev", 0)


def test_a_page_shows_what_counted_as_relevant(folder):
    beds = [Testbed("almanac"), Testbed(f"{folder}[relevant=3]")]
    used = [bed.measured(bed.bm25(1.2, 0.75, 5), ["RR@10"]) for bed in beds]
    assert page.rules({"step": step.name, "recipe": step.recipe()} for step in used) == [
        f"almanac (test) from grade 2{page.NOT_ALL}", f"{folder.name} (test) from grade 3"]
