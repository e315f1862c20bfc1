"""Where the stepping kernels keep what: addresses, settings, workspaces, and the rows that they record.

Every part is declared once, with what it is for and how much there is of it: `count` for one number, `part`
for an array. Slots are numbered by the order of declaration; `workspace` makes the arrays from the same
declarations, and the kernels read them by the accessors at the end of this file.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from mcpframe.contact.contact import GAP, RECORD, RESTITUTION
from mcpframe.contact.detection.records import C_KEY, CONTACT_ROW
from mcpframe.contact.detection.records import CONTACTS as FOUND_CONTACTS
from mcpframe.contact.detection.records import N_CONTACTS as FOUND
from mcpframe.contact.detection.records import RECORDS as FOUND_RECORDS
from mcpframe.jit import inline
from mcpframe.spatial.lanes import get, put

# Addresses, in A: kernels of the framework, of the formulation, of the solver; the door to Python.
DETECT, PLACE, ACCELERATE, ENERGIES, CERTIFY, PLAN, ASSEMBLE, CONSTANTS, RECOVER, SOLVE, HOST = range(11)
INVERSE = 11
N_ADDRESSES = 12


@dataclass(frozen=True)
class Part:
    """An array within IS or XS.

    Attributes:
        slot: where in IS it is said where it begins.
        doubles: whether it lies in XS.
        per: of what there is one row each.
        width: numbers of a row; a name where only a run knows it.
    """

    slot: int
    doubles: bool
    per: str
    width: int | str


PARTS: list[Part] = []
_slots = iter(range(1000))
_numbers = iter(range(1000))


def count() -> int:
    """Declare an integer in the head of IS."""
    return next(_slots)


def number() -> int:
    """Declare a double in the head of XS."""
    return next(_numbers)


def integers(per: str, width: int | str = 1) -> int:
    """Declare an array of integers."""
    PARTS.append(Part(next(_slots), False, per, width))
    return PARTS[-1].slot


def doubles(per: str, width: int | str = 1) -> int:
    """Declare an array of doubles."""
    PARTS.append(Part(next(_slots), True, per, width))
    return PARTS[-1].slot


# Settings.
CAPACITY, ROWS_EACH = count(), count()
"""Contacts and limits that there is room for, and rows of z that each has at most."""
EVERY, MAX_IMPACTS, EVENT_DRIVEN, NEWTON, RK4 = count(), count(), count(), count(), count()
"""Record every so many steps; most impacts of a step; scheme, law of restitution, integrator."""
POSITION_LEVEL, CLOSURE_BIAS, PROJECTS, REPEATED = count(), count(), count(), count()
"""Whether gaps count in fixed steps; what closures ask; whether loops are closed again after a step, and
whether they have rows that repeat others."""
PASSIVE, N_SHAPES, N_LIMITS, LIMIT_LAW = count(), count(), count(), count()
"""Whether hinges have springs or dampers; shapes, and limits of the model; the law of a limit that turns,
before that of one that slides."""
HOST_FORCES, HOST_DETECTION, HOST_PUSH, HOST_SOLVE, HOST_MOTION, OBSERVED = (count() for _ in range(6))
"""Stages that are Python's: applied forces, pairs of shapes, a whole problem, its solution, prescribed motion
of closures; and whether somebody looks on."""
DT, TIME_TOLERANCE, PENETRATION, REST_SPEED, TOL, NEAR = (number() for _ in range(6))
"""NEAR: gap up to which contacts are looked for."""
RISE, THINNEST, BAUMGARTE = number(), number(), number()
"""RISE: the largest speed at which what has sunk in rises. THINNEST: thickness of the thinnest shape."""

# What a step changes, and what is undone with it where it does not go through.
N_TOUCHING, N_CLOSED, N_TAKEN, N_KNOWN, N_PLANNED, N_HITS, MOVED = (count() for _ in range(7))
"""Contacts and limits that touch, that are known to be closed, contacts with impulses since the last record,
those with a basis, those of the plan; impacts in this step, whether one has changed the rates since the last
step was solved."""
ITERATIONS, BUILD, SOLVING, RECOVERY, N_SOLVES, STATUS, BY_AUTO = (count() for _ in range(7))
"""Figures since the last record, times in cycles; status of the first solve that failed; whether auto
helped."""
N_OUT_IMPACTS = count()
FIRST_CHANGED, LAST_CHANGED = N_TOUCHING, N_OUT_IMPACTS
RESIDUAL, DRIFT = number(), number()
START, TIME, SPEED, TRIAL = number(), number(), number(), number()
"""Begin of the step, time reached; the speed of the fastest point of any shape where the step begins; length
of the last trial."""
KIND = count()
"""What the problem that Python is asked about is of: a step, compression, decompression."""

# The rows that are recorded.
N_OUT, N_OUT_CONTACTS, MAX_OUT, MAX_OUT_CONTACTS, MAX_OUT_IMPACTS = (count() for _ in range(5))
OVERFLOW = count()
"""Whether a contact found no room in TAKEN."""

# Contacts and limits that touch: bodies, key, law; records as the detection's; gaps; the speed that is added
# to the normal velocity in the problem; impulses on A, the normal one in the fourth lane; modes.
TOUCHING, MODES = integers("touching", CONTACT_ROW), integers("touching")
RECORDS, GAPS, SHIFTS = doubles("touching", RECORD), doubles("touching"), doubles("touching")
IMPULSES, STORED, GIVEN = doubles("touching", 4), doubles("touching"), doubles("touching", 4)
"""STORED in compression, GIVEN back in decompression."""
# Memory by key: what was closed, what has pressed since the last record, bases, the plan.
CLOSED, KNOWN_KEYS, KNOWN_CODES = integers("touching"), integers("touching"), integers("touching", "rows")
PLANNED_KEYS = integers("touching")
TAKEN_KEYS, TAKEN_MODES, TAKEN_BODIES = integers("taken"), integers("taken"), integers("taken", 2)
T_POINT, T_NORMAL, T_GAP, TAKEN_ROW = 4, 8, 12, 16
"""Row of TAKEN: impulse, point, normal, gap."""
TAKEN = doubles("taken", TAKEN_ROW)
# The same before the step.
CHANGED_BEFORE = integers("changed")
CLOSED_BEFORE, KNOWN_BEFORE = integers("touching"), integers("touching")
CODES_BEFORE, TAKEN_BEFORE = integers("touching", "rows"), doubles("taken", TAKEN_ROW)
FIGURES_BEFORE = doubles("figures")
# The problem, and what the formulation makes of its solution.
Z, W_ROWS, RESPONSE, AFTER = doubles("row"), doubles("row"), doubles("dof"), doubles("dof")
# Forces at the hinges: applied ones, constant ones; dampers and springs.
APPLIED, CONSTANT, DAMPING, STIFFNESS = doubles("dof"), doubles("dof"), doubles("dof"), doubles("dof")
REST, AWAY, BEST = doubles("theta"), doubles("dof"), doubles("theta")
COMPRESSED, GIVEN_BACK, ENERGY = doubles("dof"), doubles("dof"), doubles("eight")
"""Rates at the end of compression, and after the stored impulses."""
STAGE_TANGENTS, STAGE_RATES = doubles("dof", 4), doubles("dof", 4)
"""Of the four stages of Runge and Kutta."""
SHAPE_BODY, SHAPE_REACH, SHAPE_WIDTH = integers("shape"), doubles("shape"), doubles("shape")
"""How far from the origin of its body a shape reaches, and how thick it is."""
M_DOF, M_THETA, M_BODY, M_PARENT, M_SLIDES, LIMIT_ROW = range(6)
LIMITS = integers("limit", LIMIT_ROW)
M_SIGN, M_BOUND, M_RESTITUTION = range(3)
LIMIT_VALUES = doubles("limit", 4)
"""A joint limit: sign (theta - bound) >= 0."""

HEAD, XS_HEAD = next(_slots), -(-next(_numbers) // 8) * 8
N_CHANGED, N_FIGURES = LAST_CHANGED - FIRST_CHANGED + 1, 2

# Columns of OUT, then theta and theta_dot.
(
    O_TIME, O_KINETIC, O_POTENTIAL, O_RESIDUAL, O_SOLVED, O_STATUS, O_AUTO, O_ITERATIONS, O_BUILD, O_SOLVE,
    O_RECOVER, O_CONTACTS, O_PENETRATION, O_IMPACTS, O_DRIFT,
) = range(15)  # fmt: skip
OUT_HEAD = 15
# Columns of OUT_CONTACTS: bodies, key, mode, gap; point, normal, impulse.
C_A, C_B, C_NAME, C_MODE, C_GAP, C_POINT, C_NORMAL, C_IMPULSE = 0, 1, 2, 3, 4, 5, 8, 11
OUT_CONTACT = 14
# Columns of OUT_IMPACTS.
H_TIME, H_CONTACTS, H_LIMITS, H_BEFORE, H_COMPRESSED, H_AFTER, H_PENETRATION = range(7)
OUT_IMPACT = 7

# How a call ended.
DONE, NO_ROOM, NO_SOLUTION, NO_MOTION, TOO_LONG, FULL, RAISED = range(7)
"""All steps taken, or the tables of the record are full; contacts need more room; a problem was not solved;
no acceleration; within a step: a part of it to be tried again in halves; more contacts took impulses since
the last record than there is room for; Python has raised an exception. In all but the first case the state is
the one before the step that did not go through."""

TAKEN_ROOM = 4
"""Contacts whose impulses can be gathered between two records, in multiples of the capacity."""


class Run(NamedTuple):
    """All arrays of a run but those of the state: integers and doubles of each part.

    A: addresses; I: the tree; ID, XD: detection; IE, XE: closures, and IQ, XQ the space of their rows; IF,
    XF: controllers; IR, XR: the formulation, which says in IP where its problem is; W, IW, codes: the solver;
    IS, XS: of this file; OUT...: what is recorded.
    """

    A: Any
    I: Any
    ID: Any
    XD: Any
    IE: Any
    XE: Any
    IQ: Any
    XQ: Any
    IF: Any
    XF: Any
    IR: Any
    XR: Any
    IP: Any
    W: Any
    IW: Any
    codes: Any
    IS: Any
    XS: Any
    OUT: Any
    OUT_CONTACTS: Any
    OUT_IMPACTS: Any


@inline
def key_of(run, i):
    """Return the key of what touches; below zero for a limit."""
    return get(run.IS, run.IS[TOUCHING] + i * CONTACT_ROW + C_KEY)


@inline
def record_of(run, i):
    """Return where in XS the record of what touches begins."""
    return run.IS[RECORDS] + i * RECORD


@inline
def gap_of(run, i):
    """Return the gap of what touches."""
    return get(run.XS, run.IS[GAPS] + i)


@inline
def shift_of(run, i):
    """Return the speed that is added to the normal velocity of what touches in the problem."""
    return get(run.XS, run.IS[SHIFTS] + i)


@inline
def put_shift(run, i, speed):
    """Set that speed."""
    put(run.XS, run.IS[SHIFTS] + i, speed)


@inline
def restitution_of(run, i):
    """Return the restitution of what touches."""
    return get(run.XS, record_of(run, i) + RESTITUTION)


@inline
def normal_impulse_of(run, i):
    """Return the impulse along the normal, or against the limit, of what touches."""
    return get(run.XS, run.IS[IMPULSES] + 4 * i + 3)


@inline
def found_gap(run, i):
    """Return the gap of contact i of the last detection."""
    from_detection = run.ID[FOUND_RECORDS] + i * RECORD
    return get(run.XD, from_detection + GAP)


@inline
def found_key(run, i):
    """Return the key of contact i of the last detection."""
    return get(run.ID, run.ID[FOUND_CONTACTS] + i * CONTACT_ROW + C_KEY)


@inline
def n_found(run):
    """Return how many contacts the last detection has found."""
    return run.ID[FOUND]
