"""Where the stepping kernels keep what: addresses, settings, workspaces, and the rows that they record.

Every part is declared once, with what it is for and how much there is of it; see `mcpframe.jit.memory`.
`workspace` makes the arrays, and the kernels read them by the accessors at the end of this file.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import Any, NamedTuple

from mcpframe.contact.contact import GAP, RECORD, RESTITUTION
from mcpframe.contact.detection.records import C_KEY, C_MATERIAL, CONTACT_ROW
from mcpframe.contact.detection.records import CONTACTS as FOUND_CONTACTS
from mcpframe.contact.detection.records import MAX_CONTACTS as FOUND_ROOM
from mcpframe.contact.detection.records import N_CONTACTS as FOUND
from mcpframe.contact.detection.records import RECORDS as FOUND_RECORDS
from mcpframe.contact.law_kernel import LAW_ROW
from mcpframe.jit import inline
from mcpframe.jit.lanes import get, put
from mcpframe.jit.lapack import EIGENVALUE_WORK
from mcpframe.jit.memory import VECTOR, Memory, columns
from mcpframe.problem.cone import JUDGING
from mcpframe.simulation.memory.law_groups import LAW_GROUPS as LAW_GROUPS_ROW
from mcpframe.solving.stages import SHIFTS as N_SHIFTS
from mcpframe.solving.stages import SOFTNESS as N_SOFTNESS

# Addresses, in A: kernels of the framework, of the formulation, of the solver; the door to Python.
(
    DETECT, PLACE, ACCELERATE, ENERGIES, CERTIFY, PLAN, ASSEMBLE, CONSTANTS, RECOVER, SOLVE, HOST, INVERSE,
    PLACE_RATES, PUSH_ERROR, GIFT_ERROR, FORCE_ERROR, ADAPT, ARTICULATE, CERTIFY_CONES, RESPOND,
    CHOOSE_JOINTS, RIGIDIFY, WRITE_PIECES, JUDGE, EIGENVALUES, N_ADDRESSES,
) = range(26)  # fmt: skip

STEP = Memory()
count, number, integers, doubles = STEP.count, STEP.number, STEP.integers, STEP.doubles

# Settings.
CAPACITY, ROWS_EACH, CONE_ROWS, POINT_ROWS = (
    count(of) for of in ("touching", "rows", "cone_rows", "point_rows")
)
"""Contacts and limits that there is room for, and rows of z that each has at most; where cones are exact, the
same, else 0; and where a point to start from is kept, the same, else 0: of exact cones, and of piles."""
PILE_FROM, PILE, N_PILES = count(), count(), count()
"""Contacts from which on an island of free bodies is a pile, see `simulation.piles`, 0 for never; the island
that Python is asked about; how many piles there were in the last push."""
TOGETHER, NEEDED = count("together"), count()
"""Contacts and limits that there is room for in one problem, and how many one has had."""
EVERY, MAX_IMPACTS, EVENT_DRIVEN, NEWTON, RK4, EULER = (count() for _ in range(6))
"""Record every so many steps; most impacts of a step; scheme, law of restitution, integrator."""
CLOCKS = count()
"""Whether parties may have clocks of their own, see `apart`."""
CLOSURE_BIAS, PROJECTS, REPEATED = count(), count(), count()
"""What closures ask; whether loops are closed again after a step, and whether they have rows that repeat
others."""
WHOLE, SEQUENTIAL = count(), count()
"""Impacts: whether friction of decompression leans on what is given back, and what that adds is stored in its
turn; whether one approach is resolved after the other."""
PASSIVE, IMPLICIT, ALL_BY_THEMSELVES = count(), count(), count()
"""Whether hinges have springs or dampers, or motors that act as such; whether no hinge feels another."""
N_SHAPES, N_LIMITS, LIMIT_LAW = count("shape"), count("limit"), count()
"""Shapes, and limits of the model; the law of a limit that turns, before that of one that slides."""
N_ALL_DOFS, N_ALL_THETA, ADAPTIVE = count("dof"), count("theta"), count()
"""Of the whole; whether its joints become rigid and active again as it moves, see `adapt`."""
HOST_FORCES, HOST_DETECTION, HOST_PUSH, HOST_SOLVE, OBSERVED = (count() for _ in range(5))
"""Stages that are Python's: applied forces, pairs of shapes, a whole problem, its solution; and whether
somebody looks on."""
SOFT, HOST_LAYERS, MEMORY_WIDTH = count(), count(), count("memory")
"""Whether contacts of some law yield; whether some layer is Python's; numbers that a contact remembers, those
of its normal among them."""
DT, TIME_TOLERANCE, PENETRATION, REST_SPEED, TOL, NEAR = (number() for _ in range(6))
"""NEAR: gap up to which contacts are looked for."""
RISE, THINNEST, BAUMGARTE = number(), number(), number()
"""RISE: the largest speed at which what has sunk in rises. THINNEST: thickness of the thinnest shape."""
CERTIFY_EVERY, CERTIFY_TOL = count(), number()
"""Certify every so many steps, and all impacts; 0 for nothing at all."""
DIAGNOSES, SWITCHES, DWELL = count(), count(), count()
"""Whether steps are judged, see `contact_model`; whether contacts switch; steps before that."""
NEVER, ONCE, BOTH = range(3)
YIELD_MARGIN, RIGID_MARGIN, SLIP_SPEED, AGREEMENT, MOVING, SETTLE = (number() for _ in range(6))
NEAR_RIGID, TOLD_K, TOLD_C = number(), number(), number()
"""NEAR of rigid contacts; stiffness and damping of the layer, by which stability is judged."""
MOST_TOLD, TOLD_ROOM, SPINS = count("told"), count("told_room"), count()
"""Most normals and tangents that are judged; whether moments of some law are."""

# What a step changes, and what is undone with it where it does not go through.
N_TOUCHING, N_CLOSED, N_TAKEN, N_KNOWN, N_REMEMBERED, N_PLANNED, N_HITS, MOVED = (count() for _ in range(8))
"""Contacts and limits that touch, that are known to be closed, contacts with impulses since the last record,
those with a basis, those whose layers remember something, those of the plan; impacts in this step, whether
one has changed the rates since the last step was solved."""
ITERATIONS, BUILD, SOLVING, RECOVERY, N_SOLVES, STATUS, BY_AUTO = (count() for _ in range(7))
"""Figures since the last record, times in cycles; status of the first solve that failed; whether auto
helped."""
N_HISTORY, HELD, UNREST, YIELDING, AGREED, RESTED = (count() for _ in range(6))
"""Steps whose accelerations are known, up to two; what pressed, and how, in the last, and whether parties had
clocks of their own in it; whether contacts that switch yield, and for how many steps they could have been
rigid; for how many some rigid contact has not slipped."""
N_OUT_IMPACTS = count()
FIRST_CHANGED, N_CHANGED = N_TOUCHING, N_OUT_IMPACTS - N_TOUCHING + 1
RESIDUAL, DRIFT, CERTIFICATE, MIDDLE_1, MIDDLE_2 = (number() for _ in range(5))
"""CERTIFICATE: the worst since the last record, NO_FIGURE where none was made. MIDDLE: of the steps whose
accelerations are known."""
NO_FIGURE = -1.0
N_FIGURES = MIDDLE_2 - RESIDUAL + 1
START, TIME, SPEED, TRIAL = number(), number(), number(), number()
"""Begin of the step, time reached; the speed of the fastest point of any shape where the step begins; length
of the last trial."""
TRIALS, MAX_TRIALS = count(), count()
"""Trials of this step, and how many it may have."""
KIND = count()
"""What the problem that Python is asked about is of: a step, compression, decompression."""
CERTIFIES, BY_KICK, FACTORED, ROWS_OF = (count() for _ in range(4))
"""Whether this step is certified; whether the last trial was one kick, not four stages; of which state the
factor of Λ_b is, and of which one rows of closures were written last."""
# FACTORED, ROWS_OF: of none that matters, of the middle of the step, of its end. FACTORED: of the middle, for
# rows and gains of the end.
NOWHERE, MIDDLE, END, HALFWAY = range(4)
LASTS, UNCLEAR, N_HOLDING = count(), count(), count()
"""Whether contacts keep their modes in the last trial, see `lasting`, or have some that a push might tell;
rows of the system of their forces."""
UNTIL, KEPT, FORCE_SCALE = number(), number(), number()
"""When the first of their modes is over, 0 for unknown; how well they are kept at first; largest force."""
FIGURE, HIT_FIGURE = number(), number()
"""The last certificate; the worst of an impact."""

UNIQUE, RESTS, N_REFERRED, N_NOTED = (count() for _ in range(4))
MARGIN, GROWTH, JUMP, LAYER_ENERGY, WHEN, PART, REFERRED_AT = (number() for _ in range(7))
"""Of the step that was judged last: which test has told whether its answer is unique, whether some rigid
contact has not slipped, margin, growth; jump of the forces where it was switched before it, NaN if not, and
energy of the layer. Time of what is looked at;
length of the last part; contacts with a reference, and since when; contacts whose forces are noted."""
N_TOLD_LIMITS, N_TOLD_NORMALS, N_TOLD, N_TOLD_ALL = (count() for _ in range(4))
KINETIC, RIGID_JUMP = number(), number()
"""Rows that were judged: limits, with normals, with tangents, with what is eliminated. Energy of motions
along them; by how much forces would change if contacts were rigid."""

# The rows that are recorded.
N_OUT, N_OUT_CONTACTS, MAX_OUT, MAX_OUT_CONTACTS, MAX_OUT_IMPACTS = (count() for _ in range(5))
OVERFLOW = count()
"""Whether a contact found no room in TAKEN."""

# Contacts and limits that touch: bodies, key, law; records as the detection's; gaps; the speed that is added
# to the normal velocity in the problem; impulses on A, the normal one in the fourth lane; modes.
TOUCHING, MODES = integers("touching", CONTACT_ROW), integers("touching")
RECORDS, GAPS, SHIFTS = doubles("touching", RECORD), doubles("touching"), doubles("touching", N_SHIFTS)
SOFTNESS = doubles("touching", N_SOFTNESS)
"""By how much what touches yields to its impulses."""
IMPULSES, STORED, GIVEN = doubles("touching", 4), doubles("touching"), doubles("touching", 4)
"""STORED in compression; GIVEN back in decompression, as IMPULSES."""
START_RECORDS, START_GAPS = doubles("touching", RECORD), doubles("touching")
START_VELOCITIES, AHEAD = doubles("touching", 4), doubles("touching", 4)
"""The same where a step begins; relative velocities there, the normal one fourth; and by how much those of
the middle, along n, t_1 and t_2, are larger."""
LEANS = doubles("touching")
"""Normal impulses given back that friction leans on besides those of the problem."""
SUSPECT = integers("touching")
"""Whether a contact is suspected of a jam."""
# Layers by law: what they are, numbers of springs; by how much laws yield besides, and what that grows by.
NO_LAYER, SPRUNG, HOSTED, SWITCHED = range(4)
LAYER_ROOM = 8
LAYER_KINDS, LAYERS, LAW_YIELDS = integers("law"), doubles("law", LAYER_ROOM), doubles("law", 2 * N_SOFTNESS)
# What contacts remember: normal, then vectors; now, turned to the normals of those that touch, and before.
MEMORY_KEYS, MEMORY_LAWS, MEMORIES = integers("touching"), integers("touching"), doubles("touching", "memory")
CARRIED = doubles("touching", "memory")
MEMORY_KEYS_BEFORE, MEMORY_LAWS_BEFORE = integers("touching"), integers("touching")
MEMORIES_BEFORE = doubles("touching", "memory")
# Gaps and speeds that contacts had when they became rigid, see `references`.
REFERRED_KEYS, REFERENCES = integers("touching"), doubles("touching", 2)
NOTED_KEYS, NOTED = integers("touching"), doubles("touching", 8)
"""Contacts that pressed in the last step that was rigid: normals and forces."""
# What is judged: wrenches of contacts, groups of their laws and which of these stick; where the components of
# a row begin and whose they are; weights of rows and columns; matrices; scratch.
WRENCHES, STUCK = doubles("judged", 8), integers("judged")
LAW_GROUPS = integers("judged_law", LAW_GROUPS_ROW)
TOLD_ROWS, TOLD_WEIGHTS = integers("told_row", 2), doubles("told_row", 16)
TOLD_A, TOLD_S = doubles("told_row", "told_row"), doubles("told_row + 1", "told_row")
SPUN = doubles("judged", 8)
"""Relative spins of contacts about n, t_1 and t_2, and what they change by, as in SEEN."""
TOLD_WORK, TOLD_LAPACK = doubles("told_room"), integers(EIGENVALUE_WORK)
# Those of them that are resolved while others wait, where impacts are sequential.
STRIKING = integers("touching", CONTACT_ROW)
STRIKING_RECORDS, STRIKING_GAPS = doubles("touching", RECORD), doubles("touching")
# Memory by key: what was closed, what has pressed since the last record, bases, points, the plan.
CLOSED, KNOWN_KEYS, KNOWN_CODES = integers("touching"), integers("touching"), integers("touching", "rows")
KNOWN_POINT = doubles("touching", "point_rows")
"""Forces, so that steps of any length can start from them."""
PLANNED_KEYS = integers("together")
TAKEN_KEYS, TAKEN_MODES = integers("taken"), integers("taken")
_, T_POINT, T_NORMAL, T_GAP, TAKEN_ROW = columns(VECTOR, VECTOR, VECTOR, VECTOR)
"""Row of TAKEN: impulse, point, normal, gap."""
TAKEN = doubles("taken", TAKEN_ROW)
# Forces that a choice of active joints knows of: keys; points and forces, the normal one of a limit last.
N_FORCES, FORCE_KEYS, FORCES = count(), integers("taken"), doubles("taken", 8)
# The same before the step.
CHANGED_BEFORE = integers(N_CHANGED)
CLOSED_BEFORE, KNOWN_BEFORE = integers("touching"), integers("touching")
CODES_BEFORE, TAKEN_BEFORE = integers("touching", "rows"), doubles("taken", TAKEN_ROW)
POINT_BEFORE = doubles("touching", "point_rows")
FIGURES_BEFORE = doubles(N_FIGURES)
# Islands: what moves together, bodies by body; contacts island after island, and where each begins.
N_ISLANDS, ALL_PUSHED, ROOTS, ISLAND = count(), count(), integers("body"), integers("body")
"""Islands, and whether the last push has gone through in all; ROOTS: which body stands for the set of each;
ISLAND: the number of its island, -1 for none."""
MEMBERS, MEMBERS_AT, REDONE = integers("touching"), integers("touching + 2"), integers("touching + 1")
"""REDONE: whether the last push has solved the problem of an island, or left it as it was."""
N_SORTED, SORTED_KEYS = count(), integers("touching")
"""What islands were found of; -1 where they are to be found anew."""
PUSHED_SHIFTS, ALL_HELD = doubles("touching", N_SHIFTS), count()
"""Shifts of the last push; whether everything was held because something could not rise."""
ROUGH, N_LOOSE, LOOSE = count(), count(), integers("touching + 1")
PILE_TOL, ASKED_RISE = number(), number()
"""Whether a trial is pushed that may be thrown away; islands that were solved only as well as that needs; the
tolerance of the next pile, and the speed at which the last trial has asked something to rise."""
# Parties: which one moves, of every body its party; those that need clocks of their own; bodies that have
# met; shapes of the one that moves; where everybody begins, and where those end that are done.
EVERYBODY, DONE_WITH = -1, -2
"""Instead of the number of a party: all bodies that are awake; those for whom the whole step was good."""
MOVING_PARTY, PARTY, TROUBLED, HOMES = count(), integers("body"), integers("body"), integers("body")
"""HOMES: which body stands for those with whom each takes the step, whether they are troubled or not."""
N_MET, MET = count(), integers("body", 2)
N_PARTY_SHAPES, PARTY_SHAPES = count(), integers("shape")
TRIED, FIRST_HIT, LAST_HIT = count(), integers("body"), integers("body")
"""Whether the party that moves has tried the whole step, which led to its ENDS; of parties, where in
OUT_IMPACTS theirs begin and end."""
N_FORK_CLOSED, N_FORK_TAKEN, FORK_CLOSED = count(), count(), integers("touching")
FORK_TAKEN = doubles("taken", TAKEN_ROW)
"""What was closed, and had pressed, where parties begin."""
STARTS, START_RATES, ENDS, END_RATES = doubles("theta"), doubles("dof"), doubles("theta"), doubles("dof")
# Sleep: speed and steps of rest; bodies that sleep, of every body the island that it sleeps with, how many
# steps it has been quiet, and whether it never sleeps.
SLEEP_SPEED, SLEEP_AFTER, N_ASLEEP = number(), count(), count()
AWAKE = -1
"""Instead of the number of an island that sleeps."""
SLEEPERS, QUIET, SLEEPLESS = integers("body"), integers("body"), integers("body")
# The problem, and what the formulation makes of its solution: of all that touches, and of the island that the
# formulation's arrays are about, whose contacts are those numbered in OWN.
UNKNOWNS = integers("touching", 2)
"""Where in Z the β and the σ of what touches begin; impulses of closures come first."""
Z, RESPONSE, AFTER = doubles("all_row"), doubles("dof"), doubles("dof")
NEXT_CODES, NEXT_POINT = integers("touching", "rows"), doubles("touching", "point_rows")
N_OWN, OWN, OWN_TOUCHING = count(), integers("together"), integers("together", CONTACT_ROW)
OWN_RECORDS, OWN_GAPS = doubles("together", RECORD), doubles("together")
OWN_SHIFTS, OWN_SOFTNESS = doubles("together", N_SHIFTS), doubles("together", N_SOFTNESS)
OWN_LEANS, OWN_IMPULSES, OWN_MODES = doubles("together"), doubles("together", 4), integers("together")
OWN_Z, W_ROWS = doubles("row"), doubles("row")
OWN_PARTS = (
    *(OWN_TOUCHING, OWN_RECORDS, OWN_GAPS, OWN_SHIFTS, OWN_SOFTNESS),
    *(OWN_LEANS, OWN_IMPULSES, OWN_MODES, OWN_Z),
)
ALL_PARTS = TOUCHING, RECORDS, GAPS, SHIFTS, SOFTNESS, LEANS, IMPULSES, MODES, Z
APART = integers(len(OWN_PARTS))
"""Parts of the problem, which are those of all that touches, but for the problem of one of several islands:
then they are where APART says."""
JUDGED = doubles(JUDGING, "row")
"""What the judge works on where cones are exact."""
ASKED = integers("loop_row")
"""Whether a row of a closure is asked for, or repeats others."""
UNMOVED = integers("together")
"""Whether nothing moves along the normal of a contact of the problem."""
BEFORE, FORCED, KICKED = doubles("dof"), doubles("dof"), doubles("dof")
"""Rates at the middle of a step, before what forces alone do to them, when it was found out, and after."""
HISTORY, HISTORY_BEFORE = doubles(4, "dof"), doubles(4, "dof")
"""Accelerations of the last steps, and what of them contacts, limits and closures did."""
BY_ITSELF, FLOATING, FLIES = integers("body"), integers("body"), integers("body")
"""Bodies that turn without feeling others, see `drift`, HELD_BODY where closures hold them; of the roots of
trees that float where these end, see `floating`, of other bodies 0; whether a body is one rigid tree that
floats."""
HELD_BODY = 2
# Forces at the hinges: applied ones, constant ones; dampers and springs.
APPLIED, CONSTANT, DAMPING, STIFFNESS = doubles("dof"), doubles("dof"), doubles("dof"), doubles("dof")
PULL, SPRINGS, DAMPERS, SPRING_RATES, DAMPER_RATES = (doubles("dof") for _ in range(5))
"""Springs and dampers, motors that act as such included: force of the springs where a step begins, stiffness
and damping, and these times the rate of what they pull towards."""
ROTORS, INERTIA, INERTIA_BEFORE, IMPLICITNESS, SAMPLED = (doubles("dof") for _ in range(5))
"""Armature of the model; D of the last sweep; the share of a step's end in its dampers; forces of motors
where it begins."""
REST, AWAY, BEST = doubles("theta"), doubles("dof"), doubles("theta")
COMPRESSED, GIVEN_BACK, ENERGY = doubles("dof"), doubles("dof"), doubles(8)
"""Rates that a phase of an impact begins with (for Poisson: the end of compression), and after the impulses
that are given back."""
STAGE_TANGENTS, STAGE_RATES = doubles(4, "dof"), doubles(4, "dof")
"""Of the four stages of Runge and Kutta."""
LASTING, EDGE = integers("touching"), integers("touching")
ROW_FORM, ROW_CONTACT = integers("lasting"), integers("lasting")
FIRST_SLIP, FIRST_SPEED, SLIP = doubles("touching", 4), doubles("touching"), doubles("touching", 4)
FORCE, HOLDING = doubles("lasting"), doubles("lasting + 3", "lasting")
LAW_FORMS, LAW_MU, LAW_EDGES = integers("law"), doubles("law"), integers("law")
"""Contacts that last: modes, and on which edge of its cone each slides; components whose forces are asked,
and whose they are; slip where the part begins, and its direction at the stage; forces in components, and the
system that they solve. Of every law how many components it has, 0 where its contacts cannot last, its
friction coefficient, and the edges of its cone as piles know them."""
SHAPE_BODY, SHAPE_REACH, SHAPE_WIDTH = integers("shape"), doubles("shape"), doubles("shape")
"""How far from the origin of its body a shape reaches, and how thick it is."""
BODY_REACH = doubles("body")
"""How far from its origin any shape of a body reaches, -1 where it has none."""
M_DOF, M_THETA, M_BODY, M_PARENT, M_SLIDES, LIMIT_ROW = range(6)
LIMITS = integers("limit", LIMIT_ROW)
M_SIGN, M_BOUND, M_RESTITUTION = range(3)
LIMIT_VALUES = doubles("limit", 4)
"""A joint limit: sign (theta - bound) >= 0."""
# Certificates: laws, see `contact.law_kernel`; impulses on bodies and at hinges, velocities of what touches;
# change of rates, what momentum misses, energies; the matrix of closures, and what their rates miss, twice.
LAW_ROWS, LAW_DATA, LAW_SCRATCH = integers("law", LAW_ROW), doubles("law_data"), doubles("law_room")
BODY_PUSH, HINGE_PUSH, SEEN = doubles("body", 8), doubles("dof"), doubles("touching", 8)
CHANGE, MISSING, BALANCE = doubles("dof"), doubles("dof"), doubles(8)
LOOP_MATRIX, LOOP_MISSING = doubles("loop_row", "dof"), doubles(2, "loop_row")
# Problems of closures and contacts without the closures, see `without_loops`.
REDUCED, TAKEN_OUT = doubles("reduced + 1", "reduced"), doubles("reduced + 1", "loop_row")

# Columns of OUT, one after the other, each with room for MAX_OUT rows; then theta and theta_dot.
(
    O_TIME, O_KINETIC, O_POTENTIAL, O_RESIDUAL, O_SOLVED, O_STATUS, O_AUTO, O_ITERATIONS, O_BUILD, O_SOLVE,
    O_RECOVER, O_CONTACTS, O_PENETRATION, O_IMPACTS, O_DRIFT, O_CERTIFICATE, O_ACTIVE, O_ERROR, O_LOSS,
    O_YIELDED, O_UNIQUE, O_MARGIN, O_GROWTH, O_JUMP, O_LAYER, O_ASLEEP, OUT_HEAD,
) = range(27)  # fmt: skip
# Columns of OUT_CONTACTS, likewise: key, mode, gap; point, normal, impulse, stretch of the layer.
C_NAME, C_MODE, C_GAP, C_POINT, C_NORMAL, C_IMPULSE, C_STRETCH, OUT_CONTACT = columns(*[1] * 3, *[3] * 4)
# Numbers of a row of OUT_IMPACTS, of which there are few.
(
    H_TIME, H_CONTACTS, H_LIMITS, H_BEFORE, H_COMPRESSED, H_AFTER, H_PENETRATION, H_JAM, H_CERTIFICATE,
    OUT_IMPACT,
) = range(10)  # fmt: skip

# How a call ended.
DONE, NO_ROOM, NO_SOLUTION, NO_MOTION, TOO_LONG, FULL, RAISED, CONTRADICTED, TOO_MUCH = range(9)
"""All steps taken, or the tables of the record are full; contacts need more room; a problem was not solved;
no acceleration; within a step: a part of it to be tried again in halves; more contacts took impulses since
the last record than there is room for; Python has raised an exception; closures with prescribed motion
cannot be kept together; a step has had as many trials as it may. In all but the first case the state is the
one before the step that did not go through."""

TAKEN_ROOM = 4
"""Contacts whose impulses can be gathered between two records, in multiples of the capacity."""


class Run(NamedTuple):
    """All arrays of a run but those of the state: integers and doubles of each part.

    A: addresses; I: the tree; Z: the state in the middle of a step; ID, XD: detection; IE, XE: closures, and
    IQ, XQ the space of their rows; IF, XF: controllers; IR, XR: the formulation, which says in IP where its
    problem is; W, IW, codes: the solver; IS, XS: of this file; OUT...: what is recorded. Where joints become
    rigid, I is the tree of the clusters; IT, XT: of the whole; IA, XA: see `adaptive_slots`.
    """

    A: Any
    I: Any
    Z: Any
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
    IT: Any
    XT: Any
    IA: Any
    XA: Any


@inline
def key_of(run, i):
    """Return the key of what touches; below zero for a limit."""
    return get(run.IS, run.IS[TOUCHING] + i * CONTACT_ROW + C_KEY)


@inline
def material_of(run, i):
    """Return the number of the law of what touches."""
    return get(run.IS, run.IS[TOUCHING] + i * CONTACT_ROW + C_MATERIAL)


@inline
def layer_of(run, i):
    """Return where in XS the numbers of a contact's springs begin."""
    return run.IS[LAYERS] + LAYER_ROOM * material_of(run, i)


@inline
def has_layer(run, law):
    """Return whether contacts of a law have a layer; where they switch, whether they do now."""
    if run.IS[SOFT] == 0:
        return False
    kind = get(run.IS, run.IS[LAYER_KINDS] + law)
    return kind != NO_LAYER and (kind != SWITCHED or run.IS[YIELDING] != 0)


@inline
def is_soft(run, i):
    """Return whether what touches has a layer: overlaps are deformations there, and nothing strikes."""
    return has_layer(run, material_of(run, i))


@inline
def record_of(run, i):
    """Return where in XS the record of what touches begins."""
    return run.IS[RECORDS] + i * RECORD


@inline
def gap_of(run, i):
    """Return the gap of what touches."""
    return get(run.XS, run.IS[GAPS] + i)


@inline
def start_gap_of(run, i):
    """Return the gap that what touches had where the step begins."""
    return get(run.XS, run.IS[START_GAPS] + i)


@inline
def shift_of(run, i):
    """Return the speed that is added to the normal velocity of what touches in the problem."""
    return get(run.XS, run.IS[SHIFTS] + N_SHIFTS * i)


@inline
def put_shift(run, i, speed):
    """Set that speed."""
    put(run.XS, run.IS[SHIFTS] + N_SHIFTS * i, speed)


@inline
def slip_shift_of(run, i):
    """Return the speeds that are added to the tangential velocities of what touches."""
    slips = run.IS[SHIFTS] + N_SHIFTS * i + 1
    return get(run.XS, slips), get(run.XS, slips + 1)


@inline
def put_slip_shift(run, i, first, second):
    """Set those speeds."""
    put(run.XS, run.IS[SHIFTS] + N_SHIFTS * i + 1, first)
    put(run.XS, run.IS[SHIFTS] + N_SHIFTS * i + 2, second)


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
    """Return how many contacts of the last detection are there: without room not all that it has counted."""
    return min(run.ID[FOUND], run.ID[FOUND_ROOM])
