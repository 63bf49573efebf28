"""A collection of one's own with a test split alone runs wherever a chapter does not train on it: looked at without computing."""

import shutil

import pytest

from press import chapters
from press.explain import dry_run
from press.explain.known import catalogue

TRAINS_ON_IT = {"candidates", "distillation", "embeddings", "encoders", "epochs", "explorer", "fine_tuning_sizes", "grid",
                "model_size", "parameters", "recipe", "seeds", "sequence_length", "similarity", "speed"}
TOPICS = {"broad_topics", "feedback", "longformer", "pipeline"}  # of the Almanac; elsewhere one chooses the split
GIVEN = {"significance": {"trained": "false"}, "answer_types": {"trained": "false"}}


@pytest.mark.slow
@pytest.mark.parametrize("chapter", [name for name in chapters.templates()
                                     if "collection" in chapters.schema(name) and name not in TRAINS_ON_IT])
def test_a_test_split_alone_is_enough(chapter, folder, tmp_path, store):
    own = shutil.copytree(folder, tmp_path / "own", ignore=shutil.ignore_patterns("*.train.tsv"))
    known = chapters.schema(chapter)
    given = {"collection": str(own), **({"unit": "document"} if "unit" in known else {}),
             **({"split": "test"} if chapter in TOPICS else {}), **GIVEN.get(chapter, {})}
    run = dry_run.of_chapter(chapter, chapters.resolve(chapter, "mini", given), catalogue())
    assert [line for line in run.stopped if "BadInput" in line[1]] == []
