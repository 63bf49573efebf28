"""Which BM25 a page compares with: its value depends on texts, queries and settings, so every table names its own."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from helpers.pages.numbers import count
from helpers.systems.evaluated import Evaluation

INDEXES = ("text_index", "window_index")
KEPT = ("RR@10", "R@100")
TABLE = re.compile(r'<div class="nr-scroll".*?</table></div>', re.DOTALL)


def described(systems: Iterable[Evaluation]) -> list[dict[str, Any]]:
    """Texts, queries, settings and means of each system that is BM25 with the queries as they are, once for each run."""
    shown: dict[str, dict[str, Any]] = {}
    for system in systems:
        if hasattr(system.source, "recipe") and (known := settings(system.source.recipe())):
            means = {name: float(system.values[name].mean()) for name in KEPT if name in system.values}
            shown[system.source.key] = {**known, "label": system.label, "queries": len(system.values), **means,
                                        "key": system.source.key}
    return list(shown.values())


def settings(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Collection, texts, splits, k1, b and depth of a BM25 run, or of what was measured or cut from one; else nothing."""
    own = recipe["arguments"]
    if recipe["step"] in ("run_measures", "max_passage"):
        named = settings(own["run"]) if "step" in own["run"] else {}
        return named | ({"depth": own["depth"]} if named and "depth" in own else {})
    if recipe["step"] != "bm25_run" or own["queries"]["step"] != "queries" or own["index"]["step"] not in INDEXES:
        return {}
    texts, parts = own["index"]["arguments"]["store"]["arguments"]["texts"], own["queries"]["arguments"]["parts"]
    windows = ", each by its best window" if own["index"]["step"] == "window_index" else ""
    kinds = own["queries"]["arguments"].get("answer_types")
    return {"collection": texts["collection"], "texts": f"{texts['data'][1]}s{windows}",
            "split": " and ".join(part["data"][1] for part in parts) + " queries" + (" that ask for a fact" if kinds else ""),
            "k1": own["k1"], "b": own["b"], "depth": own["depth"]}


def sentence(line: Mapping[str, Any]) -> str:
    """A BM25 in words: `BM25 over passages: 400 test queries, k1 1.2, b 0.75, lists of 100.`"""
    return (f"BM25 over {line['texts']}: {count(line['queries'])} {line['split']}, k1 {line['k1']:g}, b {line['b']:g}, "
            f"lists of {count(line['depth'])}.")


def below_tables(html: str, known: Iterable[Mapping[str, Any]]) -> str:
    """The same page with a line below each table that links to a BM25 run, naming it."""
    def named(table: re.Match[str]) -> str:
        own = list(dict.fromkeys(sentence(line) for line in known if f'href="#step-{line["key"][:10]}"' in table[0]))
        return table[0] + (f"<p><small>{' '.join(own)}</small></p>" if own else "")

    return TABLE.sub(named, html)
