"""Impacts by Poisson's law: compression, then decompression [J14, section 7]; as `simulation.impact`."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.contact import NORMAL, RECORD, RESTITUTION
from mcpframe.jit import by_address, callee, cycles, window
from mcpframe.multibody.kernels.entries import PLACED, energies
from mcpframe.multibody.memory.records import N_DOFS, THETA_DOT
from mcpframe.simulation.rules import HALVINGS, ROUNDING
from mcpframe.simulation.step.memory import (
    ASSEMBLE,
    BUILD,
    COMPRESSED,
    DONE,
    ENERGIES,
    ENERGY,
    GIVEN,
    IMPULSES,
    MODES,
    MOVED,
    N_TOUCHING,
    NO_MOTION,
    NO_SOLUTION,
    PLACE,
    RECORDS,
    RECOVER,
    RESPONSE,
    STORED,
    Z,
)
from mcpframe.simulation.step.record import record_impact, take_impulses
from mcpframe.simulation.step.solve import press_new, release_opening, solved
from mcpframe.simulation.step.touching import call_place, plan_touching
from mcpframe.solving.stages import CONTACT_ROWS, N_ROWS, PROBLEM_HEAD, Z_NORMAL, call_assemble, call_recover
from mcpframe.spatial.algebra import dot
from mcpframe.spatial.lanes import get, load, put

call_energies = by_address(energies)


@callee
def kinetic_energy(run, X):
    """Return the kinetic energy of a state whose bodies are placed."""
    out = window(run.XS, run.IS[ENERGY], 8)
    call_energies(run.A[ENERGIES], (run.I, X, out))
    return get(out, 0)


@callee
def apply_impulses(run, X):
    """Change the rates of X by the impulses z of the touching contacts, and place the bodies anew."""
    I, IS, XS = run.I, run.IS, run.XS
    n_u = IS[N_TOUCHING]
    records = window(XS, IS[RECORDS], n_u * RECORD)
    z, response = window(XS, IS[Z], run.IP[N_ROWS]), window(XS, IS[RESPONSE], I[N_DOFS])
    impulses, modes = window(XS, IS[IMPULSES], 4 * n_u), window(IS, IS[MODES], n_u)
    call_recover(run.A[RECOVER], (I, X, run.IR, run.XR, records, 0.0, z, response, impulses, modes))
    for d in range(I[N_DOFS]):
        put(X, I[THETA_DOT] + d, get(X, I[THETA_DOT] + d) + get(response, d))
    call_place(run.A[PLACE], (I, X))


@callee
def stop_approach(run, X, again):
    """Solve a step of no time, after which no touching contact approaches, and apply its impulses.

    Compression starts from a basis in which the new contacts press, decompression (`again`) from that of
    compression without those that open.
    """
    IS, XS = run.IS, run.XS
    clock = cycles()
    plan_touching(run)
    records = window(XS, IS[RECORDS], IS[N_TOUCHING] * RECORD)
    failed = call_assemble(run.A[ASSEMBLE], (run.I, X, run.IR, run.XR, records, 0.0, 0.0, PLACED))
    put(IS, BUILD, IS[BUILD] + cycles() - clock)
    if failed != 0:
        return NO_MOTION
    if again:
        release_opening(run)
    else:
        press_new(run)
    if not solved(run, True):
        return NO_SOLUTION
    apply_impulses(run, X)
    return DONE


@callee
def keep_compression(run, X):
    """Keep rates and impulses at the end of compression; return whether contacts give anything back."""
    I, IS, XS = run.I, run.IS, run.XS
    for d in range(I[N_DOFS]):
        put(XS, IS[COMPRESSED] + d, get(X, I[THETA_DOT] + d))
    any_stored = False
    for i in range(IS[N_TOUCHING]):
        record = IS[RECORDS] + i * RECORD
        pressed = dot(load(XS, record + NORMAL.start), load(XS, IS[IMPULSES] + 4 * i))
        stored = get(XS, record + RESTITUTION) * max(pressed, 0.0)
        put(XS, IS[STORED] + i, stored)
        any_stored = any_stored or stored > 0.0
    return any_stored


@callee
def give_back(run, X, share):
    """From the end of compression give a share of the stored impulses back [J14, Eqs. (57), (58)].

    Returns code and kinetic energy; the impulses of both parts are in GIVEN.
    """
    I, IS, XS, IP = run.I, run.IS, run.XS, run.IP
    for d in range(I[N_DOFS]):
        put(X, I[THETA_DOT] + d, get(XS, IS[COMPRESSED] + d))
    call_place(run.A[PLACE], (I, X))
    for i in range(IP[N_ROWS]):
        put(XS, IS[Z] + i, 0.0)
    for i in range(IS[N_TOUCHING]):
        normal = get(IP, PROBLEM_HEAD + i * CONTACT_ROWS + Z_NORMAL)
        put(XS, IS[Z] + normal, share * get(XS, IS[STORED] + i))
    apply_impulses(run, X)
    for i in range(4 * IS[N_TOUCHING]):
        put(XS, IS[GIVEN] + i, get(XS, IS[IMPULSES] + i))
    code = stop_approach(run, X, True)
    for i in range(4 * IS[N_TOUCHING]):
        put(XS, IS[IMPULSES] + i, get(XS, IS[IMPULSES] + i) + get(XS, IS[GIVEN] + i))
    return code, kinetic_energy(run, X)


@callee
def decompress(run, X, before):
    """Give the stored impulses back, or that share of them which leaves no more energy than there was."""
    code, after = give_back(run, X, 1.0)
    if code != DONE or after <= before * (1.0 + ROUNDING):
        return code, after
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        share = 0.5 * (low + high)
        code, after = give_back(run, X, share)
        if code != DONE:
            return code, after
        if after <= before:
            low = share
        else:
            high = share
    return give_back(run, X, low)


@callee
def resolve_impact(run, X):
    """Resolve the impact at the touching contacts: change the rates of X, and record where energy went."""
    before = kinetic_energy(run, X)
    code = stop_approach(run, X, False)
    if code != DONE:
        return code
    take_impulses(run)
    compressed = kinetic_energy(run, X)
    after = compressed
    if keep_compression(run, X):
        code, after = decompress(run, X, before)
        take_impulses(run)
    put(run.IS, MOVED, 1)
    record_impact(run, before, compressed, after)
    return code
