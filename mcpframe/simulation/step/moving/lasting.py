"""Lasting: parts of a step in which contacts keep their modes, to fourth order.

Between two changes of mode, motion in contact is as smooth as flight. So with `rk4` a part begins with the
modes that its contacts have: what is closed and does not open presses; it slides where it moves, and sticks
where it does not. From there it goes on by the rule of `flight`, with accelerations that hold these modes at
every stage (`hold`), until one of them ends:

    λ_n < 0                 it lifts off
    |λ_t| > mu λ_n          it begins to slide
    slip against its start  it comes to rest

A part that would go on beyond ends where that happens, found as times of impact are; the next one begins with
other modes. On a cone with edges friction lies on the edge nearest to the opposite of the slip, and the mode
is over where another one is as near; between two of them nothing is clear. What gaps and speeds have drifted
by is taken away where the part ends. A part whose modes are not clear, as where contacts settle or arrive, is
a step of the midpoint rule.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store, zero
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import N_DOFS, THETA, THETA_DOT
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import gap_of, is_soft, normal_impulse_of, record_of, start_gap_of
from mcpframe.simulation.rules import SECTIONS, SHORTEST, SINKING
from mcpframe.simulation.step.drives import sample_motors, sampled_forces
from mcpframe.simulation.step.moving.closing import close_loops
from mcpframe.simulation.step.moving.edges import (
    edge,
    edges_of,
    forms_of,
    friction_used,
    mu_of,
    nearest_edge,
    rubs,
    tangential,
)
from mcpframe.simulation.step.moving.flight import fly_to_fourth_order
from mcpframe.simulation.step.moving.hold import (
    GAPS,
    NORMAL_AT,
    SPEEDS,
    TINY,
    find_again,
    look_at_modes,
    mode_of,
    respond,
    see_biases,
    see_speeds,
    solve_modes,
    spread_forces,
    write_rows,
)
from mcpframe.simulation.step.moving.motion import integrate, three
from mcpframe.simulation.step.moving.sections import narrowed, section
from mcpframe.simulation.step.touching import call_place
from mcpframe.solving.stages import A_AT, B_AT, N_COMPONENTS, SEPARATING, SLIDING, STICKING
from mcpframe.spatial.algebra import dot

SLOW = 1e-6
"""Speed up to which a contact neither opens nor slides, m/s: what a step of the midpoint rule leaves."""
BEYOND = 1e-9
"""Share by which a mode may be over where a part ends."""
NEVER = -math.inf
"""How long modes last where they are not clear."""


@inline
def put_mode(run, i, mode):
    """Set the mode in which what touches lasts."""
    put(run.IS, run.IS[at.LASTING] + i, mode)


@inline
def speed_of(run, i):
    """Return the speed at which what touches opens, as seen last."""
    return get(run.XS, run.IS[at.SEEN] + 8 * i)


@inline
def slip_of(run, i):
    """Return the speed at which a contact slides, as seen last."""
    return tangential(run, run.IS[at.SEEN] + 8 * i, i)


@inline
def begins_to_slide(run, i):
    """Return whether a contact with friction slides that stands still."""
    return mode_of(run, i) == SLIDING and rubs(run, i) and get(run.XS, run.IS[at.FIRST_SPEED] + i) == 0.0


@callee
def have_slide(run, i, place, sign, speed):
    """Have contact i slide along what stands at XS[place], or against it, at a speed at first.

    Return whether that is clear: not where it would have to choose between two edges of its cone.
    """
    XS, record, e = run.XS, record_of(run, i), zero()
    put_mode(run, i, SLIDING)
    put(XS, run.IS[at.FIRST_SPEED] + i, speed)
    for k in range(1, forms_of(run, i)):
        e = e + sign * get(XS, place + k) * load(XS, record + NORMAL_AT + 4 * k)
    store(XS, run.IS[at.FIRST_SLIP] + 4 * i, e)
    if edges_of(run, i) == 0 or not rubs(run, i):
        return True
    best, margin = nearest_edge(run, i, place, sign)
    put(run.IS, run.IS[at.EDGE] + i, best)
    length = tangential(run, place, i)
    if speed > 0.0:
        return margin > SLOW * length
    d_1, d_2 = edge(run, i, best)
    second = get(XS, place + 2) if forms_of(run, i) > 2 else 0.0
    return -sign * (d_1 * get(XS, place + 1) + d_2 * second) >= (1.0 - BEYOND) * length


@inline
def rests(run, i):
    """Return whether what touches is closed and does not open."""
    return gap_of(run, i) <= run.XS[at.PENETRATION] and speed_of(run, i) <= SLOW


@callee
def slide_as_pushed(run, i):
    """Have a contact begin to slide against the friction of the last push."""
    place, impulse = run.IS[at.SLIP] + 4 * i, three(run.XS, run.IS[at.IMPULSES] + 4 * i)
    for k in range(1, forms_of(run, i)):
        put(run.XS, place + k, dot(impulse, load(run.XS, record_of(run, i) + NORMAL_AT + 4 * k)))
    return have_slide(run, i, place, -1.0, 0.0)


@callee
def guess_modes(run, pushed):
    """Have all that is closed and does not open press, and slide where it moves or has no friction.

    What stands still sticks, or, where something has `pushed`, is as it is said to be after that. Return
    whether that is all: what arrives has to be settled first.
    """
    IS = run.IS
    for i in range(IS[at.N_TOUCHING]):
        if forms_of(run, i) == 0 or is_soft(run, i) or speed_of(run, i) < -SLOW:
            return False
        presses = rests(run, i) and not (pushed and normal_impulse_of(run, i) <= 0.0)
        put_mode(run, i, STICKING if presses else SEPARATING)
        clear = True
        if presses and (slip_of(run, i) > SLOW or not rubs(run, i)):
            speed = slip_of(run, i) if rubs(run, i) else 0.0
            clear = have_slide(run, i, IS[at.SEEN] + 8 * i, 1.0, speed)
        elif presses and pushed and get(IS, IS[at.MODES] + i) == SLIDING:
            clear = slide_as_pushed(run, i)
        if not clear:
            return False
    return True


@callee
def slip_kept(run, i):
    """Return which share of its first slip a contact still has; on an edge, how much nearer that still is."""
    XS, record, along = run.XS, record_of(run, i), 0.0
    e, first = load(XS, run.IS[at.FIRST_SLIP] + 4 * i), get(XS, run.IS[at.FIRST_SPEED] + i)
    if edges_of(run, i) > 0:
        best, margin = nearest_edge(run, i, run.IS[at.SEEN] + 8 * i, 1.0)
        return (margin if best == get(run.IS, run.IS[at.EDGE] + i) else -margin) / first
    for k in range(1, forms_of(run, i)):
        axis = load(XS, record + NORMAL_AT + 4 * k)
        along += dot(e, axis) * get(XS, run.IS[at.SEEN] + 8 * i + k)
    return along / (first * first)


@callee
def kept_by(run, i, form):
    """Return how well what touches keeps its mode: as a share of forces or of slip, below 0 not at all."""
    XS, mode = run.XS, mode_of(run, i)
    if mode == SEPARATING:
        return math.inf
    force = run.IS[at.FORCE] + form
    kept = get(XS, force) / XS[at.FORCE_SCALE]
    if mode == STICKING:
        margin = mu_of(run, i) * get(XS, force) - friction_used(run, i, force)
        kept = min(kept, margin / XS[at.FORCE_SCALE])
    elif rubs(run, i) and not begins_to_slide(run, i):
        kept = min(kept, slip_kept(run, i))
    return kept


@callee
def least_kept(run):
    """Return how well the worst of what touches keeps its mode, which it is, and where its forces begin."""
    form, kept, worst, where = run.IE[loops.N_ROWS], math.inf, -1, 0
    for i in range(run.IS[at.N_TOUCHING]):
        own = kept_by(run, i, form)
        if own < kept:
            kept, worst, where = own, i, form
        form += forms_of(run, i)
    return kept, worst, where


@callee
def scale_forces(run):
    """Keep the largest force along a normal as the scale of forces."""
    form, largest = run.IE[loops.N_ROWS], 0.0
    for i in range(run.IS[at.N_TOUCHING]):
        largest = max(largest, abs(get(run.XS, run.IS[at.FORCE] + form)))
        form += forms_of(run, i)
    put(run.XS, at.FORCE_SCALE, max(largest, TINY))


@callee
def acceleration_along(run, i, form, k):
    """Return how the velocity of contact i along its k-th axis changes under the forces found."""
    XR, n = run.XR, run.IP[N_COMPONENTS]
    o = run.IS[at.SEEN] + 8 * i + k
    total = get(XR, run.IP[B_AT] + form + k) - get(run.XS, o) + get(run.XS, o + 4)
    for g in range(n):
        total += get(XR, run.IP[A_AT] + (form + k) * n + g) * get(run.XS, run.IS[at.FORCE] + g)
    return total


@callee
def slides_as_given(run, i, place):
    """Return whether a contact that stands still slides as given, with the acceleration at XS[place]."""
    if edges_of(run, i) > 0:
        best, _ = nearest_edge(run, i, place, 1.0)
        return best == get(run.IS, run.IS[at.EDGE] + i)
    e, along, across = load(run.XS, run.IS[at.FIRST_SLIP] + 4 * i), 0.0, 0.0
    for k in range(1, forms_of(run, i)):
        a = get(run.XS, place + k)
        along += a * dot(e, load(run.XS, record_of(run, i) + NORMAL_AT + 4 * k))
        across += a * a
    return along >= 0.0 and along * along >= (1.0 - BEYOND) * across * dot(e, e)


@callee
def goes_on(run):
    """Return whether what lets go opens, and what begins to slide does so in the direction it was given."""
    form, XS = run.IE[loops.N_ROWS], run.XS
    for i in range(run.IS[at.N_TOUCHING]):
        if rests(run, i) and mode_of(run, i) == SEPARATING and acceleration_along(run, i, form, 0) < 0.0:
            return False
        if begins_to_slide(run, i):
            for k in range(1, forms_of(run, i)):
                put(XS, run.IS[at.SLIP] + 4 * i + k, acceleration_along(run, i, form, k))
            if not slides_as_given(run, i, run.IS[at.SLIP] + 4 * i):
                return False
        form += forms_of(run, i)
    return True


@callee
def choose_modes(run, X, pushed):
    """Find the modes with which motion goes on from X; return whether they are clear.

    `pushed`: there was a push whose modes can be a guess. UNCLEAR says whether one could help.
    """
    time = run.XS[at.TIME]
    for i in range(run.IS[at.N_TOUCHING]):
        put_mode(run, i, SEPARATING)
    sample_motors(run, X, time)
    if not find_again(run, X):
        return False
    see_speeds(run, X)
    if not guess_modes(run, pushed) or not see_biases(run, X) or not write_rows(run, X, time):
        return False
    put(run.IS, at.UNCLEAR, 1)  # unless it turns out to be clear
    for _ in range(2 * run.IS[at.N_TOUCHING] + 1):
        if solve_modes(run) < 0:
            return False
        scale_forces(run)
        kept, i, form = least_kept(run)
        force = run.IS[at.FORCE] + form
        if kept >= 0.0:
            put(run.XS, at.KEPT, kept)
            put(run.IS, at.UNCLEAR, 0 if goes_on(run) else 1)
            return run.IS[at.UNCLEAR] == 0
        if get(run.XS, force) <= 0.0:
            put_mode(run, i, SEPARATING)
        elif not have_slide(run, i, force, -1.0, 0.0):
            return False
    return False


@inline
def comes_back(run, i):
    """Return whether what has let go is closed again where a part leads: it was not to leave at all."""
    closes = gap_of(run, i) <= run.XS[at.PENETRATION] and speed_of(run, i) < -SLOW
    return closes or gap_of(run, i) < min(start_gap_of(run, i), 0.0) - SINKING * run.XS[at.PENETRATION]


@callee
def try_modes(run, X, Y, h):
    """Go on for a time h with the modes that there are; return how well they are kept where that leads."""
    for i in range(4 * run.IS[at.N_TOUCHING]):
        put(run.XS, run.IS[at.IMPULSES] + i, 0.0)
    if fly_to_fourth_order(run, X, Y, h) != at.DONE:
        return NEVER
    call_place(run.A[at.PLACE], (run.I, Y))
    sampled_forces(run, Y)
    m = look_at_modes(run, Y, run.XS[at.TIME] + h)
    put(run.IS, at.N_HOLDING, m)
    if m < 0:
        return NEVER
    for i in range(run.IS[at.N_TOUCHING]):
        if mode_of(run, i) == SEPARATING and comes_back(run, i):
            return NEVER
    return least_kept(run)[0]


@callee
def when_over(run, X, Y, h, kept):
    """Return when the first mode is over, if one is `kept` by less than nothing after h; 0 if unclear.

    It is just over then, so that the next part begins with another one.
    """
    low, f_low, high, f_high, side = 0.0, run.XS[at.KEPT], h, kept, 0
    for _ in range(SECTIONS):
        t = section(low, f_low, high, f_high)
        f = try_modes(run, X, Y, t)
        if f == NEVER:
            return 0.0
        if -BEYOND <= f <= 0.0 or high - low <= run.XS[at.TIME_TOLERANCE]:
            return t
        low, f_low, high, f_high, side = narrowed(low, f_low, high, f_high, side, t, f)
    return 0.0


@callee
def take_drift_off(run, Y):
    """Take what speeds and gaps of contacts that last have drifted by off the state of Y."""
    I, IS, XS = run.I, run.IS, run.XS
    spread_forces(run, IS[at.N_HOLDING], SPEEDS)
    respond(run, Y)
    for d in range(I[N_DOFS]):
        put(Y, I[THETA_DOT] + d, get(Y, I[THETA_DOT] + d) + get(XS, IS[at.RESPONSE] + d))
    spread_forces(run, IS[at.N_HOLDING], GAPS)
    respond(run, Y)
    integrate(I, Y, I[THETA], XS, IS[at.RESPONSE], 1.0, Y, I[THETA])
    put(IS, at.FACTORED, at.NOWHERE)
    if IS[at.PROJECTS] != 0:
        return close_loops(run, Y)
    call_place(run.A[at.PLACE], (I, Y))
    return at.DONE


@callee
def lasts(run, X, Y, h, pushed):
    """Go on from X for a time h if contacts keep their modes for so long; else UNTIL says how long, if known.

    Modes that are not clear are guessed again where something has `pushed`.
    """
    IS = run.IS
    put(run.XS, at.UNTIL, 0.0)
    put(IS, at.UNCLEAR, 0)
    put(IS, at.LASTS, 1)
    kept = try_modes(run, X, Y, h) if choose_modes(run, X, pushed) else NEVER
    if kept >= -BEYOND:
        for i in range(IS[at.N_TOUCHING]):
            put(IS, IS[at.MODES] + i, mode_of(run, i))
        put(IS, at.BY_KICK, 0)
        return take_drift_off(run, Y) == at.DONE
    if kept > NEVER:
        until = when_over(run, X, Y, h, kept)
        put(run.XS, at.UNTIL, until if until > SHORTEST * run.XS[at.DT] else 0.0)
    put(IS, at.LASTS, 0)
    return False
