"""Islands: bodies that touch, directly or by way of others, have one problem; other bodies have others.

Bodies of one tree move together, trees that touch each other too, and so do all that closures hold; the world
joins nobody. Islands are found by union and find [Tarjan 1975], and numbered by their first contact, the one
with the closures first. Problems of different islands do not know of each other: each is planned, assembled,
solved and certified apart, on the same arrays, and one whose shifts have not changed need not be solved
again. `take_island` copies what touches in an island to where the formulation and the solver find it,
`keep_solution` takes their answer from there; where there is one island, as of a robot, they find what
touches where it is.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.contact import RECORD
from mcpframe.contact.detection.records import C_BODY_A, C_BODY_B, C_KEY, CONTACT_ROW
from mcpframe.contact.law_kernel import L_BETAS, L_SIGMAS, LAW_ROW
from mcpframe.jit import callee, inline, window
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import N_BODIES, PARENT, TREE, TREE_ROW
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import gap_of, key_of, material_of, record_of
from mcpframe.simulation.step.parting.parties import all_move, takes_part
from mcpframe.simulation.step.touching import place_of, with_room
from mcpframe.solving.stages import (
    CONTACT_ROWS,
    PROBLEM_HEAD,
    SHIFTS,
    SOFTNESS,
    Z_BETA,
    Z_BETAS,
    Z_SIGMA,
    Z_SIGMAS,
    call_plan,
)

NONE = -1
"""The island of a body that nothing touches."""


@inline
def root_of(run, k):
    """Return which body stands for the set of body k; paths become shorter on the way."""
    IS, roots = run.IS, run.IS[at.ROOTS]
    while get(IS, roots + k) != k:
        up = get(IS, roots + get(IS, roots + k))
        put(IS, roots + k, up)
        k = up
    return k


@inline
def unite(run, a, b):
    """Join the sets of two bodies; the world, below zero, joins nobody."""
    if a >= 0 and b >= 0:
        a, b = root_of(run, a), root_of(run, b)
        put(run.IS, run.IS[at.ROOTS] + max(a, b), min(a, b))


@callee
def unite_trees(run):
    """Join bodies of one tree."""
    I, IS = run.I, run.IS
    for k in range(I[N_BODIES]):
        parent = get(I, I[TREE] + k * TREE_ROW + PARENT)
        put(IS, IS[at.ROOTS] + k, k if parent < 0 else get(IS, IS[at.ROOTS] + parent))


@callee
def unite_all(run):
    """Join bodies of one tree, of closures, and those that touch; return a body of the closures, or -1."""
    IS, IE = run.IS, run.IE
    unite_trees(run)
    held = -1
    for half in range(IE[loops.N_HALVES]):
        body = get(IE, IE[loops.HALF_BODY] + half)
        unite(run, held, body)
        held = body
    for i in range(IS[at.N_TOUCHING]):
        row = IS[at.TOUCHING] + i * CONTACT_ROW
        unite(run, get(IS, row + C_BODY_A), get(IS, row + C_BODY_B))
    return held


@inline
def body_of(run, i):
    """Return a body that takes part in contact i and can move."""
    row = run.IS[at.TOUCHING] + i * CONTACT_ROW
    a = get(run.IS, row + C_BODY_A)
    return a if a >= 0 else get(run.IS, row + C_BODY_B)


@callee
def number_islands(run, held):
    """Give every island its number, that of closures first, and list the contacts of each in their order."""
    IS, count = run.IS, 0
    for k in range(run.I[N_BODIES]):
        put(IS, IS[at.ISLAND] + k, NONE)
    if held >= 0:
        put(IS, IS[at.ISLAND] + root_of(run, held), 0)
        count = 1
    n, starts = IS[at.N_TOUCHING], IS[at.MEMBERS_AT]
    for k in range(n + 2):
        put(IS, starts + k, 0)
    for i in range(n):
        place = IS[at.ISLAND] + root_of(run, body_of(run, i))
        if get(IS, place) == NONE:
            put(IS, place, count)
            count += 1
        after = starts + get(IS, place) + 1
        put(IS, after, get(IS, after) + 1)
    for k in range(count):
        put(IS, starts + k + 1, get(IS, starts + k + 1) + get(IS, starts + k))
    for i in range(n - 1, -1, -1):
        after = starts + get(IS, IS[at.ISLAND] + root_of(run, body_of(run, i))) + 1
        put(IS, after, get(IS, after) - 1)
        put(IS, IS[at.MEMBERS] + get(IS, after), i)
    for k in range(count):  # they have come down to where the islands begin
        put(IS, starts + k, get(IS, starts + k + 1))
    put(IS, starts + count, n)
    for k in range(run.I[N_BODIES]):
        put(IS, IS[at.ISLAND] + k, get(IS, IS[at.ISLAND] + root_of(run, k)))
    put(IS, at.N_ISLANDS, count)


@callee
def join_all(run):
    """Have everything be one island: a solver in Python remembers one problem."""
    IS, n = run.IS, run.IS[at.N_TOUCHING]
    put(IS, at.N_ISLANDS, 1)
    put(IS, IS[at.MEMBERS_AT], 0)
    put(IS, IS[at.MEMBERS_AT] + 1, n)
    for i in range(n):
        put(IS, IS[at.MEMBERS] + i, i)
    for k in range(run.I[N_BODIES]):
        put(IS, IS[at.ISLAND] + k, 0)


@callee
def place_unknowns(run):
    """Write where the unknowns of all that touches are in Z: closures, all β, all σ."""
    IS, beta = run.IS, run.IE[loops.N_ROWS]
    for i in range(IS[at.N_TOUCHING]):
        put(IS, IS[at.UNKNOWNS] + 2 * i, beta)
        beta += get(IS, IS[at.LAW_ROWS] + material_of(run, i) * LAW_ROW + L_BETAS)
    for i in range(IS[at.N_TOUCHING]):
        put(IS, IS[at.UNKNOWNS] + 2 * i + 1, beta)
        beta += get(IS, IS[at.LAW_ROWS] + material_of(run, i) * LAW_ROW + L_SIGMAS)


@callee
def is_sorted(run):
    """Return whether what touches is what islands were found of last; remember it."""
    IS, n = run.IS, run.IS[at.N_TOUCHING]
    same = n == IS[at.N_SORTED]
    for i in range(n):
        key, sorted_key = key_of(run, i), IS[at.SORTED_KEYS] + i
        same = same and get(IS, sorted_key) == key
        put(IS, sorted_key, key)
    put(IS, at.N_SORTED, n)
    return same


@callee
def find_islands(run):
    """Find the islands of what touches, where that has changed."""
    if is_sorted(run):
        return
    if run.IS[at.HOST_SOLVE] != 0:
        join_all(run)
    else:
        held = unite_all(run)
        number_islands(run, held)
    place_unknowns(run)


@inline
def members_of(run, k):
    """Return where the contacts of island k begin and end in MEMBERS."""
    starts = run.IS[at.MEMBERS_AT]
    return get(run.IS, starts + k), get(run.IS, starts + k + 1)


@callee
def asks_the_same(run, k):
    """Return whether the shifts of an island are those of the last push; closures ask anew."""
    IS, XS = run.IS, run.XS
    if k == 0 and run.IE[loops.N_ROWS] > 0:
        return False
    first, last = members_of(run, k)
    for m in range(first, last):
        o = SHIFTS * get(IS, IS[at.MEMBERS] + m)
        for j in range(SHIFTS):
            if get(XS, IS[at.SHIFTS] + o + j) != get(XS, IS[at.PUSHED_SHIFTS] + o + j):
                return False
    return True


@inline
def copy_row(array, source, target, width):
    """Copy a row of so many numbers."""
    for k in range(width):
        put(array, target + k, get(array, source + k))


@callee
def take_contact(run, i, own):
    """Copy contact i to where the formulation and the solver find it, as number `own`."""
    IS, XS = run.IS, run.XS
    put(IS, IS[at.OWN] + own, i)
    copy_row(IS, IS[at.TOUCHING] + i * CONTACT_ROW, IS[at.OWN_TOUCHING] + own * CONTACT_ROW, CONTACT_ROW)
    copy_row(XS, record_of(run, i), IS[at.OWN_RECORDS] + own * RECORD, RECORD)
    copy_row(XS, IS[at.SHIFTS] + i * SHIFTS, IS[at.OWN_SHIFTS] + own * SHIFTS, SHIFTS)
    copy_row(XS, IS[at.SHIFTS] + i * SHIFTS, IS[at.PUSHED_SHIFTS] + i * SHIFTS, SHIFTS)
    copy_row(XS, IS[at.SOFTNESS] + i * SOFTNESS, IS[at.OWN_SOFTNESS] + own * SOFTNESS, SOFTNESS)
    put(XS, IS[at.OWN_GAPS] + own, gap_of(run, i))
    put(XS, IS[at.OWN_LEANS] + own, get(XS, IS[at.LEANS] + i))


@inline
def make_own(run, n):
    """Have n contacts be those of the problem; return NO_ROOM where they are too many."""
    put(run.IS, at.NEEDED, n)
    if n > run.IS[at.TOGETHER]:
        return at.NO_ROOM
    put(run.IS, at.N_OWN, n)
    return at.DONE


@callee
def take_island(run, k):
    """Have the problem be that of island k."""
    IS = run.IS
    if IS[at.N_ISLANDS] == 1:
        return take_whole(run)
    first, last = members_of(run, k)
    n = last - first
    code = make_own(run, n)
    if code == at.DONE:
        for part in range(len(at.OWN_PARTS)):
            put(IS, at.OWN_PARTS[part], get(IS, IS[at.APART] + part))
        for m in range(n):
            take_contact(run, get(IS, IS[at.MEMBERS] + first + m), m)
    return code


@callee
def take_whole(run):
    """Have the problem be that of all that touches."""
    for part in range(len(at.OWN_PARTS)):
        put(run.IS, at.OWN_PARTS[part], get(run.IS, at.ALL_PARTS[part]))
    return make_own(run, run.IS[at.N_TOUCHING])


@inline
def own_key(run, i):
    """Return the key of contact i of the problem."""
    return get(run.IS, run.IS[at.OWN_TOUCHING] + i * CONTACT_ROW + C_KEY)


@callee
def plan_own(run):
    """Have the formulation lay the problem out, unless it is that of the last; return whether it is.

    Closures, which come first in it, are part of what is compared: with their rows, or without.
    """
    IS = run.IS
    n = IS[at.N_OWN]
    size = 2 * n + (1 if run.IE[loops.N_ROWS] > 0 else 0)
    same = size == IS[at.N_PLANNED]
    for i in range(n):
        key = own_key(run, i)
        same = same and get(IS, IS[at.PLANNED_KEYS] + i) == key
        put(IS, IS[at.PLANNED_KEYS] + i, key)
    if not same:
        put(IS, at.N_PLANNED, size)
        touching = window(IS, IS[at.OWN_TOUCHING], n * CONTACT_ROW)
        call_plan(run.A[at.PLAN], (run.I, run.IE, run.IR, run.XR, run.IP, touching, n))
    return same


@inline
def row_of(IP, i, k):
    """Return which row of z is the k-th of contact i of the problem: its β, then its σ."""
    row = PROBLEM_HEAD + i * CONTACT_ROWS
    m = get(IP, row + Z_BETAS)
    return get(IP, row + Z_BETA) + k if k < m else get(IP, row + Z_SIGMA) + k - m


@inline
def rows_of(IP, i):
    """Return how many rows of z belong to contact i of the problem."""
    row = PROBLEM_HEAD + i * CONTACT_ROWS
    return get(IP, row + Z_BETAS) + get(IP, row + Z_SIGMAS)


@inline
def keep_start(run, own, i):
    """Keep from where contact i, number `own` of the problem, starts in the next one."""
    IS, XS, IP = run.IS, run.XS, run.IP
    for k in range(rows_of(IP, own)):
        row = row_of(IP, own, k)
        put(IS, IS[at.NEXT_CODES] + i * IS[at.ROWS_EACH] + k, run.codes[row])
        if k < IS[at.POINT_ROWS]:
            put(XS, IS[at.NEXT_POINT] + i * IS[at.POINT_ROWS] + k, get(XS, IS[at.OWN_Z] + row))


@inline
def keep_answer(run, own, i):
    """Copy unknowns, impulse and mode of contact i from where it is number `own`."""
    IS, XS, m = run.IS, run.XS, get(run.IP, PROBLEM_HEAD + own * CONTACT_ROWS + Z_BETAS)
    beta, sigma = get(IS, IS[at.UNKNOWNS] + 2 * i), get(IS, IS[at.UNKNOWNS] + 2 * i + 1)
    for k in range(rows_of(run.IP, own)):
        value = get(XS, IS[at.OWN_Z] + row_of(run.IP, own, k))
        put(XS, IS[at.Z] + (beta + k if k < m else sigma + k - m), value)
    copy_row(XS, IS[at.OWN_IMPULSES] + 4 * own, IS[at.IMPULSES] + 4 * i, 4)
    put(IS, IS[at.MODES] + i, get(IS, IS[at.OWN_MODES] + own))


@callee
def keep_solution(run):
    """Keep what was found of the problem among what is known of all that touches."""
    IS, apart = run.IS, run.IS[at.OWN_Z] != run.IS[at.Z]
    if apart:
        copy_row(run.XS, IS[at.OWN_Z], IS[at.Z], run.IE[loops.N_ROWS])
    for own in range(IS[at.N_OWN]):
        i = get(IS, IS[at.OWN] + own) if apart else own
        keep_start(run, own, i)
        if apart:
            keep_answer(run, own, i)


@inline
def move_known(run, i, place):
    """Move what is known of a contact to another place of its tables."""
    IS, rows, width = run.IS, run.IS[at.ROWS_EACH], run.IS[at.POINT_ROWS]
    if i != place:
        copy_row(IS, IS[at.KNOWN_KEYS] + i, IS[at.KNOWN_KEYS] + place, 1)
        copy_row(IS, IS[at.KNOWN_CODES] + i * rows, IS[at.KNOWN_CODES] + place * rows, rows)
        copy_row(run.XS, IS[at.KNOWN_POINT] + i * width, IS[at.KNOWN_POINT] + place * width, width)


@inline
def know(run, i, place):
    """Write codes and forces of what touches to a place of what is known."""
    IS, XS, rows, width = run.IS, run.XS, run.IS[at.ROWS_EACH], run.IS[at.POINT_ROWS]
    put(IS, IS[at.KNOWN_KEYS] + place, key_of(run, i))
    copy_row(IS, IS[at.NEXT_CODES] + i * rows, IS[at.KNOWN_CODES] + place * rows, rows)
    for k in range(width):
        impulse = get(XS, IS[at.NEXT_POINT] + i * width + k)
        put(XS, IS[at.KNOWN_POINT] + place * width + k, impulse / XS[at.TRIAL])


@callee
def remember_basis(run):
    """Keep codes and forces of all that touches for the next step, in order; of bodies that wait what was."""
    IS, kept = run.IS, 0
    if not all_move(run):
        for i in range(IS[at.N_KNOWN]):
            if not takes_part(run, get(IS, IS[at.KNOWN_KEYS] + i)):
                move_known(run, i, kept)
                kept += 1
    n = with_room(run, kept, IS[at.N_TOUCHING])
    i, place = kept - 1, kept + n - 1
    for j in range(n - 1, -1, -1):
        key = key_of(run, j)
        while i >= 0 and get(IS, IS[at.KNOWN_KEYS] + i) > key:
            move_known(run, i, place)
            i, place = i - 1, place - 1
        know(run, j, place)
        place -= 1
    put(IS, at.N_KNOWN, kept + n)


@callee
def remember_again(run):
    """Keep codes and forces of what touches and moves, which are known from a trial that was less exact."""
    IS = run.IS
    for i in range(IS[at.N_TOUCHING]):
        place = place_of(IS, IS[at.KNOWN_KEYS], 1, IS[at.N_KNOWN], key_of(run, i))
        if place >= 0 and takes_part(run, key_of(run, i)):
            know(run, i, place)


@inline
def hide_loops(run):
    """Have the problem be one without closures; return how many rows and halves they have."""
    rows, halves = run.IE[loops.N_ROWS], run.IE[loops.N_HALVES]
    show_loops(run, (0, 0))
    return rows, halves


@inline
def show_loops(run, counts):
    """Have the problem know of closures again."""
    put(run.IE, loops.N_ROWS, counts[0])
    put(run.IE, loops.N_HALVES, counts[1])
