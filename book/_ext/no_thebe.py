"""Leave Thebe's scripts out of every page: the book does not use it, and Jupyter Book 1 adds them twice, which is an error in
the browser's console."""

from typing import Any


def drop_scripts(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Remove what mentions Thebe from a page's list of scripts."""
    scripts = context.get("script_files", [])
    scripts[:] = [script for script in scripts if "thebe" not in words(script).lower()]


def words(script: Any) -> str:
    """A script's file name and attributes, the body of an inline one among them, as text."""
    return f"{getattr(script, 'filename', script)} {getattr(script, 'attributes', '')}"


def setup(app: Any) -> dict[str, bool]:
    """Run after all other extensions."""
    app.connect("html-page-context", drop_scripts, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
