"""Numbers as people read them: three digits, times in one unit, thousands apart."""

from __future__ import annotations

import math

NOTHING = "–"
THIN = "\u202f"
"""Narrow no-break space, between thousands."""
DIGITS = 3


def number(value: float) -> str:
    """Write a number with three significant digits, but all digits of its whole part."""
    if not math.isfinite(value):
        return NOTHING
    if abs(value) < 1.0:
        return f"{value:#.{DIGITS}g}" if value else "0"
    whole = len(str(int(abs(value))))
    return f"{value:,.{max(0, DIGITS - whole)}f}".replace(",", THIN)


def count(value: int) -> str:
    """Write a whole number, thousands apart."""
    return f"{value:,}".replace(",", THIN)


def percent(share: float) -> str:
    """Write a share; 100 only where it is all, 0 only where it is nothing."""
    if not math.isfinite(share):
        return NOTHING
    inner = min(max(100.0 * share, 0.1), 99.9) if 0.0 < share < 1.0 else 100.0 * share
    return f"{inner:.0f}" if inner in (0.0, 100.0) else f"{inner:.1f}"


def power(value: float) -> str:
    """Write a residual or a tolerance."""
    if not math.isfinite(value):
        return "not finite"
    digits, _, exponent = f"{value:.1e}".partition("e")
    return f"{digits.removesuffix('.0')}e{int(exponent)}"


def time(seconds: float, unit: tuple[str, float] | None = None) -> str:
    """Write a time with its unit; the unit that suits it unless given."""
    if not math.isfinite(seconds):
        return NOTHING
    units = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
    name, scale = unit or next((pair for pair in units if seconds >= pair[1]), units[-1])
    return f"{number(seconds / scale)} {name}"


def listed(names: list[str], most: int = 4) -> str:
    """Join names as in a sentence; of many, the first few and how many more there are."""
    if len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    return "".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} and {names[-1]}"
