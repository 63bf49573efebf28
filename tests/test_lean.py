"""Pages load what they use: no script twice, no data of another page, no index of the search."""

from types import SimpleNamespace

import yaml

from extension import load
from helpers import paths

lean = load("lean")
KEPT = ('<link rel="stylesheet" type="text/css" href="_static/book.css" />\n<script src="_static/doctools.js"></script>\n'
        '<script defer="defer" src="_static/sliders.js?v=1"></script>\n')
OWN = '<script defer src="../_static/explorer/ab.js?v=1"></script>\n'
DROPPED = ('<script src="_static/sliders.js?v=1"></script>\n<script src="../_static/explorer/ab.js?v=1"></script>\n'
           '<script>const thebe_selector = ".thebe"</script>\n<script defer src="_static/scripts/fontawesome.js?d=5"></script>\n'
           '<link rel="stylesheet" type="text/css" href="_static/sphinx-design.min.css?v=6">\n')
SEARCH = '<script src="searchindex.js"></script>\n<script src="_static/searchtools.js"></script>\n'


def test_what_a_page_does_not_use_is_left_out_and_the_rest_stays():
    assert lean.lean(f"<head>{KEPT}{DROPPED}{SEARCH}</head>{OWN}", "index") == f"<head>{KEPT}</head>{OWN}"
    assert lean.lean(f"{KEPT}{DROPPED}{SEARCH}", "search") == KEPT + SEARCH


def test_every_page_passes_through_it_and_builders_without_templates_do_not_mind():
    builder = SimpleNamespace(templates=SimpleNamespace(render=lambda name, context: DROPPED + name))
    lean.wrap(SimpleNamespace(builder=builder))
    assert builder.templates.render("page.html", {"pagename": "index"}) == "page.html"
    lean.wrap(SimpleNamespace(builder=SimpleNamespace()))
    assert "lean" in yaml.safe_load((paths.BOOK / "_config.yml").read_text())["sphinx"]["local_extensions"]
