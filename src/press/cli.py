"""The command line: `book build`, `book chapter`, `book search` and a few more; `book --help` lists them.

`make` calls it; every command also works by hand inside the environment.
"""

import argparse
import sys

from helpers.errors import BadInput, NetworkNeeded
from helpers.steps import cluster
from press import commands
from press.bench.command import ROUNDS, SECTIONS


def main(arguments: list[str] | None = None) -> int:
    """Run a command; 0 if it went well, 2 for input that the reader can mend."""
    options = _parser().parse_args(arguments)
    try:
        with cluster.started(getattr(options, "cluster", ""), getattr(options, "workers", 0)):
            return options.run(options)
    except (BadInput, NetworkNeeded) as error:
        print(f"\n{error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="book", description=__doc__.splitlines()[0] if __doc__ else "")
    known = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run, help_text: str) -> argparse.ArgumentParser:  # noqa: ANN001
        sub = known.add_parser(name, help=help_text)
        sub.set_defaults(run=run)
        return sub

    def profile_of(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--profile", default="almanac", help="almanac (default), mini, dl19 or msmarco")
        sub.add_argument("--fresh", action="store_true", help="recompute everything, recorded runs too")

    def cluster_of(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--cluster", default="", metavar="local|slurm|ADDRESS", help="compute the steps on a Dask cluster")
        sub.add_argument("--workers", type=_positive, default=0, help="of the local cluster (one a core), or Slurm jobs (2)")

    whole = command("build", commands.build, "run all chapters and render the book")
    profile_of(whole)
    cluster_of(whole)
    chapter = command("chapter", commands.chapter, "run one chapter and render it")
    chapter.add_argument("name")
    chapter.add_argument("-p", "--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    chapter.add_argument("--no-render", action="store_true", help="execute only")
    profile_of(chapter)
    cluster_of(chapter)
    explained = command("explain", commands.explain, "say what a chapter, or the whole book, would run, why, and for how long")
    explained.add_argument("name", nargs="?", default="", help="all chapters if none is named")
    explained.add_argument("-p", "--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    profile_of(explained)
    needed = command("fetch", commands.fetch, "fetch in advance all that a profile needs from the network; call again to go on")
    needed.add_argument("--profile", default="almanac", help="almanac (default), mini, dl19 or msmarco")
    needed.add_argument("--list", action="store_true", help="say only what there is to fetch, and where it goes")
    pinned = command("pin", commands.pin, "replace branches of hub models in a profile's file by commit hashes")
    pinned.add_argument("--profile", default="msmarco", help="almanac, mini, dl19 or msmarco (default)")
    search = command("search", commands.search, "rank a collection for your own queries")
    search.add_argument("query", nargs="+")
    search.add_argument("--collection", default="almanac", help="almanac (default), a folder, or irds:<id>")
    search.add_argument("--unit", default="", choices=["", "document", "passage"], help="documents, if there are any")
    search.add_argument("--reranker", default="minilm", choices=["minilm", "bert", "none"],  # search_command.RERANKERS
                        help="minilm (default; zero-shot bi-encoder), bert (trained at the first call: ten minutes), none")
    search.add_argument("--feedback", default="none", choices=["none", "documents", "passages"],
                        help="Bo1 terms from whole documents, or from their first words")
    search.add_argument("-k", type=_positive, default=10, help="documents shown")
    command("parameters", commands.parameters, "list the parameters of a chapter").add_argument("name")
    verify = command("verify", commands.verify, "recompute a random sample of the recorded runs and compare")
    verify.add_argument("--sample", type=int, default=3)
    verify.add_argument("--budget", type=float, default=900, help="seconds that the sample may cost")
    verify.add_argument("--seed", type=int, default=None)
    record = command("record", commands.record, "ship the slow steps of the executed chapters as recorded runs")
    record.add_argument("--over", type=float, default=60, help="seconds, with all that comes before")
    bench = command("bench", commands.bench, "time this book's code against others', on a quiet machine")
    bench.add_argument("--only", action="append", default=[], choices=SECTIONS, metavar="NAME",
                       help=f"{', '.join(SECTIONS)}; may be given again (all by default)")
    bench.add_argument("--rounds", type=int, default=ROUNDS, help="of each contender, after one that does not count")
    bench.add_argument("--out", default="", help="the file (bench/<machine>.json)")
    bench.add_argument("--small", action="store_true", help="a trial of seconds: whether everything runs")
    shots = command("screenshots", commands.screenshots, "photograph every page of the rendered book: wide, on a phone, dark")
    shots.add_argument("--html", default="", help="a rendered book (book/_build/html)")
    shots.add_argument("--to", default="", help="the folder for the pictures (BOOK_SCREENSHOTS, book/_build/screenshots)")
    copy = command("open", commands.open_copies, "write your own copies of chapters, with a profile's values in them")
    copy.add_argument("name", nargs="+")
    copy.add_argument("--profile", default="almanac", help="almanac (default), mini, dl19 or msmarco")
    copy.add_argument("-p", "--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    copy.add_argument("--to", default="", help="the folder (mine)")
    exported = command("export", commands.export, "write the systems of a chapter as TREC runs with ir_metadata headers")
    exported.add_argument("name")
    exported.add_argument("system", nargs="*", help="as the page calls them; all if none is named")
    exported.add_argument("-p", "--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    exported.add_argument("--to", default="runs", help="the folder (runs)")
    profile_of(exported)
    differing = command("why", commands.why, "explain why two runs of one system differ")
    differing.add_argument("first", help="a TREC run")
    differing.add_argument("second", help="another one")
    command("pdf", commands.pdf, "print the rendered book as a PDF and link it from the pages")
    diff = command("diff", commands.diff, "show what differs between two rendered books, in pictures")
    diff.add_argument("old", help="the folder of a rendered book, such as book/_build/html")
    diff.add_argument("new")
    diff.add_argument("--to", default="", help="the folder for the report (book/_build/diff)")
    address = command("address", commands.address, "set the repository's public address, here and in the templates' setup cells")
    address.add_argument("url", nargs="?", default="", help="https://github.com/<owner>/<name>; without it, the present one")
    command("steps", commands.steps, "accept the present source of every step (tests/steps.json)")
    clean = command("clean-variants", commands.clean_variants, "remove the variant pages and their comparisons")
    clean.add_argument("--no-render", action="store_true", help="do not render the contents without them")
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of documents: give 1 or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
