"""Below each page's title: where to open the chapter, how to change it, how to cite it, and the PDF if there is one; in its head
what another site shows of a link to it.

The lines depend on the repository's address and on the PDF, so they are made when a page is rendered; if either changes, all
pages are rendered again.
"""

import shutil
from pathlib import Path
from typing import Any

from press import launch, printed


def look(app: Any, config: Any) -> None:
    """Look up the address and the PDF."""
    config.book_links = launch.links()


def put(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Put the lines below a page's title."""
    if "</h1>" in context.get("body", ""):
        context["body"] = context["body"].replace("</h1>", "</h1>" + launch.lines_for(pagename, app.config.book_links), 1)
        context["metatags"] = context.get("metatags", "") + launch.preview(pagename, context["title"], app.config.book_links)


def publish(app: Any, error: Exception | None) -> None:
    """Copy the PDF beside the pages that link to it."""
    if error is None and app.builder.format == "html" and printed.made():
        shutil.copyfile(printed.folder() / printed.NAME, Path(app.outdir) / printed.NAME)


def setup(app: Any) -> dict[str, bool]:
    """Rendered pages are out of date when the links change (`html`)."""
    app.add_config_value("book_links", {}, "html")
    app.connect("config-inited", look)
    app.connect("html-page-context", put)
    app.connect("build-finished", publish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
