"""The rehearsal of the studies' own scale: its miniature, its hub, and a part of it. `make rehearsal` is the whole."""

import gzip
import io
import tarfile

import pytest
from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import RevisionNotFoundError

from helpers.data.collection import open_collection
from local_server import serving
from rehearsal import hub, miniature, run

FILES = ("config.json", "model.safetensors")


@pytest.fixture(scope="module")
def made():
    return miniature.files()


def members(archive):
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


# ---- the miniature ----

def test_every_judged_text_and_query_is_there():
    for unit, texts in (("passage", miniature.passages()), ("document", miniature.documents())):
        ids = {row[0] for row in texts}
        assert len(ids) == len(texts)
        for split in ("train", "dev.small", "test2019"):
            queries = {query_id for query_id, _ in miniature.queries(split)}
            judged = miniature.qrels(unit, split)
            assert {text for _, text, _ in judged} <= ids
            assert {query for query, *_ in judged} <= queries
            assert {grade for *_, grade in judged} == ({0, 1, 2, 3} if split == "test2019" else {1})
    assert len({text for _, text in miniature.passages()}) == len(miniature.passages()) - 1  # one stands twice


def test_splits_do_not_overlap_and_dev_small_is_a_part_of_dev():
    rows = {split: set(miniature.queries(split)) for split in ("train", "dev", "dev.small", "eval", "test2019")}
    assert rows["dev.small"] < rows["dev"]
    others = [rows[split] for split in ("train", "dev", "eval", "test2019")]
    assert len(set.union(*others)) == sum(map(len, others))


def test_the_same_files_come_out_again(made):
    assert miniature.files() == made


def test_the_official_files_open_as_a_folder(made, tmp_path):
    passages = members(made["msmarco-passage", "collectionandqueries"])
    (tmp_path / "passages").mkdir()
    for name, content in passages.items():
        (tmp_path / "passages" / name).write_bytes(content)
    (tmp_path / "passages" / "msmarco-test2019-queries.tsv").write_bytes(
        gzip.decompress(made["msmarco-passage", "trec-dl-2019/queries"]))
    (tmp_path / "passages" / "2019qrels-pass.txt").write_bytes(made["msmarco-passage", "trec-dl-2019/qrels"])
    collection = open_collection(str(tmp_path / "passages"))
    assert {"train", "dev", "test", "eval"} <= set(collection.splits)
    assert len(collection.queries("dev")) == miniature.SMALL
    assert not collection.is_judged("passage", "eval")
    assert collection.relevant_from("passage", "test") == 2


# ---- the hub ----

@pytest.fixture
def small_hub(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with serving(served=hub.Hub()) as served:
        served.put("owner/small", "main", dict(zip(FILES, (b"{}", b"x" * 4000), strict=True)))
        yield served


def test_a_branch_moves_and_its_old_commit_stays(small_hub, tmp_path):
    api = HfApi(endpoint=small_hub.url)
    first = api.model_info("owner/small", revision="main").sha
    small_hub.put("owner/small", "main", {"config.json": b"{}", "model.safetensors": b"other"})
    assert api.model_info("owner/small", revision="main").sha != first
    folder = snapshot_download("owner/small", revision=first, endpoint=small_hub.url, cache_dir=tmp_path)
    assert folder.endswith(first)
    assert (tmp_path / "models--owner--small" / "snapshots" / first / "model.safetensors").read_bytes() == b"x" * 4000


def test_weights_come_from_another_host_through_a_cut(small_hub, tmp_path):
    small_hub.at, small_hub.cuts = "/weights/", [1000]
    snapshot_download("owner/small", endpoint=small_hub.url, cache_dir=tmp_path)
    assert {headers["Host"].partition(":")[0] for headers in small_hub.headers} == {"127.0.0.1", "localhost"}
    assert small_hub.cuts == []
    assert next(tmp_path.rglob("model.safetensors")).read_bytes() == b"x" * 4000


def test_what_the_hub_does_not_have(small_hub):
    with pytest.raises(RevisionNotFoundError):
        HfApi(endpoint=small_hub.url).model_info("owner/small", revision="other")


# ---- the rehearsal ----

@pytest.mark.slow
def test_a_part_of_the_rehearsal_comes_to_its_pages(tmp_path):
    """Pinned and fetched through faults; a chapter over an index of others, and one that is killed in its middle."""
    rows = {what: outcome for what, _, outcome in run.play(tmp_path / "book", ["nearest_neighbours", "seeds"])}
    assert list(rows) == ["pin", "fetch", "nearest_neighbours", "seeds", "render", "outside"]
    assert [what for what, outcome in rows.items() if outcome.startswith("stopped")] == [], rows
    assert rows["pin"].startswith("429 told, then 10 revisions pinned")
    assert rows["seeds"].startswith(f"killed after {run.AFTER} steps")
    assert rows["outside"] == "refused: nothing was asked for"
