"""Two dictionaries as text to pre-train on: what is read of their files, and where they are missing."""

import gzip

import pytest

from helpers.data.collection import open_collection
from helpers.data.dictionaries import PUBLISHED, Dictionaries, entries, glosses, joined
from helpers.errors import BadInput

NOUN = ('  1 This software and database is being provided to you\n'
        '00001740 03 n 02 entity 0 real_thing 1 002 ~ 00001930 n 0000 ~ 00002137 n 0000 | what exists; "an entity"  \n')
ADJECTIVE = "00001740 00 a 01 able(p) 0 001 = 00002098 a 0000 | having the means  \n"
GCIDE = r"""
Abdomen \Ab*do"men\, n. [L. abdomen (a word of [uncertain]
   etymol.): cf. F. abdomen.]
   1. (Anat.) The {belly}, or that part of the body between the
      thorax and the pelvis. Also, the cavity of the belly,
      which is lined by the peritoneum, and contains the viscera.
      [1913 Webster]

Abditory \Ab"di*to*ry\, n. [L. abditorium.]
   A place for hiding. --Cowell.
=== Begin file 1 of 26: a file of the dictionary that says at some length what it is, and who made it, and when, and
   with what purpose and under which licence it may be used by all who read it
"""


@pytest.fixture
def root(tmp_path):
    for name in PUBLISHED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        text = GCIDE if name.endswith(".dz") else NOUN if name.endswith("noun") else ADJECTIVE
        (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".dz") else text.encode())
    return tmp_path


def test_a_synonym_set_has_its_words_and_its_gloss():
    assert list(glosses(NOUN.splitlines())) == ['entity, real thing: what exists; "an entity".']
    assert list(glosses(ADJECTIVE.splitlines())) == ["able: having the means."]


def test_short_definitions_are_joined_to_texts_worth_reading():
    assert list(joined(iter(["one " * 50, "two " * 40, "three"]))) == [["one " * 50, "two " * 40], ["three"]]


def test_an_entry_is_kept_without_markup_and_a_short_one_or_a_heading_is_not():
    assert list(entries(GCIDE.splitlines(keepends=True))) == [
        "Abdomen , n. 1. (Anat.) The belly, or that part of the body between the thorax and the pelvis. Also, the cavity of the "
        "belly, which is lined by the peritoneum, and contains the viscera."]


def test_each_noun_is_asked_for_and_the_text_with_its_gloss_answers(root):
    (root / "usr/share/wordnet/data.noun").write_text(NOUN + "".join(
        f"0000{number} 03 n 01 thing_{number} 0 000 | {'word ' * 45}  \n" for number in range(1741, 1745)))
    opened = Dictionaries(f"dictionaries:{root}")
    asked, answered = opened.queries("train"), opened.qrels("passage", "train")
    assert [*asked["text"]] == ["what is entity", "define thing 1741", "thing 1742 meaning",
                                "what is thing 1743", "define thing 1744"]
    assert [*answered["doc_id"]] == ["data.noun.0"] * 3 + ["data.noun.1"] * 2 and set(answered["relevance"]) == {1}
    assert [*answered["query_id"]] == [*asked["query_id"]] and asked["query_id"].is_unique
    texts = {text.doc_id: text.body for text in opened.texts("passage")}
    assert all(noun in texts[doc_id] for noun, doc_id in zip(
        ["entity", "thing 1741", "thing 1742", "thing 1743", "thing 1744"], answered["doc_id"], strict=True))


def test_the_key_of_what_learned_from_the_questions_is_known_where_the_dictionaries_are_missing(root, tmp_path):
    parts = [open_collection(f"dictionaries:{place}").part(*what) for place in (tmp_path / "nowhere", root)
             for what in (("queries", "train"), ("qrels", "passage", "train"))]
    assert len({part.digest for part in parts}) == 4
    for read in (parts[0].load, lambda: next(parts[0].collection.texts("passage"))):
        with pytest.raises(BadInput, match="apt-get install wordnet-base"):
            read()
