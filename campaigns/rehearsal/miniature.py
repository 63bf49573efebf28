"""A miniature of MS MARCO, made by rule from a part of the Almanac: the official files, as ir_datasets fetches and reads them.

Ids are MS MARCO's kind: passages and queries are numbers, documents have a D before. What the real files have and the Almanac has
not is here too: a passage whose characters are wrongly encoded, one that stands twice, documents without body or title, a
document longer than any network reads, queries that nobody judged, and `eval` queries without any judgment.
"""

import csv
import functools
import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Iterable
from itertools import islice
from urllib.parse import urlsplit

import pandas as pd

from helpers.data.almanac import Almanac

PART = "almanac/16"
TRAIN, SMALL, UNJUDGED = 64, 24, 3  # queries: for training, of dev.small, and of a split that have no judgment
LONG, WIKIPEDIA = 12, 20  # articles in the long document, and in Wikipedia, whose archive goes the way of large files
BROKEN = " The café charges £5.".encode().decode("latin-1")  # ir_datasets mends it
ARTICLES = Almanac(PART)
PASSAGES = {text.doc_id: str(number) for number, text in enumerate(ARTICLES.texts("passage"))}
DOCUMENTS = {text.doc_id: f"D{100 + number}" for number, text in enumerate(ARTICLES.texts("document"))}
TITLES = [("D1", "no body", ""), ("D2", "", "This page never had a title, and speaks of bread and of ovens.")]


def passages() -> list[tuple[str, str]]:
    """(id, text) of every passage."""
    rows = [(PASSAGES[text.doc_id], f"{text.title}. {text.body}") for text in ARTICLES.texts("passage")]
    rows[0] = rows[0][0], rows[0][1] + BROKEN
    return [*rows, (str(len(rows)), rows[1][1])]


def documents() -> list[tuple[str, str, str, str]]:
    """(id, address, title, body) of every document."""
    texts = list(ARTICLES.texts("document"))
    rows = [(DOCUMENTS[text.doc_id], text.title, text.body) for text in texts]
    rows += [*TITLES, ("D3", "All about everything", "\n".join(text.body for text in texts[:LONG]))]
    return [(doc_id, f"https://www.example.org/{doc_id}", title, body) for doc_id, title, body in rows]


def queries(split: str) -> list[tuple[str, str]]:
    """(id, text) of a split under MS MARCO's names: train, dev, dev.small, eval, test2019."""
    unjudged = _rows("test")
    match split:
        case "train":
            rows = _rows("train")[:TRAIN]
            return [(rows[0][0], f") {rows[0][1]}"), *rows[1:]]  # as the real file begins
        case "dev":
            return _rows("dev") + unjudged[:UNJUDGED]
        case "dev.small":
            return _rows("dev")[:SMALL]
        case "eval":
            return unjudged[2 * UNJUDGED:]
        case _:
            return _rows("topics") + unjudged[UNJUDGED:2 * UNJUDGED]


def qrels(unit: str, split: str) -> list[tuple[str, str, int]]:
    """(query, text, grade) of a split: 1 for what the crowd found, TREC's grades for test2019."""
    trec = split == "test2019"
    own, ids = {query_id for query_id, _ in queries(split)}, PASSAGES if unit == "passage" else DOCUMENTS
    frame = _judgments(unit, "topics" if trec else split.partition(".")[0])
    return [(row.query_id, ids[row.doc_id], row.relevance if trec else 1) for row in frame.itertuples()
            if row.query_id in own and (trec or row.relevance >= 2)]


def files() -> dict[tuple[str, str], bytes]:
    """The content of each file that ir_datasets fetches, by dataset and name there."""
    lists = {f"queries.{split}.tsv": _tsv(queries(split)) for split in ("train", "dev", "dev.small", "eval")}
    lists |= {f"qrels.{split}.tsv": _judged("passage", split, "\t0\t") for split in ("train", "dev", "dev.small")}
    lists |= {"collection.tsv": _tsv(passages()), "queries.eval.small.tsv": _tsv(queries("eval")[:SMALL])}
    large = [f"queries.{split}.tsv" for split in ("train", "dev", "eval")]
    made = {("msmarco-passage", "collectionandqueries"): _tar({one: lists[one] for one in lists if one != "qrels.dev.tsv"}),
            ("msmarco-passage", "queries"): _tar({one: lists[one] for one in large}),
            ("msmarco-passage", "train/qrels"): lists["qrels.train.tsv"],
            ("msmarco-passage", "dev/qrels"): lists["qrels.dev.tsv"],
            ("msmarco-document", "docs"): gzip.compress("".join(map(_trec, documents())).encode(), mtime=0),
            ("msmarco-document", "eval/queries"): gzip.compress(_tsv(queries("eval")), mtime=0),
            ("wikir", "en78k"): _wikipedia(),
            ("dpr-w100", "docs"): gzip.compress(_tsv([("id", "text", "title"), *_wikipedia_passages()]), mtime=0),
            **{("dpr-w100", f"nq-{split}"): gzip.compress(json.dumps(_questions(split)).encode(), mtime=0)
               for split in ("train", "dev")}}
    for split in ("train", "dev.small"):
        name = split.removesuffix(".small")
        made["msmarco-document", f"{name}/queries"] = gzip.compress(_tsv(queries(split)), mtime=0)
        made["msmarco-document", f"{name}/qrels"] = gzip.compress(_judged("document", split, " 0 "), mtime=0)
    for unit in ("passage", "document"):
        made[f"msmarco-{unit}", "trec-dl-2019/queries"] = gzip.compress(_tsv(queries("test2019")), mtime=0)
        made[f"msmarco-{unit}", "trec-dl-2019/qrels"] = _judged(unit, "test2019", " Q0 ")
    return made


def path(dataset: str, name: str) -> str:
    """The official path of a file, as ir_datasets lists it."""
    return urlsplit(_listed(dataset, name)["url"]).path


def catalogue(made: dict[tuple[str, str], bytes], server: str) -> dict[str, dict[str, dict]]:
    """What ir_datasets' list of downloads says of these files if a server has them under their official paths."""
    entries: dict[str, dict[str, dict]] = {}
    for (dataset, name), content in made.items():
        entries.setdefault(dataset, {})[name] = _listed(dataset, name) | {
            "url": server + path(dataset, name), "size_hint": len(content), "expected_md5": hashlib.md5(content).hexdigest()}
    return entries


def _listed(dataset: str, name: str) -> dict:
    import ir_datasets

    return ir_datasets.util.DownloadConfig.contents()[dataset][name]


@functools.cache
def _judgments(unit: str, split: str) -> pd.DataFrame:
    return ARTICLES.qrels(unit, split)


@functools.cache
def _rows(split: str) -> list[tuple[str, str]]:
    return [(row.query_id, row.text) for row in ARTICLES.queries(split).itertuples()]


def _tsv(rows: Iterable[Iterable[str]]) -> bytes:
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def _judged(unit: str, split: str, between: str) -> bytes:
    rows = qrels(unit, split)
    return "".join(f"{query_id}{between}{text_id}{between[-1]}{grade}\n" for query_id, text_id, grade in rows).encode()


def _trec(document: tuple[str, str, str, str]) -> str:
    doc_id, *parts = document
    return f"<DOC>\n<DOCNO>{doc_id}</DOCNO>\n<TEXT>\n" + "\n".join(parts) + "\n</TEXT>\n</DOC>\n"


def _tar(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def _wikipedia_passages() -> list[tuple[str, str, str]]:
    """(id, text, title) of DPR's passages."""
    return [(PASSAGES[text.doc_id], text.body, text.title) for text in ARTICLES.texts("passage")]


def _questions(split: str) -> list[dict]:
    """Natural Questions as DPR has them: a question with passages that answer it, and with one that does not."""
    relevant: dict[str, list[str]] = {}
    for query_id, text_id, _ in qrels("passage", split):
        relevant.setdefault(query_id, []).append(text_id)
    wrong = {"passage_id": "0", "score": 10}
    return [{"question": text, "answers": ["an answer"], "hard_negative_ctxs": [wrong], "negative_ctxs": [],
             "positive_ctxs": [{"passage_id": text_id, "score": 1000} for text_id in relevant[query_id]]}
            for query_id, text in queries(split) if query_id in relevant]


def _wikipedia() -> bytes:
    """WikIR's archive: articles without a title, as a table; few, since the study's pre-training passes over them eight times."""
    table, out = io.StringIO(), io.BytesIO()
    articles = islice(ARTICLES.texts("document"), WIKIPEDIA)
    rows = ((str(number), " ".join(text.body.lower().split())) for number, text in enumerate(articles))
    csv.writer(table).writerows([("id_right", "text_right"), *rows])
    members = {"documents.csv": table.getvalue(), "test/qrels": "0\t0\t0\t2\n",
               "test/queries.csv": "id_left,text_left\n0,bread\n"}
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(f"enwikIR/{name}"), content)  # an entry without a time of its own
    return out.getvalue()
