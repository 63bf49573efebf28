"""Collections: their formats, units and splits. Answer types: each rule by itself, their order, the word lists, and queries that
are no questions at all."""

from hashlib import md5
from itertools import islice

import pandas as pd
import pytest

from helpers import paths
from helpers.data import answer_types, downloads
from helpers.data.answer_types import RULES, WIDER, answer_type, decide, noun_type, noun_types, parse, singulars
from helpers.data.collection import check_qrels, open_collection
from helpers.data.elsewhere import File
from helpers.errors import BadInput, NetworkNeeded
from local_server import serving


@pytest.fixture(scope="module")
def almanac():
    return open_collection("almanac")


# ---- The Almanac; the counts are those of its data sheet ----

def test_almanac_split_sizes(almanac):
    queries = pd.concat([almanac.queries(split).assign(split=split) for split in almanac.splits])
    assert queries["split"].value_counts().to_dict() == {"train": 3595, "dev": 600, "test": 1799, "topics": 60}
    assert queries["query_id"].is_unique and (queries["text"].str.len() > 0).all()


@pytest.mark.parametrize("unit", ["document", "passage"])
def test_almanac_judgments_are_of_its_own_texts_and_queries(almanac, unit):
    texts = {text.doc_id for text in almanac.texts(unit)}
    assert len(texts) == {"document": 1000, "passage": 6000}[unit]
    for split in almanac.splits:
        qrels = almanac.qrels(unit, split)
        assert set(qrels["query_id"]) == set(almanac.queries(split)["query_id"])
        assert set(qrels["doc_id"]) <= texts
        assert qrels["relevance"].between(0, 3).all()


@pytest.mark.parametrize("unit", ["document", "passage"])
def test_a_part_of_the_almanac_is_a_collection_of_its_own(almanac, unit):
    part = open_collection("almanac/4")
    texts = {text.doc_id for text in part.texts(unit)}
    assert len(texts) == len(list(almanac.texts(unit))) / 4
    assert part.part("texts", unit).digest != almanac.part("texts", unit).digest
    for split in part.splits:
        whole, qrels = almanac.qrels(unit, split), part.qrels(unit, split)
        queries = part.queries(split)["query_id"]
        answered = whole[whole["doc_id"].isin(texts) & (whole["relevance"] >= 2)]
        assert set(answered["query_id"]) <= set(queries)
        assert set(qrels["doc_id"]) <= texts
        assert set(qrels["query_id"]) == set(queries)


def test_almanac_document_holds_its_passages(almanac):
    document = next(almanac.texts("document"))
    passages = list(islice(almanac.texts("passage"), 6))
    assert document.body == "\n\n".join(passage.body for passage in passages)
    assert {passage.title for passage in passages} == {document.title}


def test_a_family_whose_splits_alone_are_datasets_shares_its_texts(tmp_path, monkeypatch):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    natural, trivia = (open_collection(f"irds:dpr-w100/{name}[test=dev]") for name in ("natural-questions", "trivia-qa"))
    assert natural.splits == trivia.splits == ("train", "test")
    assert natural.text_digest("document") == trivia.text_digest("document")
    assert natural.frame_digest("queries", "test") != trivia.frame_digest("queries", "test")


def test_check_qrels_counts_missing_ids_once():
    qrels = pd.DataFrame({"doc_id": ["a", "b", "b", "c"]})
    assert check_qrels(qrels, {"a", "c"}, "qrels.txt") == 1  # b, judged twice
    assert check_qrels(qrels, {"a", "b", "c"}, "qrels.txt") == 0


# ---- ir_datasets ----

DOCS_TSV, QUERIES_TSV, QRELS = b"d1\ta pond\nd2\ta river\n" * 3, b"q1\twhat is a pond\n", b"q1 0 d1 1\n"
FILES = {"docs.tsv": DOCS_TSV, "queries.tsv": QUERIES_TSV, "qrels": QRELS}
NOWHERE = "http://127.0.0.1:9"  # the port for discarding: nobody listens


@pytest.fixture
def tiny_irds(tmp_path, monkeypatch):
    """Registers the ir_datasets id `tiny-<n>`, whose texts count as a large file; gives its spec and where its files belong."""
    import ir_datasets
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import TrecQrels, TsvDocs, TsvQueries
    from ir_datasets.util import Cache
    from ir_datasets.util.download import _DownloadConfig

    for name, value in {"IR_DATASETS_DL_TRIES": "1", "IR_DATASETS_DL_DISABLE_PBAR": "true", "IR_DATASETS_SMALL_FILE_SIZE": "60",
                        "no_proxy": "*"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(downloads, "PAUSE", 0.0)

    def register(url, mirror=False):
        def entry(name, content, **more):
            return {"url": f"{url}/{name}", "size_hint": len(content), "expected_md5": md5(content).hexdigest(), **more}

        config = _DownloadConfig(base_path=str(tmp_path / "base"), contents={
            "docs": entry("docs.tsv", DOCS_TSV, cache_path="docs.tsv"), "queries": entry("queries.tsv", QUERIES_TSV),
            "qrels": entry("qrels", QRELS, cache_path="qrels", irds_mirror=mirror)})
        config.home_path = tmp_path
        name = f"tiny-{len(list(ir_datasets.registry))}"
        ir_datasets.registry.register(name, Dataset(
            TsvDocs(config["docs"], namespace="tiny"), TrecQrels(config["qrels"], {1: "relevant"}),
            TsvQueries(Cache(config["queries"], tmp_path / "base" / "queries.unpacked"))))
        return open_collection(f"irds:{name}")

    return register


def test_the_development_queries_of_an_id_can_stand_for_its_test_queries(tiny_irds):
    import ir_datasets

    tiny = tiny_irds(NOWHERE)
    ir_datasets.registry.register(f"{tiny.name}/dev", tiny._dataset)
    whole, renamed = open_collection(f"irds:{tiny.name}"), open_collection(f"irds:{tiny.name}[test=dev]")
    assert whole.splits == ("dev", "test") and renamed.splits == ("test",)
    assert whole.text_digest("passage") == renamed.text_digest("passage")
    for spec, said in ((f"irds:{tiny.name}[test=train]", "no split 'train'"), ("irds:x[dev]", "no ir_datasets id")):
        with pytest.raises(BadInput, match=said):
            open_collection(spec)


def test_a_failed_irds_download_lists_address_digest_and_place(tiny_irds, tmp_path):
    tiny = tiny_irds(NOWHERE)
    places = {"docs": tmp_path / "downloads" / md5(DOCS_TSV).hexdigest(), "qrels": tmp_path / "base" / "qrels",
              "queries": f"{tmp_path / 'base' / 'queries.unpacked'}, unpacked"}
    readers = {"docs": lambda: next(tiny.texts("passage")), "queries": lambda: tiny.queries("test"),
               "qrels": lambda: tiny.qrels("passage", "test")}
    for kind, content in (("docs", DOCS_TSV), ("queries", QUERIES_TSV), ("qrels", QRELS)):
        with pytest.raises(NetworkNeeded) as caught:
            readers[kind]()
        text = str(caught.value)
        assert f"({len(content)} B, md5 {md5(content).hexdigest()})\n    -> {places[kind]}" in text
        assert text.count(NOWHERE) == 1  # what was not asked for is not listed
        assert f"the {kind} of {tiny.spec} could not be fetched" in text


def test_large_irds_files_are_fetched_resumably_to_where_ir_datasets_looks(tiny_irds, tmp_path):
    with serving(FILES) as served:
        tiny = tiny_irds(served.url)
        assert (tiny.units, tiny.splits) == (("passage",), ("test",))
        files = [file for kind in (("docs",), ("queries", "test"), ("qrels", "test")) for file in tiny.files(*kind)]
        assert [file.is_here() for file in files] == [False] * 3
        part = tmp_path / "downloads" / (md5(DOCS_TSV).hexdigest() + ".part")
        part.parent.mkdir()
        part.write_bytes(DOCS_TSV[:50])
        for file in files:
            file.fetch()
        assert served.requested == ["bytes=50-", "", ""]
    assert [file.is_here() for file in files] == [True] * 3
    assert (tmp_path / "base" / "docs.tsv").samefile(tmp_path / "downloads" / md5(DOCS_TSV).hexdigest())  # no copy
    assert [text.doc_id for text in tiny.texts("passage")] == ["d1", "d2"] * 3  # the server is gone
    assert tiny.queries("test").values.tolist() == [["q1", "what is a pond"]]
    assert tiny.qrels("passage", "test").values.tolist() == [["q1", "d1", 1]]


@pytest.mark.parametrize("unit, kind, split, files, place", [
    ("passage", "docs", "", ["collectionandqueries.tar.gz"], ""),
    ("passage", "queries", "dev", ["collectionandqueries.tar.gz"], ""),
    ("passage", "queries", "train", ["queries.tar.gz", "qrels.train.tsv"], ""),  # those with judgments
    ("passage", "queries", "test", ["msmarco-test2019-queries.tsv.gz", "2019qrels-pass.txt"],
     "/msmarco-passage/trec-dl-2019/queries.tsv"), ("passage", "qrels", "test", ["2019qrels-pass.txt"], ""),
    ("document", "docs", "", ["msmarco-docs.trec.gz"], "/downloads/d4863e4f342982b51b9a8fc668b2d0c0"),
    ("document", "qrels", "dev", ["msmarco-docdev-qrels.tsv.gz"], "/msmarco-document/dev/qrels.gz")])
def test_the_files_of_ms_marco_and_where_ir_datasets_looks_for_them(unit, kind, split, files, place):
    needed = open_collection(f"irds:msmarco-{unit}").files(kind, split)
    assert [file.url.rpartition("/")[2] for file in needed] == files
    assert all(file.size and file.download.expected_md5 for file in needed)
    assert needed[0].where.as_posix().endswith(place)


def test_ms_marcos_digests_need_no_download(monkeypatch):
    passages = open_collection("irds:msmarco-passage")
    monkeypatch.setattr(type(passages), "_fetch", lambda *_: 1 / 0)
    digests = {passages.part(*part).digest for part in (("texts", "passage"), ("queries", "dev"), ("queries", "test"),
                                                        ("qrels", "passage", "dev"), ("qrels", "passage", "test"))}
    assert len(digests) == 5
    assert (passages.relevant_from("passage", "test"), passages.relevant_from("passage", "dev")) == (2, 1)


def rule(name, query):
    """What one rule says of a query."""
    return {one.name: one for one in WIDER}[name].decide(parse(query))


@pytest.mark.parametrize("query, words", [
    ("What's a Sigmet?", ("whats", "a", "sigmet")), ("who’s that", ("whos", "that")), ("In what year", ("what", "year")),
    ("is it in town", ("is", "it", "in", "town")), ("the café's wi-fi, p.r.n.!", ("the", "cafés", "wi-fi", "p.r.n")),
    ("_a_b_", ("a", "b")), ("", ()), ("?!… --", ()), ("GROSSE STRASSE", ("grosse", "strasse")), ("Große", ("grosse",)),
    ("3.5 km", ("3.5", "km"))])
def test_a_query_is_split_into_small_words(query, words):
    assert parse(query).words == words


@pytest.mark.parametrize("word, single", [("cities", "city"), ("wolves", "wolf"), ("foxes", "fox"), ("rivers", "river")])
def test_a_plural_is_found_by_its_singular(word, single):
    assert single in singulars(word)
    assert noun_type(word) == noun_types()[single]


@pytest.mark.parametrize("name, query, kind", [
    ("when", "when was it built", "NUM"), ("when", "tell me when", None),
    ("who", "who built it", "HUM"), ("who", "was it built by whom", "HUM"), ("who", "chemist who built it", None),
    ("why", "why is it red", "DESC"), ("why", "why so", None), ("why", "define visceral", "DESC"), ("why", "I define it", None),
    ("how_measured", "how many cups", "NUM"), ("how_measured", "how is it by week", "NUM"), ("how_measured", "how so", None),
    ("how_measured", "say how much it is", "NUM"), ("how_measured", "so how tall is it", None),
    ("how", "how do I cook it", "DESC"), ("how", "how to cook it", None), ("how", "how many cups", None),
    ("how", "and how", None),
    ("what", "what river is it", "LOC"), ("what", "which drink is it", "DESC"), ("what", "what is a sigmet", "DESC"),
    ("what", "what is the acronym", "ABBR"), ("what", "in what river", "LOC"), ("what", "whats the price", None),
    ("what", "what is the temperature of the river", ""), ("what", "what is its name", "HUM"),
    ("what", "what does teu stand for in shipping", "ABBR"), ("what", "what does teu stand for", "DESC"),
    ("meaning", "the meaning of life", "DESC"), ("meaning", "what does it mean", "DESC"), ("meaning", "meanwhile", None),
    ("where", "where is it", "LOC"), ("where", "town where it is", None),
    ("time", "hour of the tide", "NUM"), ("time", "what hour is it", None), ("time", "the tide", None),
    ("name", "name a river", "LOC"), ("name", "name the three stooges", "HUM"), ("name", "the name of it", None),
    ("later", "german city where it is", "LOC"), ("later", "the chemist who did", "HUM"), ("later", "near which town", "LOC"),
    ("later", "where is it", None), ("later", "no question", None),
    ("yes_or_no", "is it a river", "LOC"), ("yes_or_no", "do horses grow", "ENTY"), ("yes_or_no", "is it so", "DESC"),
    ("yes_or_no", "is it a river or a king", None), ("yes_or_no", "can a king or a river", "HUM"),
    ("noun_phrase", "width of the tower", "NUM"), ("noun_phrase", "tiny river of kings", "LOC"),
    ("noun_phrase", "my king", None), ("noun_phrase", "king who", None), ("noun_phrase", "so king", None)])
def test_a_rule_by_itself(name, query, kind):
    assert rule(name, query) == kind


@pytest.mark.parametrize("query, decided", [
    ("when was it", ("when", "NUM")),
    ("what does teu mean", ("meaning", "DESC")),  # overrules "what"
    ("what is the temperature", ("what", "")),  # a noun that stands for no type decides, too
    ("xyzzy whose fruit is best", ("who", "HUM")),  # overrules "later"
    ("pond, how many fish are in it", ("how_measured", "NUM")),
    ("how is it by week", ("how", "DESC")),  # the later of two that apply
    ("can a horse swim", ("yes_or_no", "ENTY")),
    ("is the year over", ("yes_or_no", "NUM")),
    ("sigmet definition", None)])
def test_the_last_rule_that_applies_decides(query, decided):
    assert decide(query) == decided


def test_a_query_without_question_word_has_a_type_by_our_own_rule_only():
    assert answer_type("founder of the bank") is None
    assert answer_type("founder of the bank", WIDER) == "HUM"
    assert answer_type("king of the year", WIDER) == "NUM"  # our own rule comes first: any other overrules it
    assert answer_type("what is the temperature", WIDER) is None


def test_most_questions_of_the_almanac_get_their_label():
    # measured with the lists as fitted to qtypes: 51.8 % of all test queries, 76.9 % of those with a type
    frame = pd.read_csv(paths.ALMANAC / "queries.tsv", sep="\t")
    test = frame[frame["split"] == "test"]
    given = test["text"].map(answer_type)
    assert (given == test["answer_type"]).mean() > 0.5
    assert (given == test["answer_type"])[given.notna()].mean() > 0.75
    wider = test["text"].map(lambda text: answer_type(text, WIDER))
    assert (wider == test["answer_type"]).mean() > 0.58
    assert len(RULES) + 1 == len(WIDER)


def test_the_types_of_a_file_are_counted(tmp_path):
    queries = tmp_path / "queries.tsv"
    queries.write_text("1\twhere is the nile\n2\thm\n3\twho built it\n4\twhen was it\n5\twhen is it\n", encoding="utf-8")
    counts = answer_types.type_counts(File(queries), File(answer_types.WORDS)).value().set_index("type")["queries"]
    assert counts.to_dict() == {"NUM": 2, "LOC": 1, "HUM": 1, "none": 1}
