"""Give the bibliography's entries the role that their list may hold: docutils writes `doc-biblioentry`, which DPUB-ARIA 1.1
gave up for `listitem`, and which no longer counts as an item of a list."""

from typing import Any

OLD, NEW = 'role="doc-biblioentry"', 'role="listitem"'


def mend(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Replace the role in a page's body."""
    if OLD in context.get("body", ""):
        context["body"] = context["body"].replace(OLD, NEW)


def setup(app: Any) -> dict[str, bool]:
    """Run after all other extensions."""
    app.connect("html-page-context", mend, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
