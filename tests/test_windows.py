import random

import pytest

from helpers.data.collection_base import Text
from helpers.data.windows import Window, doc_of, windows


def numbered(count, start=0):
    """A text of `count` different words: w0 w1 w2 ..."""
    return " ".join(f"w{number}" for number in range(start, start + count))


def spans(count, title, words, overlap):
    """(first, last) word of the body in each window of a text of `count` words under a title of `title` words."""
    text = Text("d", " ".join(["title"] * title), numbered(count))
    result = []
    for window in windows(text, words, overlap):
        body = [int(word[1:]) for word in window.text.split() if word != "title"]
        assert body == list(range(body[0], body[-1] + 1))  # no word is skipped inside a window
        result.append((body[0], body[-1]))
    return result


def test_the_windows_of_steensland_by_hand():
    # 150 words with a title of 10 leave 140 of the body; 50 shared words make a step of 90.
    # 300 words: 0-139, 90-229, 180-299 (180 + 140 = 320 reaches the end).
    assert spans(300, title=10, words=150, overlap=50) == [(0, 139), (90, 229), (180, 299)]


def test_a_window_starts_with_the_title_and_is_named_after_its_document():
    pieces = list(windows(Text("d#7", "A  title", "one two three"), words=4, overlap=1))
    assert pieces == [Window("d#7#0", "d#7", "A title one two"), Window("d#7#1", "d#7", "A title two three")]
    assert [doc_of(window.window_id) for window in pieces] == ["d#7", "d#7"]


def test_a_title_of_49_words_stays_and_one_of_50_is_left_out():
    # 49 words leave 101 of 150, the step is 51: 0-100, 51-119. 50 words are left out: all 120 fit into 150.
    assert spans(120, title=49, words=150, overlap=50) == [(0, 100), (51, 119)]
    assert spans(120, title=50, words=150, overlap=50) == [(0, 119)]


@pytest.mark.parametrize("title, body, text", [("Title", "", "Title"), ("Title", " \n\t", "Title"), ("", "", "")])
def test_a_text_without_body_has_one_window(title, body, text):
    assert list(windows(Text("d", title, body), 150, 50)) == [Window("d#0", "d", text)]


def test_blanks_of_any_kind_are_one_space():
    assert [window.text for window in windows(Text("d", "", "a\n\nb\t c"), 150, 50)] == ["a b c"]


def random_cases():
    random.seed(20210610)
    for _ in range(40):
        words = random.randint(1, 200)
        title = random.randint(0, 60)
        size = words if title >= min(50, words) else words - title
        yield random.randint(1, 1000), title, words, random.randint(0, size - 1)


@pytest.mark.parametrize("count, title, words, overlap", random_cases())
def test_every_word_is_in_a_window_and_none_lies_inside_another(count, title, words, overlap):
    pieces = spans(count, title, words, overlap)
    assert pieces[0][0] == 0
    assert pieces[-1][1] == count - 1
    for (start, end), (next_start, next_end) in zip(pieces, pieces[1:], strict=False):
        assert end - next_start + 1 == overlap  # also covers every word: there is no gap
        assert start < next_start
        assert end < next_end  # the next one brings something new
