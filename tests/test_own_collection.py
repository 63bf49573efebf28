"""A collection of one's own with a test split alone runs wherever a chapter does not train on it: looked at without computing."""

import shutil

import pytest

from helpers.errors import BadInput
from helpers.systems.evaluated import evaluate
from helpers.systems.testbed import Testbed
from press import chapters, commands, dry_run, execute, explain
from press.dry_run import catalogue

TRAINS_ON_IT = {"candidates", "distillation", "embeddings", "encoders", "epochs", "explorer", "fine_tuning_sizes", "grid",
                "model_size", "parameters", "recipe", "seeds", "sequence_length", "similarity", "speed"}
PASSAGES = {"human_judgments"}  # at home; the small folder has documents
GIVEN = {"significance": {"trained": "false", "groups": "2"}, "answer_types": {"trained": "false"}}


@pytest.fixture
def own(folder, tmp_path):
    """The tiny folder without its train split."""
    return str(shutil.copytree(folder, tmp_path / "own", ignore=shutil.ignore_patterns("*.train.tsv")))


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """The recorded computations, read once: what other tests have made would stand in for what is missing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOOK_STORE", str(tmp_path_factory.mktemp("empty")))
        yield catalogue()


@pytest.mark.slow
@pytest.mark.parametrize("chapter", [name for name in chapters.templates()
                                     if "collection" in chapters.schema(name) and name not in TRAINS_ON_IT | PASSAGES])
def test_a_test_split_alone_is_enough(chapter, own, known):
    given = {"collection": own, **({"unit": "document"} if "unit" in chapters.schema(chapter) else {}), **GIVEN.get(chapter, {})}
    run = dry_run.of_chapter(chapter, chapters.resolve(chapter, "mini", given), known)
    assert [line for line in run.stopped if "BadInput" in line[1]] == []


@pytest.mark.slow
@pytest.mark.parametrize("chapter", sorted(TRAINS_ON_IT))
def test_a_missing_split_is_told_before_anything_is_computed(chapter, own, known, tmp_path, monkeypatch):
    monkeypatch.setenv("BOOK_STORE", str(tmp_path / "store"))
    unit = {"unit": "document"} if "unit" in chapters.schema(chapter) else {}
    with pytest.raises(BadInput, match="own has no split '(train|dev)'.*choose from test"):
        explain.plan(chapter, "mini", {"collection": own, **unit}, known)
    assert not list((tmp_path / "store").glob("*/*"))


@pytest.mark.parametrize("name, value, said", [
    ("collection", "/nowhere", "no collection '/nowhere'"), ("backbone", "hub:a/b", "'hub:a/b' has no revision"),
    ("first_stage", "/no/run.txt", "run.txt"), ("backbone", "/nowhere", "no backbone '/nowhere'"), ("split", "none", "no split")])
def test_what_is_not_there_is_told_before_the_chapter_is_executed(name, value, said, store, monkeypatch):
    monkeypatch.setattr(execute, "executed", lambda *_: pytest.fail("it was executed"))
    with pytest.raises(BadInput, match=said):
        list(commands.chapter("does_it_work" if name != "split" else "encoders", "mini", {name: value}, True))


@pytest.fixture
def track(tmp_path):
    """A test collection by rule, as TREC gives it: eight passages, eight queries, two judgments for six of them."""
    things = ["bread", "iron", "clouds", "ovens", "rivers", "glass", "yeast", "salt"]
    rows = {"collection.tsv": [f"{n}\tAll that one should know of {thing}, {n}." for n, thing in enumerate(things)],
            "msmarco-test2020-queries.tsv": [f"{100 + n}\twhat is {thing}" for n, thing in enumerate(things)],
            "2020qrels-pass.txt": [f"{100 + n} 0 {(n + step) % 8} {grade}" for n in range(6) for step, grade in ((0, 3), (1, 0))]}
    for name, lines in rows.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return str(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("chapter", chapters.profile("trec")["chapters"])
def test_a_trec_collection_runs_with_its_folder_alone(chapter, track, store):
    run = dry_run.of_chapter(chapter, chapters.resolve(chapter, "trec", {"collection": track}), {})
    assert [line for line in run.stopped if "BadInput" in line[1]] == []
    assert any(track in str(step.recipe()) for step in run.missing.values())
    assert not any("data/trec" in str(step.recipe()) for step in run.missing.values())


@pytest.mark.slow
def test_a_trec_collections_texts_are_ranked_and_measured_by_grade(track, store):
    bed = Testbed(chapters.resolve("does_it_work", "trec", {"collection": track})["collection"])
    assert (bed.unit, bed.min_relevance, len(bed.judged)) == ("passage", 2, 6)
    assert evaluate("BM25", bed.bm25(1.2, 0.75, 5), bed, ["RR@10", "nDCG@10"]).values["nDCG@10"].eq(1).all()
