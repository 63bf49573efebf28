"""Shared by the tests: a tiny collection in MS MARCO's form, the session's own store, a browser, and who runs beside whom."""

import contextlib
import os
import signal
from pathlib import Path

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before PyTorch is imported: as many workers as cores, one thread each

import mini_book
from helpers import paths
from helpers.errors import BadInput
from helpers.steps import ledger
from press import chromium

DOCS = [("d1", "u", "Bread", "Why bread turns brown in the oven. Sugars and proteins react in the heat."),
        ("d2", "u", "Iron", "Iron rusts in wet air. Oil keeps the water away from iron."),
        ("d3", "u", "Clouds", "Clouds form when moist air rises and cools. Rain falls from thick clouds."),
        ("d4", "u", "Ovens", "An oven heats bread and cake. Bread needs a hot oven, bread needs time.")]
QUERIES = [("q1", "why does bread turn brown"), ("q2", "how to stop iron rusting"), ("q3", "the of and")]
GROUPS = {"book": ("test_book", "test_browser")}  # these look at the mini book


def group_of(nodeid):
    """Whom a test runs beside, one after the other in one process: the tests of its file, or of a group of files."""
    name = Path(nodeid.split("::")[0]).stem
    return next((group for group, files in GROUPS.items() if name in files), name)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """One process builds the mini book, one times (`test_costs.py`).

    Pytest 9.2 ignores what `--dist loadgroup` of pytest-xdist 3.8 writes into a test's name: its groups fall apart.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        _split_scope = staticmethod(group_of)

    config.option.loadscopereorder = False
    return ByGroup(config, log)


def pytest_itemcollected(item):
    """What asks for something that trains is slow."""
    if {"tiny", "folder_of_texts", "trained", "small_vocabulary"} & set(item.fixturenames):
        item.add_marker("slow")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """The mini book comes first, since it takes longest."""
    strays = {item.nodeid for item in items if "project" in item.fixturenames and group_of(item.nodeid) != "book"}
    if strays:
        raise pytest.UsageError(f"{', '.join(sorted(strays))}: name the file in GROUPS, or the mini book is built twice")
    items.sort(key=lambda item: group_of(item.nodeid) != "book")


def write_collection(place, *splits):
    """Write four documents, three queries (one of stop words alone) and judgments; a split stands in the names as `.train`."""
    (place / "docs.tsv").write_text("".join("\t".join(doc) + "\n" for doc in DOCS))
    for split in splits:
        (place / f"queries{split}.tsv").write_text("".join("\t".join(query) + "\n" for query in QUERIES))
        (place / f"qrels{split}.tsv").write_text("q1 0 d1 1\nq2 0 d2 1\nq3 0 d3 1\n")
    return place


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The collection with its queries for train and test."""
    return write_collection(tmp_path_factory.mktemp("tiny"), ".train", ".test")


@pytest.fixture
def tiny(folder):
    """A re-ranker of one layer, trained on the folder's documents for four steps."""
    from helpers.systems.rerankers import ListwiseReranker

    return ListwiseReranker(collection=str(folder), unit="document", negatives="random", losses={"bce": 1.0}, size=2,
                            backbone="packaged:0", epochs=2, batch_size=1, evaluation_queries=1, evaluations=2, max_length=32,
                            words=300, overlap=50)


@pytest.fixture(scope="session")
def tokenizer():
    """The packaged backbone's."""
    from helpers.networks import backbone

    return backbone.resolve("packaged").tokenizer()


@pytest.fixture
def trained(folder, store, tmp_path):
    """A function that trains one layer by a step on twelve queries with two texts each; `d1` is right for all of them."""
    import numpy as np
    import pandas as pd

    from helpers.networks import backbone
    from helpers.systems.testbed import Testbed

    bed, encoder = Testbed(str(folder), splits=("train",), words=1_000_000, overlap=0), backbone.resolve("packaged:0")
    names = [f"p{number}" for number in range(12)]
    queries = pd.DataFrame({"query_id": names, "text": ["why does bread turn brown"] * 12})
    rows = pd.DataFrame({"query_id": np.repeat(names, 2), "window_id": ["d1#0", "d2#0"] * 12, "label": [1, 0] * 12,
                         "teacher": [0.8, 0.1] * 12})

    def train(step, name, kept, **settings):
        for made in (name, kept):
            (tmp_path / made).mkdir(exist_ok=True)
        step.definition.function(rows, queries, bed.store.value(), bed.tokens(encoder).value(), encoder,
                                 folder=tmp_path / name, checkpoints=tmp_path / kept, **settings)
        return tmp_path / name
    return train


@pytest.fixture
def small_vocabulary(tmp_path):
    """A folder with a BERT of one layer, random weights and a hundred tokens."""
    from toys import bert

    bert(vocab_size=100, num_hidden_layers=1).save_pretrained(tmp_path / "small")
    return str(tmp_path / "small")


@pytest.fixture
def folder_of_texts(tmp_path, monkeypatch):
    """A small collection, a tokenizer and a backbone in a folder; returns them with the texts that a pre-training reads."""
    import numpy as np
    from transformers import BertTokenizerFast

    from helpers.networks import backbone
    from helpers.pretraining.masking import corpus
    from helpers.systems.testbed import Testbed
    from toys import bert

    monkeypatch.setenv("BOOK_STORE", str(tmp_path / "store"))
    words = [f"w{n}" for n in range(40)]
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, "##x"]) + "\n")
    tokenizer = BertTokenizerFast(str(tmp_path / "vocab.txt"))
    bert().save_pretrained(tmp_path / "backbone")
    tokenizer.save_pretrained(tmp_path / "backbone")
    data = tmp_path / "data"
    data.mkdir()
    generator = np.random.default_rng(2)
    lines = [f"p{n}\t{' '.join(generator.choice(words, size=12))}" for n in range(40)]
    (data / "collection.tsv").write_text("\n".join(lines) + "\n")
    (data / "queries.tsv").write_text("q1\tw1\n")
    (data / "qrels.txt").write_text("q1 0 p0 1\nq1 0 p1 0\n")
    bed = Testbed(str(data), "passage", words=1_000_000, overlap=0)
    encoder = backbone.resolve(str(tmp_path / "backbone"))
    return bed, encoder, corpus(bed.store)


ROOT = paths.ROOT


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Moves places of the project, by their names in `helpers.paths`, to empty folders of one in `tmp_path`, which has a store of
    its own, too; gives its root."""
    def move(*names):
        for name in names:
            place = tmp_path / getattr(paths, name).relative_to(ROOT)
            place.mkdir(parents=True, exist_ok=True)
            monkeypatch.setattr(paths, name, place)
        monkeypatch.setenv("BOOK_STORE", str(tmp_path / "store"))
        monkeypatch.setenv("BOOK_FRESH", "")
        return tmp_path
    return move


@pytest.fixture
def own_store(tmp_path, monkeypatch):
    """A store and recorded runs of the test's own, both empty, and no cluster; gives the folder that they lie in."""
    monkeypatch.setenv("BOOK_STORE", str(tmp_path / "store"))
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(ledger, "USED", {})
    for name in ("BOOK_FRESH", "BOOK_CLUSTER"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def here(own_store):
    """The folder of a store of the test's own, as the steps of `cluster_toys` take it."""
    return str(own_store)


@pytest.fixture
def steps_module(places, monkeypatch):
    """A project of the test's own, with the steps of `dry_steps` for its chapters."""
    import dry_steps

    places("NOTEBOOKS", "PROFILES", "RESULTS", "BOOK", "CHAPTERS")
    return dry_steps.importable(monkeypatch)


@pytest.fixture(scope="session")
def session_store(tmp_path_factory):
    """A step store that the slow tests share, so that nothing is computed twice."""
    return tmp_path_factory.mktemp("store")


@pytest.fixture
def store(session_store, monkeypatch):
    """Point the steps to the session's store."""
    monkeypatch.setenv("BOOK_STORE", str(session_store))
    return session_store


@pytest.fixture
def bed(folder, store):
    """The folder's documents and test queries, as a testbed."""
    from helpers.systems.testbed import Testbed

    return Testbed(str(folder))


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """The project with the mini book built in it: minutes. Shared by the tests of the book and of its pages."""
    return mini_book.make(tmp_path_factory.mktemp("book"))


@contextlib.contextmanager
def skipped_without_chromium():
    """Where there is no Chromium a test is skipped, unless `BOOK_BROWSER=required` (CI) says that it must not be."""
    try:
        yield
    except BadInput as error:
        (pytest.fail if os.environ.get("BOOK_BROWSER") == "required" else pytest.skip)(f"NO PAGE WAS LOOKED AT: {error}")


@pytest.fixture(scope="module")
def browser():
    """A running headless Chromium."""
    with skipped_without_chromium(), chromium.browser() as running:
        yield running


@pytest.fixture
def chromium_there():
    """For code that starts a Chromium of its own, of which a process can have one."""
    with skipped_without_chromium():
        chromium.find()


@pytest.fixture
def foreground():
    """Ctrl-C is heard, here and by child processes, as it is not where a shell runs the tests in the background."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, usual)
