"""Leave out of every page the scripts and styles that it does not use.

Jupyter Book adds Thebe twice, which is an error in the browser's console, and every script below `_static`, the explorer's data
among them; the theme adds its icons a second time, as a script (a font has them, too), and the search's index to all pages.
Nothing of Sphinx Design is used.
"""

import re
from typing import Any

SCRIPT = re.compile(r"(?:<script\b[^>]*>.*?</script>|<link rel=\"stylesheet\"[^>]*>)\s*", re.DOTALL)
USELESS = re.compile(r'thebe|src="[^"]*/fontawesome\.js|_static/(?:sphinx-design|design-tabs)', re.IGNORECASE)
OURS = re.compile(r'<script src="[^"]*_static/(?:explorer|filter|folds|python_here|sliders)')  # deferred where used
SEARCH = re.compile(r'src="[^"]*(?:searchtools|language_data|searchindex)\.js')


def lean(html: str, page: str) -> str:
    """A page without them."""
    def kept(found: re.Match[str]) -> str:
        useless = USELESS.search(found[0]) or OURS.match(found[0]) or (page != "search" and SEARCH.search(found[0]))
        return "" if useless else found[0]
    return SCRIPT.sub(kept, html)


def wrap(app: Any) -> None:
    """Have pages pass through `lean` when they are rendered; other builders than HTML's have no templates."""
    if templates := getattr(app.builder, "templates", None):
        render = templates.render
        templates.render = lambda name, context: lean(render(name, context), context.get("pagename", ""))


def setup(app: Any) -> dict[str, bool]:
    """Run when the builder has its templates."""
    app.connect("builder-inited", wrap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
