"""Newton's method on modes [Alart and Curnier 1991], in totals: each step is one linear system, solved for z.

With x = z - u / W_ii a row is at a bound or in between; a disc whose normal reaches so far sticks where
|x_D| < reach, else it slides along e = x_D / |x_D|. In these modes z = C y + d and the equations are linear:

    in between   y = z_i,                             W_i z + q_i = 0
    sticks       y = z_D,                             W_D z + q_D = 0
    slides       z_D = (mu z_n + c) e + y p, p ⟂ e,   p . (W_D z + q_D) + (1 - k) / (k rho) y = 0

with k = reach / |x_D|, rho = 1 / mean diagonal. A little on the diagonal, towards the last y, makes redundant
contacts share their load in one way. Open contacts have no unknown, sliding ones two, sticking ones three.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline, matrix_window, window
from mcpframe.jit.entries import get, put
from mcpframe.jit.lapack import INFO, SIZE, lapack_factor, lapack_solve
from mcpframe.problem.cone import length
from mcpframe.solvers.cone import memory as at
from mcpframe.solvers.cone.units import ALMOST_ZERO, errors, move_inside, velocities
from mcpframe.solvers.shared.dense import lu_factor, lu_solve

PROXIMAL = 1e-8
"""What is added to the diagonal, unless told otherwise. Where redundant contacts ask for what no motion
gives, by rounding or by gaps that differ, load wanders along self-stress until one of them slides or opens:
too little on the diagonal takes it past that in one step, too much keeps it from there."""
LEAST_REACH = 1e-8
"""Least k, below which a sliding disc's p is stiff enough."""
LAPACK_FROM = 200
"""Rows from which on LAPACK may be faster than loops in lanes: on one machine these take half its time up to
192 rows, the most that were measured."""
SUFFICIENT, GAIN = 1e-3, 0.9
"""Decrease of the merit that a full step must bring, and what of the best one counts as progress."""
HALVINGS, PATIENCE = 2, 3
"""Halvings of a step, and steps without progress after which it gives up."""
DIVERGED = 1e30

SHUT, STICKS, SLIDES = range(3)
"""How a disc moves; one that has no reach is shut."""


@callee
def solve_system(I, X, m):
    """Replace RIGHT by SYSTEM⁻¹ RIGHT, m rows; return whether the system is regular."""
    A, b = matrix_window(X, I[at.SYSTEM], m, m), window(X, I[at.RIGHT], m)
    return factor_system(I, X, A, m) and solve_factored(I, X, A, b, m)


@callee
def factor_system(I, X, A, m):
    """Factor A in place; return whether it is regular."""
    pivots, work = window(I, I[at.PIVOTS], m + 1), window(I, I[at.LAPACK], 4)
    if m <= LAPACK_FROM:
        return lu_factor(A, pivots, m)
    put(work, SIZE, m)
    lapack_factor(I[at.FACTOR_AT], A, pivots, work)
    return get(work, INFO) == 0


@callee
def solve_factored(I, X, A, b, m):
    """Replace b by A⁻¹ b, with the factors of `factor_system`."""
    pivots, work = window(I, I[at.PIVOTS], m + 1), window(I, I[at.LAPACK], 4)
    if m > LAPACK_FROM:
        put(work, SIZE, m)
        lapack_solve(I[at.SOLVE_AT], A, pivots, b, work)
        return True
    x = window(X, I[at.ANSWER], m)
    lu_solve(A, pivots, m, b, x)
    for i in range(m):
        b[i] = x[i]
    return True


@inline
def add_entry(I, X, entry, row, value):
    """Add an entry to the last column of C."""
    put(I, I[at.ENTRY] + entry, row)
    put(X, I[at.VALUE] + entry, value)


@inline
def add_equation(I, X, m, row_1, row_2, p_1, p_2, extra):
    """Write equation m: W's row, or that of p on a disc."""
    put(I, I[at.ROW_1] + m, row_1)
    put(I, I[at.ROW_2] + m, row_2)
    put(X, I[at.ACROSS_1] + m, p_1)
    put(X, I[at.ACROSS_2] + m, p_2)
    put(X, I[at.EXTRA] + m, extra)


@inline
def choose_bound(I, X, stiffness, r, u, i):
    """Return whether row i is in between its bounds, what it rests at if not, and x within the bounds."""
    low, high = get(X, I[at.LOWER] + i), get(X, I[at.UPPER] + i)
    x = r[i] - (u[i] / stiffness if stiffness > ALMOST_ZERO else u[i])
    if x <= low:
        return False, low, low
    if x >= high:
        return False, high, high
    return True, 0.0, x


@callee
def choose_slip(I, X, W, r, u, d, reach, eps):
    """Return how a disc moves that reaches so far; of one that slides write e and what is added across."""
    t, two = get(I, I[at.FIRST] + d), get(I, I[at.WIDTH] + d) == 2
    stiffness = eps if eps > 0.0 else 0.5 * (W[t, t] + W[t + 1, t + 1]) if two else W[t, t]
    rho = 1.0 / max(stiffness, ALMOST_ZERO)
    x_1, x_2 = r[t] - rho * u[t], (r[t + 1] - rho * u[t + 1]) if two else 0.0
    far = length(x_1, x_2)
    if far < reach:
        return STICKS
    e_1, e_2 = (x_1 / far, x_2 / far) if far > 0.0 else (1.0, 0.0)
    share = max(reach / far, LEAST_REACH) if far > 0.0 else 1.0
    put(X, I[at.SLIP] + 3 * d, e_1)
    put(X, I[at.SLIP] + 3 * d + 1, e_2)
    put(X, I[at.SLIP] + 3 * d + 2, (1.0 - share) / (share * rho))
    return SLIDES


@callee
def lean_disc(I, X, d, entry, between, along, rest):
    """Write how a disc follows its normal: entries of that one's column, and what it rests at.

    Args:
        d: the disc; its mode is known.
        entry: where the column goes on.
        between: whether the normal has a column.
        along: mu.
        rest: c, and mu times what the normal rests at.

    Returns:
        Where the column goes on.
    """
    t, slides = get(I, I[at.FIRST] + d), get(I, I[at.STATE] + d) == SLIDES
    for j in range(get(I, I[at.WIDTH] + d)):
        e = get(X, I[at.SLIP] + 3 * d + j)
        put(X, I[at.REST] + t + j, rest * e if slides else 0.0)
        if slides and between:
            add_entry(I, X, entry, t + j, along * e)
            entry += 1
    return entry


@callee
def add_disc(I, X, d, m, entry):
    """Write the columns and equations that a disc has of its own; return how many there are of both."""
    t, two, state = get(I, I[at.FIRST] + d), get(I, I[at.WIDTH] + d) == 2, get(I, I[at.STATE] + d)
    if state == STICKS:
        for j in range(2 if two else 1):
            put(I, I[at.COLUMN] + m, entry)
            add_entry(I, X, entry, t + j, 1.0)
            add_equation(I, X, m, t + j, -1, 1.0, 0.0, 0.0)
            m, entry = m + 1, entry + 1
    elif state == SLIDES and two:
        e_1, e_2 = get(X, I[at.SLIP] + 3 * d), get(X, I[at.SLIP] + 3 * d + 1)
        put(I, I[at.COLUMN] + m, entry)
        add_entry(I, X, entry, t, -e_2)
        add_entry(I, X, entry + 1, t + 1, e_1)
        add_equation(I, X, m, t, t + 1, -e_2, e_1, get(X, I[at.SLIP] + 3 * d + 2))
        m, entry = m + 1, entry + 2
    return m, entry


@callee
def choose_modes(I, X, r, u, eps):
    """Write C, d and the equations of the modes at r; return how many unknowns, and whether d is not zero.

    Args:
        eps: what takes the place of W_ii in x, see `proximal`; 0 for W_ii itself.
    """
    n, k, W = I[at.N], I[at.N_D], matrix_window(X, I[at.W], I[at.N], I[at.N])
    m, entry, moved = 0, 0, False
    for i in range(n):
        if get(I, I[at.DISC_OF] + i) >= 0:
            continue
        between, rest, x = choose_bound(I, X, eps if eps > 0.0 else W[i, i], r, u, i)
        put(X, I[at.REST] + i, rest)
        moved = moved or rest != 0.0
        if between:
            put(I, I[at.COLUMN] + m, entry)
            add_entry(I, X, entry, i, 1.0)
            add_equation(I, X, m, i, -1, 1.0, 0.0, 0.0)
            m, entry = m + 1, entry + 1
        first = get(I, I[at.DISCS_AT] + i)
        last = first
        # The normal's column must be whole before others begin: first all that slides with it.
        while 0 <= last < k and get(I, I[at.NORMAL] + last) == i:
            mu, offset = get(X, I[at.MU] + last), get(X, I[at.OFFSET] + last)
            reach, still = mu * max(x, 0.0) + offset, mu * rest + offset
            shut = not between and reach <= 0.0
            put(I, I[at.STATE] + last, SHUT if shut else choose_slip(I, X, W, r, u, last, reach, eps))
            entry = lean_disc(I, X, last, entry, between, mu, still)
            moved = moved or still != 0.0
            last += 1
        for d in range(first, last):
            m, entry = add_disc(I, X, d, m, entry)
    put(I, I[at.COLUMN] + m, entry)
    return m, moved


@callee
def write_system(I, X, r, m, moved, shift):
    """Write SYSTEM = R* W C + extra + shift, RIGHT = -R* (q + W d) + shift y, R the rows of equations."""
    n = I[at.N]
    W, q, rest = matrix_window(X, I[at.W], n, n), window(X, I[at.Q], n), window(X, I[at.REST], n)
    A, b, row = matrix_window(X, I[at.SYSTEM], m, m), window(X, I[at.RIGHT], m), window(X, I[at.MIXED], n)
    for k in range(m):
        i, j = get(I, I[at.ROW_1] + k), get(I, I[at.ROW_2] + k)
        p_1, p_2, extra = get(X, I[at.ACROSS_1] + k), get(X, I[at.ACROSS_2] + k), get(X, I[at.EXTRA] + k)
        if j < 0:
            for c in range(n):
                row[c] = W[i, c]
            right, y = q[i], r[i]
        else:
            for c in range(n):
                row[c] = p_1 * W[i, c] + p_2 * W[j, c]
            right, y = p_1 * q[i] + p_2 * q[j], p_1 * r[i] + p_2 * r[j]
        if moved:
            for c in range(n):
                right += row[c] * rest[c]
        for c in range(m):
            first, last = get(I, I[at.COLUMN] + c), get(I, I[at.COLUMN] + c + 1)
            total = get(X, I[at.VALUE] + first) * row[get(I, I[at.ENTRY] + first)]
            for e in range(first + 1, last):
                total += get(X, I[at.VALUE] + e) * row[get(I, I[at.ENTRY] + e)]
            A[k, c] = total
        A[k, k] += shift + extra
        b[k] = shift * y - right


@inline
def all_sticks(I, m):
    """Return whether C is 1: no row rests at a bound and no disc slides, unknowns in the order of rows."""
    whole = m == I[at.N]
    for k in range(m if whole else 0):
        whole = whole and get(I, I[at.ROW_1] + k) == k
    return whole


@callee
def write_whole(I, X, r, shift):
    """Write SYSTEM = W + shift, RIGHT = shift r - q, where C is 1."""
    n = I[at.N]
    W, A = matrix_window(X, I[at.W], n, n), matrix_window(X, I[at.SYSTEM], n, n)
    for k in range(n):
        for c in range(n):
            A[k, c] = W[k, c]
        A[k, k] += shift
        put(X, I[at.RIGHT] + k, shift * r[k] - get(X, I[at.Q] + k))


@callee
def mode_step(I, X, r, u, shift, eps, out):
    """Write the point that the modes at r lead to; return whether there is one."""
    m, moved = choose_modes(I, X, r, u, eps)
    if all_sticks(I, m):
        write_whole(I, X, r, shift)
    else:
        write_system(I, X, r, m, moved, shift)
    put(I, at.N_STEPS, I[at.N_STEPS] + 1)
    if m > 0 and not solve_system(I, X, m):
        return False
    for i in range(I[at.N]):
        out[i] = get(X, I[at.REST] + i)
    for c in range(m):
        y = get(X, I[at.RIGHT] + c)
        for e in range(get(I, I[at.COLUMN] + c), get(I, I[at.COLUMN] + c + 1)):
            out[get(I, I[at.ENTRY] + e)] += y * get(X, I[at.VALUE] + e)
    return True


@callee
def newton(I, X, r, goal, most, patience, halvings, shift, stop):
    """Take steps from r until its error is within the goal or nothing is gained; return the least error.

    r is the best point afterwards; `shift` is what is added to the diagonal. Steps are halved while they gain
    nothing, and taken all the same.
    """
    n = I[at.N]
    u, trial, trial_u = window(X, I[at.U], n), window(X, I[at.TRIAL], n), window(X, I[at.TRIAL_U], n)
    best = window(X, I[at.BEST], n)
    velocities(I, X, r, u)
    least, lowest = errors(I, X, r, u)
    merit, bad, steps = lowest, 0, 0
    for i in range(n):
        best[i] = r[i]
    while least > goal and steps < most and bad <= patience and stop[0] == 0:
        steps += 1
        if not mode_step(I, X, r, u, shift, 0.0, trial):
            break
        velocities(I, X, trial, trial_u)
        worst, now = errors(I, X, trial, trial_u)
        if worst <= goal:
            move_inside(I, X, trial)
            velocities(I, X, trial, trial_u)
            worst, now = errors(I, X, trial, trial_u)
        if now > DIVERGED:
            break
        share = 1.0
        for _ in range(halvings):
            if now < merit * (1.0 - SUFFICIENT * share) or now < lowest:
                break
            share *= 0.5
            for i in range(n):
                trial[i] = r[i] + 0.5 * (trial[i] - r[i])
                trial_u[i] = u[i] + 0.5 * (trial_u[i] - u[i])
            worst, now = errors(I, X, trial, trial_u)
        for i in range(n):
            r[i], u[i] = trial[i], trial_u[i]
        merit = now
        if now < lowest or worst <= goal:
            bad = 0 if now < GAIN * lowest else bad + 1
            lowest, least = now, worst
            for i in range(n):
                best[i] = r[i]
        else:
            bad += 1
    for i in range(n):
        r[i] = best[i]
    return least
