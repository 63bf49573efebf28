"""Snippets: the stretch of a text that has most of the query's words."""

from helpers.systems.pipeline import WORDS, passage, snippet


def test_the_stretch_with_most_of_the_querys_words_is_shown():
    body = " ".join(["filler"] * 50 + ["Bread", "turns", "brown,"] + ["filler"] * 50 + ["bread"])
    shown = snippet(body, "why does bread turn brown")
    assert "Bread turns brown," in shown and shown.startswith("… ") and shown.endswith(" …")
    assert len(shown.split()) == WORDS + 2


def test_a_text_without_them_shows_its_beginning_and_a_short_one_all():
    body = " ".join(str(number) for number in range(100))
    assert snippet(body, "bread") == " ".join(str(number) for number in range(WORDS)) + " …"
    assert snippet("all of it", "bread") == "all of it" and snippet("", "bread") == ""
    assert snippet("filler " * 97 + "bread", "bread").endswith("bread")


def test_a_window_is_shown_from_its_first_sentence_without_the_title():
    assert passage("On bread the crust. Why it browns. Sugars", "On  bread", False) == "… Why it browns. Sugars"
    assert passage("On bread the crust. Then", "On bread", True) == "the crust. Then"  # the text's own beginning
    assert passage("without an end", "", False) == "… without an end"
    assert passage("word " * (WORDS + 1), "", True).endswith("word …")
