"""Frictional contact with the exact Coulomb cone: local form (W, q, mu), global form (M, H, f, w, mu).

Find impulses r with relative velocities u = W r + q and, contact by contact, in the order (normal, tangents),

    r in K_mu = {|r_t| <= mu r_n},   u + mu |u_t| e_n in K_mu*,   the two orthogonal

[De Saxce and Feng 1998; Acary, Cadoux, Lemarechal, Malick 2011]. The global form keeps the velocities v:

    M v = H r + f,   u = H' v + w,   hence   W = H' M^-1 H,   q = H' M^-1 f + w.

`FrictionProblem` follows the same protocol as `MixedLCP` (n, scale, certify), so `solve` takes it; its
polyhedral approximation is a mixed LCP (`to_mixed_lcp`), exact in the plane.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import frozen, real_array, real_matrix, real_vector
from mcpframe.exceptions import ProblemError
from mcpframe.notebook import html
from mcpframe.problem.global_form import GlobalForm, Matrix
from mcpframe.problem.layout import ContactBlocks, Layout
from mcpframe.problem.problems import MixedLCP
from mcpframe.problem.residual import ROUNDING

Array = NDArray[np.float64]


class FrictionProblem:
    """Coulomb contacts on a Delassus operator W.

    Args:
        W: Delassus operator [n, n], dense or scipy.sparse, n = dim * number of contacts.
        q: free relative velocities [n].
        mu: friction coefficients [number of contacts] or a scalar.
        dim: 3, or 2 in the plane.
    """

    def __init__(self, W: Any, q: ArrayLike, mu: ArrayLike, dim: int = 3) -> None:
        self._set(real_vector("q", q), mu, dim, None)
        self._given: Matrix = real_matrix("W", W, (self.n, self.n))

    def _set(self, q: Array, mu: ArrayLike, dim: int, form: GlobalForm | None) -> None:
        self.q, self.dim, self.global_form = q, _dimension(dim), form
        self.mu = _friction(mu, q.size, self.dim, "q")

    @classmethod
    def from_global(
        cls, M: Any, H: Any, f: ArrayLike, w: ArrayLike, mu: ArrayLike, dim: int = 3
    ) -> FrictionProblem:
        """Return the problem given by M v = H r + f, u = H' v + w; W is made of them when it is asked for.

        Args:
            M: mass matrix [n_v, n_v], nonsingular, dense or scipy.sparse.
            H: contact map [n_v, n].
            f, w: forces [n_v] and prescribed relative velocities [n].
            mu, dim: as in the local form.
        """
        form = GlobalForm(M, H, f, w)
        problem = object.__new__(cls)
        problem._set(frozen(form.free_velocities()), mu, dim, form)
        return problem

    @cached_property
    def W(self) -> Matrix:
        """Delassus operator [n, n]: given, or H' M^-1 H."""
        if self.global_form is None:
            return self._given
        return real_matrix("W", self.global_form.condensed(), (self.n, self.n))

    def __repr__(self) -> str:
        form = "local" if self.global_form is None else f"global, n_v={self.global_form.n_v}"
        return f"FrictionProblem(n={self.n}, contacts={self.n_c}, dim={self.dim}, {form})"

    def _repr_html_(self) -> str:
        form = "local (W, q)" if self.global_form is None else f"global, {self.global_form.n_v} velocities"
        low, high = float(self.mu.min(initial=np.inf)), float(self.mu.max(initial=-np.inf))
        mu = "" if not self.mu.size else f"{low:g}" if low == high else f"{low:g} to {high:g}"
        about = {"contacts": self.n_c, "dimension": self.dim, "form": form, "friction": mu}
        return html.card(f"Friction problem, n = {self.n}", about)

    @property
    def n(self) -> int:
        """Length of r."""
        return int(self.q.size)

    @property
    def n_c(self) -> int:
        """Number of contacts."""
        return int(self.mu.size)

    @property
    def is_sparse(self) -> bool:
        """Whether W is, or would be, in compressed rows."""
        return bool(sp.issparse(self.W if self.global_form is None else self.global_form.H))

    @cached_property
    def scale(self) -> float:
        """1 + ||q||_inf: solved means judged residual <= tol * scale, each contact at its own scale."""
        return float(self.contact_scales.max(initial=1.0))

    @cached_property
    def contact_scales(self) -> Array:
        """1 + ||q_c||_inf of every contact c [n_c]."""
        return 1.0 + self._largest(self.q)

    @cached_property
    def reach(self) -> float:
        """The size that the data give to r: max_c (1 + ||q_c||) / max |W_c|, W_c not zero."""
        W = self._largest(np.abs(self.W).max(axis=1)) if self.n else np.empty(0)
        with np.errstate(over="ignore"):
            return float((self.contact_scales[W > 0.0] / W[W > 0.0]).max(initial=0.0))

    def _largest(self, x: Any) -> Array:
        """Return max |x_i| over the rows of every contact [n_c]."""
        dense = x.toarray() if sp.issparse(x) else np.asarray(x)
        return np.asarray(np.abs(dense).reshape(-1, self.dim).max(axis=1, initial=0.0))

    def velocities(self, r: Array) -> Array:
        """Return v = M^-1 (H r + f) of the global form [n_v].

        Raises:
            ProblemError: the problem was given in local form, which has no v.
        """
        if self.global_form is None:
            raise ProblemError("velocities: a problem in local form (W, q) has no generalised velocities")
        return self.global_form.velocities(np.asarray(r, dtype=np.float64))

    def relative_velocities(self, r: Array) -> Array:
        """Return u = W r + q, in global form by way of v [n]."""
        if self.global_form is None:
            return np.asarray(self.W @ r + self.q)
        form = self.global_form
        return np.asarray(form.H.T @ form.velocities(r) + form.w)

    def certify(self, z: Array) -> tuple[Array, Array, float]:
        """Return r projected onto its cones, u, and the judged residual of that r, for tol * scale.

        Contact c is off by |r_c - P_K(r_c - u_c - mu |u_t| e_n)|_inf and judged at 1 + ||q_c||_inf. What
        rounding of r and of u = W r + q alone can do is excused, as in `mcpframe.problem.residual`: unlike a
        bound, the edge of a cone is not a number that r can lie on exactly.
        """
        r = np.array(z, dtype=np.float64)
        if not np.isfinite(r).all():
            return r, np.full(self.n, np.nan), math.inf
        with np.errstate(over="ignore", invalid="ignore"):
            r = project_cone(r.reshape(-1, self.dim), self.mu).ravel()
            u = self.relative_velocities(r)
            off = self._largest(self.natural_map(r, u))
            if not (np.isfinite(off).all() and np.isfinite(u).all()):
                return r, u, math.inf
            excused = self._excused(off, r, u)
        return r, u, self.scale * float(np.max(off / self.contact_scales, where=~excused, initial=0.0))

    def _excused(self, off: Array, r: Array, u: Array) -> NDArray[np.bool_]:
        """Return the contacts [n_c] that are off by no more than rounding of r and of W r, where it matters.

        r - P_K(r - rho u_hat) vanishes for every rho > 0 or for none; rho = |r| / |u_hat| weighs both alike.
        """
        r_c, u_hat = r.reshape(-1, self.dim), lifted(u.reshape(-1, self.dim), self.mu)
        sizes = self._largest(r), self._largest(u_hat)
        rho = np.divide(*sizes, out=np.ones(self.n_c), where=(sizes[0] > 0.0) & (sizes[1] > 0.0))
        weighed = self._largest(r_c - project_cone(r_c - rho[:, None] * u_hat, self.mu))
        perhaps = off > ROUNDING * self.contact_scales
        form = self.global_form
        if form is not None and form.inverse is not None and perhaps.any():  # W may be long to make
            perhaps &= weighed <= ROUNDING * (sizes[0] + rho * self._largest(form.terms(np.abs(r))))
            judged = off / self.contact_scales
            perhaps &= judged > np.max(judged, where=~perhaps, initial=0.0)  # others are not the worst anyway
        if not perhaps.any():
            return np.asarray(perhaps)
        size = np.minimum(np.abs(r), self.reach)
        terms = np.abs(self.W) @ size
        return np.asarray(
            perhaps & (weighed <= ROUNDING * (self._largest(size) + rho * self._largest(terms)))
        )

    def natural_residual(self, r: Array, u: Array) -> float:
        """Return max |r - P_K(r - u - mu |u_t| e_n)|, all contacts at one scale."""
        if not (np.isfinite(r).all() and np.isfinite(u).all()):
            return math.inf
        with np.errstate(over="ignore", invalid="ignore"):
            worst = float(np.abs(self.natural_map(r, u)).max(initial=0.0))
        return worst if math.isfinite(worst) else math.inf

    def natural_map(self, r: Array, u: Array) -> Array:
        """Return r - P_K(r - u - mu |u_t| e_n) [n], zero exactly at solutions."""
        return natural_map(r.reshape(-1, self.dim), u.reshape(-1, self.dim), self.mu).ravel()

    def to_mixed_lcp(self, n_f: int = 4) -> MixedLCP:
        """Return the mixed LCP of the friction cone with n_f edges per contact.

        Local form: z = (beta, sigma). Global form: z = (v, beta, sigma), M sparse, v in free rows.
        `impulses` reads r back. In the plane n_f is 2 and nothing is approximated.

        Args:
            n_f: number of friction directions, even (opposites included); ignored in the plane.
        """
        n_f = 2 if self.dim == 2 else n_f
        D_bar, E_hat, E_bar = self._cone_maps(n_f)
        lower_n = self.n_c * (n_f + 2)
        if self.global_form is None:
            blocks = [[D_bar.T @ sp.csr_array(self.W) @ D_bar, E_hat], [E_bar, None]]
            M = sp.block_array(blocks, format="csr") if self.n else sp.csr_array((0, 0))
            q = np.concatenate([D_bar.T @ self.q, np.zeros(self.n_c)])
            n_v = 0
            matrix: Any = M if sp.issparse(self.W) else M.toarray()
        else:
            form = self.global_form
            n_v = form.n_v
            HD = sp.csr_array(form.H) @ D_bar
            matrix = _global_blocks(sp.csr_array(form.M), HD, E_hat, E_bar)
            q = np.concatenate([-form.f, D_bar.T @ form.w, np.zeros(self.n_c)])
        lower = np.concatenate([np.full(n_v, -np.inf), np.zeros(lower_n)])
        return MixedLCP(
            matrix, q, lower, np.inf, layout=self._layout(n_v, n_f), contacts=self._contact_blocks(n_v, n_f)
        )

    def impulses(self, z: Array) -> Array:
        """Return r = Dbar beta of a solution z of `to_mixed_lcp` [n]; n_f follows from the length of z."""
        n_v = 0 if self.global_form is None else self.global_form.n_v
        z = np.asarray(z, dtype=np.float64)
        n_f = (z.size - n_v) // self.n_c - 2 if self.n_c else 2
        if z.ndim != 1 or z.size != n_v + self.n_c * (n_f + 2) or n_f < 2 or n_f % 2:
            raise ProblemError(
                f"z: shape {z.shape} does not belong to {self!r} with an even number of directions"
            )
        D_bar, _, _ = self._cone_maps(n_f)
        return np.asarray(D_bar @ z[self._layout(n_v, n_f)["beta"]])

    def _layout(self, n_v: int, n_f: int) -> Layout:
        blocks = {"beta": self.n_c * (n_f + 1), "sigma": self.n_c}
        return Layout(blocks if self.global_form is None else {"v": n_v} | blocks)

    def _contact_blocks(self, n_v: int, n_f: int) -> ContactBlocks:
        beta = n_v + np.arange(self.n_c * (n_f + 1), dtype=np.int64).reshape(self.n_c, n_f + 1)
        slip = n_v + self.n_c * (n_f + 1) + np.arange(self.n_c, dtype=np.int64)
        return ContactBlocks(beta[:, 0], beta[:, 1:], slip, self.mu)

    def _cone_maps(self, n_f: int) -> tuple[sp.csr_array, sp.csr_array, sp.csr_array]:
        """Return Dbar, Ehat, Ebar, block-diagonal over the contacts [J14, Eq. (14)]."""
        directions = friction_directions(n_f, self.dim)
        D = np.zeros((self.dim, directions.shape[1] + 1))
        D[0, 0], D[1:, 1:] = 1.0, directions
        edge = np.concatenate([[0.0], np.ones(n_f)])
        contacts = sp.eye_array(self.n_c)
        D_bar = sp.kron(contacts, D, format="csr")
        E_hat = sp.kron(contacts, edge[:, None], format="csr")
        normal = sp.kron(sp.diags_array(self.mu), np.eye(1, n_f + 1), format="csr")
        return D_bar, E_hat, sp.csr_array(normal - E_hat.T)


def lengths(t: Array) -> Array:
    """Return the lengths of the rows of t [n_c, 1 or 2], without overflow."""
    return np.asarray(np.abs(np.hypot.reduce(t, axis=1)))


def lifted(u: Array, mu: Array) -> Array:
    """Return u + mu |u_t| e_n of every contact [n_c, dim]."""
    return np.column_stack([u[:, 0] + mu * lengths(u[:, 1:]), u[:, 1:]])


def natural_map(r: Array, u: Array, mu: Array) -> Array:
    """Return r - P_K(r - u - mu |u_t| e_n) of every contact [n_c, dim], zero exactly at solutions."""
    u_hat = lifted(u, mu)
    x = r - u_hat
    # Inside the cone the map is u_hat itself: written so, a small u beside a huge r is not rounded away.
    return np.where(in_cone(x, mu)[:, None], u_hat, r - project_cone(x, mu))


def in_cone(x: Array, mu: Array) -> NDArray[np.bool_]:
    """Return which rows (x_n, x_t) lie in K_mu; without friction, |x_t| = 0 says nothing of x_n."""
    return np.asarray((lengths(x[:, 1:]) <= mu * x[:, 0]) & (x[:, 0] >= 0.0))


def project_cone(x: Array, mu: Array) -> Array:
    """Return the projection of every row (x_n, x_t) onto K_mu = {|x_t| <= mu x_n}.

    Args:
        x: points [n_c, dim].
        mu: friction coefficients [n_c].
    """
    normal, tangent = x[:, 0], x[:, 1:]
    t = lengths(tangent)
    y_n = np.maximum((mu * t + normal) / (1.0 + mu * mu), 0.0)
    edge = np.empty_like(x)
    edge[:, 0] = y_n
    edge[:, 1:] = tangent * (mu * y_n / np.where(t > 0.0, t, 1.0))[:, None]
    return np.where(in_cone(x, mu)[:, None], x, edge)


def friction_directions(n_f: int, dim: int = 3) -> Array:
    """Return n_f unit tangents as columns [dim - 1, n_f], evenly spread, opposites included."""
    if dim == 2:
        return np.array([[1.0, -1.0]])
    if int(n_f) != n_f or n_f < 2 or n_f % 2:
        raise ProblemError(f"n_f = {n_f!r}: must be an even number >= 2, so that opposites are included")
    half = np.pi * np.arange(n_f // 2) / (n_f // 2)
    d = np.array([np.cos(half), np.sin(half)])
    return np.hstack([d, -d])


def _global_blocks(
    M: sp.csr_array, HD: sp.csr_array, E_hat: sp.csr_array, E_bar: sp.csr_array
) -> sp.csr_array:
    if HD.shape[1] == 0:
        return M
    return sp.block_array([[M, -HD, None], [HD.T, None, E_hat], [None, E_bar, None]], format="csr")


def _dimension(dim: Any) -> int:
    if dim not in (2, 3):
        raise ProblemError(f"dim = {dim!r}: must be 2 or 3")
    return int(dim)


def _friction(mu: ArrayLike, n: int, dim: int, name: str) -> Array:
    if n % dim:
        raise ProblemError(f"{name}: {n} entries are not a multiple of dim = {dim}")
    values = real_array("mu", mu)
    if values.ndim == 0:
        values = np.full(n // dim, values)
    if values.shape != (n // dim,):
        raise ProblemError(f"mu: shape {values.shape}, expected ({n // dim},) or a scalar")
    bad = ~(np.isfinite(values) & (values >= 0.0))
    if bad.any():
        i = int(np.argmax(bad))
        raise ProblemError(f"mu: entry {i} is {values[i]}; every entry must be finite and >= 0")
    return frozen(values)
