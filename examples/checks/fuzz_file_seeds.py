"""Good files of every format that mcpframe reads: what the fuzz of files (fuzz_files.py) damages."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import mcpframe as mf
from mcpframe.io.corpus import Corpus
from mcpframe.io.fclib import FclibRecord, save_fclib
from mcpframe.io.npz import save_problem
from mcpframe.problem.friction import FrictionProblem
from mcpframe.problem.generators import contact_lcp, contact_system

EXAMPLES = Path(__file__).parents[1]
SUFFIXES = {
    "npz": ".npz",
    "corpus": ".h5",
    "fclib": ".hdf5",
    "urdf": ".urdf",
    "mjcf": ".xml",
    "scene": ".toml",
    "study": ".toml",
    "nl": ".nl",
    "trajectory": ".h5",
    "store": ".sqlite",
}
"""Formats, and how their files are called."""

FOREIGN = re.compile(rb"imports|\.\./")
"""Studies of the examples that need more than themselves."""
BODY = (
    '<inertial><origin xyz="0 0 -0.3"/><mass value="2"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.025"/></inertial>'
    '<collision><origin xyz="0 0 -0.3"/><geometry>{}</geometry></collision>'
)
URDF = f"""<?xml version="1.0"?>
<robot name="r">
  <link name="base"/>
  <link name="arm">{BODY.format('<box size="0.1 0.2 0.6"/>')}</link>
  <link name="tool">{BODY.format('<mesh filename="tool.stl" scale="1 1 1"/>')}</link>
  <link name="tip">{BODY.format('<cylinder radius="0.1" length="0.2"/>')}</link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="2" effort="10" velocity="3"/><dynamics damping="0.1" friction="0"/></joint>
  <joint name="wrist" type="prismatic"><parent link="arm"/><child link="tool"/><origin xyz="0 0 -0.6"
    rpy="0 0.1 0"/><limit lower="0" upper="1" effort="1" velocity="1"/>
    <mimic joint="shoulder" multiplier="2" offset="0.1"/></joint>
  <joint name="fix" type="fixed"><parent link="tool"/><child link="tip"/></joint>
  <transmission name="t"/>
</robot>
"""
MJCF = """<mujoco model="m">
  <option gravity="0 0 -9.81" timestep="0.01"/>
  <default><geom friction="0.7 0.005 0.0001"/></default>
  <asset><mesh name="tet" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="trunk" pos="0 0 1">
      <freejoint/>
      <geom name="g" type="box" size="0.1 0.2 0.3" mass="2"/>
      <body name="leg" pos="0 0 -0.3">
        <joint name="knee" type="hinge" axis="0 1 0" range="-1 1" limited="true" damping="0.1" ref="0.2"/>
        <joint name="slip" type="slide" axis="0 0 1" stiffness="3" springref="0.1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05"/>
        <site name="foot" pos="0 0 -0.4"/>
      </body>
      <body name="head" pos="0 0 0.4"><joint type="ball"/><geom type="mesh" mesh="tet"/></body>
    </body>
  </worldbody>
  <equality><joint joint1="knee" joint2="slip" polycoef="0 1 0 0 0"/></equality>
  <actuator><motor joint="knee" gear="2"/></actuator>
</mujoco>
"""
STUDY = """name = "fuzzed"
tol = 1e-8
time_limit = 5.0
starts = ["cold", "warm"]
solvers = ["lemke", { name = "pgs", label = "sweeps", max_sweeps = 10 }]
formulations = ["os", "mc"]

[[problems]]
system = "pendulum"
parameters = { links = [3, 4] }
states = 2
mu = [0.2, 0.5]

[[problems]]
system = "robot.urdf"
contacts = 1

[[problems]]
scene = "scene.toml"
parameters = { "stepping.dt" = [1e-3, 2e-3] }
every = 3

[[problems]]
corpus = "corpus.h5"
where = { n = { min = 1, max = 50 } }
tags = ["odd"]

[[problems]]
fclib = "*.hdf5"
friction_directions = [0, 4]

[[problems]]
npz = ["problem.npz"]

[[problems]]
generator = "full"
sizes = [2, 3]
seeds = 2

[[problems]]
generator = "monotone"
name = "random"
sizes = 5

[[published]]
title = "Figures"
columns = ["links", "ms"]
rows = [[3, 0.1], [4, 0.2]]
source = "nowhere"
"""
SCENE = """name = "fuzzed"
gravity = [0.0, 0.0, -9.81]

[[model]]
system = "pendulum"
options = { links = 3 }

[[model]]
prefix = "box_"
pose = { xyz = [1.0, 0.0, 0.2] }
[[model.link]]
name = "body"
hinge = { kind = "prismatic", axis = [0.0, 0.0, 1.0] }
mass = 1.0
inertia = [0.1, 0.1, 0.1]
lower = -1.0
geometry = [{ shape = "sphere", radius = 0.1, name = "ball" }]

[[model]]
file = "robot.urdf"
prefix = "arm_"

[[environment]]
shape = "plane"
name = "floor"
[[environment]]
shape = "heightfield"
heights = [[0.0, 0.1], [0.0, 0.2]]
spacing = [1.0, 1.0]
pose = { xyz = [5.0, 0.0, -3.0] }

[initial]
theta_dot = { box_body = 0.1 }
[material]
mu = 0.5
[[material.pair]]
between = ["floor", "ball"]
restitution = 0.2
[collision]
ignore = [["floor", "arm_arm"]]
[[controller]]
kind = "pd"
kp = 1.0
kd = 0.1
dofs = ["box_body"]
[[controller]]
kind = "push"
body = "box_body"
force = [1.0, 0.0, 0.0]
start = 0.1
stop = 0.2
[stepping]
dt = 1e-3
duration = 0.1
[solver]
name = "lemke"
max_pivots = 500
"""


def seeds(kind: str, folder: Path) -> list[bytes]:
    """Return good files of a format; those that scenes and studies name are left in the folder."""
    problems = folder / "seeds"
    problems.mkdir()
    companions(folder)
    try:
        return SEEDS[kind](problems)
    finally:
        shutil.rmtree(problems)


def companions(folder: Path) -> None:
    """Write the files that the seeds of scenes and studies name."""
    (folder / "robot.urdf").write_text(URDF)
    (folder / "scene.toml").write_text(SCENE)
    for name in ("arm.urdf", "hills.csv"):
        shutil.copy(EXAMPLES / "scenes" / name, folder)
    save_problem(folder / "problem.npz", contact_lcp(2))
    save_fclib(folder / "friction.hdf5", contact_system(2, "full").exact_problem())
    with Corpus(folder / "corpus.h5", "a") as corpus:
        for k in range(3):
            about = {"provenance": {"system": "s", "labels": {"n": 6}}, "labels": ["odd"]}
            corpus.append(contact_lcp(k + 1), name=f"p{k}", z0=np.zeros(contact_lcp(k + 1).n), **about)
        corpus.append(contact_system(2, "full").exact_problem())
        corpus.append(sparse_problem(), name="sparse")


def sparse_problem() -> mf.MixedLCP:
    """Return a problem in compressed rows."""
    M = sp.csr_array(np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0], [1.0, 0.0, 4.0]]))
    return mf.MixedLCP(M, [-1.0, 1.0, -2.0], 0.0, [np.inf, 5.0, np.inf])


def global_problem() -> FrictionProblem:
    """Return a friction problem with mass matrix and Jacobian kept apart."""
    H = np.vstack([np.eye(3), np.zeros((3, 3))])
    return FrictionProblem.from_global(
        sp.csr_array(2.0 * np.eye(6)), sp.csr_array(H), np.ones(6), np.zeros(3), [0.5]
    )


def npz_files(folder: Path) -> list[Path]:
    """Write .npz files of every kind of problem, one of them compressed, one by numpy alone."""
    given = [contact_lcp(2), sparse_problem(), contact_system(2, "full").exact_problem(), global_problem()]
    paths = [folder / f"{k}.npz" for k in range(len(given))]
    for path, problem in zip(paths, given, strict=True):
        save_problem(path, problem, name="p", provenance={"a": 1}, labels=["x"], z0=np.zeros(problem.n))
    plain = {"M": np.eye(3), "q": -np.ones(3), "lower": np.zeros(3), "upper": np.full(3, np.inf)}
    for name, save in (("plain", np.savez), ("packed", np.savez_compressed)):
        stream = io.BytesIO()
        save(stream, **plain)
        paths.append(folder / f"{name}.npz")
        paths[-1].write_bytes(stream.getvalue())
    return paths


def fclib_files(folder: Path) -> list[Path]:
    """Write FCLIB files in local and global form, with guesses, a solution and texts."""
    local = contact_system(2, "full").exact_problem()
    vectors = {"r": np.zeros(local.n), "u": np.ones(local.n)}
    about = {"W": {"comment": "none", "rank": 3.0}}
    save_fclib(folder / "a.hdf5", FclibRecord(local, {"title": "t"}, about, [vectors], vectors))
    save_fclib(folder / "b.hdf5", global_problem())
    return [folder / "a.hdf5", folder / "b.hdf5"]


def trajectory_files(folder: Path) -> list[Path]:
    """Write the trajectory of a ball that falls on the floor."""
    scene = mf.Scene(mf.systems.sphere(), theta_dot=[0, 0, -1, 0, 0, 0])
    mf.simulate(scene, duration=0.02).save(folder / "a.h5")
    return [folder / "a.h5"]


def store_files(folder: Path) -> list[Path]:
    """Run a study of two problems."""
    problems = [{"generator": "full", "sizes": [2, 3]}]
    mf.run_study({"name": "s", "solvers": ["lemke"], "problems": problems}, out=folder / "s", progress=False)
    return [folder / "s" / "study.sqlite"]


def _read(paths: Iterable[Path]) -> list[bytes]:
    return [path.read_bytes() for path in paths]


def _examples(pattern: str) -> list[bytes]:
    return _read(sorted(EXAMPLES.glob(pattern)))


SEEDS: dict[str, Callable[[Path], list[bytes]]] = {
    "npz": lambda folder: _read(npz_files(folder)),
    "corpus": lambda folder: _read([folder.parent / "corpus.h5"]),
    "fclib": lambda folder: _read(fclib_files(folder)),
    "urdf": lambda folder: [URDF.encode(), *_examples("scenes/arm.urdf")],
    "mjcf": lambda folder: [MJCF.encode()],
    "scene": lambda folder: [SCENE.encode(), *_examples("scenes/*.toml")],
    "study": lambda folder: [
        STUDY.encode(),
        *(text for text in _examples("studies/*.toml") if not FOREIGN.search(text)),
    ],
    "nl": lambda folder: _examples("mcp/pairs.nl"),
    "trajectory": lambda folder: _read(trajectory_files(folder)),
    "store": lambda folder: _read(store_files(folder)),
}
"""Who makes files of a format."""
