"""Runs of the whole-arm grasp [S00] under the torques of an independent reproduction."""

from functools import cache
from pathlib import Path

import numpy as np

import mcpframe as mf
from mcpframe.systems.grasp_motion import GraspMotion

SHARED = next(
    (folder for up in Path(__file__).parents if (folder := up / "shared/compliant/reference").is_dir()),
    Path("nowhere"),
)
EXAMPLES = {
    1: GraspMotion((0.0, 0.155, np.deg2rad(70.0)), (0.0, 0.155, np.deg2rad(110.0)), (0.1, 0.1, 0.1, 0.1)),
    2: GraspMotion((0.0, 0.12, 0.0), (0.0, 0.18, 0.0), (0.8, 0.6, 0.8, 0.6)),
}
LINKS = ("right_1", "right_2", "left_1", "left_2")


def reference(example, what):
    """A file of the reproduction."""
    return np.load(SHARED / f"ex{example}_{what}.npz")


def grasp_scene(example, **stepping):
    """The scene of an example in steps of 1 ms."""
    motion, torque = EXAMPLES[example], reference(example, "torque_ff")["tau"]

    def tau(state, time):
        return np.concatenate([np.zeros(3), torque[round(2000.0 * time)]])

    return mf.Scene(
        motion.model,
        theta=motion.state(0.0).theta,
        theta_dot=np.zeros(7),
        materials={("object", link): mf.Material(mu) for link, mu in zip(LINKS, motion.mu, strict=True)},
        ignore=["palm"],
        points_on=["object"],
        controllers=[tau],
        stepping=mf.Stepping(**{"dt": 1e-3, "duration": 1.0, "solver": "lemke", **stepping}),
    )


@cache
def grasp_run(example, contact_model, scale=1e-3, **stepping):
    """A run of an example."""
    layer = {"scale": scale, "mass": 1.69, "pressed": contact_model == "compliant"}
    return mf.simulate(grasp_scene(example, contact_model=contact_model, layer=layer, **stepping))


def normal_forces(run, k):
    """Normal forces of the contacts of a step, N."""
    table = run.contacts_at(k)
    return (table.impulse * table.normal).sum(axis=1) / 1e-3
