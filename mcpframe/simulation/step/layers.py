"""Layers: by how much contacts yield in a step, and what they remember after it.

What a contact remembers is kept by its key, in world axes with the normal that it was written for, and turned
the shortest way as the normal turns. It is read where a push is made, so that trials change nothing, and
written when a step is taken. Springs are native (`mcpframe.contact.layers.kernels`); layers of other kinds
are asked in Python.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.contact import NORMAL, RECORD
from mcpframe.contact.detection import records as found
from mcpframe.contact.layers.kernels import (
    layer_energy,
    normal_terms,
    stretched,
    tangent_pull,
    tangent_softness,
)
from mcpframe.contact.layers.layer import REVERSED
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store, zero
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import gap_of, is_soft, key_of, layer_of, material_of, record_of
from mcpframe.simulation.step import host
from mcpframe.simulation.step.moving.drift import first_share
from mcpframe.simulation.step.moving.motion import three
from mcpframe.simulation.step.touching import approach, place_of, take_touching
from mcpframe.solving.stages import SHIFTS, SOFTNESS
from mcpframe.spatial.algebra import cross, dot

ROW, NORMAL_AT = found.CONTACT_ROW, NORMAL.start


@inline
def turned(v, n, m):
    """Return a vector, turned the shortest way that takes the normal n to m; as `layers.layer.carried`."""
    cosine, axis = dot(n, m), cross(n, m)
    if 1.0 + cosine < REVERSED:
        return v
    return cosine * v + cross(axis, v) + (dot(axis, v) / (1.0 + cosine)) * axis


@callee
def carry(run, i):
    """Write what contact i remembers, turned to its normal of now."""
    IS, XS, width = run.IS, run.XS, run.IS[at.MEMORY_WIDTH]
    n, row = load(XS, record_of(run, i) + NORMAL_AT), IS[at.CARRIED] + i * width
    k = place_of(IS, IS[at.MEMORY_KEYS], 1, IS[at.N_REMEMBERED], key_of(run, i))
    kept = IS[at.MEMORIES] + k * width
    store(XS, row, n)
    for v in range(4, width, 4):
        known = turned(load(XS, kept + v), load(XS, kept), n) if k >= 0 else zero()
        store(XS, row + v, known)


@callee
def spring(run, i, h):
    """Write softness and shift of contact i, whose layer has springs, in a step of h."""
    IS, XS = run.IS, run.XS
    layer, record = layer_of(run, i), record_of(run, i)
    memory = load(XS, IS[at.CARRIED] + i * IS[at.MEMORY_WIDTH] + 4)
    soft, shift = IS[at.SOFTNESS] + SOFTNESS * i + 3, IS[at.SHIFTS] + SHIFTS * i
    depth = dot(load(XS, record + NORMAL_AT), memory) - gap_of(run, i)
    S, s = normal_terms(XS, layer, h, depth, get(XS, IS[at.START_VELOCITIES] + 4 * i + 3))
    put(XS, soft, get(XS, soft) + S)
    put(XS, shift, s)
    for k in range(1, 3):
        stretch = dot(load(XS, record + NORMAL_AT + 4 * k), memory)
        put(XS, soft + k, get(XS, soft + k) + tangent_softness(XS, layer, h))
        put(XS, shift + k, tangent_pull(XS, layer, h) * stretch)


@callee
def soften(run, X, h):
    """Write by how much what touches yields in a push of h, and what layers add to its speeds."""
    IS, XS = run.IS, run.XS
    if IS[at.SOFT] == 0:
        return at.DONE
    for i in range(IS[at.N_TOUCHING]):
        yields = IS[at.LAW_YIELDS] + 2 * SOFTNESS * material_of(run, i)
        for k in range(SOFTNESS):
            grown = get(XS, yields + k) + h * get(XS, yields + SOFTNESS + k)
            put(XS, IS[at.SOFTNESS] + SOFTNESS * i + k, grown)
        if h > 0.0 and is_soft(run, i):
            carry(run, i)
            if get(IS, IS[at.LAYER_KINDS] + material_of(run, i)) != at.HOSTED:
                spring(run, i, h)
    if h > 0.0 and IS[at.HOST_LAYERS] != 0:
        return host.call_host(run.A[at.HOST], host.SOFTEN, X, h)
    return at.DONE


@inline
def stretch_spring(run, i, h, row):
    """Write what contact i, whose layer has springs, remembers after a step of h to XS[row]."""
    IS, XS = run.IS, run.XS
    n, memory = load(XS, row), load(XS, row + 4)
    impulse, offset = three(XS, IS[at.IMPULSES] + 4 * i), dot(n, memory)
    stretch = stretched(XS, layer_of(run, i), h, memory - offset * n, impulse - dot(n, impulse) * n)
    store(XS, row + 4, offset * n + stretch)


@callee
def remember(run, X, h):
    """Remember what layers are like after a step of h that is taken; what does not touch is forgotten."""
    IS, XS, width = run.IS, run.XS, run.IS[at.MEMORY_WIDTH]
    if IS[at.SOFT] == 0:
        return at.DONE
    code = at.DONE
    if IS[at.HOST_LAYERS] != 0 and IS[at.N_TOUCHING] > 0:
        code = host.call_host(run.A[at.HOST], host.REMEMBER, X, h)
    n = 0
    for i in range(IS[at.N_TOUCHING]):
        if not is_soft(run, i):
            continue
        row = IS[at.CARRIED] + i * width
        if get(IS, IS[at.LAYER_KINDS] + material_of(run, i)) != at.HOSTED:
            stretch_spring(run, i, h, row)
        put(IS, IS[at.MEMORY_KEYS] + n, key_of(run, i))
        put(IS, IS[at.MEMORY_LAWS] + n, material_of(run, i))
        for k in range(width):
            put(XS, IS[at.MEMORIES] + n * width + k, get(XS, row + k))
        n += 1
    put(IS, at.N_REMEMBERED, n)
    return code


@callee
def remembered_energy(run, X, k):
    """Return what the springs of remembered layer k store after a step to X, where its contact was found.

    They have gone a whole step from where they were asked, the middle of it with the midpoint rule.
    """
    IS, XS, ID = run.IS, run.XS, run.ID
    law, row = get(IS, IS[at.MEMORY_LAWS] + k), IS[at.MEMORIES] + k * IS[at.MEMORY_WIDTH]
    key = get(IS, IS[at.MEMORY_KEYS] + k)
    where = place_of(ID, ID[found.CONTACTS] + found.C_KEY, ROW, at.n_found(run), key)
    if where < 0 or get(IS, IS[at.LAYER_KINDS] + law) == at.HOSTED:
        return 0.0
    n, memory = load(XS, row), load(XS, row + 4)
    offset = dot(n, memory)
    stretch = memory - offset * n
    contact, record = ID[found.CONTACTS] + where * ROW, ID[found.RECORDS] + where * RECORD
    speed = approach(run.I, X, ID, contact, run.XD, record)
    gap = at.found_gap(run, where) + first_share(run) * XS[at.PART] * speed
    return layer_energy(XS, IS[at.LAYERS] + at.LAYER_ROOM * law, offset - gap, dot(stretch, stretch))


@callee
def stored_energy(run, X):
    """Return what the springs of all layers store after a step to X, where contacts were found."""
    total = 0.0
    for k in range(run.IS[at.N_REMEMBERED]):
        total += remembered_energy(run, X, k)
    return total


@callee
def leave_out_soft(run):
    """Have only what is rigid touch: in an impact layers do nothing."""
    IS, XS, n = run.IS, run.XS, 0
    for i in range(IS[at.N_TOUCHING]):
        if is_soft(run, i):
            continue
        for k in range(ROW):
            put(IS, IS[at.TOUCHING] + n * ROW + k, get(IS, IS[at.TOUCHING] + i * ROW + k))
        for k in range(RECORD):
            put(XS, record_of(run, n) + k, get(XS, record_of(run, i) + k))
        put(XS, IS[at.GAPS] + n, gap_of(run, i))
        n += 1
    put(IS, at.N_TOUCHING, n)


@callee
def take_in_soft(run, X, which_limits):
    """Have what is soft touch again."""
    return take_touching(run, X, which_limits) if run.IS[at.SOFT] != 0 else at.DONE
