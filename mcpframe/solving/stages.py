"""What a plugin offers so that compiled code can call it: addresses of kernels with the signatures below.

A loop over time steps runs without the interpreter where the formulation and the solver both have such
kernels; see `mcpframe.simulation.step`. Whoever has none is called from Python, step by step.

A formulation keeps its integers in `IR` and its doubles in `XR`, laid out as it likes, with room for so many
contacts; the problem that it writes it describes in `IP`:

    IP[N_ROWS], and where in XR its M (by rows), q, lower and upper begin; the rows of the closures come
    first; then for everything that touches where in z its β and σ begin and how many there are, and which β
    is the normal impulse. M and q are what the laws make of its rows in contact components, w = A p + b
    (`mcpframe.contact.step_rows`): IP[N_COMPONENTS], and where in XR its A (by rows) and b begin. Exact cones
    are rows of β on discs, in the tables of `mcpframe.problem.cone`: IP[N_DISCS], where in IR their rows and
    in XR their sizes begin, and which of them are whose.

What touches are contacts and, before them, joint limits: contacts whose law has one component, about or along
the normal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import types
from numpy.typing import NDArray

from mcpframe.jit import CodesOut, Indices, IndicesOut, Matrix, Vector, VectorOut, calls_of

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# IP: the problem, then a row per contact.
N_ROWS, M_AT, Q_AT, LOWER_AT, UPPER_AT, N_COMPONENTS, A_AT, B_AT = range(8)
N_DISCS, DISCS_AT, SIZES_AT, PROBLEM_HEAD = range(8, 12)
Z_BETA, Z_BETAS, Z_SIGMA, Z_SIGMAS, Z_NORMAL, Z_DISC, Z_DISCS, CONTACT_ROWS = range(8)

SHIFTS = 3
"""Speeds that a step adds to the velocity of a contact: along n, t_1 and t_2."""
SOFTNESS = 6
"""Numbers that say by how much a contact yields: about, then along n, t_1 and t_2."""
SEPARATING, STICKING, SLIDING = range(3)
"""Modes of contacts, in the order of `mcpframe.contact.outcome.Mode`."""

# What kernels take: `@kernel(*SOLVE)` makes one that `call_solve` calls.
PLAN = Indices, IndicesOut, IndicesOut, VectorOut, IndicesOut, Indices, types.int64
_STEP = Vector, Vector, Vector, types.float64, types.int64
ASSEMBLE = Indices, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut, *_STEP
CONSTANTS = IndicesOut, VectorOut, Vector
RECOVER = Indices, VectorOut, IndicesOut, VectorOut, Vector, Vector, Vector, VectorOut, IndicesOut
RESPOND = Indices, VectorOut, IndicesOut, VectorOut, Vector, VectorOut
_LCP = Matrix, Vector, Vector, Vector
_START = types.boolean, types.float64, VectorOut, VectorOut, IndicesOut
SOLVE, SOLVE_CONES = (*_LCP, CodesOut, *_START), (*_LCP, Indices, Vector, *_START)

call_plan = calls_of(types.int64(*PLAN), "plan")
"""plan(I, IE, IR, XR, IP, touching, n): lay the problem out for the closures IE of a tree I (see
`multibody.memory.loop_records`) and what touches (body A, body B, key, law) [n, 4]; return 0."""
call_assemble = calls_of(types.int64(*ASSEMBLE), "assemble")
"""assemble(I, X, IE, XE, IR, XR, records, shift, softness, dt, done): write A, b, M and q of a step of dt
from the state X and the wrenches and targets of the closures XE; relative velocities get the shifts [n, 3]
and the softness [n, 6] times the impulsive wrenches on top. `done` is one of `multibody.kernels.entries`:
PLACED in an impact, KICKED in a step, whose rates have what forces do to them already: impulses alone change
them, and dt is for laws that ask. All of q is written, for impacts add to the rows of the slacks. Return 0,
or what `free_dynamics` there does."""
call_constants = calls_of(types.void(*CONSTANTS), "constants")
"""constants(IR, XR, shift): write b and q again, for other shifts."""
call_recover = calls_of(types.void(*RECOVER), "recover")
"""recover(I, X, IR, XR, records, shift, z, impulses, modes): add the wrenches of the impulses z to PUSH of
their bodies; write of what touches the impulse on A in world axes and, fourth, along the normal [n, 4], and
the mode."""
call_respond = calls_of(types.void(*RESPOND), "respond")
"""respond(I, X, IR, XR, p, response): write Mass^-1 J* of impulses, or forces, in contact components p [n],
those of A and b, on what `assemble` has left."""
call_solve = calls_of(types.int64(*SOLVE), "solve")
"""solve(M, q, lower, upper, codes, warm, tol, z, W, IW): write z; return iterations. The first n codes are a
basis to start from (where warm), and that of z on return; W, IW are workspaces."""
call_solve_cones = calls_of(types.int64(*SOLVE_CONES), "solve_cones")
"""solve_cones(M, q, lower, upper, discs, sizes, warm, tol, z, W, IW): the same where rows lie on discs,
tables as in `mcpframe.problem.cone`; it starts from z, where warm."""


@dataclass(frozen=True, eq=False)
class FormulationStages:
    """A formulation that compiled code can call, for one tree of links and given laws.

    Attributes:
        plan, assemble, constants, recover, respond: addresses of kernels, as above.
        rows_each: most rows of z that a contact has.
        room: returns IR, XR for up to so many contacts.
    """

    plan: int
    assemble: int
    constants: int
    recover: int
    respond: int
    rows_each: int
    room: Callable[[int], tuple[Integers, Array]]


@dataclass(frozen=True, eq=False)
class SolverStage:
    """A solver that compiled code can call.

    Attributes:
        solve: address of a kernel, as above: for problems with discs, or for those without.
        room: returns W, IW for up to so many rows.
    """

    solve: int
    room: Callable[[int], tuple[Array, Integers]]
