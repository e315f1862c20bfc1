"""Problems with closures, solved without them: closures are equations, whose factor the step needs anyway.

With rows b of closures and c of what touches, and Λ_b = M_bb,

    M' = M_cc - M_cb Λ_b⁻¹ M_bc,     q' = q_c - M_cb Λ_b⁻¹ q_b,     z_b = -Λ_b⁻¹ (M_bc z_c + q_b):

the solver sees what touches alone, and nothing where nothing does. The answer is that of the whole problem,
and certified as such.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, matrix_window, window
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.kernels.loop_motion import solve_loops
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.problem.cone import D_FIRST, D_NORMAL, DISC_DOUBLES, DISC_INTEGERS
from mcpframe.simulation.memory import slots as at
from mcpframe.solving.stages import (
    DISCS_AT,
    LOWER_AT,
    M_AT,
    N_DISCS,
    N_ROWS,
    Q_AT,
    SIZES_AT,
    UPPER_AT,
    call_solve,
    call_solve_cones,
)


@callee
def take_out(run):
    """Write Λ_b⁻¹ M_bc and Λ_b⁻¹ q_b by columns to TAKEN_OUT."""
    IQ, XQ, XR, XS, n = run.IQ, run.XQ, run.XR, run.XS, run.IP[N_ROWS]
    n_b = run.IE[loops.N_ROWS]
    for c in range(n - n_b + 1):
        column, stride = (run.IP[M_AT] + n_b + c, n) if c < n - n_b else (run.IP[Q_AT], 1)
        largest = 0.0
        for i in range(n_b):
            value = get(XR, column + i * stride)
            put(XQ, IQ[loops.RIGHT] + i, value)
            largest = max(largest, abs(value))
        if largest > 0.0:
            solve_loops(run.IE, IQ, XQ, IQ[loops.N_PIVOTS])
        for i in range(n_b):
            put(XS, run.IS[at.TAKEN_OUT] + c * n_b + i, get(XQ, IQ[loops.RIGHT] + i))


@callee
def reduce(run):
    """Write M' and, behind it, q' to REDUCED."""
    XR, XS, n, n_b = run.XR, run.XS, run.IP[N_ROWS], run.IE[loops.N_ROWS]
    n_c, reduced = n - n_b, run.IS[at.REDUCED]
    for i in range(n_c):
        row = run.IP[M_AT] + (n_b + i) * n
        for c in range(n_c + 1):
            taken = run.IS[at.TAKEN_OUT] + c * n_b
            total = get(XR, row + n_b + c) if c < n_c else get(XR, run.IP[Q_AT] + n_b + i)
            for k in range(n_b):
                total -= get(XR, row + k) * get(XS, taken + k)
            put(XS, reduced + i * n_c + c if c < n_c else reduced + n_c * n_c + i, total)


@callee
def expand(run):
    """Write z_b that belongs to z_c."""
    XS, n_b = run.XS, run.IE[loops.N_ROWS]
    n_c, z, taken = run.IP[N_ROWS] - n_b, run.IS[at.OWN_Z], run.IS[at.TAKEN_OUT]
    for i in range(n_b):
        total = get(XS, taken + n_c * n_b + i)
        for c in range(n_c):
            total += get(XS, taken + c * n_b + i) * get(XS, z + n_b + c)
        put(XS, z + i, -total)


@callee
def number_discs(run, by):
    """Count the rows of discs from another one."""
    for d in range(run.IP[N_DISCS]):
        disc = run.IP[DISCS_AT] + d * DISC_INTEGERS
        for part in (D_NORMAL, D_FIRST):
            put(run.IR, disc + part, get(run.IR, disc + part) + by)


@callee
def solve_cones(run, rows, warm, tol, z):
    """Write z of rows with the discs of the problem by the solver's kernel; return its iterations."""
    k = run.IP[N_DISCS]
    discs = window(run.IR, run.IP[DISCS_AT], k * DISC_INTEGERS)
    sizes = window(run.XR, run.IP[SIZES_AT], k * DISC_DOUBLES)
    return call_solve_cones(run.A[at.SOLVE], (*rows, discs, sizes, warm, tol, z, run.W, run.IW))


@callee
def solve_without_loops(run, warm, tol):
    """Write z of the problem, the factor of whose Λ_b is there; return the solver's iterations."""
    IP, XR, XS, n_b = run.IP, run.XR, run.XS, run.IE[loops.N_ROWS]
    n, iterations = IP[N_ROWS] - n_b, 0
    take_out(run)
    if n > 0:
        reduce(run)
        at_M = run.IS[at.REDUCED]
        M, q = matrix_window(XS, at_M, n, n), window(XS, at_M + n * n, n)
        bounds = window(XR, IP[LOWER_AT] + n_b, n), window(XR, IP[UPPER_AT] + n_b, n)
        z, codes = window(XS, run.IS[at.OWN_Z] + n_b, n), window(run.codes, n_b, 2 * n)
        rows = M, q, bounds[0], bounds[1]
        if run.IS[at.CONE_ROWS] == 0:
            problem = *rows, codes, True, tol, z, run.W, run.IW
            iterations = call_solve(run.A[at.SOLVE], problem)
        else:
            number_discs(run, -n_b)
            iterations = solve_cones(run, rows, warm, tol, z)
            number_discs(run, n_b)
    expand(run)
    return iterations
