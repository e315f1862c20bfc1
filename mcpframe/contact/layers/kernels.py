"""Springs and dampers of a layer, in compiled code: what they do in one step, and how far they are stretched.

With g the gap, o an offset that is remembered (zero unless forces were there before the layer), depth
δ = o - g, opening speed v and a normal force λ = k δ^e (1 - d v) - c v >= 0, linearised where the step
begins, λ = f - (h K + C) v+, a step of h has

    0 <= p_n  ⟂  v+ + S p_n + s >= 0,     S = 1 / (h (h K + C)),    s = -f / (h K + C).

Along the tangents, λ = k δ + c δ̇ with the stretch δ, and the surface slips at v + δ̇:

    S = 1 / (h (h k + c)),     s = -k δ / (h k + c),     δ+ = (p + c δ) / (h k + c),

also while it slides: then the spring is carried along at its limit, and nothing creeps where it holds.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from numba import types

from mcpframe.jit import Vector, VectorOut, inline, kernel
from mcpframe.jit.lanes import get, put

# A layer in a row of doubles: stiffness k, exponent e, damping c, dissipation d; k and c of the tangents.
K_N, EXPONENT, C_N, DISSIPATION, K_T, C_T, LAYER_ROW = range(7)
LEAST_DEPTH = 1e-6
"""Metres up to which a layer that hardens is as soft as at this depth: at none it would have no stiffness."""


@inline
def normal_springs(X, at, h, depth, speed):
    """Return K, C and f of a layer at a depth, see above; from outside along the chord that the step cuts."""
    k, e = get(X, at + K_N), get(X, at + EXPONENT)
    c, d = get(X, at + C_N), get(X, at + DISSIPATION)
    if e == 1.0 and d == 0.0:
        return k, c, k * depth
    least = k * LEAST_DEPTH ** (e - 1.0)
    share = max(1.0 - d * speed, 0.0)
    if depth <= 0.0:
        reached = max(depth - h * speed, LEAST_DEPTH)
        K = max(k * reached ** (e - 1.0) * share, least)
        return K, c, K * depth
    f = k * depth**e
    return max(e * f / depth * share, least), c + d * f, f


@inline
def normal_terms(X, at, h, depth, speed):
    """Return S and s along the normal of a layer whose numbers begin at X[at]."""
    K, C, f = normal_springs(X, at, h, depth, speed)
    stiff = h * K + C
    return 1.0 / (h * stiff), -f / stiff


@inline
def tangent_softness(X, at, h):
    """Return S along the tangents."""
    return 1.0 / (h * (h * get(X, at + K_T) + get(X, at + C_T)))


@inline
def tangent_pull(X, at, h):
    """Return s of a unit of stretch."""
    k = get(X, at + K_T)
    return -k / (h * k + get(X, at + C_T))


@inline
def stretched(X, at, h, stretch, impulse):
    """Return the stretch after a step with an impulse, vectors or components of them."""
    c = get(X, at + C_T)
    return (1.0 / (h * get(X, at + K_T) + c)) * (impulse + c * stretch)


@inline
def layer_energy(X, at, depth, square):
    """Return what a layer stores at a depth and with the square of a stretch."""
    e = get(X, at + EXPONENT) + 1.0
    pressed = get(X, at + K_N) * max(depth, 0.0) ** e / e
    return pressed + 0.5 * get(X, at + K_T) * square


@kernel(Vector, types.float64, Vector, Vector, Vector, VectorOut, VectorOut)
def spring_terms(numbers, h, gaps, speeds, memory, S, s):
    """Write S and s of contacts in a step of h [3 n]; memory: (o, δ_1, δ_2) of each [3 n]."""
    for i in range(gaps.shape[0]):
        softness, shift = normal_terms(numbers, 0, h, get(memory, 3 * i) - get(gaps, i), get(speeds, i))
        put(S, 3 * i, softness)
        put(s, 3 * i, shift)
        for k in range(3 * i + 1, 3 * i + 3):
            put(S, k, tangent_softness(numbers, 0, h))
            put(s, k, tangent_pull(numbers, 0, h) * get(memory, k))


@kernel(Vector, types.float64, Vector, VectorOut)
def spring_stretch(numbers, h, impulses, memory):
    """Change (o, δ_1, δ_2) of contacts to what they are after a step of h with impulses [3 n]."""
    for i in range(impulses.shape[0] // 3):
        for k in range(3 * i + 1, 3 * i + 3):
            put(memory, k, stretched(numbers, 0, h, get(memory, k), get(impulses, k)))


@kernel(Vector, Vector, Vector, VectorOut)
def spring_energy(numbers, gaps, memory, out):
    """Write what the layers of contacts store [n]."""
    for i in range(gaps.shape[0]):
        a, b = get(memory, 3 * i + 1), get(memory, 3 * i + 2)
        put(out, i, layer_energy(numbers, 0, get(memory, 3 * i) - get(gaps, i), a * a + b * b))
