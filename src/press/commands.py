"""What each command of `book` does with its options; `press.cli` says which there are. Imports wait until a command runs."""

import argparse
import os
import time

from helpers.errors import BadInput


def start_fresh(options: argparse.Namespace) -> None:
    """Let nothing older than now be used, if asked."""
    if options.fresh:
        os.environ["BOOK_FRESH"] = str(time.time())


def build(options: argparse.Namespace) -> int:
    """Run all chapters and render the book."""
    from helpers import paths
    from press import build, chapters, execute, generated

    start_fresh(options)
    for name in chapters.names():
        clock = time.perf_counter()
        _, executed = execute.run(name, options.profile, {}, options.fresh)
        print(f"{name}: {f'run in {time.perf_counter() - clock:.0f} s' if executed else 'up to date'}", flush=True)
    generated.write_all()
    changed = build.render()
    print(f"book: {'rendered' if changed else 'up to date'} -> {(paths.HTML / 'index.html').relative_to(paths.ROOT)}")
    return 0


def chapter(options: argparse.Namespace) -> int:
    """Run one chapter and render it, with its comparison if it is a variant."""
    from helpers import paths
    from press import build, execute, generated, variants

    start_fresh(options)
    page, executed = execute.run(options.name, options.profile, dict(options.parameter), options.fresh)
    print(f"{page.stem}: {'run' if executed else 'up to date'}")
    if page.stem != options.name:
        make_baseline(options.name, options.profile)
    if not options.no_render:
        generated.write_all()
        build.render()
        shown = [page.stem, *([variants.comparison(page.stem)] if page.stem != options.name else [])]
        for name in shown:
            print(f"page -> {(paths.HTML / 'chapters' / name).relative_to(paths.ROOT)}.html")
    return 0


def make_baseline(chapter: str, profile: str) -> None:
    """Execute the baseline page that a variant is compared with, if it is not there and needs no step computed.

    A page that is there stays as it is, even if it is out of date or of another profile: the comparison says of what commit and
    profile both are. Where steps are missing it could cost hours, so the variant's comparison says by which command to get one.
    """
    from helpers import paths
    from press import execute
    from press.explain import plan

    if (paths.CHAPTERS / f"{chapter}.ipynb").exists():
        return
    costs = plan.plan(chapter, profile, {})
    if costs.is_free:
        execute.run(chapter, profile, {})
        print(f"{chapter}: run, as the baseline; all its steps were there")
    else:
        print(f"{chapter}: the baseline page has not been executed, and would compute {len(costs.expected)} steps or more "
              f"(expected: {costs.time()}); `make chapter NAME={chapter} PROFILE={profile}` makes it and the comparison")


def explain(options: argparse.Namespace) -> int:
    """Say what a chapter, or the whole book, would run."""
    from press.explain import plan

    start_fresh(options)
    if options.parameter and not options.name:
        raise BadInput("parameters belong to one chapter", mend="name it: make explain NAME=candidates ARGS=...")
    print(plan.text(plan.plan(options.name, options.profile, dict(options.parameter))) if options.name
          else plan.whole_book(options.profile))
    return 0


def fetch(options: argparse.Namespace) -> int:
    """Say what a profile needs from the network, and fetch it unless only asked."""
    from press import fetching

    items = fetching.items(options.profile)
    print(fetching.table(items), flush=True)
    if not options.list:
        fetching.fetch(items)
    return 0


def pin(options: argparse.Namespace) -> int:
    """Replace branches of hub models by commit hashes."""
    from press import pinning

    print("\n".join(pinning.pin(options.profile)) or "every hub model is pinned")
    return 0


def search(options: argparse.Namespace) -> int:
    """Rank a collection for the reader's own queries."""
    from press.search_command import as_text, search

    ranked = search(options.query, options.collection, options.unit, options.reranker, options.feedback, options.k)
    shown = as_text(ranked, options.query)
    print(shown.encode(errors="replace").decode())  # an argument may hold what no terminal can show
    return 0


def parameters(options: argparse.Namespace) -> int:
    """List the parameters of a chapter."""
    from press import chapters

    for parameter in chapters.schema(options.name).values():
        print(f"{parameter.name}: {parameter.annotation} = {parameter.default!r}   {parameter.meaning}")
    return 0


def verify(options: argparse.Namespace) -> int:
    """Recompute a random sample of the recorded runs and compare."""
    from press import record

    return record.verify(options.sample, options.budget, options.seed)


def record(options: argparse.Namespace) -> int:
    """Ship the slow steps of the executed chapters as recorded runs."""
    from press import record

    for line in record.record(options.over):
        print(line)
    return 0


def bench(options: argparse.Namespace) -> int:
    """Measure this book's code against others'."""
    from press.bench import command

    return command.run(options.only, options.rounds, options.out, options.small)


def screenshots(options: argparse.Namespace) -> int:
    """Photograph every page of a rendered book."""
    from pathlib import Path

    from helpers import paths
    from press import screenshots

    html = Path(options.html).resolve() if options.html else paths.HTML
    sheet = screenshots.take(html, Path(options.to).resolve() if options.to else screenshots.folder())
    print(f"every page -> {sheet}")
    return 0


def open_copies(options: argparse.Namespace) -> int:
    """Write the reader's own copies of chapters."""
    from pathlib import Path

    from press import own_copy

    folder = Path(options.to).resolve() if options.to else None
    for name in options.name:
        print(f"{name} -> {own_copy.write(name, options.profile, dict(options.parameter), folder)}")
    return 0


def export(options: argparse.Namespace) -> int:
    """Write the systems of a chapter as TREC runs."""
    from pathlib import Path

    from press import export

    for file in export.export(options.name, options.profile, dict(options.parameter), options.system, Path(options.to)):
        print(file)
    return 0


def why(options: argparse.Namespace) -> int:
    """Explain why two runs differ."""
    from pathlib import Path

    from press.why import why

    print("\n".join(why(Path(options.first), Path(options.second))))
    return 0


def pdf(options: argparse.Namespace) -> int:
    """Print the rendered book and link the PDF from its pages."""
    from helpers import paths
    from press import build, generated, printed

    made = printed.write()
    generated.write_all()
    build.render()  # the pages now have a PDF to link to
    print(f"{made['pages']} pages, {made['bytes'] / 1e6:.1f} MB -> {(printed.folder() / printed.NAME).relative_to(paths.ROOT)}")
    return 0


def diff(options: argparse.Namespace) -> int:
    """Show what differs between two rendered books."""
    from pathlib import Path

    from helpers import paths
    from press import page_diff

    target = Path(options.to).resolve() if options.to else paths.BOOK / "_build" / "diff"
    page_diff.compare(Path(options.old).resolve(), Path(options.new).resolve(), target)
    print((target / "summary.md").read_text(encoding="utf-8") + f"-> {target / 'index.html'}")
    return 0


def address(options: argparse.Namespace) -> int:
    """Set the repository's public address, or put the present one into every template."""
    from press import launch, repository

    place = launch.set_address(options.url) if options.url else repository.configured()
    changed = launch.put_setup_cells(place)
    print(f"{place.url}: {len(changed)} setup cells changed")
    return 0


def steps(options: argparse.Namespace) -> int:
    """Accept the present source of every step."""
    from press import step_digests

    print(step_digests.accept())
    return 0


def clean_variants(options: argparse.Namespace) -> int:
    """Remove the variant pages and their comparisons."""
    from helpers import paths
    from press import build, chapters, variants

    removed = variants.clean()
    print(f"removed {len(removed)} files")
    executed = all((paths.CHAPTERS / f"{name}.ipynb").exists() for name in chapters.names())
    if removed and executed and (paths.HTML / "index.html").exists() and not options.no_render:
        build.render()  # the contents beside every page list the variants
        print("book: rendered without them")
    return 0
