"""Where the stepping kernels keep what: addresses, settings, workspaces, and the rows that they record."""

from __future__ import annotations

from typing import Any, NamedTuple

# Addresses, in A.
PLAN, ASSEMBLE, CONSTANTS, RECOVER, SOLVE, DETECT, PLACE, ACCELERATE, ENERGIES, CERTIFY = range(10)

# Head of IS: counts and settings.
CAPACITY, ROWS_PER_CONTACT, EVERY, MAX_IMPACTS, EVENT_DRIVEN, GAPS_COUNT = range(6)
"""Contacts that there is room for; rows of z that a contact has at most; record every so many steps; most
impacts of a step; scheme; whether gaps count in steps of the fixed scheme."""
N_TOUCHING, N_CLOSED, N_TAKEN, N_KNOWN, N_PLANNED, N_HITS, MOVED = range(6, 13)
"""Touching contacts of the state, contacts known to be closed, contacts with impulses since the last record,
contacts with a basis, contacts of the plan; impacts in this step, whether one has changed the rates since the
last step was solved."""
N_OUT, N_OUT_CONTACTS, N_OUT_IMPACTS, MAX_OUT, MAX_OUT_CONTACTS, MAX_OUT_IMPACTS = range(13, 19)
ITERATIONS, BUILD, SOLVING, RECOVERY, N_SOLVES, PASSIVE = range(19, 25)
"""Figures of the steps since the last record, times in cycles; whether hinges have springs or dampers."""
# Where things begin in IS, per contact: rows of the touching ones, keys.
TOUCHING, CLOSED, TAKEN_KEYS, TAKEN_MODES, KNOWN_KEYS, KNOWN_CODES, PLANNED_KEYS, MODES = range(25, 33)
# Where things begin in XS: per contact, per row, per dof.
RECORDS, GAPS, IMPULSES, TAKEN, Z, RESPONSE, TAU_0, DAMPING, STIFFNESS, REST, W_ROWS = range(33, 44)
ENERGY, THETA_OF, CLOSED_BEFORE, TAKEN_BEFORE, KNOWN_BEFORE, CODES_BEFORE = range(44, 50)
"""THETA_OF in IS: the coordinate of every dof, -1 for those of balls and free hinges; the last four: what was
known before the step, should it not go through."""
# Where things begin in XS: rates at the end of compression, impulses stored in it, impulses given back.
COMPRESSED, STORED, GIVEN = range(51, 54)
TAKEN_BODIES, SHAPE_BODY, SHAPE_REACH, N_SHAPES, OVERFLOW = range(54, 59)
"""In IS: the bodies of contacts with impulses, two each; those of shapes. In XS: how far from the origin of
its body a shape reaches. Whether a contact found no room in TAKEN."""
# Row of TAKEN: impulse, point, normal, gap.
T_POINT, T_NORMAL, T_GAP = 4, 8, 12
TAKEN_ROW = 16
COUNTS, COUNTS_BEFORE, N_COUNTS = N_TOUCHING, 60, PASSIVE - N_TOUCHING
"""In IS: all counts and figures that a step changes, and what they were before it."""
STEP_HEAD = 80

# Head of XS: settings and figures; the thickness of the thinnest shape, and the speed of the fastest point of
# any shape at the start of a step.
DT, START, TIME_TOLERANCE, PENETRATION, REST_SPEED, TOL, TIME, RESIDUAL, NEAR, THINNEST, SPEED = range(11)
RESIDUAL_BEFORE = 11
XS_HEAD = 16

# Columns of OUT, then theta and theta_dot.
(
    O_TIME, O_KINETIC, O_POTENTIAL, O_RESIDUAL, O_SOLVED, O_ITERATIONS, O_BUILD, O_SOLVE, O_RECOVER,
    O_CONTACTS, O_PENETRATION, O_IMPACTS,
) = range(12)  # fmt: skip
OUT_HEAD = 12
# Columns of OUT_CONTACTS: bodies, key, mode, gap; point, normal, impulse.
C_A, C_B, C_KEY, C_MODE, C_GAP, C_POINT, C_NORMAL, C_IMPULSE = 0, 1, 2, 3, 4, 5, 8, 11
OUT_CONTACT = 14
# Columns of OUT_IMPACTS.
H_TIME, H_CONTACTS, H_BEFORE, H_COMPRESSED, H_AFTER, H_PENETRATION = range(6)
OUT_IMPACT = 6

# How a call ended.
DONE, NO_ROOM, NO_SOLUTION, NO_MOTION, TOO_LONG, FULL = range(6)
"""All steps taken, or the tables of the record are full; contacts need more room; a problem was not solved;
no acceleration; within a step: a part of it to be tried again in halves; more contacts took impulses since
the last record than there is room for. In all but the first case the state is the one before the step that
did not go through."""

TAKEN_ROOM = 4
"""Contacts whose impulses can be gathered between two records, in multiples of the capacity."""


class Run(NamedTuple):
    """All arrays of a run but those of the state: integers and doubles of each part."""

    A: Any
    I: Any
    ID: Any
    XD: Any
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
