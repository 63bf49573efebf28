"""The method in view: the package's own source."""

from helpers.pages import page


class Loss:
    """Says what it is."""

    def value(self, score):
        """Its value."""
        return -score  # the negative


def test_a_source_stands_on_the_page_as_code_without_its_docstring():
    assert page.source(Loss.value).markdown == ("```python\ndef value(self, score):\n    return -score  # the negative\n```")


def test_several_sources_follow_each_other():
    assert page.source(Loss.value, Loss).markdown.count("```python\n") == 2
    assert "Says what it is" not in page.source(Loss).markdown
