"""Pieces of a tree and how a hinge joins two of them: the algebra of divide and conquer.

A *piece* is a connected part of the tree. It is known to the rest by what happens at its handles: the base
handle, at the origin of its top link, and outer handles, where links of other pieces hang or where forces
act. With a_0 the acceleration of the base handle, f the forces on the outer handles, f_0 the force that the
base handle must be given and a the accelerations of the outer handles,

    f_0 = P a_0 - T* f + z,        a = T a_0 + L f + b .

Featherstone's form of the same relation [SPEC, section 7; G06] has the forces of all handles on the right,
a = Φ f + b, and begins with Φ = M⁻¹, so that no link may be massless or a mere point mass. Solved for f_0
of the base handle it begins with P = M and L = 0, and all that is ever inverted is D, the inertia that a
hinge feels, and I + P L, which always has an inverse because P and L are positive semidefinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array


@dataclass(frozen=True, eq=False)
class Piece:
    """A piece with h outer handles, or a stack of alike ones along leading axes.

    Attributes:
        P: force at the base per its acceleration [..., 6, 6].
        T: accelerations of the outer handles per that of the base [..., 6 h, 6].
        L: accelerations of the outer handles per force there, base held [..., 6 h, 6 h].
        z: force at the base when it is held and nothing acts on the outer handles [..., 6].
        b: accelerations of the outer handles then [..., 6 h].
    """

    P: Array
    T: Array
    L: Array
    z: Array
    b: Array

    @staticmethod
    def rigid(inertia: Array, z: Array, T: Array) -> Piece:
        """Return a single link; T [h, 6, 6] takes accelerations from its origin to its outer handles."""
        size = 6 * len(T)
        return Piece(inertia, T.reshape(size, 6), np.zeros((size, size)), z, np.zeros(size))

    @staticmethod
    def stack(pieces: list[Piece]) -> Piece:
        """Return alike pieces as one."""
        return Piece(*(np.stack([getattr(piece, name) for piece in pieces]) for name in "PTLzb"))

    def split(self) -> list[Piece]:
        """Return the pieces of a stack."""
        return [Piece(*parts) for parts in zip(self.P, self.T, self.L, self.z, self.b, strict=True)]


@dataclass(frozen=True, eq=False)
class Joint:
    """A hinge between two pieces, or a stack of alike ones: handle c of A carries the base of B.

    Attributes:
        A, B: the pieces.
        c: which of A's outer handles it is.
        S: columns of the hinge at B's base [..., 6, n_k].
        tau: hinge forces [..., n_k].
        V, N, D: as in `join`.
    """

    A: Piece
    B: Piece
    c: int
    S: Array
    tau: Array
    V: Array
    N: Array
    D: Array


def join(A: Piece, B: Piece, c: int, S: Array, armature: Array, tau: Array) -> tuple[Piece, Joint]:
    """Return the piece C that hinge c makes of A and B; its outer handles are A's without c, then B's.

    At the hinge a_B = a_c + S θ̈, f_c = -f_B and S* f_B = τ - armature θ̈. With e what a_c would be without
    the hinge, r what f_B would be with B's base held, and ℓ, t the blocks of A at the handle,

        N = (I + P_B L_cc)⁻¹,   V = N P_B = (P_B⁻¹ + L_cc)⁻¹,   D = S* V S + armature,   G = V S D⁻¹,
        f_B = W e + X r + G τ,              W = V - G D G*,       X = (I - G S*) N,
        a_B = X* e - Y r + N* S D⁻¹ τ,      Y = L_cc N + N* S D⁻¹ S* N ;
        e = t a_0 + ℓ* f_A + b_c,           r = z_B - T_B* f_B .

    W and Y take the places of SPEC's W and of its Φ at the joined handle; a locked hinge has W = V.
    """
    at, others = _handle(A, c)
    t, L_cc, ell, b_c = A.T[..., at, :], A.L[..., at, at], A.L[..., others, at], A.b[..., at]
    N: NDArray[Any] = np.linalg.inv(np.eye(6) + B.P @ L_cc)
    V = _symmetric(N @ B.P)
    D = _symmetric(_t(S) @ V @ S) + armature[..., None] * np.eye(S.shape[-1])
    S_D: NDArray[Any] = np.linalg.solve(D, _t(S))  # D⁻¹ S*
    G = V @ _t(S_D)
    W = _symmetric(V - V @ S @ _t(G))
    X = N - G @ (_t(S) @ N)
    Y = _symmetric(L_cc @ N + _t(N) @ S @ S_D @ N)
    force = _of(W, b_c) + _of(X, B.z) + _of(G, tau)
    acceleration = _of(_t(X), b_c) - _of(Y, B.z) + _of(_t(N) @ _t(S_D), tau)
    across = ell @ X @ _t(B.T)
    C = Piece(
        P=_symmetric(A.P + _t(t) @ W @ t),
        T=np.concatenate([A.T[..., others, :] - ell @ W @ t, B.T @ _t(X) @ t], axis=-2),
        L=_blocks(A.L[..., others[:, None], others] - ell @ W @ _t(ell), across, B.L + B.T @ Y @ _t(B.T)),
        z=A.z + _of(_t(t), force),
        b=np.concatenate([A.b[..., others] - _of(ell, force), B.b + _of(B.T, acceleration)], axis=-1),
    )
    return C, Joint(A, B, c, S, tau, V, N, D)


def part(joint: Joint, a_0: Array, f: Array) -> tuple[Array, Array, Array, Array]:
    """Return θ̈ of the hinge, then forces on A's handles, base acceleration of B and forces on B's handles.

        θ̈ = D⁻¹ (τ - S* (V e + N r)),    f_B = V (e + S θ̈) + N r,    a_B = e + S θ̈ - L_cc f_B .

    Args:
        joint: the hinge.
        a_0: acceleration of the base of the joined piece [..., 6].
        f: forces on its outer handles [..., 6 h].
    """
    A, B, S = joint.A, joint.B, joint.S
    at, others = _handle(A, joint.c)
    f_A, on_B = f[..., : len(others)], f[..., len(others) :]
    e = _of(A.T[..., at, :], a_0) + _of(A.L[..., at, others], f_A) + A.b[..., at]
    r = B.z - _of(_t(B.T), on_B)
    held = _of(joint.V, e) + _of(joint.N, r)
    theta_ddot: NDArray[Any] = np.linalg.solve(joint.D, (joint.tau - _of(_t(S), held))[..., None])[..., 0]
    f_B = held + _of(joint.V @ S, theta_ddot)
    on_A = np.concatenate([f_A[..., : 6 * joint.c], -f_B, f_A[..., 6 * joint.c :]], axis=-1)
    return theta_ddot, on_A, e + _of(S, theta_ddot) - _of(A.L[..., at, at], f_B), on_B


def _handle(A: Piece, c: int) -> tuple[slice, Array]:
    """Return the rows of handle c, and those of all others."""
    at = slice(6 * c, 6 * c + 6)
    return at, np.delete(np.arange(A.b.shape[-1]), at)


def _t(matrix: Array) -> Array:
    return matrix.swapaxes(-1, -2)


def _of(matrix: Array, vector: Array) -> Array:
    product: Array = (matrix @ vector[..., None])[..., 0]
    return product


def _symmetric(matrix: Array) -> Array:
    return 0.5 * (matrix + _t(matrix))


def _blocks(L_A: Array, across: Array, L_B: Array) -> Array:
    above = np.concatenate([L_A, across], axis=-1)
    below = np.concatenate([_t(across), L_B], axis=-1)
    return np.concatenate([above, below], axis=-2)
