"""The arrays of the stepping kernels: made for a number of contacts, made larger when more are found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.frames import friction_directions
from mcpframe.contact.law import FORCE_N, LawRows
from mcpframe.contact.law_kernel import scratch_room
from mcpframe.contact.limits import all_limits
from mcpframe.diagnosis.p_matrix import EXACT_LIMIT, work_size
from mcpframe.jit.lapack import NO, ONE
from mcpframe.jit.memory import MATRIX, VECTOR
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory import records as rec
from mcpframe.multibody.memory.loop_packing import dof_places
from mcpframe.multibody.model.tree import Tree
from mcpframe.scene.scene import Scene
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.law_groups import G_FIRST, G_GROUPS, G_USED
from mcpframe.simulation.memory.layer_packing import LayerTables
from mcpframe.simulation.memory.sizes import ShapeSizes
from mcpframe.simulation.piles.slots import DISC, SMOOTH
from mcpframe.solving.stages import CONTACT_ROWS, PROBLEM_HEAD, FormulationStages, SolverStage

Indices = NDArray[np.int64]

MOST_TOLD = 96
"""Most normals and tangents whose uniqueness is judged: their eigenvalues take some milliseconds."""
SWITCHES = {"never": at.NEVER, "once": at.ONCE, "both": at.BOTH}
REMEMBERED = {
    "closed_keys": (at.CLOSED, at.N_CLOSED),
    "known_keys": (at.KNOWN_KEYS, at.N_KNOWN),
    "known_codes": (at.KNOWN_CODES, at.N_KNOWN),
    "known_point": (at.KNOWN_POINT, at.N_KNOWN),
    "taken_keys": (at.TAKEN_KEYS, at.N_TAKEN),
    "taken_modes": (at.TAKEN_MODES, at.N_TAKEN),
    "taken": (at.TAKEN, at.N_TAKEN),
    "memory_keys": (at.MEMORY_KEYS, at.N_REMEMBERED),
    "memory_laws": (at.MEMORY_LAWS, at.N_REMEMBERED),
    "memories": (at.MEMORIES, at.N_REMEMBERED),
    "referred_keys": (at.REFERRED_KEYS, at.N_REFERRED),
    "references": (at.REFERENCES, at.N_REFERRED),
    "noted_keys": (at.NOTED_KEYS, at.N_NOTED),
    "noted": (at.NOTED, at.N_NOTED),
}
"""Parts that go from one workspace to the next, and into checkpoints; and how many rows of them there are."""
KEYS = tuple(name for name in REMEMBERED if name.endswith("_keys"))
"""Those of them that say how many."""
FIGURES = {
    "residual": at.RESIDUAL,
    "drift": at.DRIFT,
    "certificate": at.CERTIFICATE,
    "middle_1": at.MIDDLE_1,
    "middle_2": at.MIDDLE_2,
    "near": at.NEAR,
    "referred_at": at.REFERRED_AT,
    "jump": at.JUMP,
    "layer_energy": at.LAYER_ENERGY,
}
WHOLE = {"history": at.HISTORY, "inertia": at.INERTIA, "sleepers": at.SLEEPERS, "quiet": at.QUIET}
"""Parts that go there whole."""
MEMORY_COUNTS = tuple(range(at.MOVED, at.RESTED + 1))
"""Figures since the last record, of how many steps accelerations are known, and whether contacts yield."""


class Workspace:
    """IS, XS and what the formulation and the solver work on, for up to `capacity` contacts and limits.

    Up to `together` of them in one problem.

    What the steps have to remember (what is closed, bases, impulses not recorded yet) comes along from a
    smaller one.
    """

    def __init__(
        self,
        tree: Tree,
        formulation: FormulationStages | None,
        solver: SolverStage | None,
        capacity: int,
        together: int,
        n_shapes: int,
        n_loop_rows: int,
        laws: tuple[Indices, Array],
        layers: LayerTables,
        exact: bool,
        lasting: bool,
        judged: bool,
        piles: bool,
    ) -> None:
        self.capacity, self.together = capacity, together
        self.rows = 1 if formulation is None else formulation.rows_each
        n_z = n_loop_rows + together * self.rows
        told = min(3 * capacity, MOST_TOLD) if judged else 0
        none = np.zeros(1, dtype=np.int64), np.zeros(1)
        self.IR, self.XR = none if formulation is None else formulation.room(together)
        self.W, self.IW = none[::-1] if solver is None else solver.room(n_z)
        self.IP = np.zeros(PROBLEM_HEAD + together * CONTACT_ROWS, dtype=np.int64)
        self.codes = np.zeros(2 * n_z, dtype=np.int8)
        self.IS, self.XS = at.STEP.arrays(
            touching=capacity,
            together=together,
            rows=self.rows,
            cone_rows=self.rows if exact else 0,
            point_rows=self.rows if exact or piles else 0,
            taken=at.TAKEN_ROOM * capacity,
            row=n_z,
            all_row=n_loop_rows + capacity * self.rows,
            loop_row=n_loop_rows,
            reduced=together * self.rows if n_loop_rows else 0,
            lasting=n_loop_rows + 3 * capacity if lasting else 0,
            told=told,
            told_row=2 * told + n_loop_rows if told else 0,
            told_room=max(3 * told**2, work_size(EXACT_LIMIT)) if told else 0,
            judged=capacity if judged else 0,
            judged_law=len(laws[0]) if judged else 0,
            law=len(laws[0]),
            law_data=laws[1].size,
            law_room=scratch_room(laws[0]),
            memory=layers.width,
            dof=tree.coordinates.n_dofs,
            theta=tree.coordinates.n_theta,
            shape=n_shapes,
            limit=all_limits(tree).dof.size,
            body=tree.skeleton.n_bodies,
        )
        self.IS[[at.N_PLANNED, at.N_SORTED]], self.IS[at.MOVING_PARTY] = -1, at.EVERYBODY
        self.integers(at.SLEEPERS)[:] = at.AWAKE
        self.XS[at.CERTIFICATE] = at.NO_FIGURE
        self.integers(at.APART)[:] = self.IS[list(at.OWN_PARTS)]
        self.integers(at.TOLD_LAPACK)[[ONE, NO]] = 1, ord("N")
        self.integers(at.ASKED)[:] = 1
        self.integers(at.LAW_ROWS)[:], self.doubles(at.LAW_DATA)[:] = laws
        self.IS[[at.SOFT, at.HOST_LAYERS]] = layers.soft, layers.hosted
        self.integers(at.LAYER_KINDS)[:] = layers.kinds
        self.doubles(at.LAYERS)[:], self.doubles(at.LAW_YIELDS)[:] = layers.numbers, layers.yields

    def integers(self, part: int) -> Indices:
        """Return a part of IS, in its shape."""
        return at.STEP.part(self.IS, self.XS, part)

    def doubles(self, part: int) -> Array:
        """Return a part of XS, in its shape."""
        return at.STEP.part(self.IS, self.XS, part)

    def take_settings(self, scene: Scene) -> None:
        """Write how the scene is to be stepped."""
        stepping = scene.stepping
        event_driven = stepping.scheme == "event_driven"
        self.IS[[at.EVERY, at.MAX_IMPACTS]] = scene.output.every, stepping.max_impacts
        self.IS[at.MAX_TRIALS] = stepping.max_trials
        self.IS[at.SLEEP_AFTER] = stepping.sleep_steps
        self.XS[at.SLEEP_SPEED] = stepping.sleep_speed
        self.IS[at.EVENT_DRIVEN], self.IS[at.RK4] = event_driven, stepping.integrator == "rk4"
        self.IS[at.EULER] = stepping.integrator == "semi_implicit_euler"
        self.IS[at.NEWTON] = stepping.restitution_model == "newton"
        self.IS[at.WHOLE] = stepping.decompression == "whole"
        self.IS[at.SEQUENTIAL] = stepping.impacts == "sequential"
        tolerances = stepping.time_tolerance, stepping.penetration_tolerance, scene.rest_speed, stepping.tol
        self.XS[[at.TIME_TOLERANCE, at.PENETRATION, at.REST_SPEED, at.TOL]] = tolerances
        self.XS[[at.DT, at.RISE]] = stepping.dt, stepping.rise_speed
        self.IS[at.CERTIFY_EVERY] = stepping.certify_every
        self.XS[at.CERTIFY_TOL] = stepping.largest_certificate
        slow = scene.rest_speed * stepping.dt if event_driven else 0.0
        self.XS[[at.NEAR, at.NEAR_RIGID]] = stepping.penetration_tolerance + slow
        self._take_contact_model(stepping)

    def _take_contact_model(self, stepping: Stepping) -> None:
        """Write when contacts are judged, and when they switch."""
        switching, layer = stepping.switching, stepping.layer.springs()
        self.IS[[at.DIAGNOSES, at.SWITCHES]] = stepping.diagnoses, SWITCHES[stepping.switches]
        self.IS[at.DWELL], self.XS[at.JUMP] = switching.dwell, np.nan
        self.IS[at.YIELDING] = stepping.contact_model == "compliant" and stepping.switches == "never"
        self.XS[[at.YIELD_MARGIN, at.RIGID_MARGIN]] = switching.yield_margin, switching.rigid_margin
        self.XS[at.SLIP_SPEED] = switching.slip_speed
        self.XS[[at.AGREEMENT, at.MOVING]] = switching.agreement, switching.moving
        self.XS[[at.SETTLE, at.TOLD_K, at.TOLD_C]] = switching.settle, layer.stiffness, layer.damping

    def take_hinges(self, tree: Tree, motors: bool, held: Indices) -> None:
        """Write dampers and springs, which motors may act as, and who turns by itself; held: by closures."""
        by_itself = bodies_by_themselves(tree)
        in_closures = np.isin(np.arange(by_itself.size), held)
        self.integers(at.BY_ITSELF)[:] = by_itself * np.where(in_closures, at.HELD_BODY, 1)
        self.IS[at.ALL_BY_THEMSELVES] = by_itself.all()
        table = rec.MEMORY.part(tree.skeleton.I, tree.skeleton.X, rec.TREE)
        self.integers(at.FLIES)[:] = by_itself & (table[:, rec.KIND] == rec.FREE)
        self.IS[at.PASSIVE] = tree.has_passive_forces
        self.IS[at.IMPLICIT] = tree.has_passive_forces or motors
        self.doubles(at.ROTORS)[:] = tree.gather("armature")
        self.doubles(at.DAMPING)[:] = tree.gather("damping")
        self.doubles(at.STIFFNESS)[:] = tree.gather("stiffness")
        self.doubles(at.REST)[:] = tree.gather("rest")

    def take_laws(self, laws: Sequence[LawRows]) -> None:
        """Write of which laws contacts can last, or be in piles: Coulomb's, on any cone, and none at all."""
        for i, law in enumerate(laws):
            self.integers(at.LAW_FORMS)[i] = lasting_forms(law)
            self.integers(at.LAW_EDGES)[i] = pile_edges(law)
            self.doubles(at.LAW_MU)[i] = law.mu or (law.discs[0][2] if law.discs else 0.0)

    def take_groups(self, groups: Sequence[Indices]) -> None:
        """Write the groups of laws that are judged, see `law_groups`."""
        table = self.integers(at.LAW_GROUPS)
        table[:] = groups
        used = table[:, G_USED:G_FIRST]
        self.IS[at.SPINS] = bool(((used >= 0) & (used < FORCE_N))[table[:, G_GROUPS] > 0].any())

    def take_limits(self, tree: Tree, restitution: Array, law: int) -> None:
        """Write the joint limits; law: the number of the law of those that turn."""
        limits, places = all_limits(tree), np.array(dof_places(tree), dtype=np.int64).reshape(-1, 3)
        self.IS[at.LIMIT_LAW] = law
        table, values = self.integers(at.LIMITS), self.doubles(at.LIMIT_VALUES)
        table[:, at.M_DOF], table[:, at.M_THETA] = limits.dof, limits.theta
        table[:, at.M_BODY :] = places[limits.dof]
        values[:, at.M_SIGN], values[:, at.M_BOUND] = limits.sign, limits.bound
        values[:, at.M_RESTITUTION] = restitution

    def take_shapes(self, sizes: ShapeSizes, body: Indices) -> None:
        """Write what is needed to know how far shapes move; body: of every shape, -1 for the world."""
        self.XS[at.THINNEST] = sizes.thinnest
        self.integers(at.SHAPE_BODY)[:] = body
        self.doubles(at.SHAPE_REACH)[:] = sizes.reach
        self.doubles(at.SHAPE_WIDTH)[:] = sizes.thickness
        self.doubles(at.BODY_REACH)[:] = -1.0
        moving = body >= 0
        np.maximum.at(self.doubles(at.BODY_REACH), body[moving], sizes.reach[moving])

    def press(self, keys: Indices, laws: Indices, memories: Array) -> None:
        """Have contacts remember this; gaps up to which layers press are looked for then."""
        n = keys.size
        self.IS[at.N_REMEMBERED] = n
        self.integers(at.MEMORY_KEYS)[:n], self.integers(at.MEMORY_LAWS)[:n] = keys, laws
        self.doubles(at.MEMORIES)[:n, : memories.shape[1]] = memories
        offsets = np.einsum("ui,ui->u", memories[:, :VECTOR], memories[:, VECTOR : 2 * VECTOR])
        self.XS[at.NEAR] += float(offsets.max(initial=0.0))

    def memory(self) -> dict[str, NDArray[Any]]:
        """Return what the steps have to remember."""
        kept: dict[str, NDArray[Any]] = {"counts": self.IS[list(MEMORY_COUNTS)]}
        kept |= {name: self.XS[[slot]] for name, slot in FIGURES.items()}
        kept |= {name: self.doubles(part).flatten() for name, part in WHOLE.items()}
        for name, (part, count) in REMEMBERED.items():
            kept[name] = at.STEP.part(self.IS, self.XS, part)[: self.IS[count]].flatten()
        return kept

    def remember(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take over what another workspace remembered."""
        self.IS[list(MEMORY_COUNTS)] = memory["counts"]
        for name, slot in FIGURES.items():
            self.XS[slot] = memory[name][0]
        for name, part in WHOLE.items():
            self.doubles(part).reshape(-1)[:] = memory[name]
        for name in KEYS:
            self.IS[REMEMBERED[name][1]] = memory[name].size
        for name, (part, _) in REMEMBERED.items():
            at.STEP.part(self.IS, self.XS, part).reshape(-1)[: memory[name].size] = memory[name]


def lasting_forms(law: LawRows) -> int:
    """Return how many components the rows of a law have.

    0 where contacts cannot keep a mode by forces alone: they have friction that is not Coulomb's, or yield
    without a layer.
    """
    forms = law.used.size
    yields = law.compliance.any()
    along = law.used.tolist() == list(range(FORCE_N, FORCE_N + forms))
    disc = [width for _, width, _ in law.discs] == [forms - 1] and np.array_equal(law.C, np.eye(forms))
    coulomb = along and (law.mu is not None or disc)
    return forms if not yields and (forms == law.m == 1 or coulomb) else 0


def pile_edges(law: LawRows) -> int:
    """Return how many edges the friction cone of a law has as piles know it, -1 where they do not."""
    forms = lasting_forms(law)
    if forms == 1 and law.used[0] == FORCE_N:
        return SMOOTH
    if forms == 3 and law.discs:
        return DISC
    n_f = law.m - 1
    polygon = forms == 3 and np.allclose(law.C[1:, 1:], friction_directions(n_f), rtol=0.0, atol=1e-14)
    return n_f if polygon else -1


def floating_trees(tree: Tree, IE: Indices, XE: Array) -> Indices:
    """Return where the trees of roots end that float, see `mcpframe.simulation.step.moving.floating`; else 0.

    They are on a free hinge, with links behind it, and no closure holds them to the world or to another tree.
    """
    table = rec.MEMORY.part(tree.skeleton.I, tree.skeleton.X, rec.TREE)
    closures, terms = (loops.MEMORY.part(IE, XE, part) for part in (loops.LOOPS, loops.TERMS))
    between = closures[closures[:, loops.L_KIND] != loops.GEAR][:, [loops.L_BODY_A, loops.L_BODY_B]]
    pairs = np.concatenate([between, terms[:, [loops.T_BODY, loops.T_PARENT]]])
    roots, ends = np.flatnonzero(table[:, rec.PARENT] < 0), np.zeros(len(table), dtype=np.int64)
    for root, end in zip(roots, np.append(roots[1:], len(table)), strict=False):
        inside = (pairs >= root) & (pairs < end)
        if table[root, rec.KIND] == rec.FREE and end > root + 1 and (inside[:, 0] == inside[:, 1]).all():
            ends[root] = end
    return ends


def bodies_by_themselves(tree: Tree) -> NDArray[np.bool_]:
    """Return which bodies turn without feeling others: see `mcpframe.simulation.step.moving.drift`."""
    I, X = tree.skeleton.I, tree.skeleton.X
    table, constants = rec.MEMORY.part(I, X, rec.TREE), rec.MEMORY.part(I, X, rec.CONSTANTS)
    alone = np.isin(table[:, rec.KIND], (rec.BALL, rec.FREE)) & (table[:, rec.PARENT] < 0)
    alone[table[table[:, rec.PARENT] >= 0, rec.PARENT]] = False
    armature = tree.gather("armature")
    for k in np.flatnonzero(alone):
        inertia = constants[k, rec.C_INERTIA :][:MATRIX].reshape(3, VECTOR)[:, :3]
        dofs = slice(table[k, rec.DOF_AT], table[k, rec.DOF_AT] + table[k, rec.N_DOF])
        alone[k] = not armature[dofs].any() and np.linalg.eigvalsh(inertia)[0] > 0.0
    return alone
