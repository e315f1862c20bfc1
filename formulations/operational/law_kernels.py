"""What contact laws write into a problem in compiled code: couplings, bounds, constants of slacks, discs.

Laws are rows of LAWS in `law_tables`; numbers that depend on the length of a step are straight lines in it.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.formulations.operational.kernels import M_AT, N_GROUPS, N_Z
from mcpframe.formulations.operational.law_tables import (
    BOUNDS,
    DISCS,
    GROUP_LAW,
    L_BETAS,
    L_DATA,
    L_DISC,
    L_DISCS,
    L_NORMAL,
    L_SIGMAS,
    LAW_DATA,
    N_LAW_DATA,
    N_LOOPS_AHEAD,
    SIZES,
)
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put
from mcpframe.problem.cone import (
    D_FIRST,
    D_MU,
    D_NORMAL,
    D_OFFSET,
    D_WIDTH,
    DISC_DOUBLES,
    DISC_INTEGERS,
)


@inline
def law_value(IR, XR, at, dt):
    """Return a number of a law's data in a step of dt; what it grows by lies behind all data."""
    return get(XR, at) + dt * get(XR, at + IR[N_LAW_DATA])


@inline
def couple(IR, XR, law, n, beta, sigma, dt):
    """Write N, P, R of a contact into M."""
    m, s, M = get(IR, law + L_BETAS), get(IR, law + L_SIGMAS), IR[M_AT]
    N = IR[LAW_DATA] + get(IR, law + L_DATA)
    P, R = N + m * s, N + 2 * m * s
    for j in range(s):
        for i in range(m):
            put(XR, M + (beta + i) * n + sigma + j, law_value(IR, XR, N + i * s + j, dt))
            put(XR, M + (sigma + j) * n + beta + i, law_value(IR, XR, P + j * m + i, dt))
        for i in range(s):
            put(XR, M + (sigma + j) * n + sigma + i, law_value(IR, XR, R + j * s + i, dt))


@callee
def slack_constants(IR, XR, dt):
    """Write the rows of q of all slacks: the r of their laws. Each time, for impacts add to them."""
    q = IR[M_AT] + IR[N_Z] * IR[N_Z]
    for c in range(IR[N_GROUPS] - IR[N_LOOPS_AHEAD]):
        group = IR[GROUP_LAW] + 3 * c
        law, sigma = get(IR, group), get(IR, group + 2)
        m, s = get(IR, law + L_BETAS), get(IR, law + L_SIGMAS)
        r = IR[LAW_DATA] + get(IR, law + L_DATA) + 2 * m * s + s * s
        for j in range(s):
            put(XR, q + sigma + j, law_value(IR, XR, r + j, dt))


@inline
def bound(IR, XR, law, n, beta, sigma, dt):
    """Write the bounds of a contact's unknowns."""
    m, s, lower, upper = get(IR, law + L_BETAS), get(IR, law + L_SIGMAS), IR[BOUNDS], IR[BOUNDS] + n
    data = IR[LAW_DATA] + get(IR, law + L_DATA) + 2 * m * s + s * s + s
    for i in range(m):
        put(XR, lower + beta + i, law_value(IR, XR, data + i, dt))
        put(XR, upper + beta + i, law_value(IR, XR, data + m + i, dt))
    for j in range(s):
        put(XR, lower + sigma + j, law_value(IR, XR, data + 2 * m + j, dt))
        put(XR, upper + sigma + j, law_value(IR, XR, data + 2 * m + s + j, dt))


@callee
def size_discs(IR, XR, dt):
    """Write mu of all discs, and that none is wider. Each time, for impacts widen them."""
    size = IR[SIZES]
    for c in range(IR[N_GROUPS] - IR[N_LOOPS_AHEAD]):
        law = get(IR, IR[GROUP_LAW] + 3 * c)
        m, s = get(IR, law + L_BETAS), get(IR, law + L_SIGMAS)
        mu = IR[LAW_DATA] + get(IR, law + L_DATA) + 2 * m * s + s * s + s + 2 * m + 2 * s
        for d in range(get(IR, law + L_DISCS)):
            put(XR, size + D_MU, law_value(IR, XR, mu + d, dt))
            put(XR, size + D_OFFSET, 0.0)
            size += DISC_DOUBLES


@inline
def plan_discs(IR, law, beta, disc):
    """List the discs of a contact whose β begin there; return the number of the next one."""
    for d in range(get(IR, law + L_DISCS)):
        row, rule = IR[DISCS] + (disc + d) * DISC_INTEGERS, law + L_DISC + 2 * d
        put(IR, row + D_NORMAL, beta + get(IR, law + L_NORMAL))
        put(IR, row + D_FIRST, beta + get(IR, rule))
        put(IR, row + D_WIDTH, get(IR, rule + 1))
    return disc + get(IR, law + L_DISCS)


@callee
def write_laws(IR, XR, dt):
    """Write what the laws say of the unknowns of everything that touches, in a step of dt."""
    n = IR[N_Z]
    for c in range(IR[N_GROUPS] - IR[N_LOOPS_AHEAD]):
        group = IR[GROUP_LAW] + 3 * c
        law, beta, sigma = get(IR, group), get(IR, group + 1), get(IR, group + 2)
        couple(IR, XR, law, n, beta, sigma, dt)
        bound(IR, XR, law, n, beta, sigma, dt)
