"""The study's two queries to a running Vespa: documents by BM25, then their windows through the model, grouped by document."""

import json
from collections.abc import Sequence
from typing import Any

from helpers.data.tokens import query_ids
from helpers.errors import BadInput
from helpers.networks import backbone
from press.vespa.package import BM25, DOCUMENTS, QUERY_LENGTH, RERANK, WINDOWS

AGGREGATED = {"mean": "avg(relevance())", "max": "max(relevance())"}  # BERT-Mean, BERT-Max


def first_query(query: str, candidates: int) -> dict[str, Any]:
    """The OR of the query's words, ranked by BM25."""
    return {"yql": f'select doc_id, title from {DOCUMENTS} where {{grammar: "any"}}userInput(@query)', "query": query,
            "ranking": BM25, "hits": candidates}


def second_query(query: str, documents: Sequence[str], aggregation: str) -> dict[str, Any]:
    """The windows of these documents, each scored by the model, grouped by document; with each group its best window."""
    ids = query_ids(backbone.resolve("packaged").tokenizer(), [query], QUERY_LENGTH)[0]
    names = ", ".join(json.dumps(name) for name in documents)
    best = AGGREGATED[aggregation]
    return {"yql": f"select doc_id, number from {WINDOWS} where doc_id in ({names}) limit 0 | all(group(doc_id) "
                   f"max({len(documents)}) order(-{best}) each(max(1) output({best}) each(output(summary()))))",
            "ranking": RERANK, "input.query(q_tokens)": ids + [0] * (QUERY_LENGTH - len(ids))}


def search(url: str, query: str, candidates: int = 20, aggregation: str = "mean") -> list[tuple[str, float, int]]:
    """The documents, best first: id, score, and the number of the best window. BadInput for an unknown aggregation, or if
    Vespa answers with an error."""
    if aggregation not in AGGREGATED:
        raise BadInput(f"aggregation {aggregation!r}", mend=f"choose from {', '.join(AGGREGATED)}")
    found = [hit["fields"]["doc_id"] for hit in _asked(url, first_query(query, candidates)).get("children", [])]
    return grouped(_asked(url, second_query(query, found, aggregation)), aggregation) if found else []


def grouped(root: dict[str, Any], aggregation: str) -> list[tuple[str, float, int]]:
    """What the grouping in an answer says."""
    names = [names for top in root.get("children", []) for names in top.get("children", [])]
    groups = [group for one in names for group in one.get("children", [])]
    return [(group["value"], float(group["fields"][AGGREGATED[aggregation]]),
             int(group["children"][0]["children"][0]["fields"]["number"])) for group in groups]


def _asked(url: str, body: dict[str, Any]) -> dict[str, Any]:
    from vespa.application import Vespa

    answer: Any = Vespa(url).query(body=body)
    if not answer.is_successful():
        raise BadInput(f"Vespa answered: {str(answer.get_json())[:300]}", mend="is this application deployed there?")
    return answer.get_json()["root"]
