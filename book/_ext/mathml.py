"""Formulas as MathML, which browsers set by themselves: no script, no network, and text that can be read aloud and printed."""

import re
from html import escape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

FOREIGN = re.compile(r"<(?!/?m[a-z]+[ />])")  # every element of MathML begins with m


def markup(latex: str, display: str) -> str:
    """A formula's MathML, its LaTeX beside it for those who read it aloud or copy it; `display` is `inline` or `block`.

    Raises:
        ValueError: for markup within a formula's text, which the converter would hand on.
    """
    made = convert(latex, display=display)
    if FOREIGN.search(made):
        raise ValueError(f"markup in the formula {latex!r}")
    return made.replace("<math ", f'<math alttext="{escape(latex.strip())}" ', 1)


def inline(self: Any, node: nodes.Element) -> None:
    """Write a formula in the text."""
    self.body.append(markup(node.astext(), "inline"))
    raise nodes.SkipNode


def displayed(self: Any, node: nodes.Element) -> None:
    """Write a formula on a line of its own."""
    made = markup(node.astext(), "block")
    self.body.append(f'<div class="nr-math" role="region" aria-label="Formula" tabindex="0">{made}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Chosen in _config.yml by `html_math_renderer`."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
