"""The text store, and windows of its documents. Two dictionaries as text to pre-train on: what is read of their files, and where
they are missing."""

import gzip
import random

import pytest

from helpers.data.collection import open_collection
from helpers.data.collection_base import Text
from helpers.data.dictionaries import PUBLISHED, Dictionaries, entries, glosses, joined
from helpers.data.texts import Texts, merged_store, text_store
from helpers.data.windows import Window, doc_of, sections_of, windows
from helpers.errors import BadInput
from toys import run_of

# The order of the file, which is neither that of the ids nor that of the texts.
LINES = "d9\thttp://x\tNine\tbody of nine\nd1\thttp://y\tOne\tbody of one\nd5\thttp://z\t\t\"five\"\n"
IN_ORDER = [Text("d9", "Nine", "body of nine"), Text("d1", "One", "body of one"), Text("d5", "", '"five"')]


@pytest.fixture
def part(tmp_path, monkeypatch):
    """Makes a folder of the given documents and gives its texts as a step's argument; the store is empty."""
    monkeypatch.setenv("BOOK_STORE", str(tmp_path / "store"))

    def build(lines=LINES, name="collection"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "docs.tsv").write_text(lines)
        (folder / "queries.tsv").write_text("q1\ta\n")
        return open_collection(str(folder)).part("texts", "document")
    return build


@pytest.fixture
def texts(part):
    return Texts(text_store(part()).value())


def test_texts_come_in_the_collections_order_and_are_found_by_their_ids(texts):
    assert len(texts) == 3
    assert list(texts) == IN_ORDER
    assert texts["d1"] == Text("d1", "One", "body of one")
    assert "d1" in texts
    assert "d2" not in texts
    for ask in (texts.__getitem__, texts.position):
        with pytest.raises(KeyError, match="'d2'"):
            ask("d2")


def test_a_repeated_id_is_refused_with_its_position_and_leaves_nothing_behind(part, tmp_path):
    texts = part(LINES + "d1\thttp://w\tOne again\tbody\n")  # the fourth text
    with pytest.raises(BadInput, match=r":4: the id 'd1' stands twice. Mend: keep one") as caught:
        text_store(texts).value()
    assert (caught.value.file, caught.value.line) == (texts.sources()[0], 4)
    assert text_store(texts).lookup() == (None, "missing") and not list((tmp_path / "store").rglob("texts.sqlite"))


def test_ids_that_look_like_numbers_stay_texts_and_the_same_content_is_the_same_step(part):
    lines = "007\tu\tt\tseven\n7\tu\tt\talso seven\n"
    folder = text_store(part(lines)).value()
    assert [Texts(folder)[name].body for name in ("007", "7")] == ["seven", "also seven"]
    assert text_store(part(lines, name="a copy elsewhere")).value() == folder


def test_stores_are_read_together_in_their_order_and_an_id_of_two_is_refused(part):
    first, second = text_store(part()), text_store(part("d2\thttp://x\tTwo\tbody of two\n", "second"))
    assert [text.doc_id for text in Texts(merged_store([second, first]).value())] == ["d2", "d9", "d1", "d5"]
    with pytest.raises(BadInput, match="the id 'd9' stands twice"):
        merged_store([first, first]).value()


def spans(count, title, words, overlap):
    """(first, last) word of the body in each window of a text of `count` words under a title of `title` words."""
    text = Text("d", " ".join(["title"] * title), " ".join(f"w{number}" for number in range(count)))
    result = []
    for window in windows(text, words, overlap):
        body = [int(word[1:]) for word in window.text.split() if word != "title"]
        assert body == list(range(body[0], body[-1] + 1))  # no word is skipped inside a window
        result.append((body[0], body[-1]))
    return result


@pytest.mark.parametrize("count, title, expected", [
    # 150 words with a title of 10 leave 140 of the body, the step is 90: 180 + 140 = 320 reaches the end
    (300, 10, [(0, 139), (90, 229), (180, 299)]),
    (120, 49, [(0, 100), (51, 119)]),  # 49 words leave 101, the step is 51
    (120, 50, [(0, 119)])])  # fifty words are left out: all fit
def test_the_windows_of_steensland_by_hand(count, title, expected):
    assert spans(count, title, words=150, overlap=50) == expected


def test_a_window_starts_with_the_title_and_is_named_after_its_document():
    pieces = list(windows(Text("d#7", "A  title", "one two three"), words=4, overlap=1))
    assert pieces == [Window("d#7#0", "d#7", "A title one two"), Window("d#7#1", "d#7", "A title two three")]
    assert [doc_of(window.window_id) for window in pieces] == ["d#7", "d#7"]


@pytest.mark.parametrize("title, body, text", [("Title", "", "Title"), ("Title", " \n\t", "Title"), ("", "", "")])
def test_a_text_without_body_has_one_window(title, body, text):
    assert list(windows(Text("d", title, body), 150, 50)) == [Window("d#0", "d", text)]


def random_cases():
    random.seed(20210610)
    for _ in range(40):
        words = random.randint(1, 200)
        title = random.randint(0, 60)
        size = words if title >= min(50, words) else words - title
        yield random.randint(1, 1000), title, words, random.randint(0, size - 1)


@pytest.mark.parametrize("count, title, words, overlap", random_cases())
def test_every_word_is_in_a_window_and_none_lies_inside_another(count, title, words, overlap):
    pieces = spans(count, title, words, overlap)
    assert pieces[0][0] == 0
    assert pieces[-1][1] == count - 1
    for (start, end), (next_start, next_end) in zip(pieces, pieces[1:], strict=False):
        assert end - next_start + 1 == overlap  # also covers every word: there is no gap
        assert start < next_start
        assert end < next_end  # the next one brings something new


def test_sections_are_those_of_each_querys_first_documents(part):
    passages = text_store(part("a.0\tu\t\tx\nb.0\tu\t\ty\na.1\tu\t\tz\n")).value()
    sections = sections_of.definition.function
    found = sections(run_of(q="ba", r="ab"), passages, 1)
    assert list(found[["query_id", "doc_id"]].itertuples(index=False, name=None)) == [("q", "b.0"), ("r", "a.0"), ("r", "a.1")]
    with pytest.raises(BadInput, match="no passage is named after document 'c'"):
        sections(run_of(q="abc"), passages, 3)


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
