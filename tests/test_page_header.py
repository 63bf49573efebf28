"""The order of a page, and what of a chapter's code a reader sees without a click."""

from nbformat.v4 import new_code_cell as code
from nbformat.v4 import new_markdown_cell as markdown

from press.page_header import arranged, in_view


def test_the_first_code_of_the_method_is_the_experiment():
    cells = [markdown("# Title"), code("1", id="a"), markdown("## Method\n\nSo."), code("2", id="b"), code("3", id="c")]
    assert in_view(cells) == {"b"}
    assert in_view(cells[:3]) == set()
    assert in_view(cells[:2]) == set()


def test_a_page_has_its_picture_first_and_sections_that_only_some_want_folded_below_more():
    cells = [markdown("# Title"), code("1"), markdown("## Method\n\nSo."), code("2"),
             markdown("## Costs & hours\n\nDear.", metadata={"tags": ["more"]}), code("3"),
             code("4", metadata={"tags": ["picture"]}), markdown("## Discussion"), code("5"), code("provenance")]
    assert [cell.source for cell in arranged(cells, "top", "## Try this", "parameters")] == [
        "# Title", "top", "4", "1", "## Method\n\nSo.", "2", "## Discussion", "5", "## Try this", "## More",
        '<details class="nr-details"><summary>Costs &amp; hours</summary>\n\nDear.', "3", "</details>", "parameters",
        "provenance"]


def test_a_page_without_exercise_or_folds_has_its_parameters_and_provenance_below_more():
    assert [cell.source for cell in arranged([markdown("# Title"), code("1")], "top", "", "parameters")] == [
        "# Title", "top", "## More", "parameters", "1"]
