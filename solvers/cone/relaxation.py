"""Gauss-Seidel sweeps: contact after contact, with all others frozen [Jean 1999], solved as far as is cheap.

A contact with the velocity b that the others leave it is open where b_n >= 0; it sticks with r = -W_cc⁻¹ b
where that is in its cone; else it slides, and a few steps of a fixed point find the direction e of its
friction,

    r_n = -b_n / (W_nn + mu W_nt e),     x = mu r_n e - u_t / tr W_tt,     e = x / |x|.

Rows beside contacts, and contacts with more than one disc, are relaxed by projections.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline, inline_reduction, matrix_window, span, window
from mcpframe.jit.entries import get, put
from mcpframe.problem.cone import length
from mcpframe.problem.residual import row_dot
from mcpframe.solvers.cone import memory as at
from mcpframe.solvers.cone.units import ALMOST_ZERO, second

TURNS, TURNED = 6, 1e-3
"""Steps of the fixed point on the direction of friction at most, and change of it that ends them."""
LEAST_STIFFNESS = 1e-3
"""Share of W_nn below which W_nn + mu W_nt e counts as that: friction that wedges."""
INNER = 3
"""Projections of a contact with several discs in one visit."""
TINY = 1e-300


@inline_reduction
def three_dots(W, i, j, k, r, n):
    """Return W_i . r, W_j . r and W_k . r."""
    a, b, c = 0.0, 0.0, 0.0
    for m in span(0, n):
        a += W[i, m] * r[m]
        b += W[j, m] * r[m]
        c += W[k, m] * r[m]
    return a, b, c


@inline
def slide(W, i, t, mu, b_0, b_1, b_2, e_1, e_2):
    """Return the impulse of a contact that slides, first along e."""
    rho = 1.0 / (W[t, t] + W[t + 1, t + 1] + TINY)
    normal = 0.0
    for _ in range(TURNS):
        stiffness = W[i, i] + mu * (W[i, t] * e_1 + W[i, t + 1] * e_2)
        normal = -b_0 / max(stiffness, LEAST_STIFFNESS * W[i, i] + TINY)
        t_1, t_2 = mu * normal * e_1, mu * normal * e_2
        x_1 = t_1 - rho * (b_1 + W[t, i] * normal + W[t, t] * t_1 + W[t, t + 1] * t_2)
        x_2 = t_2 - rho * (b_2 + W[t + 1, i] * normal + W[t + 1, t] * t_1 + W[t + 1, t + 1] * t_2)
        far = length(x_1, x_2)
        if far == 0.0:
            break
        turned = abs(x_1 / far - e_1) + abs(x_2 / far - e_2)
        e_1, e_2 = x_1 / far, x_2 / far
        if turned < TURNED:
            break
    return normal, mu * normal * e_1, mu * normal * e_2


@callee
def relax_cone(I, X, W, q, r, d):
    """Solve one contact with a cone by itself, all others frozen; return by how much it has changed."""
    n, i, t = I[at.N], get(I, I[at.NORMAL] + d), get(I, I[at.FIRST] + d)
    mu, inverse = get(X, I[at.MU] + d), I[at.INVERSE] + 9 * d
    b_0, b_1, b_2 = three_dots(W, i, t, t + 1, r, n)
    o_0, o_1, o_2 = r[i], r[t], r[t + 1]
    b_0 += q[i] - (W[i, i] * o_0 + W[i, t] * o_1 + W[i, t + 1] * o_2)
    b_1 += q[t] - (W[t, i] * o_0 + W[t, t] * o_1 + W[t, t + 1] * o_2)
    b_2 += q[t + 1] - (W[t + 1, i] * o_0 + W[t + 1, t] * o_1 + W[t + 1, t + 1] * o_2)
    n_0, n_1, n_2 = 0.0, 0.0, 0.0
    if b_0 < 0.0:
        n_0 = -(get(X, inverse) * b_0 + get(X, inverse + 1) * b_1 + get(X, inverse + 2) * b_2)
        n_1 = -(get(X, inverse + 3) * b_0 + get(X, inverse + 4) * b_1 + get(X, inverse + 5) * b_2)
        n_2 = -(get(X, inverse + 6) * b_0 + get(X, inverse + 7) * b_1 + get(X, inverse + 8) * b_2)
        far = length(n_1, n_2)
        if n_0 < 0.0 or far > mu * n_0:
            e_1, e_2 = (n_1 / far, n_2 / far) if far > 0.0 else (1.0, 0.0)
            n_0, n_1, n_2 = slide(W, i, t, mu, b_0, b_1, b_2, e_1, e_2)
    r[i], r[t], r[t + 1] = n_0, n_1, n_2
    return max(abs(n_0 - o_0), abs(n_1 - o_1), abs(n_2 - o_2))


@callee
def relax_row(I, X, W, q, r, i):
    """Relax one row and the discs that lean on it by projections; return by how much they have changed."""
    n, first = I[at.N], get(I, I[at.DISCS_AT] + i)
    changed = 0.0
    if W[i, i] <= ALMOST_ZERO:  # nothing that its own impulse does: a row for Newton's method
        return changed
    for _ in range(INNER if first >= 0 else 1):
        old = r[i]
        moved = old - (q[i] + row_dot(W, i, r, 0, n)) / W[i, i]
        r[i] = min(max(moved, get(X, I[at.LOWER] + i)), get(X, I[at.UPPER] + i))
        changed = max(changed, abs(r[i] - old))
        d = first
        while 0 <= d < I[at.N_D] and get(I, I[at.NORMAL] + d) == i:
            changed = max(changed, relax_disc(I, X, W, q, r, d))
            d += 1
    return changed


@callee
def relax_disc(I, X, W, q, r, d):
    """Relax a disc by a projection; return by how much it has changed."""
    n, t, two = I[at.N], get(I, I[at.FIRST] + d), get(I, I[at.WIDTH] + d) == 2
    stiffness = W[t, t] + (W[t + 1, t + 1] if two else 0.0)
    rho = 1.0 / max(stiffness, ALMOST_ZERO)
    x_1 = r[t] - rho * (q[t] + row_dot(W, t, r, 0, n))
    x_2 = r[t + 1] - rho * (q[t + 1] + row_dot(W, t + 1, r, 0, n)) if two else 0.0
    far = length(x_1, x_2)
    reach = get(X, I[at.MU] + d) * max(r[get(I, I[at.NORMAL] + d)], 0.0) + get(X, I[at.OFFSET] + d)
    share = reach / far if far > reach else 1.0
    changed = max(abs(share * x_1 - r[t]), abs(share * x_2 - second(I, r, d)))
    r[t] = share * x_1
    if two:
        r[t + 1] = share * x_2
    return changed


@callee
def sweep(I, X, r, sweeps, settled, stop):
    """Run so many sweeps over a point, fewer where they change nothing any more."""
    n = I[at.N]
    W, q = matrix_window(X, I[at.W], n, n), window(X, I[at.Q], n)
    for _ in range(sweeps):
        changed = 0.0
        for i in range(n):
            if get(I, I[at.DISC_OF] + i) >= 0:
                continue
            d = get(I, I[at.DISCS_AT] + i)
            if d >= 0 and get(I, I[at.KIND] + d) == at.SIMPLE:
                changed = max(changed, relax_cone(I, X, W, q, r, d))
            else:
                changed = max(changed, relax_row(I, X, W, q, r, i))
        put(I, at.N_SWEEPS, I[at.N_SWEEPS] + 1)
        if changed <= settled or stop[0] != 0:
            return
