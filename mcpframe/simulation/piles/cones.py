"""Friction cones of a pile: projection on r_n >= 0, r_t in a disc of radius mu r_n or a polygon within it.

The polygon is regular, with corners at the angles 2 π j / n_f from t_1: what the directions of
`mcpframe.contact.frames` span. Its law, the least u_t . r_t over the polygon, is that of the rows of Coulomb
friction with n_f directions, and r_t = P(r_t - u_t) says the same.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import put
from mcpframe.simulation.piles.slots import DISC, SMOOTH

HALF_ROOT = math.sqrt(0.5)


@inline
def sector_of(x, y, edges):
    """Return the number of the polygon's edge that the direction (x, y) points at, and its outward normal."""
    if edges == 4:  # as is usual, without angles
        sector = (0 if y >= 0.0 else 3) if x >= 0.0 else (1 if y >= 0.0 else 2)
        return sector, math.copysign(HALF_ROOT, x), math.copysign(HALF_ROOT, y)
    turn = math.atan2(y, x) / (2.0 * math.pi)
    sector = math.floor((turn - math.floor(turn)) * edges) % edges
    angle = (2 * sector + 1) * math.pi / edges
    return sector, math.cos(angle), math.sin(angle)


@inline
def half_angle(edges):
    """Return cosine and sine of half the angle between two corners."""
    if edges == 4:
        return HALF_ROOT, HALF_ROOT
    return math.cos(math.pi / edges), math.sin(math.pi / edges)


@inline
def facing(v, edges):
    """Return what is along n, t_1, t_2 along n and the normals of the edges, where there are four."""
    if edges != 4:
        return v
    return v[0], HALF_ROOT * (v[1] + v[2]), HALF_ROOT * (v[2] - v[1])


@inline
def turned_back(v, edges):
    """Return what is along n and the normals of four edges along n, t_1, t_2."""
    if edges != 4:
        return v
    return v[0], HALF_ROOT * (v[1] - v[2]), HALF_ROOT * (v[1] + v[2])


@inline
def between(x, half):
    """Return x within [-half, half], by how much that follows x, and on which side x is beyond."""
    r = max(-half, min(half, x))
    return r, (1.0 if r == x else 0.0), (0.0 if r == x else math.copysign(1.0, x))


@inline
def onto_disc(x, y, radius, edges):
    """Return the projection on a disc, or polygon, of a radius, and its derivatives; all is `facing` it.

    (r_1, r_2), dr_1/dx, dr_1/dy = dr_2/dx, dr_2/dy, and (r_1, r_2) by the radius where it matters, else 0.
    """
    if edges == SMOOTH or radius <= 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if edges == DISC:
        far = math.sqrt(x * x + y * y)
        if far <= radius:
            return x, y, 1.0, 0.0, 1.0, 0.0, 0.0
        x, y, share = x / far, y / far, radius / far
        return radius * x, radius * y, share * y * y, -share * x * y, share * x * x, x, y
    if edges == 4:  # a square: rounding of what slides along one normal does not reach the other
        r_x, by_x, side_x = between(x, HALF_ROOT * radius)
        r_y, by_y, side_y = between(y, HALF_ROOT * radius)
        return r_x, r_y, by_x, 0.0, by_y, HALF_ROOT * side_x, HALF_ROOT * side_y
    distance, reach = half_angle(edges)
    if x * x + y * y <= (radius * distance) * (radius * distance):
        return x, y, 1.0, 0.0, 1.0, 0.0, 0.0
    _, n_x, n_y = sector_of(x, y, edges)
    across, along = n_x * x + n_y * y, n_x * y - n_y * x
    if across <= radius * distance:
        return x, y, 1.0, 0.0, 1.0, 0.0, 0.0
    if abs(along) < radius * reach:
        r_x, r_y = radius * distance * n_x - along * n_y, radius * distance * n_y + along * n_x
        return r_x, r_y, n_y * n_y, -n_x * n_y, n_x * n_x, distance * n_x, distance * n_y
    side = math.copysign(reach, along)
    g_x, g_y = distance * n_x - side * n_y, distance * n_y + side * n_x
    return radius * g_x, radius * g_y, 0.0, 0.0, 0.0, g_x, g_y


@inline
def onto_cone(x, mu, leans, edges):
    """Return x, `facing` the cone, drawn into it: tangents into the disc of radius mu (x_n+ + leans).

    [Alart and Curnier 1991]. Open contacts have no impulse at all, unless friction leans on others than their
    own. What is returned is along n, t_1, t_2.
    """
    normal = max(x[0], 0.0)
    t = onto_disc(x[1], x[2], mu * (normal + leans), edges)
    return turned_back((normal, t[0], t[1]), edges)


@inline
def slopes(x, mu, leans, edges):
    """Return the derivative of `onto_cone` along n, t_1, t_2: the first column, and the tangents' block."""
    closed = x[0] > 0.0
    t = onto_disc(x[1], x[2], mu * (max(x[0], 0.0) + leans), edges)
    _, by_1, by_2 = turned_back((0.0, t[5], t[6]), edges)
    by_normal, block = mu if closed else 0.0, (t[2], t[3], t[4])
    if edges == 4:  # Q* diag(a, b) Q, turned by half a right angle
        block = 0.5 * (t[2] + t[4]), 0.5 * (t[2] - t[4]), 0.5 * (t[2] + t[4])
    return 1.0 if closed else 0.0, by_normal * by_1, by_normal * by_2, block[0], block[1], block[2]


@inline
def direction(j, edges):
    """Return corner j of the polygon of radius 1."""
    if edges == 4:
        return (1.0 - j if j < 2 else j - 3.0), (j % 2) * (2.0 - j)
    angle = 2.0 * math.pi * j / edges
    return math.cos(angle), math.sin(angle)


@inline
def along(v, j, edges):
    """Return d_j . v_t of a vector along n, t_1, t_2."""
    x, y = direction(j, edges)
    return x * v[1] + y * v[2]


@inline
def shares(r, edges):
    """Return r_t as a sum of two directions: the number of the first, its share, and that of the next."""
    sector, _, _ = sector_of(r[1], r[2], edges)
    x, y = direction(sector, edges)
    next_x, next_y = direction((sector + 1) % edges, edges)
    area = x * next_y - y * next_x
    return sector, max(r[1] * next_y - r[2] * next_x, 0.0) / area, max(x * r[2] - y * r[1], 0.0) / area


@inline
def share_of(parts, j, edges):
    """Return the share of direction j."""
    if j == parts[0]:
        return parts[1]
    return parts[2] if j == (parts[0] + 1) % edges else 0.0


@inline
def slack(u, edges):
    """Return the least σ >= 0 with d_j . u_t + σ >= 0 for all directions."""
    if edges == 4:
        return max(abs(u[1]), abs(u[2]))
    sigma = 0.0
    for j in range(edges):
        sigma = max(sigma, -along(u, j, edges))
    return sigma


@callee
def split(X, beta, sigma, r, u, edges):
    """Write r_t as a sum of the two directions that it lies between, and the least slack of the slip."""
    parts = shares(r, edges)
    for j in range(edges):
        put(X, beta + j, share_of(parts, j, edges))
    put(X, sigma, slack(u, edges))
