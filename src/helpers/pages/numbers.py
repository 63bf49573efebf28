"""How numbers and lists are written on every page."""

from collections.abc import Sequence


def plain(value: float, digits: int = 3) -> str:
    """A measure: `0.571`."""
    return f"{value:.{digits}f}"


def signed(value: float, digits: int = 3) -> str:
    """A difference, with its sign and a true minus: `+0.054`, `−0.010`."""
    return f"{value:+.{digits}f}".replace("-", "−")


def interval(low: float, high: float, digits: int = 3, sign: bool = False) -> str:
    """An interval: `[0.52, 0.61]`."""
    write = signed if sign else plain
    return f"[{write(low, digits)}, {write(high, digits)}]"


def p_value(p: float) -> str:
    """A p-value: `0.012`, or `< 0.001`."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def count(value: int) -> str:
    """A count with thin separators: `200,000`."""
    return f"{value:,}"


def seconds(value: float) -> str:
    """A duration: `0.4 s`, `52 s`, `13 min`, `2.1 h`."""
    if value < 10:
        return f"{value:.1f} s"
    if value < 90:
        return f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 5400 else f"{value / 3600:.1f} h"


def joined(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
