import pytest

from helpers.data.downloads import bytes_text
from helpers.pages.numbers import count, interval, p_value, plain, seconds, signed


@pytest.mark.parametrize("value, text", [(0.571, "0.571"), (0.57, "0.570"), (0.5714, "0.571"), (1, "1.000")])
def test_plain(value, text):
    assert plain(value) == text


@pytest.mark.parametrize("value, text", [(0.054, "+0.054"), (-0.01, "−0.010"), (0, "+0.000")])
def test_signed_has_a_sign_and_a_true_minus(value, text):
    assert signed(value) == text
    assert "-" not in signed(value)  # the hyphen


def test_interval():
    assert interval(0.52, 0.61, digits=2) == "[0.52, 0.61]"
    assert interval(0.52, 0.61) == "[0.520, 0.610]"
    assert interval(-0.01, 0.02, sign=True) == "[−0.010, +0.020]"


@pytest.mark.parametrize("p, text", [(0.012, "0.012"), (0.0009, "< 0.001"), (0.001, "0.001"), (1, "1.000")])
def test_p_value(p, text):
    assert p_value(p) == text


@pytest.mark.parametrize("value, text", [(200000, "200,000"), (999, "999"), (1000, "1,000"), (8841823, "8,841,823")])
def test_count(value, text):
    assert count(value) == text


@pytest.mark.parametrize("value, text", [
    (0.4, "0.4 s"), (9.94, "9.9 s"), (10, "10 s"), (52, "52 s"), (89, "89 s"),
    (90, "2 min"),  # 1.5 min, to the even minute
    (780, "13 min"), (5399, "90 min"), (5400, "1.5 h"), (7560, "2.1 h")])
def test_seconds(value, text):
    assert seconds(value) == text


@pytest.mark.parametrize("value, text", [
    (0, "0 B"), (812, "812 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"),
    (18_882_551, "18.9 MB"), (25_525_613_395, "25.5 GB"), (4_000_000_000_000, "4000.0 GB")])
def test_size(value, text):
    assert bytes_text(value) == text
