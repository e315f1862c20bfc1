"""An interior point for contacts on cones: Nesterov and Todd's scaling, Mehrotra's predictor and corrector.

Of a disc, x = (mu z_n + c, z_D) and y lie in the second-order cone, of a bound its distance and a multiplier
are positive, and with the slip lifting every normal row, s_D = |y_t| [De Saxce and Feng 1998],

    W z + q + Σ mu s_D e_n = F* y + y_low - y_high,        x = F z + c e_0,      x . y = 0.

s = (|y_t|² + smooth gap²)^1/2, with the same smoothing in its derivative g (another one lets the gap outrun
the residual, and steps collapse), so that a step solves W + F* (I - e_0 g*) V⁻² F on z alone. What it finds
is no more than a start for `modes`: the modes are right long before the gap is closed.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline, matrix_window, window
from mcpframe.jit.entries import get, put
from mcpframe.problem.residual import row_dot
from mcpframe.solvers.cone import memory as at
from mcpframe.solvers.cone.modes import factor_system, solve_factored

LINEAR, LAGGED, HELD = range(3)
"""What is done about the slip: linearised with everything else, taken from the last step, or held."""
MU_FLOOR = 1e-3
"""Friction below which cones are too flat: it counts as that, and `modes` corrects it."""
TINY = 1e-300
BEHIND, FAR_BEHIND = 3.0, 300.0
"""Residual over the gap beyond which steps look more to the residual, and to it alone."""
CAUTIOUS, CENTRING, SHORT = 0.3, 0.8, 0.3
"""Least centring where the residual is behind, after a short step, and what step is short."""
TO_THE_EDGE, TO_THE_END, NEAR_END = 0.99, 0.999, 1e-6
"""Share of the way to the edge that is gone, and when the gap is small."""
STUCK = 1e-6
"""Step below which it gives up."""


@inline
def hyperbolic(a_0, a_1, a_2):
    """Return (a_0² - a_1² - a_2²)^1/2, positive inside the cone."""
    return math.sqrt(max(a_0 * a_0 - a_1 * a_1 - a_2 * a_2, TINY))


@inline
def scaled(eta, w_0, w_1, w_2, a_0, a_1, a_2):
    """Return V a."""
    dot = w_1 * a_1 + w_2 * a_2
    h = a_0 + dot / (1.0 + w_0)
    return eta * (w_0 * a_0 + dot), eta * (a_1 + h * w_1), eta * (a_2 + h * w_2)


@inline
def unscaled(eta, w_0, w_1, w_2, a_0, a_1, a_2):
    """Return V⁻¹ a."""
    return scaled(1.0 / eta, w_0, -w_1, -w_2, a_0, a_1, a_2)


@inline
def longest(x_0, x_1, x_2, d_0, d_1, d_2):
    """Return the largest step <= 1 that keeps x + step d in the cone."""
    a = d_0 * d_0 - d_1 * d_1 - d_2 * d_2
    b = x_0 * d_0 - x_1 * d_1 - x_2 * d_2
    c = x_0 * x_0 - x_1 * x_1 - x_2 * x_2
    if c <= 0.0:
        return 0.0
    step = min(1.0, -x_0 / d_0) if d_0 < 0.0 else 1.0
    root = b * b - a * c
    if a < 0.0 or (b < 0.0 and root >= 0.0):
        under = -b + math.sqrt(max(root, 0.0))
        if under > 0.0:
            step = min(step, c / under)
    return step


@inline
def on_disc(I, X, d, z):
    """Return F z of a disc."""
    t, two = get(I, I[at.FIRST] + d), get(I, I[at.WIDTH] + d) == 2
    mu = max(get(X, I[at.MU] + d), MU_FLOOR)
    return mu * z[get(I, I[at.NORMAL] + d)], z[t], (z[t + 1] if two else 0.0)


@inline
def primal(I, X, d, z):
    """Return x = F z + c e_0 of a disc."""
    x_0, x_1, x_2 = on_disc(I, X, d, z)
    return x_0 + get(X, I[at.OFFSET] + d), x_1, x_2


@inline
def triple(X, i):
    """Return three numbers."""
    return get(X, i), get(X, i + 1), get(X, i + 2)


@inline
def put_triple(X, i, a_0, a_1, a_2):
    """Write three numbers."""
    put(X, i, a_0)
    put(X, i + 1, a_1)
    put(X, i + 2, a_2)


@inline
def low_gap(I, X, i, z):
    """Return how far row i is from its lower bound; 0 where it needs no multiplier."""
    low, d = get(X, I[at.LOWER] + i), get(I, I[at.DISCS_AT] + i)
    if get(I, I[at.DISC_OF] + i) >= 0 or math.isinf(low):
        return 0.0
    implied = d >= 0 and low == 0.0 and get(X, I[at.OFFSET] + d) == 0.0
    return 0.0 if implied else z[i] - low


@inline
def high_gap(I, X, i, z):
    """Return how far row i is from its upper bound; 0 where there is none."""
    high = get(X, I[at.UPPER] + i)
    return 0.0 if math.isinf(high) else high - z[i]


@callee
def begin(I, X, z, size):
    """Write a start within all cones: duals of that size, and impulses along the normals."""
    n = I[at.N]
    for i in range(n):
        low, high = get(X, I[at.LOWER] + i), get(X, I[at.UPPER] + i)
        z[i] = 0.0
        if not math.isinf(low) and not math.isinf(high):
            z[i] = 0.5 * (low + high)
        elif not math.isinf(low):
            d = get(I, I[at.DISCS_AT] + i)
            z[i] = low + (size / max(get(X, I[at.MU] + d), MU_FLOOR) if d >= 0 else size)
        elif not math.isinf(high):
            z[i] = high - size
        put(X, I[at.LOW] + i, size)
        put(X, I[at.HIGH] + i, size)
        for part in (at.STEP, at.LOW_STEP, at.HIGH_STEP):
            put(X, I[part] + i, 0.0)
    for d in range(I[at.N_D]):
        put_triple(X, I[at.DUAL] + 3 * d, size, 0.0, 0.0)
        put_triple(X, I[at.DUAL_STEP] + 3 * d, 0.0, 0.0, 0.0)


@callee
def duality_gap(I, X, z, dz, step):
    """Return the mean of x . y over all cones, a step ahead."""
    total, count = 0.0, 0
    for d in range(I[at.N_D]):
        x_0, x_1, x_2 = primal(I, X, d, z)
        d_0, d_1, d_2 = on_disc(I, X, d, dz)
        y_0, y_1, y_2 = triple(X, I[at.DUAL] + 3 * d)
        e_0, e_1, e_2 = triple(X, I[at.DUAL_STEP] + 3 * d)
        total += (x_0 + step * d_0) * (y_0 + step * e_0) + (x_1 + step * d_1) * (y_1 + step * e_1)
        total += (x_2 + step * d_2) * (y_2 + step * e_2)
        count += 1
    for i in range(I[at.N]):
        low, high = low_gap(I, X, i, z), high_gap(I, X, i, z)
        if low > 0.0:
            total += (low + step * dz[i]) * (get(X, I[at.LOW] + i) + step * get(X, I[at.LOW_STEP] + i))
            count += 1
        if high > 0.0:
            total += (high - step * dz[i]) * (get(X, I[at.HIGH] + i) + step * get(X, I[at.HIGH_STEP] + i))
            count += 1
    return total / max(count, 1)


@inline
def slip_speed(X, i, d, frozen, kind, smooth):
    """Return s of a disc whose dual begins at X[i]."""
    if kind == HELD:
        return get(X, frozen + d)
    _, y_1, y_2 = triple(X, i)
    return math.sqrt(y_1 * y_1 + y_2 * y_2 + (smooth if kind == LINEAR else 0.0))


@inline
def slip_slope(X, i, kind, smooth):
    """Return g = ds / dy_t of a disc whose dual begins at X[i]."""
    if kind != LINEAR:
        return 0.0, 0.0
    _, y_1, y_2 = triple(X, i)
    over = 1.0 / math.sqrt(y_1 * y_1 + y_2 * y_2 + smooth)
    return y_1 * over, y_2 * over


@callee
def balance(I, X, z, kind, smooth):
    """Write RESIDUAL = W z + q + Σ mu s e_n - F* y - y_low + y_high; return its largest entry."""
    n = I[at.N]
    W, q, out = matrix_window(X, I[at.W], n, n), window(X, I[at.Q], n), window(X, I[at.RESIDUAL], n)
    for i in range(n):
        out[i] = q[i] + row_dot(W, i, z, 0, n)
        if low_gap(I, X, i, z) > 0.0:
            out[i] -= get(X, I[at.LOW] + i)
        if high_gap(I, X, i, z) > 0.0:
            out[i] += get(X, I[at.HIGH] + i)
    for d in range(I[at.N_D]):
        mu, t = max(get(X, I[at.MU] + d), MU_FLOOR), get(I, I[at.FIRST] + d)
        y_0, y_1, y_2 = triple(X, I[at.DUAL] + 3 * d)
        s = slip_speed(X, I[at.DUAL] + 3 * d, d, I[at.FROZEN], kind, smooth)
        out[get(I, I[at.NORMAL] + d)] += mu * (s - y_0)
        out[t] -= y_1
        if get(I, I[at.WIDTH] + d) == 2:
            out[t + 1] -= y_2
    worst = 0.0
    for i in range(n):
        worst = max(worst, abs(out[i]))
    return worst


@callee
def scale_cones(I, X, z):
    """Write V of every disc, V y = V⁻¹ x = λ, and λ."""
    for d in range(I[at.N_D]):
        x_0, x_1, x_2 = primal(I, X, d, z)
        y_0, y_1, y_2 = triple(X, I[at.DUAL] + 3 * d)
        x, y = hyperbolic(x_0, x_1, x_2), hyperbolic(y_0, y_1, y_2)
        half = math.sqrt(0.5 * (1.0 + (x_0 * y_0 + x_1 * y_1 + x_2 * y_2) / (x * y)))
        eta, over = math.sqrt(x / y), 0.5 / half
        w_0, w_1, w_2 = over * (x_0 / x + y_0 / y), over * (x_1 / x - y_1 / y), over * (x_2 / x - y_2 / y)
        put(X, I[at.SCALING] + 4 * d, eta)
        put_triple(X, I[at.SCALING] + 4 * d + 1, w_0, w_1, w_2)
        l_0, l_1, l_2 = scaled(eta, w_0, w_1, w_2, y_0, y_1, y_2)
        put_triple(X, I[at.LAMBDA] + 3 * d, l_0, l_1, l_2)


@inline
def inverse_square(X, i, a_0, a_1, a_2):
    """Return V⁻² a for the scaling at X[i]."""
    eta, w_0, w_1, w_2 = get(X, i), get(X, i + 1), -get(X, i + 2), -get(X, i + 3)
    over, dot = 1.0 / (eta * eta), 2.0 * (w_0 * a_0 + w_1 * a_1 + w_2 * a_2)
    return over * (dot * w_0 - a_0), over * (dot * w_1 + a_1), over * (dot * w_2 + a_2)


@callee
def write_matrix(I, X, z, kind, smooth):
    """Write SYSTEM = W + F* (I - e_0 g*) V⁻² F and what bounds add to the diagonal."""
    n = I[at.N]
    W, A = matrix_window(X, I[at.W], n, n), matrix_window(X, I[at.SYSTEM], n, n)
    for i in range(n):
        for j in range(n):
            A[i, j] = W[i, j]
        low, high = low_gap(I, X, i, z), high_gap(I, X, i, z)
        if low > 0.0:
            A[i, i] += get(X, I[at.LOW] + i) / low
        if high > 0.0:
            A[i, i] += get(X, I[at.HIGH] + i) / high
    for d in range(I[at.N_D]):
        i, t, two = get(I, I[at.NORMAL] + d), get(I, I[at.FIRST] + d), get(I, I[at.WIDTH] + d) == 2
        mu, V = max(get(X, I[at.MU] + d), MU_FLOOR), I[at.SCALING] + 4 * d
        g_1, g_2 = slip_slope(X, I[at.DUAL] + 3 * d, kind, smooth)
        for c in range(3 if two else 2):
            a_0, a_1, a_2 = inverse_square(
                X, V, mu if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0
            )
            j = i if c == 0 else t + c - 1
            A[i, j] += mu * (a_0 - g_1 * a_1 - g_2 * a_2)
            A[t, j] += a_1
            if two:
                A[t + 1, j] += a_2


@callee
def write_right(I, X, z, dz, corrects, target, kind, smooth):
    """Write RIGHT for centring towards the target.

    In the corrector with what the predictor's step has left out.
    """
    n = I[at.N]
    b, out = window(X, I[at.RIGHT], n), window(X, I[at.RESIDUAL], n)
    for i in range(n):
        b[i] = -out[i]
        low, high = low_gap(I, X, i, z), high_gap(I, X, i, z)
        if low > 0.0:
            more = dz[i] * get(X, I[at.LOW_STEP] + i) if corrects else 0.0
            put(X, I[at.LOW_RIGHT] + i, (target - more) / low - get(X, I[at.LOW] + i))
            b[i] += get(X, I[at.LOW_RIGHT] + i)
        if high > 0.0:
            more = -dz[i] * get(X, I[at.HIGH_STEP] + i) if corrects else 0.0
            put(X, I[at.HIGH_RIGHT] + i, (target - more) / high - get(X, I[at.HIGH] + i))
            b[i] -= get(X, I[at.HIGH_RIGHT] + i)
    for d in range(I[at.N_D]):
        i, t, mu = get(I, I[at.NORMAL] + d), get(I, I[at.FIRST] + d), max(get(X, I[at.MU] + d), MU_FLOOR)
        V = I[at.SCALING] + 4 * d
        l_0, l_1, l_2 = triple(X, I[at.LAMBDA] + 3 * d)
        eta, w_0, w_1, w_2 = get(X, V), get(X, V + 1), get(X, V + 2), get(X, V + 3)
        d_0, d_1, d_2 = target - (l_0 * l_0 + l_1 * l_1 + l_2 * l_2), -2.0 * l_0 * l_1, -2.0 * l_0 * l_2
        if corrects:
            p_0, p_1, p_2 = on_disc(I, X, d, dz)
            a_0, a_1, a_2 = unscaled(eta, w_0, w_1, w_2, p_0, p_1, p_2)
            e_0, e_1, e_2 = triple(X, I[at.DUAL_STEP] + 3 * d)
            b_0, b_1, b_2 = scaled(eta, w_0, w_1, w_2, e_0, e_1, e_2)
            d_0 -= a_0 * b_0 + a_1 * b_1 + a_2 * b_2
            d_1 -= a_0 * b_1 + b_0 * a_1
            d_2 -= a_0 * b_2 + b_0 * a_2
        det = max(l_0 * l_0 - l_1 * l_1 - l_2 * l_2, TINY)
        v_0 = (l_0 * d_0 - l_1 * d_1 - l_2 * d_2) / det
        v_1, v_2 = (d_1 - l_1 * v_0) / l_0, (d_2 - l_2 * v_0) / l_0
        c_0, c_1, c_2 = unscaled(eta, w_0, w_1, w_2, v_0, v_1, v_2)
        put_triple(X, I[at.CENTRAL] + 3 * d, c_0, c_1, c_2)
        g_1, g_2 = slip_slope(X, I[at.DUAL] + 3 * d, kind, smooth)
        b[i] += mu * (c_0 - g_1 * c_1 - g_2 * c_2)
        b[t] += c_1
        if get(I, I[at.WIDTH] + d) == 2:
            b[t + 1] += c_2


@callee
def take_steps(I, X, z, dz):
    """Write the steps of all duals that belong to dz; return the largest step that stays within all cones."""
    step = 1.0
    for d in range(I[at.N_D]):
        x_0, x_1, x_2 = primal(I, X, d, z)
        d_0, d_1, d_2 = on_disc(I, X, d, dz)
        a_0, a_1, a_2 = inverse_square(X, I[at.SCALING] + 4 * d, d_0, d_1, d_2)
        c_0, c_1, c_2 = triple(X, I[at.CENTRAL] + 3 * d)
        put_triple(X, I[at.DUAL_STEP] + 3 * d, c_0 - a_0, c_1 - a_1, c_2 - a_2)
        y_0, y_1, y_2 = triple(X, I[at.DUAL] + 3 * d)
        step = min(step, longest(x_0, x_1, x_2, d_0, d_1, d_2))
        step = min(step, longest(y_0, y_1, y_2, c_0 - a_0, c_1 - a_1, c_2 - a_2))
    for i in range(I[at.N]):
        low, high = low_gap(I, X, i, z), high_gap(I, X, i, z)
        if low > 0.0:
            y = get(X, I[at.LOW] + i)
            change = get(X, I[at.LOW_RIGHT] + i) - y / low * dz[i]
            put(X, I[at.LOW_STEP] + i, change)
            step = min(step, -y / change if change < 0.0 else 1.0, -low / dz[i] if dz[i] < 0.0 else 1.0)
        if high > 0.0:
            y = get(X, I[at.HIGH] + i)
            change = get(X, I[at.HIGH_RIGHT] + i) + y / high * dz[i]
            put(X, I[at.HIGH_STEP] + i, change)
            step = min(step, -y / change if change < 0.0 else 1.0, high / dz[i] if dz[i] > 0.0 else 1.0)
    return step


@callee
def move(I, X, z, dz, step):
    """Go a step."""
    for i in range(I[at.N]):
        if low_gap(I, X, i, z) > 0.0:
            put(X, I[at.LOW] + i, get(X, I[at.LOW] + i) + step * get(X, I[at.LOW_STEP] + i))
        if high_gap(I, X, i, z) > 0.0:
            put(X, I[at.HIGH] + i, get(X, I[at.HIGH] + i) + step * get(X, I[at.HIGH_STEP] + i))
    for i in range(I[at.N]):
        z[i] += step * dz[i]
    for i in range(3 * I[at.N_D]):
        put(X, I[at.DUAL] + i, get(X, I[at.DUAL] + i) + step * get(X, I[at.DUAL_STEP] + i))


@inline
def centring(gap, predicted, residual, last):
    """Return σ: Mehrotra's, but more where the residual lags behind the gap or the last step was short."""
    share = max(predicted, 0.0) / gap
    sigma = min(max(share * share * share, 1e-6), 1.0)
    if last < SHORT:
        sigma = max(sigma, CENTRING)
    if residual > FAR_BEHIND * gap:
        return 1.0
    return max(sigma, CAUTIOUS) if residual > BEHIND * gap else sigma


@callee
def central_path(I, X, z, most, end, kind, smoothing, stop):
    """Follow the path until the gap is closed that far, or it ends: then steps are negative.

    z and the duals go on from where they are.
    """
    n = I[at.N]
    A, dz, b = matrix_window(X, I[at.SYSTEM], n, n), window(X, I[at.STEP], n), window(X, I[at.RIGHT], n)
    last = 1.0
    for taken in range(most):
        gap = duality_gap(I, X, z, dz, 0.0)
        smooth = smoothing * gap * gap
        residual = balance(I, X, z, kind, smooth)
        if gap < end and residual < 100.0 * end:
            return taken
        scale_cones(I, X, z)
        write_matrix(I, X, z, kind, smooth)
        if not gap < 1.0 / TINY or stop[0] != 0 or not factor_system(I, X, A, n):
            return -taken - 1
        step, target = 0.0, 0.0
        for corrects in range(2):
            write_right(I, X, z, dz, corrects == 1, target, kind, smooth)
            solve_factored(I, X, A, b, n)
            for i in range(n):
                dz[i] = b[i]
            step = take_steps(I, X, z, dz)
            target = gap * centring(gap, duality_gap(I, X, z, dz, step), residual, last)
        step *= TO_THE_EDGE if gap > NEAR_END else TO_THE_END
        if not step > STUCK:
            return -taken - 1
        move(I, X, z, dz, step)
        last = step
    return most
