"""What every chapter shows besides its own results: prose made of values, and the provenance of every number."""

import ast
import inspect
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from helpers.evaluation.comparable import known_backbones, model_name, short_name
from helpers.pages import bm25_named, carried, numbers, relevance
from helpers.pages.fragments import Fragment, Html, badge, details, escape, table
from helpers.steps import Step, ledger

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
    """The backbones of a chapter by name, what each was trained as before, and how another than the packaged one is read."""
    models: dict[str, list[str]] = {}
    for spec in dict.fromkeys(specs):
        models.setdefault("packaged" if spec.startswith("packaged") else spec, []).append(spec)
    return prose(*map(history, models.values()), "" if set(models) <= {"packaged"} else AS_IT_IS)


def history(specs: Sequence[str]) -> str:
    """A sentence on what a backbone was before the book trains it, or several that are parts of one model."""
    kind, trained_by = known_backbones().get(short_name(specs[0]), ("", ""))
    before = {"": "of whose training before nothing is known here", "none": f"which was trained on {trained_by}"}
    names = numbers.joined([model_name(spec) for spec in specs])
    named = f"The backbones are {names}, of one model" if len(specs) > 1 else f"The backbone is {names}"
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
    return show_table(caption, heads, [[row.get(head, "") for head in heads] for row in rows], numeric_from, values)


def measurements_table(steps: Mapping[str, Step]) -> Fragment:
    """What measurements themselves cost, a row a step."""
    manifests = {name: step.entry().manifest for name, step in steps.items()}
    return records_table("What the measurements cost", [
        {"measurement": name, "time": numbers.seconds(manifest["seconds"]), "on": where(manifest["machine"])}
        for name, manifest in manifests.items()])


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
             line["finished"][:16].replace("T", " "), where(line["machine"]), numbers.seconds(line["seconds"]),
             numbers.seconds(ledger.cost(line)), line["commit"]] for line in lines]
    counts = {source: sum(line["source"] == source for line in lines) for source in SOURCES}
    summary = "; ".join(f"{n} {COUNTED[source]}" for source, n in counts.items() if n)
    libraries = ", ".join(sorted({f"{name} {version}" for line in lines for name, version in line["versions"].items()}))
    inner = Html(f"{table('Provenance of every value on this page', header, rows, numeric_from=5).text}"
                 f"<p><small>Libraries: {libraries}.</small></p>")
    rows_of = {line["key"] for line in shown}
    kept = [{**{name: line[name] for name in KEPT}, "shown": line["key"] in rows_of} for line in ledger.USED.values()]
    return Fragment(details(f"Where these numbers come from ({summary})", inner).text,
                    data={"ledger": kept, "relevance": relevance.rules(ledger.USED.values()),
                          "evaluations": carried.packed(carried.collect(*systems)),
                          "bm25": bm25_named.described(carried.evaluations(*systems))})


def source_of(step: Step) -> str:
    """Where the value of a step that this page used came from: `computed`, `stored` or `recorded`."""
    return ledger.USED[step.key]["source"]


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
