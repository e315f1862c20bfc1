"""Where a function that falls along a part of a step passes zero: by Newton's rule, or that of Illinois.

Where its slope is known, the tangent's zero is tried, as long as that lies in the bracket and each time
leaves at most half of the value.

Of a bracket with values above zero at its low end and below at its high one, the chord's zero is tried; an
end that stays twice has its value halved, so that it does not stay for ever.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import inline


@inline
def section(low, f_low, high, f_high):
    """Return where to look next."""
    t = high - f_high * (high - low) / (f_high - f_low)
    return t if low < t < high else 0.5 * (low + high)


@inline
def newton(low, high, t, f, slope, before):
    """Return where the tangent at t is zero, or t where it cannot be told; before: the size of f before."""
    if not (slope < 0.0 and abs(f) <= 0.5 * before):
        return t
    new = t - f / slope
    return new if low < new < high else t


@inline
def narrowed(low, f_low, high, f_high, kept, t, f):
    """Return the bracket after f was found at t; kept: which end stayed the last time, 1 high, -1 low."""
    if f > 0.0:
        return t, f, high, 0.5 * f_high if kept == 1 else f_high, 1
    return low, 0.5 * f_low if kept == -1 else f_low, t, f, -1
