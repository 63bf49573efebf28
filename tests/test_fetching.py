"""`book fetch` and `book pin`: what a profile needs from the network, without one."""

import pytest

from helpers import paths
from helpers.data import hub
from helpers.errors import NetworkNeeded
from press import chapters, cli, fetching
from press.fetching import Item

COMMIT = "0123456789abcdef" * 2 + "01234567"
PROFILE = f"""# a comment that names hub:owner/small@main
shared: {{collection: "irds:msmarco-passage/dev"}}
chapters:
  seeds:
    backbone: "hub:owner/small@main"
  encoders:
    backbones: [ 'hub:owner/small@main', hub:owner/large@v1.0, "hub:owner/pinned@{COMMIT}", packaged]   # three
  similarity: {{pairs: "hub:owner/sentences@main"}}
"""


@pytest.fixture
def profile(places, tmp_path, monkeypatch):
    """A profile of this project's chapters with an ir_datasets id and models of the hub, and no network."""
    (places("PROFILES") / "profiles" / "ours.yaml").write_text(PROFILE)
    monkeypatch.delenv("BOOK_DOWNLOADS", raising=False)
    monkeypatch.setattr(hub, "cache", lambda: tmp_path / "hub")
    monkeypatch.setattr(hub, "size", offline)
    monkeypatch.setattr(hub, "commit", offline)
    return "ours"


def offline(source, revision, kind="model"):
    with hub.asking(source, revision):
        raise OSError("no network")


def item(place, size=100, here=False, fetch=lambda: None):
    return Item(f"item {place.name}", size, place, here, fetch)


def test_every_spec_of_every_chapter_is_named_once(profile):
    assert fetching.specs(profile) == ["irds:msmarco-passage/dev", "hub:owner/small@main", "hub:owner/large@v1.0",
                                       f"hub:owner/pinned@{COMMIT}"]  # a dataset of the hub is none of them


def test_items_are_files_indexes_and_models_whose_size_the_hub_tells_of_those_that_are_not_here(profile, tmp_path, monkeypatch):
    items = {item.what: item for item in fetching.items(profile)}
    assert {"irds:msmarco-passage/dev: collectionandqueries.tar.gz", "irds:msmarco-passage/dev: qrels.dev.tsv",
            "index msmarco-v1-passage-full", "hub:owner/small@main"} <= set(items)
    index, model = items["index msmarco-v1-passage-full"], items["hub:owner/large@v1.0"]
    assert (index.size, index.where.parent, index.here) == (3_720_616_156, tmp_path / "store" / "downloads", False)
    assert (model.size, model.where, model.here) == (None, tmp_path / "hub" / "models--owner--large", False)
    monkeypatch.setattr(hub, "size", lambda source, revision: len(source))
    monkeypatch.setattr(hub, "is_here", lambda source, _: source == "owner/small")
    items = {item.what: item for item in fetching.items(profile)}
    assert (items["hub:owner/small@main"].here, items["hub:owner/small@main"].size) == (True, None)
    assert items["hub:owner/large@v1.0"].size == len("owner/large")


def test_the_table_adds_up_what_is_missing(tmp_path):
    items = [item(tmp_path / "a" / "b", 2_000_000), item(tmp_path / "c", 500_000, here=True), item(tmp_path / "d", None)]
    text = fetching.table(items)
    assert [line.split() for line in text.splitlines()[:4]] == [
        ["what", "size", "where", "there"], ["item", "b", "2.0", "MB", str(tmp_path / "a" / "b"), "no"],
        ["item", "c", "500.0", "kB", str(tmp_path / "c"), "yes"], ["item", "d", "unknown", str(tmp_path / "d"), "no"]]
    assert "to fetch: 2 of 3, 2.0 MB and 1 of unknown size" in text


def test_what_is_here_is_not_fetched_and_a_failure_does_not_stop_the_rest(tmp_path, monkeypatch):
    done, texts = [], []

    def fail():
        raise NetworkNeeded("b: put it into /there")

    items = [item(tmp_path / "a", here=True, fetch=lambda: done.append("a")), item(tmp_path / "b", fetch=fail),
             item(tmp_path / "c", fetch=lambda: done.append("c"))]
    monkeypatch.setattr(fetching, "items", lambda profile: items)
    assert [*fetching.fetch_profile("ours", only_list=True), *done] == [fetching.table(items)]
    with pytest.raises(NetworkNeeded, match="put it into /there(.|\n)*1 of 3 could not be fetched"):
        texts.extend(fetching.fetch_profile("ours", only_list=False))
    assert done == ["c"]
    assert texts[1:] == ["item b: failed", "item c: fetched"]


def test_branches_and_tags_become_commits_and_nothing_else_changes(profile, monkeypatch):
    monkeypatch.setattr(hub, "commit", lambda source, revision, kind: (
        "b" if revision == "v1.0" else {"model": "a", "dataset": "c"}[kind]) * 40)
    texts = fetching.pin(profile)
    assert texts == [f"hub:owner/small@main -> hub:owner/small@{'a' * 40}", f"hub:owner/large@v1.0 -> hub:owner/large@{'b' * 40}",
                     f"hub:owner/sentences@main -> hub:owner/sentences@{'c' * 40}"]
    text = (paths.PROFILES / "ours.yaml").read_text()
    comment, rest = PROFILE.split("\n", 1)
    assert text == comment + "\n" + rest.replace("hub:owner/small@main", f"hub:owner/small@{'a' * 40}").replace(
        "hub:owner/large@v1.0", f"hub:owner/large@{'b' * 40}").replace("sentences@main", f"sentences@{'c' * 40}")
    assert chapters.profile(profile)["chapters"]["encoders"]["backbones"][1] == f"hub:owner/large@{'b' * 40}"
    assert fetching.pin(profile) == ["everything of the hub is pinned"]
    assert [file.name for file in paths.PROFILES.iterdir()] == ["ours.yaml"]


def test_a_revision_that_begins_another_is_not_taken_for_it(profile, monkeypatch):
    (paths.PROFILES / "ours.yaml").write_text("chapters: {encoders: {backbones: "
                                              "[hub:owner/a@v1, hub:owner/a@v1.0, hub:owner/a@v1]}}")
    monkeypatch.setattr(hub, "commit", lambda source, revision, kind: {"v1": "a" * 40, "v1.0": "b" * 40}[revision])
    fetching.pin(profile)
    assert chapters.profile(profile)["chapters"]["encoders"]["backbones"] == [f"hub:owner/a@{c * 40}" for c in "aba"]


def test_without_network_the_profile_is_as_it_was(profile, monkeypatch):
    answers = iter(["a" * 40])  # the network goes after the first answer
    monkeypatch.setattr(hub, "commit", lambda *model: next(answers, None) or offline(*model))
    with pytest.raises(NetworkNeeded, match="owner/large at revision v1.0"):
        fetching.pin(profile)
    assert (paths.PROFILES / "ours.yaml").read_text() == PROFILE
    assert cli.main(["pin", "--profile", "ours"]) == 2
