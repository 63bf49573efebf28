"""The command line: `book build`, `book chapter`, `book search` and a few more; `book --help` lists them.

`make` calls it; every command also works by hand inside the environment.
"""

import argparse
import os
import sys
import time

from helpers.errors import BadInput, NetworkNeeded


def main(arguments: list[str] | None = None) -> int:
    """Run a command; 0 if it went well, 2 for input that the reader can mend."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (BadInput, NetworkNeeded) as error:
        print(f"\n{error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="book", description=__doc__.splitlines()[0] if __doc__ else "")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run, help_text: str) -> argparse.ArgumentParser:  # noqa: ANN001
        sub = commands.add_parser(name, help=help_text)
        sub.set_defaults(run=run)
        return sub

    def profile_of(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--profile", default="almanac", help="almanac (default), mini, dl19 or msmarco")
        sub.add_argument("--fresh", action="store_true", help="recompute everything, recorded runs too")

    profile_of(command("build", _build, "run all chapters and render the book"))
    chapter = command("chapter", _chapter, "run one chapter and render it")
    chapter.add_argument("name")
    chapter.add_argument("-p", "--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    chapter.add_argument("--no-render", action="store_true", help="execute only")
    profile_of(chapter)
    search = command("search", _search, "rank a collection for your own queries")
    search.add_argument("query", nargs="+")
    search.add_argument("--collection", default="almanac", help="almanac (default), a folder, or irds:<id>")
    search.add_argument("--unit", default="", choices=["", "document", "passage"], help="documents, if there are any")
    search.add_argument("--reranker", default="minilm", choices=["minilm", "bert", "none"],  # search_command.RERANKERS
                        help="minilm (default; untouched bi-encoder), bert (trained at the first call: ten minutes), none")
    search.add_argument("--feedback", default="none", choices=["none", "documents", "passages"],
                        help="Bo1 terms from whole documents, or from their first words")
    search.add_argument("-k", type=_positive, default=10, help="documents shown")
    command("parameters", _parameters, "list the parameters of a chapter").add_argument("name")
    verify = command("verify", _verify, "recompute a random sample of the recorded runs and compare")
    verify.add_argument("--sample", type=int, default=3)
    verify.add_argument("--budget", type=float, default=900, help="seconds that the sample may cost")
    verify.add_argument("--seed", type=int, default=None)
    record = command("record", _record, "ship the slow steps of the executed chapters as recorded runs")
    record.add_argument("--over", type=float, default=60, help="seconds, with all that comes before")
    command("steps", _steps, "accept the present source of every step (tests/steps.json)")
    command("clean-variants", _clean_variants, "remove the variant pages")
    return parser


def _start_fresh(options: argparse.Namespace) -> None:
    if options.fresh:
        os.environ["BOOK_FRESH"] = str(time.time())


def _build(options: argparse.Namespace) -> int:
    from helpers import build, chapters, execute, generated, paths

    _start_fresh(options)
    for name in chapters.names():
        clock = time.perf_counter()
        _, executed = execute.run(name, options.profile, {}, options.fresh)
        print(f"{name}: {f'run in {time.perf_counter() - clock:.0f} s' if executed else 'up to date'}", flush=True)
    generated.write_all()
    changed = build.render()
    print(f"book: {'rendered' if changed else 'up to date'} -> {(paths.HTML / 'index.html').relative_to(paths.ROOT)}")
    return 0


def _chapter(options: argparse.Namespace) -> int:
    from helpers import build, execute, generated, paths

    _start_fresh(options)
    page, executed = execute.run(options.name, options.profile, dict(options.parameter), options.fresh)
    print(f"{page.stem}: {'run' if executed else 'up to date'}")
    if not options.no_render:
        generated.write_all()
        build.render()
        print(f"page -> {(paths.HTML / 'chapters' / page.stem).relative_to(paths.ROOT)}.html")
    return 0


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of documents: give 1 or more")
    return int(text)


def _search(options: argparse.Namespace) -> int:
    from helpers.search_command import as_text, search

    found = search(options.query, options.collection, options.unit, options.reranker, options.feedback, options.k)
    shown = as_text(found, options.query)
    print(shown.encode(errors="replace").decode())  # an argument may hold what no terminal can show
    return 0


def _parameters(options: argparse.Namespace) -> int:
    from helpers import chapters

    for parameter in chapters.schema(options.name).values():
        print(f"{parameter.name}: {parameter.annotation} = {parameter.default!r}   {parameter.meaning}")
    return 0


def _verify(options: argparse.Namespace) -> int:
    from helpers import recorded

    return recorded.verify(options.sample, options.budget, options.seed)


def _record(options: argparse.Namespace) -> int:
    from helpers import recorded

    for line in recorded.record(options.over):
        print(line)
    return 0


def _steps(options: argparse.Namespace) -> int:
    from helpers import step_digests

    print(step_digests.accept())
    return 0


def _clean_variants(options: argparse.Namespace) -> int:
    from helpers import build

    print(f"removed {len(build.clean_variants())} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
