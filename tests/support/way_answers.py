"""Answers of some kernels, to be compared between ways to run them.

    python way_answers.py FILE [simulation]

writes them as npz; a simulation takes most kernels there are.
"""

import sys

import numpy as np

import mcpframe as mf
from mcpframe.jit import WAY


def solved():
    """Solutions of mixed LCPs by Lemke's method, some of them with free rows and boxes."""
    rng = np.random.default_rng(1)
    answers = {}
    for n in (1, 4, 9):
        A = rng.normal(size=(n, n))
        upper = np.where(rng.random(n) < 0.3, 0.1, np.inf)
        lower = np.where(rng.random(n) < 0.3, -np.inf, 0.0)
        problem = mf.MixedLCP(A @ A.T + 0.1 * np.eye(n), rng.normal(size=n), lower, upper)
        answers[f"lemke {n}"] = mf.solve(problem, "lemke", throw=True).z
    return answers


def dynamics():
    """Free acceleration, mass matrix and compliance of a tree."""
    state = mf.systems.make("branched_tree").state()
    rng = np.random.default_rng(2)
    state.update(rng.normal(size=state.theta.size), rng.normal(size=state.theta_dot.size))
    tips = ["link_30", "link_31", "link_17"]
    return {
        "theta_ddot": state.free_acceleration(),
        "mass_matrix": state.mass_matrix(),
        "compliance": state.compliance(tips),
    }


def simulated():
    """Coordinates of runs: the papers' pendulum in the air, a box thrown on the floor."""
    from mcpframe.simulation.engine import Engine

    pendulum = mf.Scene(mf.systems.pendulum(links=3), theta={"link_1": np.pi / 4}, theta_dot={"link_1": 1.0})
    box = mf.systems.box()
    theta = box.neutral()
    theta[2] += 0.15
    theta[3:7] = 0.1, 0.2, -0.1, np.sqrt(1.0 - 0.06)
    rates = np.array([0.6, -0.2, 0.0, 1.0, -2.0, 3.0])
    material, stepping = mf.Material(mu=0.5, restitution=0.5), mf.Stepping(dt=5e-3)
    thrown = mf.Scene(box, theta=theta, theta_dot=rates, materials=material, stepping=stepping)
    answers = {}
    for name, scene, n_steps in (("pendulum", pendulum, 20), ("box", thrown, 60)):
        block = Engine(scene).advance(scene.initial_state(), 0, n_steps)
        answers |= {f"{name} theta": block.theta, f"{name} impacts": np.array(len(block.impacts))}
    return answers


def answers(*parts):
    """Answers of this process, with the way in which it runs kernels."""
    found = {"way": np.array(WAY.name), **solved(), **dynamics()}
    return found | simulated() if "simulation" in parts else found


if __name__ == "__main__":
    np.savez(sys.argv[1], **answers(*sys.argv[2:]))
