"""Making joints rigid: impulses at them stop them and leave the momenta of all others as they are.

Mass_aa θ̇_a+ = (Mass θ̇)_a,     loss = 1/2 (θ̇* Mass θ̇ - θ̇_a+* Mass_aa θ̇_a+)
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, window
from mcpframe.multibody.adaptive import records as at
from mcpframe.multibody.adaptive.clusters import compress
from mcpframe.multibody.kernels.articulated import body_inertia, sweep
from mcpframe.multibody.kernels.kinematics import kinematics
from mcpframe.multibody.kernels.mass import clear_push, generalized_force_into, solve_mass_into
from mcpframe.multibody.kernels.momentum import momentum_of
from mcpframe.multibody.memory.records import (
    B_VELOCITY,
    BODIES,
    BODY,
    CONSTANT,
    CONSTANTS,
    D_ARMATURE,
    DOF,
    DOF_AT,
    DOFS,
    N_BODIES,
    N_DOF,
    N_DOFS,
    PAIR,
    PUSH,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.spatial.algebra import load_pair, store_pair
from mcpframe.spatial.lanes import get, put


@callee
def momenta_into(I, X, out):
    """Write Mass θ̇, armature included; needs the kinematics, uses up PUSH."""
    for k in range(I[N_BODIES]):
        o = I[BODIES] + k * BODY
        J, first_moment, m, _ = body_inertia(X, o, I[CONSTANTS] + k * CONSTANT)
        store_pair(X, I[PUSH] + k * PAIR, momentum_of(J, first_moment, m, load_pair(X, o + B_VELOCITY)))
    generalized_force_into(I, X, out)
    for d in range(I[N_DOFS]):
        rotor = get(X, I[DOFS] + d * DOF + D_ARMATURE) * get(X, I[THETA_DOT] + d)
        put(out, d, get(out, d) + rotor)


@callee
def leaving(IT, XT, IA):
    """Return whether a joint moves that is rigid from now on."""
    for i in range(IA[at.N_LINKS]):
        if get(IA, IA[at.ACTIVE] + i) != 0:
            continue
        for k in range(get(IA, IA[at.FIRST_BODY] + i), get(IA, IA[at.FIRST_BODY] + i + 1)):
            t = IT[TREE] + k * TREE_ROW
            for j in range(get(IT, t + N_DOF)):
                if get(XT, IT[THETA_DOT] + get(IT, t + DOF_AT) + j) != 0.0:
                    return True
    return False


@callee
def twice_energy(I, X, momenta):
    """Return θ̇* Mass θ̇, twice the kinetic energy."""
    total = 0.0
    for d in range(I[N_DOFS]):
        total += get(X, I[THETA_DOT] + d) * get(momenta, d)
    return total


@callee
def keep_momenta(IT, XT, IA, XA, I, X):
    """Give the clusters the rates that keep the momenta of their dofs, MOMENTA; return 0 or what failed."""
    for c in range(I[N_BODIES]):
        u, t = I[TREE] + c * TREE_ROW, IT[TREE] + get(IA, IA[at.HINGE_BODY] + c) * TREE_ROW
        for i in range(get(I, u + N_DOF)):
            there = IA[at.MOMENTA] + get(IT, t + DOF_AT) + i
            put(XA, IA[at.KEPT] + get(I, u + DOF_AT) + i, get(XA, there))
    n = I[N_DOFS]
    kept, rates = window(XA, IA[at.KEPT], n), window(X, I[THETA_DOT], n)
    kinematics(I, X)
    failed = sweep(I, X)
    clear_push(I, X)
    solve_mass_into(I, X, kept, rates)
    return failed


@callee
def stop_others(IT, XT, IA):
    """Set the rates of rigid joints of the whole to zero."""
    for i in range(IA[at.N_LINKS]):
        if get(IA, IA[at.ACTIVE] + i) == 0:
            for k in range(get(IA, IA[at.FIRST_BODY] + i), get(IA, IA[at.FIRST_BODY] + i + 1)):
                t = IT[TREE] + k * TREE_ROW
                for j in range(get(IT, t + N_DOF)):
                    put(XT, IT[THETA_DOT] + get(IT, t + DOF_AT) + j, 0.0)


@callee
def make_rigid(IT, XT, IA, XA, I, X):
    """Write the clusters of ACTIVE, with impulses that stop all other joints; the whole is placed.

    Return 0, or 1 + a dof without inertia.
    """
    if not leaving(IT, XT, IA):
        compress(IT, XT, IA, XA, I, X)
        return 0
    momenta = window(XA, IA[at.MOMENTA], IT[N_DOFS])
    momenta_into(IT, XT, momenta)
    before = twice_energy(IT, XT, momenta)
    stop_others(IT, XT, IA)
    compress(IT, XT, IA, XA, I, X)
    failed = keep_momenta(IT, XT, IA, XA, I, X)
    after = twice_energy(I, X, window(XA, IA[at.KEPT], I[N_DOFS]))
    put(XA, at.LOSS, XA[at.LOSS] + 0.5 * (before - after))
    return failed
