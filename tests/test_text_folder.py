"""A folder of text files: documents, passages, digests, hostile files."""

import pytest

from helpers.data.collection import open_collection
from helpers.data.folders import MsMarcoFolder, TextFolder
from helpers.errors import BadInput


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "b.txt").write_text("First.\n  \nSecond,\nof two lines.\n\n\n", encoding="utf-8")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.txt").write_text("Ünïcode only.", encoding="utf-8")
    (tmp_path / "notes.md").write_text("not read")
    return tmp_path


def test_documents_are_files_and_passages_their_paragraphs(folder):
    opened = open_collection(str(folder))
    assert isinstance(opened, TextFolder)
    assert [text.doc_id for text in opened.texts("document")] == ["b.txt", "more/a.txt"]
    assert [(text.doc_id, text.body) for text in opened.texts("passage")] == [
        ("b.txt.0", "First."), ("b.txt.1", "Second,\nof two lines."), ("more/a.txt.0", "Ünïcode only.")]


def test_a_digest_follows_names_contents_and_unit(folder):
    opened = open_collection(str(folder))
    before = opened.text_digest("passage")
    assert before != opened.text_digest("document") and before == open_collection(str(folder)).text_digest("passage")
    (folder / "b.txt").rename(folder / "c.txt")
    assert open_collection(str(folder)).text_digest("passage") != before


def test_it_has_no_queries(folder):
    opened = open_collection(str(folder))
    assert opened.splits == ()
    with pytest.raises(BadInput, match="no queries"):
        opened.queries("test")
    with pytest.raises(BadInput, match="no judgments"):
        opened.part("qrels", "passage", "test")


def test_ms_marcos_format_comes_first_and_an_empty_folder_says_what_is_missing(folder, tmp_path):
    (folder / "collection.tsv").write_text("p1\ttext\n")
    (folder / "queries.tsv").write_text("q1\tquery\n")
    assert isinstance(open_collection(str(folder)), MsMarcoFolder)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(BadInput, match="no texts"):
        open_collection(str(empty))
