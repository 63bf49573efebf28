"""The command line: `book build`, `book chapter`, `book search` and a few more; `book --help` lists them.

`make` calls it; every command also works by hand inside the environment. A command is a function that takes the options by name;
its module is imported when it runs. What it returns is printed, line by line, or is the exit code.
"""

import argparse
import importlib
import io
import os
import re
import sqlite3
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.errors import BadInput, NetworkNeeded, is_unicode, printable
from helpers.steps import cluster
from press import terminal
from press.rerankers import RERANKERS

EXIT_CODES = """exit codes: 0 all went well; 1 `verify` found a difference; 2 what you can mend, which is reported;
3 a fault of the book itself, whose trace is kept in a file; 130 Ctrl-C;
141 the reader of the output went away; 143 SIGTERM (`book serve`: 0, when it has answered what runs)"""

LONGEST = 40  # characters of a wrong argument that are shown


def _positive(text: str) -> int:
    if not re.fullmatch("0*[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError(f"{text[:LONGEST]!r} is no whole number from 1 to 999,999,999")
    return int(text)


def _seconds(text: str) -> float:
    if not re.fullmatch("[0-9]{1,6}[dh]", text):
        raise argparse.ArgumentTypeError(f"{text[:LONGEST]!r} is no age: give 30d or 12h")
    return int(text[:-1]) * {"d": 86_400.0, "h": 3_600.0}[text[-1]]


def _model(known: tuple[str, ...], text: str) -> str:
    if text not in known and "/" not in text:
        listed = ", ".join(known)
        raise argparse.ArgumentTypeError(f"no {text!r}; choose from {listed}, or give a model's ./folder or hub: id")
    return text


def option(*names: str, **settings: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The arguments of `add_argument`."""
    return names, settings


PROFILE = option("--profile", default="almanac", help="almanac (default), mini, dl19, trec or msmarco, or a YAML file")
FRESH = option("--fresh", action="store_true", help="recompute everything, recorded runs too")
GIVEN = option("-p", "--parameter", dest="given", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
COMPUTED = (PROFILE, FRESH, option("--cluster", default="", metavar="local|slurm|ADDRESS", help="compute the steps on Dask"),
            option("--workers", type=_positive, default=0, help="of the local cluster (one a core), or Slurm jobs (2)"))
COLLECTION = (option("--collection", default="almanac", help="almanac (default), a folder, or irds:<id>"),
              option("--unit", default="", choices=["", "document", "passage"], help="documents, if there are any"))
NO_RENDER = option("--no-render", action="store_true", help="do not render the book afterwards")
COMMANDS: list[tuple[Any, ...]] = [  # name, function as `module:name` in `press`, what it is for, options
    ("build", "commands:build", "run all chapters and render the book", *COMPUTED,
     option("--only", default="", metavar="CHAPTER,…", help="some chapters alone")),
    ("chapter", "commands:chapter", "run one chapter and render it", option("name"), GIVEN, NO_RENDER, *COMPUTED),
    ("explain", "explain:explain", "say what a chapter, or the whole book, would run, and for how long",
     option("name", nargs="?", default="", help="all chapters if none is named"), GIVEN, PROFILE, FRESH),
    ("pack", "commands:pack", "write what a chapter lacks into files that travel to a GPU elsewhere",
     option("name", help="a chapter"), GIVEN, PROFILE,
     option("--folder", type=Path, default=Path("pack"), help="an empty folder for the parts"),
     option("--part", type=_positive, default=16, metavar="MIB", help="the size of a part, at most"),
     option("--list", dest="only_list", action="store_true", help="say only what it would hold")),
    ("unpack", "commands:unpack", "put what came back from there into the step store", option("folder", type=Path)),
    ("fetch", "fetching:fetch_profile", "fetch in advance all that a profile needs from the network; call again to go on",
     PROFILE, option("--list", dest="only_list", action="store_true", help="say only what there is to fetch")),
    ("pin", "fetching:pin", "replace branches of the hub in a profile's file by commit hashes", PROFILE),
    ("search", "search_command:answer", "rank a collection for your own queries",
     option("queries", nargs="+", metavar="query"), *COLLECTION,
     option("--first-stage", type=partial(_model, ("bm25",)), default="bm25", metavar="NAME",
            help="bm25 (default), or any bi-encoder of sentence-transformers, by its folder or hub id: it embeds the "
                 "collection once"),
     option("--reranker", type=partial(_model, tuple(RERANKERS)), default="both", metavar="NAME",
            help="both (default: the sum of the two that follow), base (the book's cross-encoder), minilm (the zero-shot "
                 "encoder that taught it), mpnet (one of base size, 404 MB fetched once), general (a cross-encoder "
                 "that read two dictionaries, too: trained once, in an hour or two), none, or any cross-encoder or "
                 "sentence-transformers model: its folder, or hub:owner/name@revision"),
     option("--feedback", default="none", choices=["none", "documents", "passages"],
            help="Bo1 terms from whole documents, or from their first words"),
     option("-k", type=_positive, default=10, help="documents shown")),
    ("measure", "search_command:measure", "measure given re-rankers on judged queries, without training",
     *COLLECTION, option("--reranker", dest="rerankers", action="append", default=[], metavar="NAME",
                         type=partial(_model, tuple(RERANKERS)),
                         help="as in `book search`; may be given again (both by default)"),
     option("--run", default="", metavar="FILE", help="a TREC run as the first stage, in place of BM25"),
     option("--split", default="test", help="of the queries (test)"),
     option("--candidates", type=_positive, default=100, help="re-ranked for each query (100)"),
     option("--exclude-same-id", action="store_true", help="leave out documents that have their query's id, as BEIR does")),
    ("serve", "serve:serve", "answer queries over HTTP on this machine, with a page for people", *COLLECTION,
     option("--reranker", dest="rerankers", action="append", default=[], metavar="NAME",
            help="a name as in `book search`, or a cross-encoder's folder; may be given again (both by default)"),
     option("--host", default="127.0.0.1", help="whom it listens to (127.0.0.1: this machine alone)"),
     option("--port", type=int, default=8350),
     option("--name", dest="names", action="append", default=[], metavar="HOST",
            help="a name by which other machines ask, where --host lets them; may be given again")),
    ("vespa", "vespa:write", "write the search application as a Vespa package, with its feed",
     option("folder", type=Path), *COLLECTION,
     option("--model", default="", metavar="FOLDER", help="of a cross-encoder (the base re-ranker)")),
    ("parameters", "chapters:listing", "list the parameters of a chapter", option("chapter")),
    ("files", "commands:files", "list the source files, each with what it is for",
     option("word", nargs="?", default="", help="only those that have it in their path or description")),
    ("store", "kept:store", "list what the step store keeps, by step, and empty it on request",
     option("--older", type=_seconds, default=None, metavar="30d",
            help="only what was not used for so many days (d) or hours (h)"),
     option("--step", default="", metavar="NAME", help="only what this step made"),
     option("--dry-run", action=argparse.BooleanOptionalAction, default=True,
            help="only list (default); --no-dry-run removes what is listed")),
    ("verify", "record:verify", "recompute a random sample of the recorded runs and compare",
     option("--sample", type=_positive, default=3), option("--seed", type=int, default=None),
     option("--budget", type=_positive, default=900, help="seconds that the sample may cost"),
     option("--all", dest="sample", action="store_const", const=10**9, help="as many as the budget allows")),
    ("record", "record:record", "ship the slow steps of the executed chapters as recorded runs"),
    ("open", "chapters:open_copies", "write your own copies of chapters, with a profile's values in them",
     option("chapters", nargs="+"), PROFILE, GIVEN,
     option("--to", type=Path, default=paths.ROOT / "mine", help="the folder (mine)")),
    ("export", "commands:export", "write the systems of a chapter as TREC runs with ir_metadata headers",
     option("chapter"), option("names", nargs="*", metavar="system", help="as the page calls them; all if none is named"),
     GIVEN, PROFILE, FRESH, option("--to", dest="folder", type=Path, default=Path("runs"), help="the folder (runs)"),
     option("--models", action="store_true", help="with each run its cross-encoder, as a folder for transformers")),
    ("why", "why:why", "explain why two runs of one system differ", option("first", type=Path, help="a TREC run"),
     option("second", type=Path, help="another one")),
    ("pdf", "commands:pdf", "print the rendered book as a PDF and link it from the pages"),
    ("address", "repository:address", "set the repository's public address, in the settings and the templates' setup cells",
     option("url", nargs="?", default="", help="https://github.com/<owner>/<name>; without it, the present one")),
    ("steps", "step_digests:accept", "accept the present source of every step (tests/steps.json)"),
    ("clean-variants", "commands:clean_variants", "remove the variant pages and their comparisons", NO_RENDER)]


def main(arguments: list[str] | None = None) -> int:
    """Run a command; what it returns is the exit code, see `EXIT_CODES`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what the terminal's encoding lacks
    options = vars(_parser().parse_args(arguments))
    module, _, function = (target := options.pop("target")).partition(":")
    if options.pop("fresh", False):
        os.environ["BOOK_FRESH"] = str(time.time())  # no step uses a value that is older than now
    if "given" in options:
        options["given"] = dict(options["given"])
    try:
        if odd := [text for text in arguments or sys.argv[1:] if not is_unicode(text)]:
            raise BadInput(f"the argument {odd[0]!r} is not UTF-8", mend="type it in UTF-8, or rename what it names")
        with terminal.ctrl_c(), cluster.started(options.pop("cluster", ""), options.pop("workers", 0)):
            result = getattr(importlib.import_module(f"press.{module}"), function)(**options)
            if isinstance(result, int):
                return result
            for line in [result] if isinstance(result, str | Path) else result or ():
                print(printable(str(line)), flush=True)
            return 0
    except (BadInput, NetworkNeeded) as error:
        print(f"\n{printable(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever read the output has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (OSError, MemoryError, sqlite3.OperationalError) as error:  # SQLite has no other kind for a full disk
        print(f"\n{str(error) or 'out of memory'}. Mend: see to the disk, the rights, the memory", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        terminal.end_children()
        print("\nstopped; finished steps are kept", file=sys.stderr)
        return 130
    except Exception as error:  # noqa: BLE001 - a fault of the book: nothing leaves as a traceback
        print(f"\na fault of the book: {type(error).__name__}; {terminal.trace_kept(error)}", file=sys.stderr)
        return 3


class Parser(argparse.ArgumentParser):
    """What it says of wrong arguments commands no terminal."""

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(printable(message), file)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="book", description=__doc__.splitlines()[0] if __doc__ else "", epilog=EXIT_CODES)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, target, purpose, *options in COMMANDS:
        command = commands.add_parser(name, help=purpose)
        command.set_defaults(target=target)
        for names, settings in options:
            command.add_argument(*names, **settings)
    return parser


if __name__ == "__main__":
    sys.exit(main())
