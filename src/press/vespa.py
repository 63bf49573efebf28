"""`book vespa FOLDER`: the study's search application as a Vespa package (Steensland 2021, section 4.2), with its feed.

As in the study, windows are documents of their own, with the id of the document that they are from, since Vespa cannot divide a
document and score its parts. Their tokens are made here, once. pyvespa and ONNX are an extra, imported when they are needed.
"""

import json
import logging
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

from helpers.data.runs import adhoc_queries
from helpers.data.texts import Texts
from helpers.data.windows import WindowTokens, windows
from helpers.errors import BadInput
from helpers.networks import backbone
from helpers.networks.fine_tuning import RankerTraining
from helpers.retrieval.bm25 import K1, B
from helpers.systems.rerankers import WarmUp
from helpers.systems.testbed import Testbed

NEEDED = ("vespa", "onnx", "onnxscript", "onnxruntime")
NAME, DOCUMENTS, WINDOWS, FEED = "study", "doc", "window", "feed.jsonl"  # the application, its schemas, its feed
MODEL, OUTPUT, FILE = "cross_encoder", "score", "cross_encoder.onnx"
OR_PHASE, BM25, RERANK = "or_phase", "bm25", "cross_encoder"  # rank profiles: Steensland's three stages
QUERY_LENGTH, LENGTH = RankerTraining.query_length, RankerTraining.max_length  # tokens of a query, of a whole input
WINDOW_LENGTH = RankerTraining().room  # of a window, so that every query fits with it
INPUTS = {"input_ids": "tokenInputIds", "token_type_ids": "tokenTypeIds", "attention_mask": "tokenAttentionMask"}


def write(folder: Path, collection: str, unit: str, model: str) -> Iterator[str]:
    """Write everything into a folder, the package in `application`; a line for each part. BadInput for a folder with files in it,
    or without the packages of the extra `vespa`."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise BadInput(f"not installed: {', '.join(missing)}", mend=".venv/bin/pip install pyvespa onnx onnxscript onnxruntime")
    if folder.exists() and any(folder.iterdir()):
        raise BadInput("the folder is not empty", file=folder, mend="name another one")
    bed, application = Testbed(collection, unit, adhoc_queries=adhoc_queries([])), folder / "application"
    folder.mkdir(parents=True, exist_ok=True)
    export(Path(model) if model else WarmUp().model.value(), folder / FILE)
    package(application, folder / FILE)
    files = (file for file in sorted(application.rglob("*")) if file.is_file())
    yield from (f"{file.relative_to(folder)}: {file.stat().st_size:,} bytes" for file in files)
    yield f"{FEED}: {feed(bed, folder / FEED):,} lines"
    yield f"deploy: `vespa deploy {application}`, then `vespa feed {folder / FEED}`; see the book's page"


def package(folder: Path, model: Path) -> None:
    """Write the application package, and move the model to its files."""
    from vespa.package import ApplicationPackage, Document, Field, FieldSet, Function, OnnxModel, RankProfile, Schema

    whole = [Field("doc_id", "string", indexing=["attribute", "summary"]), Field("title", "string", indexing=["summary"]),
             # title and body, as Lucene's index has them here
             Field("text", "string", indexing=["index", "summary"], index="enable-bm25")]
    ranked = [RankProfile(OR_PHASE, first_phase="matchCount(text)"),
              RankProfile(BM25, first_phase="bm25(text)", rank_properties=[("bm25(text).k1", K1), ("bm25(text).b", B)])]
    parts = [Field("doc_id", "string", indexing=["attribute", "summary"], attribute=["fast-search"]),
             Field("number", "int", indexing=["attribute", "summary"]), Field("text", "string", indexing=["summary"]),
             Field("tokens", f"tensor<float>(d0[{WINDOW_LENGTH}])", indexing=["attribute"])]
    network = OnnxModel(MODEL, str(model), inputs={name: name for name in INPUTS}, outputs={OUTPUT: OUTPUT})
    functions = [Function(name, f"{feature}({LENGTH}, query(q_tokens), attribute(tokens))") for name, feature in INPUTS.items()]
    # in the first phase, since grouping sees the scores of every window that this phase gives
    scored = RankProfile(RERANK, inputs=[("query(q_tokens)", f"tensor<float>(d0[{QUERY_LENGTH}])")], functions=functions,
                         first_phase=f"onnx({MODEL}).{OUTPUT}{{d0:0,d1:0}}")
    schemas = [Schema(DOCUMENTS, Document(whole), fieldsets=[FieldSet("default", ["text"])], rank_profiles=ranked),
               Schema(WINDOWS, Document(parts), rank_profiles=[scored], models=[network])]
    ApplicationPackage(NAME, schema=schemas, create_query_profile_by_default=False).to_files(folder)
    model.unlink()
    for empty in ("models", "search/query-profiles/types", "search/query-profiles", "search"):
        (folder / empty).rmdir()


def export(model: Path, file: Path) -> Any:
    """Write a fine-tuned cross-encoder as an ONNX model, float32, for any number of pairs: `INPUTS` (batch, tokens) to `OUTPUT`
    (batch, 1), the logit of relevance; its PyTorch model, on the CPU."""
    import torch
    from transformers import AutoModelForSequenceClassification

    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    built = backbone.Backbone("", str(model)).build(AutoModelForSequenceClassification, whole=True, num_labels=1,
                                                    attn_implementation="eager").float().eval()

    batch = torch.export.Dim("batch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(built, (), file, kwargs={name: torch.ones(2, LENGTH, dtype=torch.long) for name in INPUTS}, dynamo=True,
                          input_names=[*INPUTS], output_names=[OUTPUT], dynamic_shapes={name: {0: batch} for name in INPUTS},
                          external_data=False, verbose=False)
    return built


def feed(bed: Testbed, file: Path) -> int:
    """Write what Vespa is fed with, a JSON object a line: first every document, then every window; how many lines."""
    lines, reader = 0, WindowTokens(bed.tokens(backbone.resolve("packaged")).value(), bed.store.value())
    documents = ((DOCUMENTS, text.doc_id, {"doc_id": text.doc_id, "title": text.title, "text": f"{text.title}\n{text.body}"})
                 for text in Texts(bed.store.value()))
    pieces = ((WINDOWS, window.window_id, {"doc_id": text.doc_id, "number": number, "text": window.text,
                                           "tokens": ids + [0] * (WINDOW_LENGTH - len(ids))})
              for text in Texts(bed.store.value()) for number, window in enumerate(windows(text, bed.words, bed.overlap))
              for ids in [reader[window.window_id][:WINDOW_LENGTH].tolist()])
    with file.open("w", encoding="utf-8") as out:
        for schema, name, fields in chain(documents, pieces):
            line = {"put": f"id:{NAME}:{schema}::{quote(name, safe='')}", "fields": fields}
            lines += bool(out.write(json.dumps(line, ensure_ascii=False) + "\n"))
    return lines
