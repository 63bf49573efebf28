"""The application package: what Vespa keeps of documents and of windows, and how it ranks them.

As in the study, windows are documents of their own, with the id of the document that they are from, since Vespa cannot divide a
document and score its parts. Their tokens are made here, once.
"""

from pathlib import Path
from typing import Any

from helpers.networks.fine_tuning import RankerTraining
from helpers.retrieval.bm25 import K1, B

NAME, DOCUMENTS, WINDOWS = "study", "doc", "window"  # of the application and its schemas
MODEL, OUTPUT, FILE = "cross_encoder", "score", "cross_encoder.onnx"
OR_PHASE, BM25, RERANK = "or_phase", "bm25", "cross_encoder"  # rank profiles: Steensland's three stages
QUERY_LENGTH, LENGTH = RankerTraining.query_length, RankerTraining.max_length  # tokens of a query, of a whole input
WINDOW_LENGTH = RankerTraining().room  # of a window, so that every query fits with it
INPUTS = {"input_ids": "tokenInputIds", "token_type_ids": "tokenTypeIds", "attention_mask": "tokenAttentionMask"}


def _documents() -> Any:
    from vespa.package import Document, Field, FieldSet, RankProfile, Schema

    fields = [Field("doc_id", "string", indexing=["attribute", "summary"]), Field("title", "string", indexing=["summary"]),
              # title and body, as Lucene's index has them here
              Field("text", "string", indexing=["index", "summary"], index="enable-bm25")]
    profiles = [RankProfile(OR_PHASE, first_phase="matchCount(text)"),
                RankProfile(BM25, first_phase="bm25(text)", rank_properties=[("bm25(text).k1", K1), ("bm25(text).b", B)])]
    return Schema(DOCUMENTS, Document(fields), fieldsets=[FieldSet("default", ["text"])], rank_profiles=profiles)


def _windows(file: str) -> Any:
    from vespa.package import Document, Field, Function, OnnxModel, RankProfile, Schema

    fields = [Field("doc_id", "string", indexing=["attribute", "summary"], attribute=["fast-search"]),
              Field("number", "int", indexing=["attribute", "summary"]), Field("text", "string", indexing=["summary"]),
              Field("tokens", f"tensor<float>(d0[{WINDOW_LENGTH}])", indexing=["attribute"])]
    model = OnnxModel(MODEL, file, inputs={name: name for name in INPUTS}, outputs={OUTPUT: OUTPUT})
    functions = [Function(name, f"{feature}({LENGTH}, query(q_tokens), attribute(tokens))") for name, feature in INPUTS.items()]
    # in the first phase, since grouping sees the scores of every window that this phase gives
    profile = RankProfile(RERANK, inputs=[("query(q_tokens)", f"tensor<float>(d0[{QUERY_LENGTH}])")], functions=functions,
                          first_phase=f"onnx({MODEL}).{OUTPUT}{{d0:0,d1:0}}")
    return Schema(WINDOWS, Document(fields), rank_profiles=[profile], models=[model])


def write(folder: Path, model: Path) -> None:
    """Write the package, and move the model to its files."""
    from vespa.package import ApplicationPackage

    schemas = [_documents(), _windows(str(model))]
    ApplicationPackage(NAME, schema=schemas, create_query_profile_by_default=False).to_files(folder)
    model.unlink()
    for empty in ("models", "search/query-profiles/types", "search/query-profiles", "search"):
        (folder / empty).rmdir()
