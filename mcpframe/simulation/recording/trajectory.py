"""Trajectories: what a finished run holds, in read-only arrays, and its file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.exceptions import FileFormatError, ModelError, ProblemError, nearest
from mcpframe.io.journal import committed
from mcpframe.multibody.model.coordinates import QUATERNION_TOLERANCE
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.node import Node
from mcpframe.notebook import html
from mcpframe.simulation.recording.header import Header
from mcpframe.simulation.recording.steps import (
    NONE,
    SOLVED,
    ContactTable,
    ImpactTable,
    Indices,
    StepBlock,
    columns,
)
from mcpframe.simulation.recording.switches import Switch, switches_of
from mcpframe.simulation.recording.trajectory_file import (
    UNREADABLE,
    append_steps,
    datasets,
    not_a_trajectory,
    read_header,
    read_steps,
    write_header,
)

if TYPE_CHECKING:
    from mcpframe.multibody.state import State  # its kernels are loaded when a state is made

FILE_NAME = "trajectory.h5"
"""What the file is called in the folder of a run."""
COLUMNS = frozenset(about.name for about in columns(StepBlock))
ROUNDING = 1e-9
"""Share of its energy below which a run at rest shows a flat line, no noise."""


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """A run: its header and its steps.

    Every column of `StepBlock` is an attribute too: ``trajectory.time`` [n], ``trajectory.theta``
    [n, n_theta], ``trajectory.penetration`` and so on.

    Attributes:
        header: scene, model, options and versions.
        steps: the columns; copied and made read-only, unless they are so already.

    >>> trajectory = Trajectory.load("run/trajectory.h5")  # doctest: +SKIP
    >>> trajectory.contacts_at(120).impulse  # doctest: +SKIP
    """

    header: Header
    steps: StepBlock

    def __post_init__(self) -> None:
        check_widths(self.header.model, self.steps)
        if not self.steps.frozen:
            object.__setattr__(self, "steps", StepBlock.concatenate([self.steps]))

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name in COLUMNS:
            column: NDArray[Any] = getattr(self.steps, name)
            return column
        meant = "" if name.startswith("_") else nearest(name, dir(self))
        raise AttributeError(f"Trajectory has no attribute {name!r}" + (meant and f";{meant}"))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *COLUMNS})

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        end = f", t = {self.time[0]:g} to {self.time[-1]:g} s" if len(self) else ""
        return f"Trajectory({self.header.model.name!r}, steps={len(self)}{end})"

    def _repr_html_(self) -> str:
        if not len(self):
            return html.card(f"Run of {self.model.name!r}", {"steps": "none"})
        failed, deepest = len(self.failed), float(self.penetration.max())
        about = {
            "time": f"{self.time[0]:g} to {self.time[-1]:g} s, {len(self)} steps kept",
            "contacts": f"{self.n_contacts.max()} at the most",
            "impacts": len(self.impacts),
            "penetration": f"{deepest:.1e} m at the most",
            "not solved": html.verdict(f"{failed} steps", good=False) if failed else "",
        }
        lowest = np.nanmin(self.potential_energy)
        least = ROUNDING * float(np.nanmax(np.abs(self.total_energy)))
        energies = {
            "kinetic": ("#0072B2", self.kinetic_energy),
            "potential": ("#009E73", self.potential_energy - lowest),
            "total": ("#777777", self.total_energy - lowest),
        }
        return html.card(f"Run of {self.model.name!r}", about, html.curves(self.time, energies, "J", least))

    def plot(self, node: Node | str | None = None) -> Any:
        """Return motion, energy, contacts and solve time over time as a picture; needs matplotlib.

        Args:
            node: whose motion is plotted; the centre of mass of the last link unless given.

        Returns:
            A `mcpframe.view.showing.Picture`: a notebook shows it as the value of a cell, ``save`` writes it.
        """
        return _showing().plots(self, node)

    def show(self, *, strip: bool = False) -> None:
        """Show the run: in a notebook as a film below the cell, elsewhere in the browser, until it is closed.

        Args:
            strip: pictures side by side instead of a film.
        """
        _showing().show(self, strip)

    @property
    def model(self) -> Model:
        """What moves."""
        return self.header.model

    @property
    def contacts(self) -> ContactTable:
        """Contacts of all steps."""
        return self.steps.contacts

    @property
    def impacts(self) -> ImpactTable:
        """Impacts of all steps."""
        return self.steps.impacts

    @property
    def switches(self) -> list[Switch]:
        """Switches between contact models."""
        return switches_of(self.steps, float(self.header.options.get("dt", 0.0)))

    @property
    def total_energy(self) -> Array:
        """Kinetic and potential energy [n], J."""
        return self.steps.kinetic_energy + self.steps.potential_energy

    @cached_property
    def up(self) -> Array:
        """Unit vector against gravity [3]; z where there is none."""
        size = float(np.linalg.norm(self.model.gravity))
        return -self.model.gravity / size if size else np.array([0.0, 0.0, 1.0])

    @property
    def last_link(self) -> Node:
        """The centre of mass of the last link."""
        if not self.model.links:
            raise ModelError(f"model {self.model.name!r} has no links")
        link = self.model.links[-1]
        return Node(link.name, link.com)

    @property
    def failed(self) -> Indices:
        """Steps whose solve did not end with a certified answer."""
        return np.flatnonzero((self.steps.status != SOLVED) & (self.steps.status != NONE))

    def contacts_at(self, k: int) -> ContactTable:
        """Return the contacts of step k; -1 is the last."""
        k = self._step(k)
        return self.contacts.rows(*self.steps.contact_start[[k, k + 1]])

    def impacts_at(self, k: int) -> ImpactTable:
        """Return the impacts of step k; -1 is the last."""
        k = self._step(k)
        return self.impacts.rows(*self.steps.impact_start[[k, k + 1]])

    def clusters_at(self, k: int) -> Indices:
        """Return a number for every link after step k [n_links], the same for those that move as one body.

        In an adaptive run a joint is rigid where its rates are zero; in others every link is by itself.
        """
        k, model = self._step(k), self.model
        cluster = np.arange(model.n_links)
        if self.active_joints[k] < 0:
            return cluster
        moving = np.zeros(model.n_links, dtype=bool)
        moving[model.tree.dof_link[self.theta_dot[k] != 0.0]] = True
        for link, parent in enumerate(model.parents):
            if parent >= 0 and not moving[link]:
                cluster[link] = cluster[parent]
        return np.unique(cluster, return_inverse=True)[1]

    def index_at(self, time: float) -> int:
        """Return the last step that ends at `time` or before, or the first of all."""
        self._step(0)
        return max(int(np.searchsorted(self.time, time, side="right")) - 1, 0)

    def state(self, k: int) -> State:
        """Return the state after step k; -1 is the last."""
        k = self._step(k)
        return self.model.state(self.theta[k], self.theta_dot[k], self.time[k])

    def link_poses(self, steps: Sequence[int] | Indices | None = None) -> tuple[Array, Array]:
        """Return rotations [m, n_links, 3, 3] and positions [m, n_links, 3] after some steps, or all."""
        chosen = self._chosen(steps)
        rotations, positions = (
            np.empty((len(chosen), self.model.n_links, *shape)) for shape in ((3, 3), (3,))
        )
        state = self.model.state()
        for i, k in enumerate(chosen):
            rotations[i], positions[i] = state.update(self.theta[k]).link_poses()
        return rotations, positions

    def motion_of(
        self, node: Node | str, steps: Sequence[int] | Indices | None = None
    ) -> tuple[Array, Array]:
        """Return positions [m, 3] and spatial velocities [m, 6] of a node after some steps, or after all."""
        chosen = self._chosen(steps)
        positions, velocities = np.empty((len(chosen), 3)), np.empty((len(chosen), 6))
        state = self.model.state()
        for i, k in enumerate(chosen):
            state.update(self.theta[k], self.theta_dot[k])
            positions[i], velocities[i] = state.pose(node).position, state.node_velocities([node])[0]
        return positions, velocities

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trajectory to an HDF5 file; see `mcpframe.simulation.recording.trajectory_file`."""
        place, texts = Path(path), self.header.texts()
        part = place.with_name(f"{place.name}.part")
        try:
            with h5py.File(part, "w") as file:
                write_header(file, texts, self.model)
                append_steps(datasets(file), self.steps)
            part.replace(place)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise FileFormatError(f"{path}: cannot be written ({error})") from None

    @staticmethod
    def load(path: str | os.PathLike[str], model: Model | None = None) -> Trajectory:
        """Read a trajectory file, or the one in the folder of a run.

        Args:
            path: file or folder. What a killed run left unfinished in it is not read; nothing is written.
            model: the model of the run, where it is at hand, with its closures; the header's unless given.
        """
        place = file_of(path)
        try:
            with h5py.File(committed(place), "r") as file:
                header = read_header(file, str(place))
        except UNREADABLE as error:
            raise not_a_trajectory(place, error) from None
        steps = load_steps(place, header.model)
        return Trajectory(header if model is None else _with_model(header, model, place), steps)

    def _step(self, k: int) -> int:
        if not -len(self) <= k < len(self):
            raise ProblemError(f"step {k}: the trajectory has {len(self)} steps")
        return int(k) % len(self)

    def _chosen(self, steps: Sequence[int] | Indices | None) -> Indices:
        return np.arange(len(self)) if steps is None else np.array([self._step(k) for k in steps], dtype=int)


def _showing() -> Any:
    """Return what draws runs; it knows trajectories, which ask for it only when they are to be seen."""
    return import_module("mcpframe.view.showing")


def file_of(path: str | os.PathLike[str]) -> Path:
    """Return the trajectory file that a path, or the folder of a run, means; it must exist."""
    place = Path(path)
    place = place / FILE_NAME if place.is_dir() else place
    if not place.is_file():
        raise FileFormatError(f"{place}: no such file")
    return place


def load_steps(place: Path, model: Model) -> StepBlock:
    """Return the steps of a trajectory file, those of a run of a model."""
    try:
        with h5py.File(committed(place), "r") as file:
            steps = read_steps(file, str(place))
        check_widths(model, steps)
        _check_quaternions(model, steps)
    except UNREADABLE as error:
        raise not_a_trajectory(place, error) from None
    return steps


def check_widths(model: Model, steps: StepBlock) -> None:
    """Raise ProblemError unless the steps have the coordinates and rates of the model."""
    found, expected = (steps.theta.shape[1], steps.theta_dot.shape[1]), (model.n_theta, model.n_dofs)
    if found != expected:
        raise ProblemError(
            f"steps: theta and theta_dot have {found[0]} and {found[1]} columns, "
            f"model {model.name!r} has {expected[0]} and {expected[1]}"
        )


def _check_quaternions(model: Model, steps: StepBlock) -> None:
    """Raise ProblemError unless quaternions have length one, in every step."""
    lengths = np.linalg.norm(steps.theta[:, model.tree.coordinates.quaternions], axis=2)
    off = np.argwhere(np.abs(lengths - 1.0) > QUATERNION_TOLERANCE)
    if len(off):
        k, i = off[0]
        raise ProblemError(f"step {k}: theta has a quaternion of length {lengths[k, i]:g}")


def _with_model(header: Header, model: Model, place: Path) -> Header:
    names = tuple(link.name for link in model.links)
    if names != header.link_names:
        raise ModelError(f"{place}: was recorded with other links than those of model {model.name!r}")
    return replace(header, model=model)
