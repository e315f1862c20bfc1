"""Spatial algebra inside the kernels, on `lanes`: 3-vectors in registers, matrices as columns.

- a spatial vector is the pair (angular, linear) of 3-vectors; in memory eight doubles,
- a 3 x 3 matrix is the triple of its columns; in memory twelve doubles,
- a 6 x 6 matrix is (A, B, C, D) for [[A, B], [C, D]], each a 3 x 3 matrix; in memory 48 doubles.

All quantities are in world axes and about reference points that many bodies share, so that phi is the
identity from link to link and disappears [J14, Eq. (59) with phi = I]; only between reference points is there
something to shift.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import inline
from mcpframe.jit.lanes import (
    get,
    load,
    put,
    spread_total,
    spread_x,
    spread_y,
    spread_z,
    store,
    total,
    vector,
    xzy,
    yxz,
    yzx,
    zero,
    zyx,
)


@inline
def copy(X, i, Y, j, n):
    """Copy n numbers from X[i] on to Y[j] on."""
    whole = n // 4 * 4
    for k in range(0, whole, 4):
        store(Y, j + k, load(X, i + k))
    for k in range(whole, n):
        put(Y, j + k, get(X, i + k))


@inline
def dot(a, b):
    """Return a . b of 3-vectors."""
    return total(a * b)


@inline
def cross(a, b):
    """Return a x b of 3-vectors."""
    return yzx(a * yzx(b) - yzx(a) * b)


@inline
def skew(a):
    """Return the 3 x 3 matrix that takes b to a x b."""
    return (
        xzy(a) * vector(0.0, 1.0, -1.0),
        zyx(a) * vector(-1.0, 0.0, 1.0),
        yxz(a) * vector(1.0, -1.0, 0.0),
    )


@inline
def plus_skew(m, a):
    """Return m + skew(a)."""
    return (
        m[0] + xzy(a) * vector(0.0, 1.0, -1.0),
        m[1] + zyx(a) * vector(-1.0, 0.0, 1.0),
        m[2] + yxz(a) * vector(1.0, -1.0, 0.0),
    )


@inline
def minus_skew(m, a):
    """Return m - skew(a)."""
    return (
        m[0] + xzy(a) * vector(0.0, -1.0, 1.0),
        m[1] + zyx(a) * vector(1.0, 0.0, -1.0),
        m[2] + yxz(a) * vector(-1.0, 1.0, 0.0),
    )


@inline
def combine(m, X, i):
    """Return the 3 x 3 matrix m times the 3-vector that starts at X[i]."""
    return get(X, i) * m[0] + get(X, i + 1) * m[1] + get(X, i + 2) * m[2]


@inline
def apply(m, a):
    """Return the 3 x 3 matrix m times the 3-vector a."""
    return spread_x(a) * m[0] + spread_y(a) * m[1] + spread_z(a) * m[2]


@inline
def identity():
    """Return the unit 3 x 3 matrix."""
    return vector(1.0, 0.0, 0.0), vector(0.0, 1.0, 0.0), vector(0.0, 0.0, 1.0)


@inline
def point_inertia(m, r):
    """Return the inertia of a mass at r about the origin, m (r·r 1 - r r*), by columns."""
    e, h = identity(), m * r
    square = dot(h, r)
    return (
        square * e[0] - spread_x(h) * r,
        square * e[1] - spread_y(h) * r,
        square * e[2] - spread_z(h) * r,
    )


@inline
def about_origin(J, m, c):
    """Return an inertia about the centre of mass, moved to the origin: J + m (c·c 1 - c c*); back for -m."""
    e, h = identity(), m * c
    square = dot(h, c)
    return (
        (J[0] + square * e[0]) - spread_x(h) * c,
        (J[1] + square * e[1]) - spread_y(h) * c,
        (J[2] + square * e[2]) - spread_z(h) * c,
    )


@inline
def load_matrix(X, i):
    """Return the 3 x 3 matrix stored by columns from X[i]."""
    return load(X, i), load(X, i + 4), load(X, i + 8)


@inline
def store_matrix(X, i, m):
    """Store the columns of a 3 x 3 matrix from X[i]."""
    store(X, i, m[0])
    store(X, i + 4, m[1])
    store(X, i + 8, m[2])


@inline
def plus_matrix(a, b):
    """Return a + b of 3 x 3 matrices."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inline
def minus_matrix(a, b):
    """Return a - b of 3 x 3 matrices."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inline
def load_pair(X, i):
    """Return the spatial vector stored from X[i]."""
    return load(X, i), load(X, i + 4)


@inline
def store_pair(X, i, a):
    """Store a spatial vector from X[i]."""
    store(X, i, a[0])
    store(X, i + 4, a[1])


@inline
def null_pair():
    """Return the spatial vector 0."""
    return zero(), zero()


@inline
def plus(a, b):
    """Return a + b of spatial vectors."""
    return a[0] + b[0], a[1] + b[1]


@inline
def plus_scaled(a, s, b):
    """Return a + s b of spatial vectors."""
    return a[0] + s * b[0], a[1] + s * b[1]


@inline
def scaled(s, a):
    """Return s a of a spatial vector."""
    return s * a[0], s * a[1]


@inline
def inner(a, b):
    """Return a* b of spatial vectors."""
    return total(a[0] * b[0] + a[1] * b[1])


@inline
def spread_inner(start, a, b):
    """Return start + a* b in every lane, of a number and spatial vectors: the way from a and b is short."""
    return spread_total(a[0] * b[0] + (a[1] * b[1] + vector(start, 0.0, 0.0)))


@inline
def minus_spread(a, s, b):
    """Return a - s b of spatial vectors, s in every lane."""
    return a[0] - s * b[0], a[1] - s * b[1]


@inline
def motion_cross(V, S):
    """Return the rate of change of a motion vector S that moves with V: [w x S_w; w x S_v + v x S_w]."""
    w, v = V
    w_yzx, s_yzx = yzx(w), yzx(S[0])
    angular = yzx(w * s_yzx - w_yzx * S[0])
    linear = yzx((w * yzx(S[1]) - w_yzx * S[1]) + (v * s_yzx - yzx(v) * S[0]))
    return angular, linear


@inline
def null_block():
    """Return the 6 x 6 matrix 0."""
    z = zero()
    return (z, z, z), (z, z, z), (z, z, z), (z, z, z)


@inline
def identity_block():
    """Return the unit 6 x 6 matrix."""
    z = zero()
    return identity(), (z, z, z), (z, z, z), identity()


@inline
def load_block(X, i):
    """Return the 6 x 6 matrix stored from X[i]."""
    return load_matrix(X, i), load_matrix(X, i + 12), load_matrix(X, i + 24), load_matrix(X, i + 36)


@inline
def store_block(X, i, m):
    """Store a 6 x 6 matrix from X[i]."""
    store_matrix(X, i, m[0])
    store_matrix(X, i + 12, m[1])
    store_matrix(X, i + 24, m[2])
    store_matrix(X, i + 36, m[3])


@inline
def plus_block(a, b):
    """Return a + b of 6 x 6 matrices."""
    return (
        plus_matrix(a[0], b[0]),
        plus_matrix(a[1], b[1]),
        plus_matrix(a[2], b[2]),
        plus_matrix(a[3], b[3]),
    )


@inline
def transform(m, X, i):
    """Return the 6 x 6 matrix m times the spatial vector stored from X[i]."""
    angular = combine(m[0], X, i) + combine(m[1], X, i + 4)
    linear = combine(m[2], X, i) + combine(m[3], X, i + 4)
    return angular, linear


@inline
def minus_outer(m, a, b):
    """Return m - a b* of a 6 x 6 matrix and spatial vectors."""
    w, v = a
    b0, b1, b2 = spread_x(b[0]), spread_y(b[0]), spread_z(b[0])
    b3, b4, b5 = spread_x(b[1]), spread_y(b[1]), spread_z(b[1])
    A, B, C, D = m
    return (
        (A[0] - b0 * w, A[1] - b1 * w, A[2] - b2 * w),
        (B[0] - b3 * w, B[1] - b4 * w, B[2] - b5 * w),
        (C[0] - b0 * v, C[1] - b1 * v, C[2] - b2 * v),
        (D[0] - b3 * v, D[1] - b4 * v, D[2] - b5 * v),
    )


@inline
def plus_outer(m, a, X, i):
    """Return m + a b* of a 6 x 6 matrix and spatial vectors, b stored from X[i]."""
    w, v = a
    b0, b1, b2 = get(X, i), get(X, i + 1), get(X, i + 2)
    b3, b4, b5 = get(X, i + 4), get(X, i + 5), get(X, i + 6)
    A, B, C, D = m
    return (
        (A[0] + b0 * w, A[1] + b1 * w, A[2] + b2 * w),
        (B[0] + b3 * w, B[1] + b4 * w, B[2] + b5 * w),
        (C[0] + b0 * v, C[1] + b1 * v, C[2] + b2 * v),
        (D[0] + b3 * v, D[1] + b4 * v, D[2] + b5 * v),
    )


@inline
def crossed(l, m):
    """Return skew(l) m of a 3 x 3 matrix."""
    return cross(l, m[0]), cross(l, m[1]), cross(l, m[2])


@inline
def times_skew(m, l):
    """Return m skew(l) of a 3 x 3 matrix."""
    x, y, z = spread_x(l), spread_y(l), spread_z(l)
    return z * m[1] - y * m[2], x * m[2] - z * m[0], y * m[0] - x * m[1]


@inline
def shifted_motion(V, l):
    """Return phi* V: a velocity or acceleration at a point, taken at the point that lies l from it."""
    return V[0], V[1] + cross(V[0], l)


@inline
def shifted_force(f, l):
    """Return phi f: a force at a point, taken at the point from which it lies l away."""
    return f[0] + cross(l, f[1]), f[1]


@inline
def shifted_inertia(P, l):
    """Return phi P phi*, phi = [[I, skew(l)], [0, I]]: an inertia, taken where it lies l away from."""
    A, B, C, D = P
    B_shifted = plus_matrix(B, crossed(l, D))
    A_shifted = minus_matrix(plus_matrix(A, crossed(l, C)), times_skew(B_shifted, l))
    return A_shifted, B_shifted, minus_matrix(C, times_skew(D, l)), D


@inline
def shifted_compliance(Y, l):
    """Return phi* Y phi, phi = [[I, skew(l)], [0, I]]: a compliance at a point, taken l from it."""
    A, B, C, D = Y
    B_shifted = plus_matrix(B, times_skew(A, l))
    D_shifted = minus_matrix(plus_matrix(D, times_skew(C, l)), crossed(l, B_shifted))
    return A, B_shifted, minus_matrix(C, crossed(l, A)), D_shifted


@inline
def times_phi_star(m, l):
    """Return m phi*, phi* = [[I, 0], [-skew(l), I]]."""
    A, B, C, D = m
    return minus_matrix(A, times_skew(B, l)), B, minus_matrix(C, times_skew(D, l)), D
