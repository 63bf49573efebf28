"""What every chapter shows besides its own results: prose made of values, and the provenance of every number; which BM25 a page
compares with, and what counted as relevant.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from helpers.data.collection import with_relevance
from helpers.evaluation.verdicts import as_label, known_backbones, model_name, short_name
from helpers.pages import carried, fragments
from helpers.pages.fragments import Fragment, Html, badge, count, details, escape, joined, table
from helpers.steps import Step, ledger
from helpers.systems.evaluated import Evaluation

INDEXES = ("text_index", "window_index")
MEANS = ("RR@10", "R@100")
TABLE = re.compile(r'<div class="nr-scroll".*?</table></div>', re.DOTALL)


def described(systems: Iterable[Evaluation]) -> list[dict[str, Any]]:
    """Texts, queries, settings and means of each system that is BM25 with the queries as they are, once for each run."""
    shown: dict[str, dict[str, Any]] = {}
    for system in systems:
        if known := settings(system.source.recipe()):
            means = {name: float(system.values[name].mean()) for name in MEANS if name in system.values}
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


MEASURING = ("run_measures", "fusions")  # the steps whose values are pages'
NOT_ALL = " (where no text was judged irrelevant, lower grades gain nothing in nDCG)"


def rules(used: Iterable[Mapping[str, Any]]) -> list[str]:
    """By the recipes of the steps that measured, a phrase a rule: `/a/folder`'s is `folder (test) from grade 1`."""
    found: dict[str, set[str]] = {}
    for given in (line["recipe"]["arguments"] for line in used if line["step"] in MEASURING):
        names = {f"{as_label(Path(with_relevance(part['collection'])[0]).name)} ({part['data'][-1]})"
                 for part in given.get("qrels", {"arguments": {}})["arguments"].get("parts", ())}
        if names:
            grade = given["min_relevance"]
            rule = f"from grade {grade}{'' if given.get('every_grade') or grade == 1 else NOT_ALL}"
            found.setdefault(rule, set()).update(names)
    return [f"{joined(sorted(names))} {rule}" for rule, names in found.items()]


AS_IT_IS = ("Without training such a backbone is read by the mean of its tokens' states and by cosines, unless a row names other "
            "ways, and without prompts. What a model of sentence-transformers says of itself counts where it is named as a first "
            "stage, and in `book search`.")
SOURCES = {"computed": "computed live", "stored": "live, an earlier run here", "recorded": "recorded run"}
COUNTED = {"computed": "computed live", "stored": "computed in an earlier run here", "recorded": "from recorded runs"}
FOLLOWING = ("run_measures", "aggregated", "in_pairs", "z_scored")  # steps that sum up the ranking which is their first input
KEPT = ("step", "key", "source", "seconds", "finished", "numerics", "commit", "inputs", "machine")


def prose(*sentences: str) -> Fragment:
    """A generated paragraph, in Markdown."""
    return Fragment(markdown=" ".join(sentence for sentence in sentences if sentence))


def source(*parts: Any) -> Fragment:
    """The source of functions or classes as the package has it, without decorators and docstrings: a chapter's method in view."""
    return Fragment(markdown="\n\n".join(f"```python\n{_method(part)}\n```" for part in parts))


def _method(part: Any) -> str:
    text = textwrap.dedent(inspect.getsource(part))
    node: Any = ast.parse(text).body[0]
    lines, first = text.rstrip().splitlines(), node.body[0]
    if ast.get_docstring(node) is not None:
        del lines[first.lineno - 1:first.end_lineno]
    return "\n".join(line for line in lines[node.lineno - 1:] if line)


def backbones(*specs: str) -> Fragment:
    """The backbones of a chapter by name (an empty one is none), what each was trained as before, and how another than the
    packaged ones is read."""
    models: dict[str, list[str]] = {}
    for spec in filter(None, dict.fromkeys(specs)):
        models.setdefault("packaged" if short_name(spec) == "packaged" else spec, []).append(spec)
    told = [history(own, "Another" if number else "The") for number, own in enumerate(models.values())]
    return prose(*told, "" if all(spec.startswith("packaged") for spec in models) else AS_IT_IS)


def history(specs: Sequence[str], article: str = "The") -> str:
    """A sentence on what a backbone was before the book trains it, or several that are parts of one model."""
    kind, trained_by = known_backbones().get(short_name(specs[0]), ("", ""))
    before = {"": "of whose training before nothing is known here", "none": f"which was trained on {trained_by}"}
    names = fragments.joined([model_name(spec) for spec in specs])
    named = f"The backbones are {names}, of one model" if len(specs) > 1 else f"{article} backbone is {names}"
    return f"{named}, {before.get(kind, f'which was trained as a {kind} before: {trained_by}')}."


def show_table(caption: str, header: Sequence[Any], rows: Sequence[Sequence[Any]], numeric_from: int = 1,
               values: Sequence[dict[str, Any]] = ()) -> Fragment:
    """A table as a cell's result; `values` of published cells that it holds are carried for other pages."""
    return Fragment(table(caption, header, rows, numeric_from).text, data={"values": list(values)} if values else {})


def records_table(caption: str, records: Iterable[Mapping[str, Any]], numeric_from: int = 1,
                  values: Sequence[dict[str, Any]] = ()) -> Fragment:
    """A table of records, a row each: its cells under the heads of their columns; what a record leaves out is an empty cell.
    Nothing without records."""
    rows = list(records)
    if not rows:
        return Fragment()
    heads = list(dict.fromkeys(head for row in rows for head in row))
    shown = [fragments.measure_title(head) for head in heads]
    return show_table(caption, shown, [[row.get(head, "") for head in heads] for row in rows], numeric_from, values)


def measurements_table(steps: Mapping[str, Step]) -> Fragment:
    """What measurements themselves cost, a row a step."""
    return records_table("What the measurements cost", (
        {"measurement": name, "time": fragments.seconds(manifest["seconds"]), "on": where(manifest["machine"])}
        for name, step in steps.items() for manifest in [step.entry().manifest]))


def provenance(*systems: Any) -> Fragment:
    """Where every value of this page comes from: one row for each step that was used, most expensive first; what only measures or
    sums up another row's ranking has none.

    It is the last cell of a chapter: what the page carries for others goes with it, the ledger and the per-query values of all
    evaluations that it shows, given in mappings and sequences of any depth.
    """
    cited = {run.source.key for system in carried.evaluations(*systems) for run in system.runs}
    shown = [line for line in ledger.USED.values() if line["key"] in cited or _stands_alone(line)]
    lines = sorted(shown, key=ledger.cost, reverse=True)
    header = ("step", "source", "numerics", "computed", "on", "seconds", "with all before it", "commit")
    rows = [[_anchor(line), badge(SOURCES[line["source"]], line["source"]), line["numerics"],
             line["finished"][:16].replace("T", " "), where(line["machine"]), fragments.seconds(line["seconds"]),
             fragments.seconds(ledger.cost(line)), line["commit"]] for line in lines]
    counts = {source: sum(line["source"] == source for line in lines) for source in SOURCES}
    summary = "; ".join(f"{n} {COUNTED[source]}" for source, n in counts.items() if n)
    libraries = ", ".join(sorted({f"{name} {version}" for line in lines for name, version in line["versions"].items()}))
    inner = Html(f"{table('Provenance of every value on this page', header, rows, numeric_from=5).text}"
                 f"<p><small>Libraries: {libraries}.</small></p>")
    kept = [{name: line[name] for name in KEPT} for line in ledger.USED.values()]
    return Fragment(details(f"Where these numbers come from ({summary})", inner).text,
                    data={"ledger": kept, "relevance": rules(ledger.USED.values()),
                          "evaluations": carried.packed(carried.collect(*systems)),
                          "bm25": described(carried.evaluations(*systems))})


def where(machine: Mapping[str, Any]) -> str:
    """The machine of a computation, and how much of it was used: `<CPU>, 1 thread of 2 cores`, or `<CPU>, 2 cores`."""
    used = machine.get("threads")
    share = f"{used} thread{'s' if used != 1 else ''} of " if used else ""
    return f"{machine['cpu']}, {share}{machine['cores']} cores"


def _stands_alone(line: Mapping[str, Any]) -> bool:
    """Whether a step is more than the measures or the aggregation of a ranking that is used itself."""
    while line["step"] in FOLLOWING and line.get("inputs"):
        line = line["inputs"][0]
        if line["key"] in ledger.USED:
            return False
    return True


def _anchor(line: dict[str, Any]) -> Html:
    arguments = {name: value for name, value in line["recipe"]["arguments"].items()
                 if not isinstance(value, dict) and not (isinstance(value, list) and value and isinstance(value[0], dict))}
    settings = escape(", ".join(f"{name} = {value}" for name, value in arguments.items()))
    key = line["key"][:10]
    return Html(f'<span id="step-{key}">{line["step"]} <code>{key}</code></span><br><small>{settings}</small>')
