"""Solve the problem that the formulation has written, from the basis that its contacts had; certify."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.detection.records import C_KEY, CONTACT_ROW
from mcpframe.jit import by_address, callee, cycles, inline, matrix_window, window
from mcpframe.problem.residual import certify_dense
from mcpframe.simulation.step.memory import (
    CERTIFY,
    ITERATIONS,
    KNOWN_CODES,
    KNOWN_KEYS,
    MOVED,
    N_KNOWN,
    N_SOLVES,
    N_TOUCHING,
    RESIDUAL,
    REST_SPEED,
    ROWS_PER_CONTACT,
    SOLVE,
    SOLVING,
    TOL,
    TOUCHING,
    W_ROWS,
    Z,
)
from mcpframe.simulation.step.touching import place_of
from mcpframe.solving.solution import AT_LOWER, BASIC
from mcpframe.solving.stages import (
    CONTACT_ROWS,
    LOWER_AT,
    M_AT,
    N_ROWS,
    PROBLEM_HEAD,
    Q_AT,
    UPPER_AT,
    Z_BETA,
    Z_BETAS,
    Z_NORMAL,
    Z_SIGMA,
    Z_SIGMAS,
    call_solve,
)
from mcpframe.spatial.lanes import get, put


@inline
def row_of(IP, i, k):
    """Return which row of z is the k-th of contact i: its beta, then its sigma."""
    row = PROBLEM_HEAD + i * CONTACT_ROWS
    m = get(IP, row + Z_BETAS)
    return get(IP, row + Z_BETA) + k if k < m else get(IP, row + Z_SIGMA) + k - m


@inline
def rows_of(IP, i):
    """Return how many rows of z contact i has."""
    row = PROBLEM_HEAD + i * CONTACT_ROWS
    return get(IP, row + Z_BETAS) + get(IP, row + Z_SIGMAS)


@inline
def guess_free(run, i):
    """Guess the codes of a contact that opens: no impulses, the slack as large as the slip."""
    IP, XR = run.IP, run.XR
    row = PROBLEM_HEAD + i * CONTACT_ROWS
    first, m, normal = get(IP, row + Z_BETA), get(IP, row + Z_BETAS), get(IP, row + Z_NORMAL)
    slip, fastest = -1, 0.0
    for k in range(first, first + m):
        run.codes[k] = AT_LOWER
        if k != normal and get(XR, IP[Q_AT] + k) < fastest:
            slip, fastest = k, get(XR, IP[Q_AT] + k)
    for k in range(get(IP, row + Z_SIGMAS)):
        run.codes[get(IP, row + Z_SIGMA) + k] = BASIC if slip >= 0 else AT_LOWER
    if slip >= 0:
        run.codes[slip] = BASIC


@inline
def recall(run, i):
    """Write the codes that a contact had in its last problem; return 1 where it pressed, -1 for new ones."""
    IS, IP = run.IS, run.IP
    key = get(IS, IS[TOUCHING] + i * CONTACT_ROW + C_KEY)
    at = place_of(IS, IS[KNOWN_KEYS], 1, IS[N_KNOWN], key)
    if at < 0:
        return -1
    for k in range(rows_of(IP, i)):
        run.codes[row_of(IP, i, k)] = get(IS, IS[KNOWN_CODES] + at * IS[ROWS_PER_CONTACT] + k)
    return 1 if run.codes[get(IP, PROBLEM_HEAD + i * CONTACT_ROWS + Z_NORMAL)] == BASIC else 0


@callee
def recall_basis(run):
    """Write codes to start from: of contacts that pressed as they were, of others a guess.

    A new contact opens where it would without any impulses, and slides where it would not; after an impact
    all open that would.
    """
    IP, moved = run.IP, run.IS[MOVED] != 0
    for i in range(run.IS[N_TOUCHING]):
        normal = get(IP, PROBLEM_HEAD + i * CONTACT_ROWS + Z_NORMAL)
        opens = get(run.XR, IP[Q_AT] + normal) > 0.0
        pressed = recall(run, i)
        if pressed == 1 and not (moved and opens):
            continue
        guess_free(run, i)
        if pressed < 0 and not opens:
            run.codes[normal] = BASIC


@callee
def press_new(run):
    """Write codes to start from where new contacts strike: these press and slide, all others open."""
    IP = run.IP
    for i in range(run.IS[N_TOUCHING]):
        normal = get(IP, PROBLEM_HEAD + i * CONTACT_ROWS + Z_NORMAL)
        guess_free(run, i)
        if get(run.XR, IP[Q_AT] + normal) < -run.XS[REST_SPEED]:
            run.codes[normal] = BASIC


@callee
def release_opening(run):
    """Guess anew the codes of contacts that would open without any impulses; keep those of the others."""
    IP = run.IP
    for i in range(run.IS[N_TOUCHING]):
        normal = get(IP, PROBLEM_HEAD + i * CONTACT_ROWS + Z_NORMAL)
        if get(run.XR, IP[Q_AT] + normal) > 0.0:
            guess_free(run, i)


@callee
def remember_basis(run):
    """Keep the codes of the touching contacts for the next step."""
    IS, IP = run.IS, run.IP
    for i in range(IS[N_TOUCHING]):
        put(IS, IS[KNOWN_KEYS] + i, get(IS, IS[TOUCHING] + i * CONTACT_ROW + C_KEY))
        for k in range(rows_of(IP, i)):
            put(IS, IS[KNOWN_CODES] + i * IS[ROWS_PER_CONTACT] + k, run.codes[row_of(IP, i, k)])
    put(IS, N_KNOWN, IS[N_TOUCHING])


call_certify = by_address(certify_dense)


@callee
def solved(run, warm):
    """Solve the problem of the formulation; return whether its residual is within the tolerance."""
    IS, XS, IP, XR = run.IS, run.XS, run.IP, run.XR
    clock = cycles()
    n = IP[N_ROWS]
    M, q = matrix_window(XR, IP[M_AT], n, n), window(XR, IP[Q_AT], n)
    lower, upper, z = window(XR, IP[LOWER_AT], n), window(XR, IP[UPPER_AT], n), window(XS, IS[Z], n)
    scale = 1.0
    for i in range(n):
        scale = max(scale, 1.0 + abs(q[i]))
    tol = XS[TOL] * scale
    iterations = call_solve(run.A[SOLVE], (M, q, lower, upper, run.codes, warm, tol, z, run.W, run.IW))
    w = window(XS, IS[W_ROWS], n)
    residual = call_certify(run.A[CERTIFY], (M, q, lower, upper, z, w))
    put(IS, ITERATIONS, IS[ITERATIONS] + iterations)
    put(IS, N_SOLVES, IS[N_SOLVES] + 1)
    put(XS, RESIDUAL, max(XS[RESIDUAL], residual))
    put(IS, SOLVING, IS[SOLVING] + cycles() - clock)
    return residual <= tol
