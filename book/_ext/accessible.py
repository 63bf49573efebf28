"""Mend what the theme and docutils leave without a name or with a role that browsers gave up (found by tests/test_browser.py).

- Entries of the bibliography: docutils writes `doc-biblioentry`, which DPUB-ARIA 1.1 gave up for `listitem`.
- Tables of prose pages: the theme's box that scrolls has no name.
- The contents beside a page: the arrow that opens the pages below another one has no name.
"""

from typing import Any

REPLACED = {
    'role="doc-biblioentry"': 'role="listitem"',
    '"pst-scrollable-table-container">': '"pst-scrollable-table-container" role="region" aria-label="Table">',
}


def mend(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Mend a page's body, and the function that its template calls for the contents."""
    body = context.get("body", "")
    for old, new in REPLACED.items():
        body = body.replace(old, new)
    if body:
        context["body"] = body
    contents = context.get("generate_toctree_html")
    if contents is not None:
        context["generate_toctree_html"] = lambda *args, **options: named(contents(*args, **options))


def named(contents: Any) -> Any:
    """The contents, a tree of Beautiful Soup or nothing, with a name for every arrow."""
    for arrow in contents.select("li > details > summary") if hasattr(contents, "select") else ():
        arrow["aria-label"] = f"Pages below {arrow.find_parent('li').find('a').get_text(strip=True)}"
    return contents


def setup(app: Any) -> dict[str, bool]:
    """Run after all other extensions."""
    app.connect("html-page-context", mend, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
