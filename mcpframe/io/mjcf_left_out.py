"""What a compiled MJCF holds and a model has no place for, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcpframe.io.robot_files import LeftOut, import_reader

COUNTED = {
    "tendons": ("ntendon", "tendon"),
    "actuators": ("nu", "actuator"),
    "sensors": ("nsensor", "sensor"),
    "contact exclusions": ("nexclude", "exclude"),
    "contact pairs": ("npair", "pair"),
    "flexible bodies": ("nflex", ""),
    "plugins": ("nplugin", ""),
    "keyframes": ("nkey", "key"),
    "custom numbers": ("nnumeric", "numeric"),
    "custom texts": ("ntext", ""),
    "custom tuples": ("ntuple", "tuple"),
}
"""What is counted in a compiled model: name of the count, and of the access by index."""
HARMLESS = {"warmstart", "clampctrl", "sensor", "midphase", "eulerdamp", "autoreset", "nativeccd", "island"}
"""Parts that may be disabled without a difference here; gravity is understood."""
DEFAULT_CONTACT = {
    "geom_friction": (1.0, 0.005, 0.0001),
    "geom_margin": 0.0,
    "geom_gap": 0.0,
    "geom_solref": (0.02, 1.0),
    "geom_solimp": (0.9, 0.95, 0.001, 0.5, 2.0),
}
"""Contact parameters of a geom that nobody has set."""


def constant(enum: str, value: int) -> str:
    """Return a constant of MuJoCo as a word (mjJNT_FREE is "free"): its numbers change between versions."""
    name: str = getattr(import_reader("mujoco"), enum)(int(value)).name
    return name.split("_", 1)[1].lower()


def disabled(m: Any) -> set[str]:
    """Return the parts of the dynamics that the file turns off."""
    bits = import_reader("mujoco").mjtDisableBit.__members__
    flags = int(m.opt.disableflags)
    return {name.split("_", 1)[1].lower() for name, bit in bits.items() if "_" in name and flags & int(bit)}


def note_left_out(m: Any, left_out: LeftOut) -> None:
    """Note everything that acts in the compiled model and not in ours."""
    for what, (count, access) in COUNTED.items():
        for k in range(getattr(m, count)):
            left_out.add(what, (getattr(m, access)(k).name if access else "") or f"no. {k}")
    for part in sorted(disabled(m) - HARMLESS - {"gravity"}):
        left_out.add("disabling of parts", part)
    if m.opt.density or m.opt.viscosity:
        left_out.add("fluid", "density and viscosity")
    _note_joints(m, left_out)
    _note_bodies(m, left_out)
    _note_geoms(m, left_out)


def _note_joints(m: Any, left_out: LeftOut) -> None:
    for joint in range(m.njnt):
        name, dof = m.joint(joint).name or f"joint_{joint}", m.jnt_dofadr[joint]
        kind = constant("mjtJoint", m.jnt_type[joint])
        if m.dof_frictionloss[dof]:
            left_out.add("friction of joints", name)
        if m.jnt_limited[joint] and kind == "ball":
            left_out.add("limits of ball joints", name)
        if m.jnt_stiffness[joint] and kind == "free":
            left_out.add("springs of free joints", name)
        if _has(m, "dof_dampingpoly", dof) or _has(m, "jnt_stiffnesspoly", joint):
            left_out.add("nonlinear springs and dampers", name)


def _note_bodies(m: Any, left_out: LeftOut) -> None:
    for body in range(m.nbody):
        name = m.body(body).name or f"body_{body}"
        if m.body_gravcomp[body]:
            left_out.add("gravity compensation", name)
        if m.body_mocapid[body] >= 0:
            left_out.add("motion capture, fixed here", name)


def _note_geoms(m: Any, left_out: LeftOut) -> None:
    for geom in range(m.ngeom):
        collides = m.geom_contype[geom] or m.geom_conaffinity[geom]
        if collides and any(
            np.any(getattr(m, field)[geom] != usual) for field, usual in DEFAULT_CONTACT.items()
        ):
            left_out.add("contact parameters of geoms", m.geom(geom).name or f"geom {geom}")


def _has(m: Any, field: str, k: int) -> bool:
    """Tell whether a field that not every version has is set."""
    return hasattr(m, field) and bool(np.any(getattr(m, field)[k]))
