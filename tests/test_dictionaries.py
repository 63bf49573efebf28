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
    assert list(joined(iter(["one " * 50, "two " * 40, "three"]))) == ["one " * 50 + " " + "two " * 40, "three"]


def test_an_entry_is_kept_without_markup_and_a_short_one_or_a_heading_is_not():
    assert list(entries(GCIDE.splitlines(keepends=True))) == [
        "Abdomen , n. 1. (Anat.) The belly, or that part of the body between the thorax and the pelvis. Also, the cavity of the "
        "belly, which is lined by the peritoneum, and contains the viscera."]


def test_wordnet_comes_first(root):
    opened = open_collection(f"dictionaries:{root}")
    assert isinstance(opened, Dictionaries)
    assert [text.doc_id for text in opened.texts("passage")] == [
        "data.noun.0", "data.verb.0", "data.adj.0", "data.adv.0", "gcide.0"]
    with pytest.raises(BadInput, match="no queries"):
        opened.queries("test")


def test_the_published_files_are_known_where_they_are_missing_and_others_are_other_texts(root, tmp_path):
    absent, other = open_collection(f"dictionaries:{tmp_path / 'nowhere'}"), open_collection(f"dictionaries:{root}")
    assert absent.text_digest("passage") != other.text_digest("passage")
    with pytest.raises(BadInput, match="apt-get install wordnet-base"):
        next(absent.texts("passage"))


def test_they_can_be_read_where_all_of_them_are_installed(root):
    dictionaries = Dictionaries(f"dictionaries:{root}")
    assert dictionaries.is_here
    (root / next(iter(PUBLISHED))).unlink()
    assert not dictionaries.is_here
