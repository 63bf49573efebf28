"""What of a chapter's code a reader sees without a click."""

from nbformat.v4 import new_code_cell as code
from nbformat.v4 import new_markdown_cell as markdown

from press.page_header import experiment


def test_the_first_code_of_the_method_is_the_experiment():
    cells = [markdown("# Title"), code("1", id="a"), markdown("## Method\n\nSo."), code("2", id="b"), code("3", id="c")]
    assert experiment(cells) == "b"
    assert experiment(cells[:3]) is None
    assert experiment(cells[:2]) is None
