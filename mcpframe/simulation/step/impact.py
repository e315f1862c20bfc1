"""Impacts with restitution: compression, then decompression [J14, section 7], or Newton's law.

*Poisson.* Compression is a push of no duration; what touches stores the share ε of its normal impulse
[J14, Eq. (56)]. Decompression gives all stored impulses back at once and resolves what they do
[J14, Eqs. (57), (58)]: a push again, at the rates that they lead to.

*Newton.* One push in which what touches opens at least ε times as fast as it closed, v_n+ >= -ε v_n-.

Where a contact sticks in compression and slips back, the stored normal impulse would return without the
friction that belongs to it and could add energy; then only that share of all stored impulses is given back
which leaves the kinetic energy that there was. Newton's law with friction can add energy too, and is left to:
the audit says so.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.contact import NORMAL
from mcpframe.contact.detection.records import C_BODY_A, C_BODY_B, C_MATERIAL, CONTACT_ROW
from mcpframe.jit import by_address, callee, inline, window
from mcpframe.multibody.kernels.entries import energies
from mcpframe.multibody.kernels.loops import reference_of
from mcpframe.multibody.kernels.mass import clear_push, solve_mass_into
from mcpframe.multibody.memory.records import N_DOFS, PAIR, PUSH, THETA_DOT
from mcpframe.simulation.rules import HALVINGS, ROUNDING
from mcpframe.simulation.step import memory as at
from mcpframe.simulation.step.memory import key_of, normal_impulse_of, put_shift, record_of, restitution_of
from mcpframe.simulation.step.push import accelerate, observe, push
from mcpframe.simulation.step.record import record_impact, take_impulses
from mcpframe.simulation.step.solve import COMPRESSION, DECOMPRESSION
from mcpframe.simulation.step.touching import call_place, opening_speed
from mcpframe.spatial.algebra import cross, load_pair, plus, store_pair
from mcpframe.spatial.lanes import get, load, put, store, zero

call_energies = by_address(energies)


@callee
def kinetic_energy(run, X):
    """Return the kinetic energy of a state whose bodies are placed."""
    out = window(run.XS, run.IS[at.ENERGY], 8)
    call_energies(run.A[at.ENERGIES], (run.I, X, out))
    return get(out, 0)


@callee
def take_rates(run, X, rates):
    """Give a state other rates, and place its bodies anew."""
    I = run.I
    for d in range(I[N_DOFS]):
        put(X, I[THETA_DOT] + d, get(run.XS, rates + d))
    call_place(run.A[at.PLACE], (I, X))


@callee
def stop_approach(run, X, kind):
    """Push for no time, after which nothing that touches approaches, or all open as fast as asked."""
    code = push(run, X, 0.0, kind, False, 0.0)
    if code == at.DONE:
        code = observe(run, X, kind)
    if code == at.DONE:
        take_rates(run, X, run.IS[at.AFTER])
    return code


@inline
def add_push(I, X, body, sign, point, moment, force):
    """Add a wrench at a point to those on a body."""
    if body >= 0:
        i, arm = I[PUSH] + body * PAIR, point - reference_of(I, X, body)
        store_pair(X, i, plus(load_pair(X, i), (sign * (moment + cross(arm, force)), sign * force)))


@callee
def give(run, X, share):
    """Write to RESPONSE what a share of the stored impulses does, and the impulses themselves to GIVEN.

    Needs the gains of the sweep.
    """
    I, IS, XS = run.I, run.IS, run.XS
    clear_push(I, X)
    for i in range(IS[at.N_TOUCHING]):
        row, record = IS[at.TOUCHING] + i * CONTACT_ROW, record_of(run, i)
        impulse = (share * get(XS, IS[at.STORED] + i)) * load(XS, record + NORMAL.start)
        turns = key_of(run, i) < 0 and get(IS, row + C_MATERIAL) == IS[at.LIMIT_LAW]
        moment, force = (impulse, zero()) if turns else (zero(), impulse)
        add_push(I, X, get(IS, row + C_BODY_A), 1.0, load(XS, record), moment, force)
        add_push(I, X, get(IS, row + C_BODY_B), -1.0, load(XS, record), moment, force)
        store(XS, IS[at.GIVEN] + 4 * i, force)
    response = window(XS, IS[at.RESPONSE], I[N_DOFS])
    for d in range(I[N_DOFS]):
        put(response, d, 0.0)
    solve_mass_into(I, X, response, response)


@callee
def keep_compression(run, X):
    """Keep rates and impulses at the end of compression; return whether anything is given back."""
    I, IS, XS = run.I, run.IS, run.XS
    for d in range(I[N_DOFS]):
        put(XS, IS[at.COMPRESSED] + d, get(X, I[THETA_DOT] + d))
    any_stored = False
    for i in range(IS[at.N_TOUCHING]):
        stored = restitution_of(run, i) * max(normal_impulse_of(run, i), 0.0)
        put(XS, IS[at.STORED] + i, stored)
        any_stored = any_stored or stored > 0.0
    return any_stored


@callee
def give_back(run, X, share):
    """From the end of compression give a share of the stored impulses back [J14, Eqs. (57), (58)].

    Returns code and kinetic energy; the impulses of both parts together are in IMPULSES.
    """
    I, IS, XS = run.I, run.IS, run.XS
    take_rates(run, X, IS[at.COMPRESSED])
    code = accelerate(run, X)
    if code != at.DONE:
        return code, 0.0
    give(run, X, share)
    for d in range(I[N_DOFS]):
        rate = get(XS, IS[at.COMPRESSED] + d) + get(XS, IS[at.RESPONSE] + d)
        put(XS, IS[at.GIVEN_BACK] + d, rate)
    take_rates(run, X, IS[at.GIVEN_BACK])
    code = push(run, X, 0.0, DECOMPRESSION, False, 0.0)
    take_rates(run, X, IS[at.AFTER])
    for i in range(4 * IS[at.N_TOUCHING]):
        put(XS, IS[at.IMPULSES] + i, get(XS, IS[at.IMPULSES] + i) + get(XS, IS[at.GIVEN] + i))
    return code, kinetic_energy(run, X)


@callee
def decompress(run, X, before):
    """Give the stored impulses back, or that share of them which leaves no more energy than there was."""
    code, after = give_back(run, X, 1.0)
    if code != at.DONE or after <= before * (1.0 + ROUNDING):
        return code, after
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        share = 0.5 * (low + high)
        code, after = give_back(run, X, share)
        if code != at.DONE:
            return code, after
        if after <= before:
            low = share
        else:
            high = share
    return give_back(run, X, low)


@callee
def ask_rebound(run, X):
    """Have what touches open at least at its restitution times the speed of its approach.

    Poisson asks nothing.
    """
    for i in range(run.IS[at.N_TOUCHING]):
        rebound = 0.0
        if run.IS[at.NEWTON] != 0:
            rebound = restitution_of(run, i) * max(-opening_speed(run, X, i), 0.0)
        put_shift(run, i, -rebound)


@callee
def resolve_impact(run, X):
    """Resolve the impact at what touches: change the rates of X, and record where energy went."""
    before = kinetic_energy(run, X)
    ask_rebound(run, X)
    code = stop_approach(run, X, COMPRESSION)
    if code != at.DONE:
        return code
    take_impulses(run)
    compressed = kinetic_energy(run, X)
    after = compressed
    if run.IS[at.NEWTON] == 0 and keep_compression(run, X):
        code, after = decompress(run, X, before)
        if code == at.DONE and run.IS[at.OBSERVED] != 0:
            take_rates(run, X, run.IS[at.GIVEN_BACK])  # as the problem found it
            code = observe(run, X, DECOMPRESSION)
            take_rates(run, X, run.IS[at.AFTER])
        take_impulses(run)
    put(run.IS, at.MOVED, 1)
    record_impact(run, before, compressed, after)
    return code
