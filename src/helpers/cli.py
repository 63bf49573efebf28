"""The command line: `book build`, `book chapter`, `book search` and a few more; `book --help` lists them.

`make` calls it; every command also works by hand inside the environment.
"""

import argparse
import os
import sys
import time

from helpers import cluster
from helpers.bench.command import ROUNDS, SECTIONS
from helpers.errors import BadInput, NetworkNeeded


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
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run, help_text: str) -> argparse.ArgumentParser:  # noqa: ANN001
        sub = commands.add_parser(name, help=help_text)
        sub.set_defaults(run=run)
        return sub

    def profile_of(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--profile", default="almanac", help="almanac (default), mini, dl19 or msmarco")
        sub.add_argument("--fresh", action="store_true", help="recompute everything, recorded runs too")

    def cluster_of(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--cluster", default="", metavar="local|slurm|ADDRESS", help="compute the steps on a Dask cluster")
        sub.add_argument("--workers", type=_positive, default=0, help="of the local cluster (one a core), or Slurm jobs (2)")

    whole = command("build", _build, "run all chapters and render the book")
    profile_of(whole)
    cluster_of(whole)
    chapter = command("chapter", _chapter, "run one chapter and render it")
    chapter.add_argument("name")
    chapter.add_argument("-p", "--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    chapter.add_argument("--no-render", action="store_true", help="execute only")
    profile_of(chapter)
    cluster_of(chapter)
    explained = command("explain", _explain, "say what a chapter, or the whole book, would run, why, and for how long")
    explained.add_argument("name", nargs="?", default="", help="all chapters if none is named")
    explained.add_argument("-p", "--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    profile_of(explained)
    needed = command("fetch", _fetch, "fetch in advance all that a profile needs from the network; call again to go on")
    needed.add_argument("--profile", default="almanac", help="almanac (default), mini, dl19 or msmarco")
    needed.add_argument("--list", action="store_true", help="say only what there is to fetch, and where it goes")
    pinned = command("pin", _pin, "replace branches of hub models in a profile's file by commit hashes")
    pinned.add_argument("--profile", default="msmarco", help="almanac, mini, dl19 or msmarco (default)")
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
    bench = command("bench", _bench, "measure this book's code against others' on a quiet machine, into bench/<machine>.json")
    bench.add_argument("--only", action="append", default=[], choices=SECTIONS, metavar="NAME",
                       help=f"{', '.join(SECTIONS)}; may be given again (all by default)")
    bench.add_argument("--rounds", type=int, default=ROUNDS, help="of each contender, after one that does not count")
    bench.add_argument("--out", default="", help="the file (bench/<machine>.json)")
    bench.add_argument("--small", action="store_true", help="a trial of seconds: whether everything runs")
    shots = command("screenshots", _screenshots, "photograph every page of the rendered book: wide, on a phone, dark")
    shots.add_argument("--html", default="", help="a rendered book (book/_build/html)")
    shots.add_argument("--to", default="", help="the folder for the pictures (BOOK_SCREENSHOTS, book/_build/screenshots)")
    copy = command("open", _open, "write your own copies of chapters, with a profile's values in the parameter cell")
    copy.add_argument("name", nargs="+")
    copy.add_argument("--profile", default="almanac", help="almanac (default), mini, dl19 or msmarco")
    copy.add_argument("-p", "--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    copy.add_argument("--to", default="", help="the folder (mine)")
    command("pdf", _pdf, "print the rendered book as a PDF and link it from the pages")
    diff = command("diff", _diff, "show what differs between two rendered books, in pictures")
    diff.add_argument("old", help="the folder of a rendered book, such as book/_build/html")
    diff.add_argument("new")
    diff.add_argument("--to", default="", help="the folder for the report (book/_build/diff)")
    address = command("address", _address, "set the repository's public address, here and in the templates' setup cells")
    address.add_argument("url", nargs="?", default="", help="https://github.com/<owner>/<name>; without it, the present one")
    command("steps", _steps, "accept the present source of every step (tests/steps.json)")
    clean = command("clean-variants", _clean_variants, "remove the variant pages and their comparisons")
    clean.add_argument("--no-render", action="store_true", help="do not render the contents without them")
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
    from helpers import baseline, build, execute, generated, paths, variants

    _start_fresh(options)
    page, executed = execute.run(options.name, options.profile, dict(options.parameter), options.fresh)
    print(f"{page.stem}: {'run' if executed else 'up to date'}")
    if said := baseline.make_if_free(page.stem, options.profile):
        print(said)
    if not options.no_render:
        generated.write_all()
        build.render()
        shown = [page.stem, *([variants.comparison(page.stem)] if page.stem != options.name else [])]
        for name in shown:
            print(f"page -> {(paths.HTML / 'chapters' / name).relative_to(paths.ROOT)}.html")
    return 0


def _explain(options: argparse.Namespace) -> int:
    from helpers import explain

    _start_fresh(options)
    if options.parameter and not options.name:
        raise BadInput("parameters belong to one chapter", mend="name it: make explain NAME=candidates ARGS=...")
    print(explain.text(explain.plan(options.name, options.profile, dict(options.parameter))) if options.name
          else explain.whole_book(options.profile))
    return 0


def _fetch(options: argparse.Namespace) -> int:
    from helpers import fetching

    found = fetching.items(options.profile)
    print(fetching.table(found), flush=True)
    if not options.list:
        fetching.fetch(found)
    return 0


def _pin(options: argparse.Namespace) -> int:
    from helpers import pinning

    print("\n".join(pinning.pin(options.profile)) or "every hub model is pinned")
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


def _bench(options: argparse.Namespace) -> int:
    from helpers.bench import command

    return command.run(options.only, options.rounds, options.out, options.small)


def _screenshots(options: argparse.Namespace) -> int:
    from pathlib import Path

    from helpers import paths, screenshots

    html = Path(options.html).resolve() if options.html else paths.HTML
    sheet = screenshots.take(html, Path(options.to).resolve() if options.to else screenshots.folder())
    print(f"every page -> {sheet}")
    return 0


def _open(options: argparse.Namespace) -> int:
    from pathlib import Path

    from helpers import own_copy

    folder = Path(options.to).resolve() if options.to else None
    for name in options.name:
        print(f"{name} -> {own_copy.write(name, options.profile, dict(options.parameter), folder)}")
    return 0


def _pdf(options: argparse.Namespace) -> int:
    from helpers import build, generated, paths, printed

    made = printed.write()
    generated.write_all()
    build.render()  # the pages now have a PDF to link to
    print(f"{made['pages']} pages, {made['bytes'] / 1e6:.1f} MB -> {(printed.folder() / printed.NAME).relative_to(paths.ROOT)}")
    return 0


def _diff(options: argparse.Namespace) -> int:
    from pathlib import Path

    from helpers import page_diff, paths

    target = Path(options.to).resolve() if options.to else paths.BOOK / "_build" / "diff"
    page_diff.compare(Path(options.old).resolve(), Path(options.new).resolve(), target)
    print((target / "summary.md").read_text(encoding="utf-8") + f"-> {target / 'index.html'}")
    return 0


def _address(options: argparse.Namespace) -> int:
    from helpers import launch, repository

    place = launch.set_address(options.url) if options.url else repository.configured()
    changed = launch.put_setup_cells(place)
    print(f"{place.url}: {len(changed)} setup cells changed")
    return 0


def _steps(options: argparse.Namespace) -> int:
    from helpers import step_digests

    print(step_digests.accept())
    return 0


def _clean_variants(options: argparse.Namespace) -> int:
    from helpers import build, chapters, paths, variants

    removed = variants.clean()
    print(f"removed {len(removed)} files")
    executed = all((paths.CHAPTERS / f"{name}.ipynb").exists() for name in chapters.names())
    if removed and executed and (paths.HTML / "index.html").exists() and not options.no_render:
        build.render()  # the contents beside every page list the variants
        print("book: rendered without them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
