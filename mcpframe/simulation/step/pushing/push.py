"""Push: from what touches to the rates after a step or an impact. Build, solve, recover.

By the kernels of the formulation where it has them, else by its methods in Python. After a push the new rates
are in AFTER, the impulses of what touches in IMPULSES, their modes in MODES.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.contact import RECORD
from mcpframe.jit import callee, cycles, window
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.kernels.entries import KICKED, PLACED
from mcpframe.multibody.kernels.loop_motion import factor_loops, keep_wrenches
from mcpframe.multibody.kernels.mass import clear_push, solve_mass_into
from mcpframe.multibody.kernels.spans import bodies_of
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import DOF_AT, N_DOF, N_DOFS, N_SPANS, THETA_DOT, TREE, TREE_ROW
from mcpframe.problem.cone import D_MU, D_OFFSET, DISC_DOUBLES
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step import host
from mcpframe.simulation.step.closures import ask_loops
from mcpframe.simulation.step.kick import accelerate
from mcpframe.simulation.step.layers import soften
from mcpframe.simulation.step.parting.islands import (
    asks_the_same,
    body_of,
    find_islands,
    hide_loops,
    keep_solution,
    members_of,
    plan_own,
    remember_again,
    remember_basis,
    show_loops,
    take_island,
    take_whole,
)
from mcpframe.simulation.step.parting.parties import moves
from mcpframe.simulation.step.pushing.piling import is_pile, push_pile
from mcpframe.simulation.step.pushing.solve import DECOMPRESSION, STEP, solve_problem
from mcpframe.solving.stages import (
    CONTACT_ROWS,
    M_AT,
    N_ROWS,
    PROBLEM_HEAD,
    Q_AT,
    SHIFTS,
    SIZES_AT,
    SOFTNESS,
    Z_BETA,
    Z_BETAS,
    Z_DISC,
    Z_DISCS,
    Z_NORMAL,
    Z_SIGMA,
    Z_SIGMAS,
    call_assemble,
    call_constants,
    call_recover,
)
from mcpframe.spatial.algebra import copy

STIFF = 5e-14
"""Share of its compliance in other directions up to which that along a contact's normal is rounding: it
passes the hinges that could open it at 2e-7 of their distance, and turning about them moves it by less than
certificates can tell."""


@callee
def factor_own_loops(run):
    """Write the factor of the problem's own Λ_b, and with it which rows of closures are independent.

    It serves the solver, and brings loops back to where they are closed.
    """
    IE, IQ, XQ, IP, XR = run.IE, run.IQ, run.XQ, run.IP, run.XR
    n_b, n, M = IE[loops.N_ROWS], IP[N_ROWS], IP[M_AT]
    for i in range(n_b):
        copy(XR, M + i * n, XQ, IQ[loops.LOOP_LAMBDA] + i * (n_b + loops.PAST), n_b)
    keep_wrenches(IE, run.XE, IQ, XQ)
    factor_loops(IE, run.XE, IQ, XQ, False)
    put(run.IS, at.FACTORED, at.MIDDLE)


@callee
def drop_repeated(run):
    """Take rows of closures that repeat others out of the problem: their impulse is zero, nothing asks."""
    IQ, IP, XR = run.IQ, run.IP, run.XR
    n_b, n, M = run.IE[loops.N_ROWS], IP[N_ROWS], IP[M_AT]
    for i in range(n_b):
        put(run.IS, run.IS[at.ASKED] + i, 1)
    for k in range(IQ[loops.N_PIVOTS], n_b):
        i = get(IQ, IQ[loops.ORDER] + k)
        for j in range(n):
            put(XR, M + i * n + j, 0.0)
            put(XR, M + j * n + i, 0.0)
        put(XR, M + i * n + i, 1.0)
        put(run.IS, run.IS[at.ASKED] + i, 0)


@callee
def drop_unmoved(run):
    """Take contacts out of the problem along whose normals nothing moves: their rows would be rounding.

    So is a contact whose normal goes through the hinges that could open it; where it closes, that is with the
    square of the way, and the normal does not go through them any more.
    """
    IS, IP, XR, n = run.IS, run.IP, run.XR, run.IP[N_ROWS]
    for i in range(IS[at.N_OWN]):
        row = PROBLEM_HEAD + i * CONTACT_ROWS
        first, normal, largest = get(IP, row + Z_BETA), get(IP, row + Z_NORMAL), 0.0
        for k in range(first, first + get(IP, row + Z_BETAS)):
            largest = max(largest, get(XR, IP[M_AT] + k * n + k))
        unmoved = not get(XR, IP[M_AT] + normal * n + normal) > STIFF * largest
        put(IS, IS[at.UNMOVED] + i, 1 if unmoved else 0)
        if unmoved:
            for k in range(get(IP, PROBLEM_HEAD + Z_SIGMA)):  # the laws' own rows follow
                put(XR, IP[M_AT] + normal * n + k, 0.0)
                put(XR, IP[M_AT] + k * n + normal, 0.0)
            put(XR, IP[M_AT] + normal * n + normal, 1.0)
    ask_nothing(run)


@callee
def ask_nothing(run):
    """Have q ask nothing of closures that repeat others, and of contacts that nothing moves."""
    IS, IP = run.IS, run.IP
    for i in range(run.IE[loops.N_ROWS]):
        if get(IS, IS[at.ASKED] + i) == 0:
            put(run.XR, IP[Q_AT] + i, 0.0)
    for i in range(IS[at.N_OWN]):
        if get(IS, IS[at.UNMOVED] + i) != 0:
            put(run.XR, IP[Q_AT] + get(IP, PROBLEM_HEAD + i * CONTACT_ROWS + Z_NORMAL), 0.0)


@callee
def build(run, X, h):
    """Write the problem of a step of h, or of an impact; the gains of the sweep are there."""
    IS, XS = run.IS, run.XS
    clock = cycles()
    n = IS[at.N_OWN]
    plan_own(run)
    records, shifts = window(XS, IS[at.OWN_RECORDS], n * RECORD), window(XS, IS[at.OWN_SHIFTS], n * SHIFTS)
    softness = window(XS, IS[at.OWN_SOFTNESS], n * SOFTNESS)
    step = run.I, X, run.IE, run.XE, run.IR, run.XR, records, shifts, softness, h, KICKED
    failed = call_assemble(run.A[at.ASSEMBLE], step)
    if run.IE[loops.N_ROWS] > 0:
        factor_own_loops(run)
        if IS[at.REPEATED] != 0:
            drop_repeated(run)
    drop_unmoved(run)
    put(IS, at.BUILD, IS[at.BUILD] + cycles() - clock)
    return at.NO_MOTION if failed != 0 else at.DONE


@callee
def lean(run):
    """Have friction lean on what is given back: to each row of σ its share P e_n of that, see `contact.law`.

    The column of the normal impulse in these rows is what the law says of it. Discs become wider by mu of it.
    """
    IP, XR, n = run.IP, run.XR, run.IP[N_ROWS]
    for i in range(run.IS[at.N_OWN]):
        row, given = PROBLEM_HEAD + i * CONTACT_ROWS, get(run.XS, run.IS[at.OWN_LEANS] + i)
        normal, first = get(IP, row + Z_NORMAL), get(IP, row + Z_SIGMA)
        for k in range(first, first + get(IP, row + Z_SIGMAS)):
            q = IP[Q_AT] + k
            put(XR, q, get(XR, q) + get(XR, IP[M_AT] + k * n + normal) * given)
        size = IP[SIZES_AT] + get(IP, row + Z_DISC) * DISC_DOUBLES
        for k in range(get(IP, row + Z_DISCS)):
            put(XR, size + k * DISC_DOUBLES + D_OFFSET, get(XR, size + k * DISC_DOUBLES + D_MU) * given)


@callee
def build_again(run):
    """Write the problem's q for the shifts as they are now."""
    IS, XS = run.IS, run.XS
    shifts = window(XS, IS[at.OWN_SHIFTS], IS[at.N_OWN] * SHIFTS)
    call_constants(run.A[at.CONSTANTS], (run.IR, run.XR, shifts))
    ask_nothing(run)


@callee
def recover(run, X):
    """Push the bodies of the problem by its solution, and keep that."""
    IS, XS = run.IS, run.XS
    clock = cycles()
    n = IS[at.N_OWN]
    records, shifts = window(XS, IS[at.OWN_RECORDS], n * RECORD), window(XS, IS[at.OWN_SHIFTS], n * SHIFTS)
    z, modes = window(XS, IS[at.OWN_Z], run.IP[N_ROWS]), window(IS, IS[at.OWN_MODES], n)
    impulses = window(XS, IS[at.OWN_IMPULSES], 4 * n)
    call_recover(run.A[at.RECOVER], (run.I, X, run.IR, run.XR, records, shifts, z, impulses, modes))
    keep_solution(run)
    put(IS, at.RECOVERY, IS[at.RECOVERY] + cycles() - clock)


@callee
def push_island(run, X, h, kind, again, rise, k):
    """Build, solve and recover the problem of island k."""
    if is_pile(run, k):
        return push_pile(run, X, rise, k)
    put(run.IS, run.IS[at.LOOSE] + k, 0)
    code = take_island(run, k)
    if code != at.DONE:
        return code
    if again and run.IS[at.N_ISLANDS] == 1:
        build_again(run)
    else:
        code = build(run, X, h)
    if kind == DECOMPRESSION:
        lean(run)
    if code == at.DONE:
        code = solve_problem(run, X, kind, rise)
    if code == at.DONE:
        recover(run, X)
    return code


@callee
def take_rates(run, X):
    """Write the rates after a push of the bodies whose islands were solved, all that are free among them."""
    I, IS, XS = run.I, run.IS, run.XS
    clock = cycles()
    response = window(XS, IS[at.RESPONSE], I[N_DOFS])
    for d in range(I[N_DOFS]):
        put(response, d, 0.0)
    solve_mass_into(I, X, response, response)
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        for b in range(begin, end):
            island, row = get(IS, IS[at.ISLAND] + b), I[TREE] + b * TREE_ROW
            if island < 0 or get(IS, IS[at.REDONE] + island) != 0:
                first = get(I, row + DOF_AT)
                for d in range(first, first + get(I, row + N_DOF)):
                    put(XS, IS[at.AFTER] + d, get(X, I[THETA_DOT] + d) + get(response, d))
    put(IS, at.RECOVERY, IS[at.RECOVERY] + cycles() - clock)


@callee
def push_islands(run, X, h, kind, again, rise):
    """Push island after island; `again`: only those whose shifts are others than in the last push."""
    IS, code, known = run.IS, at.DONE, again and run.IS[at.ALL_PUSHED] != 0 and run.IS[at.N_ISLANDS] > 1
    put(IS, at.ALL_PUSHED, 0)
    if not again:
        put(IS, at.N_PILES, 0)
        find_islands(run)
        if h == 0.0:
            code = accelerate(run, X, PLACED)
    clear_push(run.I, X)
    for k in range(IS[at.N_ISLANDS]):
        if code != at.DONE:
            return code
        redone = not (known and asks_the_same(run, k))
        put(IS, IS[at.REDONE] + k, 1 if redone else 0)
        if redone and k == 0:
            code = push_island(run, X, h, kind, again, rise, k)
        elif redone:  # closures are in the first island
            counts = hide_loops(run)
            code = push_island(run, X, h, kind, again, rise, k)
            show_loops(run, counts)
    if code == at.DONE:
        take_rates(run, X)
        count_loose(run)
        put(IS, at.ALL_PUSHED, 1)
    return code


@callee
def count_loose(run):
    """Count the islands that were solved only as well as a trial needs."""
    IS, n = run.IS, 0
    for k in range(IS[at.N_ISLANDS]):
        n += get(IS, IS[at.LOOSE] + k)
    put(IS, at.N_LOOSE, n)


@callee
def push_loose(run, X, rise):
    """Solve to the tolerance the islands of those that move which the last push has solved for a trial."""
    IS = run.IS
    put(IS, at.ALL_PUSHED, 0)
    clear_push(run.I, X)
    for k in range(IS[at.N_ISLANDS]):
        i = get(IS, IS[at.MEMBERS] + members_of(run, k)[0])
        loose = get(IS, IS[at.LOOSE] + k) != 0 and moves(run, body_of(run, i))
        put(IS, IS[at.REDONE] + k, 1 if loose else 0)
        if loose:
            code = push_pile(run, X, rise, k)
            if code != at.DONE:
                return code
    take_rates(run, X)
    count_loose(run)
    remember_again(run)
    put(IS, at.ALL_PUSHED, 1)
    return at.DONE


@callee
def push(run, X, h, kind, again, rise):
    """Build, solve and recover: what impulses do to the rates of X, in a step of h or an impact, h = 0.

    The gains of a step's sweep are there; `again`: only the shifts are others than in the last push.

    Returns DONE; NO_SOLUTION where something cannot rise at the speed `rise`; NO_MOTION; RAISED; NO_ROOM.
    """
    put(run.XS, at.TRIAL, h)
    put(run.IS, at.BY_KICK, 1)
    if not again or run.IS[at.FACTORED] != at.MIDDLE:
        put(run.IS, at.FACTORED, at.NOWHERE)
    if h == 0.0 and run.IE[loops.N_ROWS] > 0:
        ask_loops(run, X, h)
    put(run.IS, at.KIND, kind)
    code = soften(run, X, h)
    if code != at.DONE:
        return code
    if run.IS[at.HOST_PUSH] != 0:
        return host.call_host(run.A[at.HOST], host.PUSH, X, rise)
    code = push_islands(run, X, h, kind, again, rise)
    if code == at.DONE and kind == STEP:
        remember_basis(run)
        put(run.IS, at.MOVED, 0)
    return code


@callee
def write_whole(run, X):
    """Have the formulation's arrays be about all that touches, as in the last push.

    They are where that has pushed one island, and no pile.
    """
    IS = run.IS
    if IS[at.ALL_PUSHED] != 0 and IS[at.N_ISLANDS] == 1 and IS[at.N_PILES] == 0:
        return at.DONE
    code = take_whole(run)
    if code == at.DONE:
        put(IS, at.ALL_PUSHED, 0)  # an island may not be in the arrays any more
        code = build(run, X, run.XS[at.TRIAL])
    if code == at.DONE and IS[at.KIND] == DECOMPRESSION:
        lean(run)
    return code


@callee
def show_whole(run, X):
    """Have Python read from the formulation's arrays what all that touches did in the last push.

    Not of piles, which have arrays of their own.
    """
    return write_whole(run, X) if run.IS[at.HOST_PUSH] == 0 and run.IS[at.N_PILES] == 0 else at.DONE


@callee
def observe(run, X, kind):
    """Tell an onlooker of the problem that was solved last, for good."""
    if run.IS[at.OBSERVED] == 0:
        return at.DONE
    put(run.IS, at.KIND, kind)
    code = write_whole(run, X) if run.IS[at.HOST_PUSH] == 0 else at.DONE
    if code != at.DONE:
        return code
    return host.call_host(run.A[at.HOST], host.OBSERVE, X, run.XS[at.TRIAL])
