import pytest

from helpers.data.collection import open_collection
from helpers.data.collection_base import Text
from helpers.data.texts import Texts, merged_store, text_store
from helpers.errors import BadInput

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


@pytest.mark.parametrize("ask", [lambda texts: texts["d2"], lambda texts: texts.position("d2")])
def test_an_unknown_id_is_a_key_error_that_names_it(texts, ask):
    with pytest.raises(KeyError, match="'d2'"):
        ask(texts)


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
