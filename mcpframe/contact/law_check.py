"""One contact's law, held against a velocity and impulses, whoever found them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.law import FORCE_N, LawRows

LEAST = 1e-12
"""Metres per second, newton seconds, joules that count as none: rounding of anything of everyday size."""

Finding = tuple[float, str]
"""A figure without units, and where it is and how much in units."""


@dataclass(frozen=True, eq=False)
class LawCheck:
    """One contact's law, held against its velocity and impulses.

    Attributes:
        law: its rows.
        velocity: V_rel with what is asked on top, in its frame [6].
        beta: its impulse coefficients [m].
        told: its slacks, as the outcome has them [s].
        speed, impulse: scales of the components of velocities and wrenches [6].
        given: what the step adds to the rows of its slacks [s].
        wider: by how much its discs are wider than mu F_n.
    """

    law: LawRows
    velocity: Array
    beta: Array
    told: Array
    speed: Array
    impulse: Array
    given: Array
    wider: Array

    @cached_property
    def a(self) -> Array:
        """Wd* V_rel [m]."""
        speeds: Array = self.law.Wd.T @ self.velocity
        return speeds

    @cached_property
    def row_scale(self) -> Array:
        """Speeds that the rows of β are made of [m]."""
        scale: Array = np.maximum(np.abs(self.law.Wd).T @ self.speed, LEAST)
        return scale

    @cached_property
    def beta_scale(self) -> Array:
        """Impulses that β are made of, unit by unit of their wrenches [m]."""
        largest = (np.abs(self.law.Wd) / self.impulse[:, None]).max(axis=0)
        scale: Array = np.where(largest > 0.0, 1.0 / np.maximum(largest, LEAST), self.impulse[FORCE_N])
        return scale

    @cached_property
    def sigma(self) -> Array:
        """The least slack with Wd* V_rel + N σ >= 0 where that is what the law means, else that told [s].

        In laws whose slacks each stand for the speed of one group of directions (R = 0, N >= 0, one slack a
        row) a larger one would leave the impulses of its group zero and its budget used up, both at once.
        """
        law = self.law
        if not has_least_slack(law):
            return self.told
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = np.where(law.N > 0.0, -self.a[:, None] / law.N, 0.0)
        least: Array = needed.max(axis=0, initial=0.0)
        return least

    @cached_property
    def is_normal(self) -> NDArray[np.bool_]:
        """Which β are pure normal impulses without an upper bound [m]."""
        unit = np.arange(6) == FORCE_N
        pure = (self.law.Wd[~unit] == 0.0).all(axis=0) & (self.law.Wd[FORCE_N] > 0.0)
        normal: NDArray[np.bool_] = pure & ~self.law.N.any(axis=1) & np.isinf(self.law.beta_upper)
        return normal

    @property
    def _pressing(self) -> tuple[Array, Array]:
        """Normal speeds and normal impulses above their least, in their scales."""
        which = self.is_normal
        above = (self.beta - self.law.beta_lower)[which]
        return self.a[which] / self.row_scale[which], above / self.beta_scale[which]

    def normal(self) -> Finding:
        """Neither the normal speed nor the normal impulse is negative."""
        speed, impulse = self._pressing
        below = np.maximum(-np.minimum(speed, impulse), 0.0)
        return float(below.max(initial=0.0)), self._says()

    def complementarity(self) -> Finding:
        """One of them is zero."""
        speed, impulse = self._pressing
        both = np.maximum(np.minimum(speed, impulse), 0.0)
        return float(both.max(initial=0.0)), self._says()

    def friction(self) -> Finding:
        """|x - mid(l, x - w, u)| of all other rows of β and of the rows of σ, in their scales; of discs."""
        law, others = self.law, ~(self.is_normal | self.is_on_disc)
        w = self.a + law.N @ self.sigma
        bounds = law.beta_lower / self.beta_scale, law.beta_upper / self.beta_scale
        rows = natural_residual(self.beta / self.beta_scale, w / self.row_scale, *bounds)[others]
        slacks = self._slack_rows()
        worst = (figures.max(initial=0.0) for figures in (rows, slacks, self._disc_rows()))
        return float(max(worst)), self._says()

    @cached_property
    def is_on_disc(self) -> NDArray[np.bool_]:
        """Which β lie on discs [m]."""
        flags = np.zeros(self.law.m, dtype=bool)
        for first, width, _ in self.law.discs:
            flags[first : first + width] = True
        return flags

    def _disc_rows(self) -> Array:
        """Return |x - P(x - w)| of every disc, P the projection on it, in the scales of its rows."""
        figures = []
        for (first, width, mu), wider in zip(self.law.discs, self.wider, strict=True):
            rows = slice(first, first + width)
            unit, speed = self.beta_scale[rows].max(), self.row_scale[rows].max()
            reach = (mu * max(self.beta[self.law.normal], 0.0) + wider) / unit
            x = self.beta[rows] / unit
            moved = x - self.a[rows] / speed
            far = float(np.linalg.norm(moved))
            nearest = moved if far <= reach else moved * (reach / far)
            figures.append(float(np.abs(x - nearest).max()))
        return np.array(figures)

    def _slack_rows(self) -> Array:
        """Return the residuals of P β + R σ + r + given _|_ σ [s]."""
        law = self.law
        budget = law.P @ self.beta + law.R @ self.sigma + law.r + self.given
        touched = np.where(law.N != 0.0, self.row_scale[:, None], 0.0).max(axis=0, initial=0.0)
        speed = np.where(touched > 0.0, touched, self.speed[FORCE_N])
        scale = np.abs(law.P) @ self.beta_scale + np.abs(law.R) @ speed + np.abs(law.r) + np.abs(self.given)
        scale = np.maximum(scale, LEAST)
        return natural_residual(
            self.sigma / speed, budget / scale, law.sigma_lower / speed, law.sigma_upper / speed
        )

    def _says(self) -> str:
        """Say how it moves and presses."""
        v_n, slip = self.velocity[FORCE_N], np.hypot(*self.velocity[FORCE_N + 1 :])
        wrench = self.law.Wd @ self.beta
        along = np.hypot(*wrench[FORCE_N + 1 :])
        speeds = f"opens at {v_n:.3g} m/s and slips at {slip:.3g} m/s"
        return f"{speeds} under {wrench[FORCE_N]:.3g} N s, {along:.3g} N s along"


def has_least_slack(law: LawRows) -> bool:
    """Return whether each slack is the speed of a group of directions of its own."""
    one_each = (law.N >= 0.0).all() and (np.count_nonzero(law.N, axis=1) <= 1).all()
    open_above = np.isinf(law.beta_upper[law.N.any(axis=1)]).all() and np.isinf(law.sigma_upper).all()
    return bool(one_each and open_above and not law.R.any() and not law.sigma_lower.any())


def natural_residual(x: Array, w: Array, lower: Array, upper: Array) -> Array:
    """Return |x - mid(l, x - w, u)|."""
    return np.abs(x - np.clip(x - w, lower, upper))
