import pytest

from helpers.data.downloads import bytes_text
from helpers.pages.fragments import count, interval, p_value, plain, seconds, signed


@pytest.mark.parametrize("write, value, text", [
    (plain, 0.571, "0.571"), (plain, 0.57, "0.570"), (plain, 0.5714, "0.571"), (plain, 1, "1.000"),
    (signed, 0.054, "+0.054"), (signed, -0.01, "−0.010"), (signed, 0, "+0.000"),  # a true minus, not the hyphen
    (p_value, 0.012, "0.012"), (p_value, 0.0009, "< 0.001"), (p_value, 0.001, "0.001"), (p_value, 1, "1.000"),
    (count, 200000, "200,000"), (count, 999, "999"), (count, 1000, "1,000"), (count, 8841823, "8,841,823"),
    (seconds, 0.4, "0.4 s"), (seconds, 9.94, "9.9 s"), (seconds, 10, "10 s"), (seconds, 52, "52 s"), (seconds, 89, "89 s"),
    (seconds, 90, "2 min"),  # 1.5 min, to the even minute
    (seconds, 780, "13 min"), (seconds, 5399, "90 min"), (seconds, 5400, "1.5 h"), (seconds, 7560, "2.1 h"),
    (bytes_text, 0, "0 B"), (bytes_text, 812, "812 B"), (bytes_text, 999, "999 B"), (bytes_text, 1000, "1.0 kB"),
    (bytes_text, 999_949, "999.9 kB"), (bytes_text, 999_950, "1.0 MB"), (bytes_text, 18_882_551, "18.9 MB"),
    (bytes_text, 25_525_613_395, "25.5 GB"), (bytes_text, 4_000_000_000_000, "4000.0 GB")])
def test_a_number_is_written_with_its_digits_sign_and_unit(write, value, text):
    assert write(value) == text


def test_both_ends_of_an_interval_are_written_alike():
    assert interval(0.52, 0.61, digits=2) == "[0.52, 0.61]"
    assert interval(0.52, 0.61) == "[0.520, 0.610]"
    assert interval(-0.01, 0.02, sign=True) == "[−0.010, +0.020]"
