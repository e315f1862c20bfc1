"""Sine and cosine of many angles at once, by polynomials that the compiler runs four or eight abreast."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put

TWO_OVER_PI = 2.0 / math.pi
# pi/2 in three parts, the first two with trailing zeros, so that j * part is exact for |j| < 2^20.
HALF_PI_1 = float.fromhex("0x1.921fb54400000p+0")
HALF_PI_2 = float.fromhex("0x1.0b4611a600000p-34")
HALF_PI_3 = float.fromhex("0x1.3198a2e037073p-69")
# sin t = t + S[0] t^3 + S[1] t^5 + ...,   cos t = 1 - t^2 / 2 + C[0] t^4 + C[1] t^6 + ...   for |t| <= pi/4
S = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
C = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
REDUCIBLE = 1e6
"""Angles beyond it are left to the C library."""


@inline
def sincos(x):
    """Return sin(x), cos(x) for |x| <= REDUCIBLE, to about one unit in the last place.

    x = j pi/2 + t with |t| <= pi/4; minimax polynomials in t (the classical ones of fdlibm); then the
    quadrant j mod 4 is put back without a branch.
    """
    j = math.floor(x * TWO_OVER_PI + 0.5)
    t = ((x - j * HALF_PI_1) - j * HALF_PI_2) - j * HALF_PI_3
    y = t * t
    s = t + t * y * (S[0] + y * (S[1] + y * (S[2] + y * (S[3] + y * (S[4] + y * S[5])))))
    c = 1.0 - 0.5 * y + y * y * (C[0] + y * (C[1] + y * (C[2] + y * (C[3] + y * (C[4] + y * C[5])))))
    half = 0.5 * j
    is_odd = half - math.floor(half) > 0.25
    quarter = 0.5 * math.floor(half)
    sign = 1.0 - 4.0 * (quarter - math.floor(quarter))
    return sign * (c if is_odd else s), sign * (-s if is_odd else c)


@callee
def sincos_of(X, angle, n):
    """Write sin and cos of the n angles X[angle:] to the 2 n entries behind them."""
    far = 0  # a count, which unlike a maximum is taken abreast
    for k in range(n):
        far += 1 if abs(get(X, angle + k)) > REDUCIBLE else 0
    if far == 0:
        for k in range(n):
            s, c = sincos(get(X, angle + k))
            put(X, angle + n + k, s)
            put(X, angle + 2 * n + k, c)
    else:
        for k in range(n):
            put(X, angle + n + k, math.sin(get(X, angle + k)))
            put(X, angle + 2 * n + k, math.cos(get(X, angle + k)))
