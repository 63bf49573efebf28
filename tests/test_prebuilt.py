"""Anserini's indexes: described offline, fetched, unpacked safely, and taken only where the table has them."""

import hashlib
import io
import tarfile

import pytest

from helpers import paths
from helpers.data import downloads
from helpers.errors import BadInput, NetworkNeeded
from helpers.retrieval import indexes
from helpers.steps import rebuild
from helpers.systems.testbed import Testbed
from local_server import serving

FILES = {"segments_1": b"the segments", "_0.cfs": b"postings"}
PASSAGES, DOCUMENTS = "msmarco-v1-passage-full", "msmarco-v1-doc-full"


def packed(members, folder="lucene-index.tiny"):
    """A tar.gz of files in a folder; a member that is a TarInfo goes in as it is."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        if folder:
            tar.addfile(special(folder, tarfile.DIRTYPE))
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                tar.addfile(content)
                continue
            info = tarfile.TarInfo(f"{folder}/{name}" if folder else name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def special(name, kind, target=""):
    """A member that is no plain file."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.fixture
def offered(tmp_path, monkeypatch):
    """Serves an archive as Anserini's index `tiny`, and gives its description."""
    monkeypatch.setenv("BOOK_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("BOOK_DOWNLOADS", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(downloads, "PAUSE", 0.0)
    with serving({}) as served:
        def offer(archive):
            served.files["/tiny.tar.gz"] = archive
            index = indexes.Description("tiny", "tiny.tar.gz", f"{served.url}/tiny.tar.gz", hashlib.md5(archive).hexdigest(),
                                         len(archive))
            monkeypatch.setattr(indexes, "_descriptions", lambda: {"tiny": index})
            return index

        offer.served = served
        yield offer


# ---- descriptions ----

def test_the_table_names_indexes_that_this_anserini_has():
    for units in indexes._table().values():
        for entry in units.values():
            assert indexes.describe(entry["index"]).md5 == entry["md5"]
            assert entry["index"].endswith("-full")  # feedback needs positions and document vectors


# ---- fetching and unpacking ----

def test_an_index_is_fetched_and_its_files_lie_in_the_step_directly(offered):
    description = offered(packed(FILES))
    folder = indexes.prebuilt_index("tiny", description.md5).value()
    assert {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "manifest.json"} == FILES
    assert (paths.store() / "downloads" / "tiny.tar.gz").exists()
    indexes.prebuilt_index("tiny", description.md5).value()
    assert len(offered.served.requested) == 1


@pytest.mark.parametrize("members, folder", [
    ({"../evil": b"x"}, ""), ({"../../evil": b"x"}, "index"), ({"a/../../evil": b"x"}, ""), ({"/evil": b"x"}, ""),
    ({"": special("index/evil", tarfile.SYMTYPE, "/etc/passwd")}, "index"),
    ({"": special("index/evil", tarfile.LNKTYPE, "/etc/passwd")}, "index"),
    ({"": special("index/evil", tarfile.FIFOTYPE)}, "index"), ({"": special("../out", tarfile.DIRTYPE)}, "index"),
    ({"deeper/down/evil": b"x"}, "index")])
def test_nothing_of_an_archive_leads_out_of_the_index(tmp_path, members, folder):
    (tmp_path / "a.tar.gz").write_bytes(packed(members, folder))
    place = tmp_path / "in" / "place"
    place.mkdir(parents=True)
    indexes.unpack(tmp_path / "a.tar.gz", place)
    assert [file for file in tmp_path.rglob("*") if file.name in ("evil", "out")] == [place / "evil"] * (b"x" in members.values())
    assert all(file.is_file() and not file.is_symlink() for file in place.iterdir())


def test_another_archive_is_refused_and_another_digest_than_the_tables_before_it_is_fetched(offered):
    description = offered(packed(FILES))
    with pytest.raises(BadInput, match="prebuilt.yaml"):
        indexes.prebuilt_index("tiny", "0" * 32).value()
    assert offered.served.requested == []
    offered.served.files["/tiny.tar.gz"] = packed({"segments_1": b"other"})
    with pytest.raises(BadInput, match=f"should have the md5 {description.md5}"):
        indexes.prebuilt_index("tiny", description.md5).value()


def test_without_network_the_archive_can_be_put_there_by_hand(offered):
    description = offered(packed(FILES))
    archive = offered.served.files.pop("/tiny.tar.gz")
    with pytest.raises(NetworkNeeded, match=f"tiny.tar.gz.*{description.md5}") as caught:
        indexes.prebuilt_index("tiny", description.md5).value()
    assert str(description.archive) in str(caught.value)
    description.archive.write_bytes(archive)
    assert (indexes.prebuilt_index("tiny", description.md5).value() / "segments_1").read_bytes() == b"the segments"


# ---- which collections have one ----

@pytest.mark.parametrize("collection, unit, name", [
    ("irds:msmarco-passage", "passage", PASSAGES), ("irds:msmarco-passage/trec-dl-2019/judged", "passage", PASSAGES),
    ("irds:msmarco-document", "document", DOCUMENTS), ("irds:msmarco-document/dev", "document", DOCUMENTS),
    ("irds:msmarco-document", "passage", None), ("irds:msmarco-document/anchor-text", "passage", None),  # other texts
    ("irds:vaswani", "passage", None), ("almanac", "document", None), ("msmarco-passage", "passage", None)])
def test_which_texts_have_a_prebuilt_index(collection, unit, name):
    result = indexes.index_names(collection, unit)
    assert (result and result[0]) == name


def test_a_testbed_takes_the_prebuilt_index_where_there_is_one():
    index = Testbed("irds:msmarco-passage", queries=5).index
    assert (index.name, index.arguments["name"]) == ("prebuilt_index", PASSAGES)
    assert Testbed("almanac").index.key == indexes.text_index(Testbed("almanac").store).key
    assert rebuild(index.recipe()).key == index.key


def test_the_recipes_of_other_collections_are_what_they_were():
    """Keys from before there were prebuilt indexes: recorded runs rest on them. Only a new version of a step changes them."""
    assert Testbed("almanac").bm25(0.9, 0.4, 100).key == "1a4fa51c1e9d445a4a251177f754eb2c663c5d02d9ac95f055b5d08679d0aa11"
    passages = Testbed("almanac", "passage", splits=("test",), queries=400)
    assert passages.bm25(1.2, 0.75, 1000).key == "4b92376361aec8605de63b75005708a5fc2f64b68b5f79708c91cb91211e7a95"
    assert passages.bm25(1.2, 0.75, 100, windows=True).key == "e98a1d6a1c1b46e241a000632ef7cdc4117a10ed06bf66781020c39093a830fa"
