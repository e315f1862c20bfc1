"""The arrays of a run whose joints become rigid and active again; see `simulation.step.adaptive.adapt`.

Coordinates and rates of all joints are those of the *whole*; the compiled loop steps its clusters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.detection import records as found
from mcpframe.contact.detection.clusters import has_clusters, take_clusters
from mcpframe.contact.detection.detector import Detector
from mcpframe.contact.detection.kernels.cluster_phase import detect_clusters
from mcpframe.contact.detection.kernels.detect import detect_contacts
from mcpframe.exceptions import ModelError
from mcpframe.jit.memory import aligned_copy
from mcpframe.multibody.adaptive import records as rec
from mcpframe.multibody.adaptive.choice import FAILED
from mcpframe.multibody.adaptive.locking import active_links
from mcpframe.multibody.adaptive.packing import Measure, pack_whole, pinned_links, take_active
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import N_DOFS, N_THETA, THETA, THETA_DOT
from mcpframe.multibody.state import State
from mcpframe.scene.controllers import PD, ComputedTorque, Constant, Controller
from mcpframe.scene.scene import Scene
from mcpframe.scene.settings import Adaptive
from mcpframe.simulation.memory import adaptive_slots as whole
from mcpframe.simulation.memory import drive_slots
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.drive_packing import has_kernel, parts_of
from mcpframe.simulation.memory.sizes import ShapeSizes
from mcpframe.simulation.memory.workspace import Workspace
from mcpframe.simulation.step.adaptive.adapt import adapt

Indices = NDArray[np.int64]

KEPT = {"active": rec.ACTIVE, "order": rec.ACTIVE_LIST, "passed": rec.PASSED}
COUNTS, FIGURES = (rec.N_ACTIVE, rec.N_CHOICES, whole.REDONE), (rec.ERROR, rec.LOSS)
"""What goes into checkpoints."""
AT_CONTACTS = {"none": whole.NOTHING, "event": whole.EVENT, "twice": whole.TWICE}


class WholeBody:
    """A run in which all joints are active all the time; the arrays of the whole are not looked at."""

    def __init__(self, start: State) -> None:
        self.I = start.I.copy()
        self.IT, self.XT = self.I, np.zeros(1)
        self.IA, self.XA = np.zeros(1, dtype=np.int64), np.zeros(1)

    @property
    def detection(self) -> Any:
        """The kernel that finds contacts."""
        return detect_contacts

    def begin(self, state: State, states: Sequence[Array], detector: Detector, work: Workspace) -> None:
        """Write coordinates and rates where the loop begins with them."""
        _write(self.I, states[0], state)

    def end(self, X: Array) -> tuple[Array, Array]:
        """Return coordinates and rates after the loop."""
        return _motion(self.I, X)

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return what a run needs to go on."""
        return {}

    def restore(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Go on from there."""


class Adaptation(WholeBody):
    """A run whose joints become rigid and active again.

    Args:
        scene: with `adaptive`.
        detector: of the scene.
        sizes: of its shapes.
        work: arrays of the run, filled for the whole.
        closures: IE, XE and IQ of the run.
        drives: IF and XF of the run.
        addresses: of its kernels.
    """

    def __init__(
        self,
        scene: Scene,
        detector: Detector,
        sizes: ShapeSizes,
        work: Workspace,
        closures: tuple[Indices, Array, Indices],
        drives: tuple[Indices, Array],
        addresses: Indices,
    ) -> None:
        start, by_clusters = scene.initial_state(), has_clusters(detector)
        super().__init__(start)
        if by_clusters:
            take_clusters(detector)
        settings, self._outer, self._addresses = scene.adaptive, (*closures, *drives), addresses
        self._written: tuple[NDArray[Any], ...] = ()
        assert settings is not None
        IE, XE, _ = closures
        self.IT, self.XT = start.I, aligned_copy(start.X)
        asked = active_links(scene.model, settings.pinned) | driven_links(scene)
        pinned = pinned_links(scene.model, asked)
        self.IA, self.XA = pack_whole(
            scene.model,
            pinned,
            measure_of(settings, scene.stepping.dt),
            whole.WHOLE,
            shape=len(detector.shapes),
            limit=int(work.IS[at.N_LIMITS]),
            theta=scene.model.n_theta,
            loop=int(IE[loops.N_LOOPS]),
            half=int(IE[loops.N_HALVES]),
            term=int(IE[loops.N_TERMS]),
            number=drive_slots.DRIVE.part(*drives, drive_slots.NUMBERS).size,
        )
        self.IA[whole.INTERVAL], self.IA[whole.BY_CLUSTERS] = settings.interval, by_clusters
        self.IA[whole.AT_CONTACTS] = AT_CONTACTS[settings.at_contacts]
        contents = {
            whole.FLOATING: work.integers(at.FLOATING),
            whole.SHAPE_BODY: work.integers(at.SHAPE_BODY),
            whole.FIRST_SHAPE: np.searchsorted(
                work.integers(at.SHAPE_BODY), np.arange(start.skeleton.n_bodies + 1)
            ),
            whole.SHAPE_FRAMES: found.MEMORY.part(detector.ID, detector.XD, found.FRAMES),
            whole.SHAPE_RADIUS: sizes.radius,
            whole.LIMITS: work.integers(at.LIMITS),
            whole.LIMIT_VALUES: work.doubles(at.LIMIT_VALUES),
            whole.CONSTANT: work.doubles(at.CONSTANT),
            whole.DAMPING: work.doubles(at.DAMPING),
            whole.STIFFNESS: work.doubles(at.STIFFNESS),
            whole.REST: work.doubles(at.REST),
            whole.LOOP_BODIES: loops.MEMORY.part(IE, XE, loops.LOOPS)[:, [loops.L_BODY_A, loops.L_BODY_B]],
            whole.LOOP_NODES: loops.MEMORY.part(IE, XE, loops.NODES),
            whole.HALF_BODIES: loops.MEMORY.part(IE, XE, loops.HALF_BODY),
            whole.TERMS: loops.MEMORY.part(IE, XE, loops.TERMS),
            whole.DRIVE_NUMBERS: drive_slots.DRIVE.part(*drives, drive_slots.NUMBERS),
        }
        for part, values in contents.items():
            whole.WHOLE.part(self.IA, self.XA, part)[:] = values
        places = whole.WHOLE.part(self.IA, self.XA, whole.SHAPE_PLACE)
        rotation = start.skeleton.link_rotation
        for i, shape in enumerate(detector.shapes):
            if shape.link >= 0:
                places[i, :3] = rotation[shape.link].T @ shape.geometry.pose.position

    @property
    def detection(self) -> Any:
        """The kernel that finds contacts."""
        return detect_clusters if self.IA[whole.BY_CLUSTERS] else detect_contacts

    def begin(self, state: State, states: Sequence[Array], detector: Detector, work: Workspace) -> None:
        """Write the clusters of the active joints; a run begins with a choice.

        Pieces are written anew where the whole stands elsewhere than the last steps have left it; nothing is
        where it goes on from there.
        """
        theta, rates = _motion(self.IT, self.XT)
        here = bool(self._written) and np.array_equal(theta, state.theta)
        arrays = detector.ID, detector.XD, work.IS, work.XS
        same = all(now is then for now, then in zip(arrays, self._written, strict=False))
        if here and same and np.array_equal(rates, state.theta_dot):
            return
        self._written = arrays
        _write(self.IT, self.XT, state)
        X, Y, Z, _ = states
        body = self.I, X, Y, Z, self.IT, self.XT, self.IA, self.XA
        parts = *body, detector.ID, detector.XD, *self._outer, work.IS, work.XS, self._addresses
        adapt(*parts, whole.INSTALL if here else whole.BUILD)
        if self.IA[rec.N_CHOICES] == 0:
            work.IS[at.N_FORCES] = 0
            work.doubles(at.SAMPLED)[:] = work.doubles(at.CONSTANT)
            if adapt(*parts, whole.CHOOSE) == FAILED:
                raise ModelError("adaptive: the body has no acceleration where the run begins")

    def end(self, X: Array) -> tuple[Array, Array]:
        """Return coordinates and rates of the whole, to which the loop has written those of the clusters."""
        return _motion(self.IT, self.XT)

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return which joints are active, and the figures since the last record."""
        kept = {name: whole.WHOLE.part(self.IA, self.XA, part).copy() for name, part in KEPT.items()}
        kept |= {"counts": self.IA[list(COUNTS)], "figures": self.XA[list(FIGURES)]}
        return {f"adaptive_{name}": array for name, array in kept.items()}

    def restore(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Go on with the joints that were active."""
        take_active(self.IA, self.XA, memory["adaptive_active"] != 0)
        for name in ("order", "passed"):
            whole.WHOLE.part(self.IA, self.XA, KEPT[name])[:] = memory[f"adaptive_{name}"]
        self._written = ()
        self.IA[list(COUNTS)] = memory["adaptive_counts"]
        self.XA[list(FIGURES)] = memory["adaptive_figures"]


def measure_of(settings: Adaptive, dt: float) -> Measure:
    """Return how joints are chosen."""
    span = settings.interval * dt if settings.span is None else settings.span
    rate = {"joined": 1.0, "acceleration": 0.0, "velocity": 1.0}[settings.metric]
    return Measure(
        most=settings.active,
        bound=settings.error,
        rate=rate,
        span={"joined": span, "acceleration": 1.0, "velocity": 0.0}[settings.metric],
        by_inertia=settings.weights == "inertia",
        patience=settings.patience,
        by_nodes=None if settings.by is None else settings.by == "nodes",
    )


def check_adaptive(scene: Scene, controllers: Sequence[Controller], native: bool, observed: bool) -> None:
    """Raise ModelError where a scene asks for what the clusters of its joints cannot do."""
    known = [type(c) in (Constant, PD, ComputedTorque) and has_kernel(c) for c in controllers]
    refused = {
        "has controllers other than constant forces, and pd or computed torques towards rests and moves": (
            not all(known)
        ),
        f"takes the formulation {scene.stepping.formulation.name!r} or a law that has no kernels": not native,
        "is harvested": observed,
    }
    for why, is_so in refused.items():
        if is_so:
            raise ModelError(f"scene {scene.name!r}: adaptive, but it {why}; leave out `adaptive`, or that")


def driven_links(scene: Scene) -> NDArray[np.bool_]:
    """Return the links whose joints have a motor, which stay active [n]."""
    model, driven = scene.model, np.zeros(scene.model.n_dofs, dtype=bool)
    for part in parts_of(scene.controller):
        if isinstance(part, PD):
            driven |= (part.kp + part.kd > 0.0) & (part.limit > 0.0)
        elif isinstance(part, ComputedTorque):
            driven |= part.limit > 0.0
    dofs = zip(model.dof_start, (link.hinge.n_dof for link in model.links), strict=True)
    return np.array([driven[start : start + n].any() for start, n in dofs], dtype=bool)


def _write(I: Indices, X: Array, state: State) -> None:
    X[I[THETA] : I[THETA] + state.theta.size] = state.theta
    X[I[THETA_DOT] : I[THETA_DOT] + state.theta_dot.size] = state.theta_dot


def _motion(I: Indices, X: Array) -> tuple[Array, Array]:
    n_theta, n_dofs = int(I[N_THETA]), int(I[N_DOFS])
    return X[I[THETA] :][:n_theta].copy(), X[I[THETA_DOT] :][:n_dofs].copy()
