"""Growth: how fast motions of a layer over rigid contacts leave their rest, or die out [S00, section 3]."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.diagnosis.p_matrix import has_positive_pivots
from mcpframe.jit import callee, matrix_window, window
from mcpframe.jit.lanes import get, put
from mcpframe.jit.lapack import EIGENVALUE_WORK, INFO, SCRATCH, SIZE, lapack_eigenvalues
from mcpframe.simulation.memory import slots as at

FEW = 6
"""Rows whose eigenvalues take a few microseconds."""
EIGENVALUE_ROOM = 8
"""Doubles for every row that its eigenvalues take: two parts, and scratch."""


@callee
def settles_for_sure(case, m):
    """Return whether a bound tells that all motions of the layer over A die out.

    Eigenvalues x + i y of A have x >= least of (A + A*)/2 and |y| <= b = |A - A*|/2; motions die out where
    K y² < C² x (x² + y²): for sure where (A + A*)/2 - min(K/C², (K b²/C²)^(1/3)) is definite.
    """
    XS, A, S = case.XS, case.IS[at.TOLD_S], case.IS[at.TOLD_WORK]
    K, C, square = XS[at.TOLD_K], XS[at.TOLD_C], 0.0
    for r in range(m):
        for c in range(m):
            one, other = get(XS, A + r * m + c), get(XS, A + c * m + r)
            put(XS, S + r * m + c, 0.5 * (one + other))
            square += 0.25 * (one - other) * (one - other)
    least = min(K / (C * C), (K * square / (C * C)) ** (1.0 / 3.0)) if C > 0.0 else math.inf
    for r in range(m):
        put(XS, S + r * m + r, get(XS, S + r * m + r) - least)
    return has_positive_pivots(XS, S, m)


@callee
def growth_of(case, m, eigenvalues):
    """Return the largest growth rate of a motion of the layer over A [m, m] in TOLD_S; see `diagnosis.layer`.

    Of r² + r a C + a K = 0 for every eigenvalue a = x + i y; of many rows -inf where a bound decides.
    """
    IS, XS = case.IS, case.XS
    if m == 0 or (m > FEW and settles_for_sure(case, m)):
        return -math.inf
    A, work = matrix_window(XS, IS[at.TOLD_S], m, m), window(IS, IS[at.TOLD_LAPACK], EIGENVALUE_WORK)
    scratch = window(XS, IS[at.TOLD_WORK], EIGENVALUE_ROOM * m)
    put(work, SIZE, m)
    put(work, SCRATCH, (EIGENVALUE_ROOM - 2) * m)
    lapack_eigenvalues(eigenvalues, A, scratch, work)
    if work[INFO] != 0:
        return math.nan
    K, C, fastest = XS[at.TOLD_K], XS[at.TOLD_C], -math.inf
    for k in range(m):
        x, y = scratch[k], scratch[m + k]
        real = 0.25 * C * C * (x * x - y * y) - K * x
        imaginary = 0.5 * C * C * x * y - K * y
        root = math.sqrt(0.5 * max(math.hypot(real, imaginary) + real, 0.0))
        fastest = max(fastest, root - 0.5 * C * x)
    return fastest
