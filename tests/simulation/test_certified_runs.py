"""Runs are certified: silent where they are right, found out where a kernel or a plugin is wrong."""

from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from numba import types

import mcpframe as mf
from mcpframe.formulations.operational.kernels import impulses_of_forms, push_forms
from mcpframe.formulations.operational.space import OperationalSpace
from mcpframe.formulations.operational.stages import contact_results
from mcpframe.jit import Indices, IndicesOut, Vector, VectorOut, address, kernel
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.kernels.articulated import free_accelerations
from mcpframe.multibody.kernels.entries import SWEPT
from mcpframe.multibody.memory.records import N_BODIES, N_DOFS, PAIR, PUSH, THETA_DDOT
from mcpframe.multibody.model.shapes import Box, Geometry, Plane
from mcpframe.scene.settings import Output, Stepping
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.recording.steps import STATUSES
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.simulation.simulate import RunStoppedError
from mcpframe.simulation.step import host
from mcpframe.simulation.step.certifying.certificate import push_error
from mcpframe.simulation.step.pushing.solve import COMPRESSION, DECOMPRESSION, STEP

FOLDER = Path(__file__).parents[2] / "examples/scenes"
SILENT = 1e-9
WRONG = 1e-4
BEFORE_IMPACT = {"quadruped": 1.007, "four_bar": 0.315, "box_stack": 0.01, "hills": 0.02}
"""s; the stack stands from the start."""
UNPHYSICAL = STATUSES.index("UNPHYSICAL")


def scene_of(name, **stepping):
    return mf.load_scene(FOLDER / f"{name}.toml").with_stepping(**{"certify": "all", **stepping})


def landing(scene, time):
    """The scene from a later time on."""
    state = mf.simulate(scene, duration=time, certify="none").state(-1)
    return replace(scene, theta=state.theta, theta_dot=state.theta_dot, time=state.time)


def box(height=0.0, **stepping):
    """A box on a floor, or above it."""
    link = mf.Link("box", mass=1.0, inertia=0.01 * np.eye(3), geometry=Geometry(Box((0.2, 0.2, 0.2))))
    model = mf.Model([link], geometry=[Geometry(Plane(), name="floor")])
    material, rates = mf.Material(mu=0.4, restitution=0.3), [0.3, 0.1, 0.0, 0.0, 0.0, 0.1]
    scene = mf.Scene(model, [0, 0, 0.1 + height, 0, 0, 0, 1], rates, materials=material)
    return scene.with_stepping(**{"certify": "all", **stepping})


# Silent where a run is right.


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.toml")))
def test_an_example_is_right(name):
    run = mf.simulate(scene_of(name, duration=0.5))
    assert np.isfinite(run.certificate[1:]).all()
    assert run.certificate[1:].max() < SILENT
    assert (run.impacts.certificate < SILENT).all()


@pytest.mark.parametrize("formulation", sorted(mf.available_formulations()))
@pytest.mark.parametrize("name", ["quadruped", "four_bar"])
def test_every_formulation_is_right_where_a_scene_lands(formulation, name):
    """By `os` to just before the first impact, then by the formulation."""
    run = mf.simulate(landing(scene_of(name), BEFORE_IMPACT[name]), formulation=formulation, duration=0.01)
    assert len(run.impacts)
    assert run.certificate[1:].max() < SILENT
    assert run.impacts.certificate.max() < SILENT


@pytest.mark.parametrize("solver", ["auto", "ipm", "lemke", "newton", "path", "pgs", "qp"])
def test_every_solver_is_right(solver):
    assert mf.simulate(scene_of("quadruped", duration=0.02, solver=solver)).certificate[1:].max() < SILENT


# The same figure as by `certify_step`.


def perturbed(array, rng):
    return array * (1.0 + 0.01 * rng.standard_normal(array.shape))


@pytest.mark.parametrize("name", ["quadruped", "four_bar", "box_stack", "hills"])
def test_compiled_and_in_python_it_is_one_figure(name, rng):
    """Of outcomes with other rates, with other unknowns and with both."""
    start = landing(scene_of(name, certify_tol=1e-300), BEFORE_IMPACT[name])
    engine, pairs = Engine(start), []
    stages = engine._host

    def compare(where, _):
        if stages.work.IS[at.KIND] not in (STEP, COMPRESSION, DECOMPRESSION):
            return at.DONE  # no push
        work, X = stages.work, next(X for X in (engine._X, engine._Y, engine._Z) if X.ctypes.data == where)
        after, z = work.doubles(at.AFTER), work.doubles(at.Z)
        kept = after.copy(), z.copy(), work.doubles(at.IMPULSES).copy()
        h = float(work.XS[at.TRIAL]) if int(work.IS[at.KIND]) == 0 else 0.0
        for rates, unknowns in ((True, False), (False, True), (True, True)):
            if rates:
                after[:] = perturbed(after, rng)
            if unknowns:
                z[:] = perturbed(z, rng)
            if stages._is_held:
                stages._write(stages._last_outcome(where))
            figure = push_error(stages.state.I, X, stages.IE, stages.XE, work.IS, work.XS, h)
            pairs.append((figure, stages._certificate(where).worst))
            for array, old in zip((after, z, work.doubles(at.IMPULSES)), kept, strict=True):
                array[:] = old
        return at.DONE

    stages.door.stages[host.DISTRUST] = compare
    engine.advance(start.initial_state(), 0, 10)
    compiled, python = np.array(pairs).T
    assert compiled.max() > WRONG
    np.testing.assert_allclose(compiled, python, rtol=1e-7, atol=1e-12)


# Found where it is wrong.


@kernel(Indices, VectorOut, IndicesOut, VectorOut, Vector, Vector, Vector, VectorOut, IndicesOut)
def rates_backwards(I, X, IR, XR, records, shift, z, impulses, modes):
    """`recover` of `os`, but for a sign."""
    impulses_of_forms(IR, XR, z)
    push_forms(I, X, IR, XR)
    contact_results(IR, XR, records, shift, impulses, modes)
    for i in range(I[PUSH], I[PUSH] + I[N_BODIES] * PAIR):
        put(X, i, -get(X, i))


@kernel(Indices, VectorOut, IndicesOut, VectorOut, Vector, Vector, Vector, VectorOut, IndicesOut)
def impulses_doubled(I, X, IR, XR, records, shift, z, impulses, modes):
    """`recover` of `os`, but the impulses that are recorded are not those that acted."""
    impulses_of_forms(IR, XR, z)
    push_forms(I, X, IR, XR)
    contact_results(IR, XR, records, shift, impulses, modes)
    for i in range(impulses.shape[0]):
        put(impulses, i, 2.0 * get(impulses, i))


@pytest.mark.parametrize("wrong", [rates_backwards, impulses_doubled], ids=["rates", "impulses"])
def test_a_kernel_that_is_wrong_stops_the_run(wrong, monkeypatch):
    right = OperationalSpace.stages
    monkeypatch.setattr(
        OperationalSpace, "stages", lambda *parts: replace(right(*parts), recover=address(wrong))
    )
    scene = box(duration=0.005, scheme="time_stepping")  # event-driven, the box that sinks would be held up
    with pytest.raises(RunStoppedError, match="certificate of the step") as stopped:
        mf.simulate(scene)
    assert stopped.value.solution.status is mf.Status.UNPHYSICAL
    run = mf.simulate(scene, on_failure="best")
    assert run.status[1] == UNPHYSICAL
    assert 1 in run.failed
    assert run.certificate[1] > WRONG


@kernel(Indices, VectorOut, types.int64, nogil=False)
def accelerations_off(I, X, done):
    """`free_dynamics`, but for a thousandth."""
    failed = free_accelerations(I, X, done == SWEPT)
    for d in range(I[N_DOFS]):
        put(X, I[THETA_DDOT] + d, 1.001 * get(X, I[THETA_DDOT] + d))
    return failed


@pytest.mark.parametrize("height", [0.0, 0.05], ids=["on the floor", "in flight"])
def test_forces_that_do_something_else_stop_the_run(height, monkeypatch):
    right = Engine._addresses

    def addresses(engine):
        A = right(engine)
        A[at.ACCELERATE] = address(accelerations_off)
        return A

    monkeypatch.setattr(Engine, "_addresses", addresses)
    with pytest.raises(RunStoppedError, match="certificate of the forces in a step"):
        mf.simulate(box(height, duration=0.005))


def test_friction_that_leans_on_nothing_is_found():
    """What is given back is what friction of decompression is allowed for."""
    start = box(0.001, certify_tol=1e-300)
    engine, pairs = Engine(start), []
    stages = engine._host

    def without(where, figure):
        work = stages.work
        if work.IS[at.KIND] == DECOMPRESSION:
            X, leans = (
                next(X for X in (engine._X, engine._Y) if X.ctypes.data == where),
                work.doubles(at.LEANS),
            )
            kept = leans.copy()
            leans[:] = 0.0
            parts = stages.state.I, X, stages.IE, stages.XE, work.IS, work.XS
            pairs.append((figure, push_error(*parts, 0.0)))
            leans[:] = kept
        return at.DONE

    stages.door.stages[host.DISTRUST] = without
    engine.advance(start.initial_state(), 0, 20)
    right, wrong = np.array(pairs).T
    assert right.max() < SILENT
    assert wrong[0] > WRONG


class Backwards(mf.AbstractFormulation):
    """A plugin in Python whose way back has a sign wrong."""

    name = "backwards"

    def build(self, step):
        return mf.formulation("mc").build(step)

    def recover(self, recovery, solution):
        outcome = mf.formulation("mc").recover(recovery, solution)
        return replace(outcome, theta_dot=outcome.theta_dot + 0.01 * np.eye(6)[2])


def test_a_plugin_that_is_wrong_is_told_of(registries):
    mf.register_formulation(Backwards)
    scene = box(formulation="backwards", duration=0.005)
    with pytest.raises(RunStoppedError, match=r"momentum: dof 'box\[2\]' is left with"):
        mf.simulate(scene)
    run = mf.simulate(scene, on_failure="best")
    assert run.status[1] == UNPHYSICAL
    assert run.certificate[1] > WRONG
    assert not len(mf.simulate(scene, certify="none").failed)


# What is recorded.


def test_every_so_many_steps_and_every_impact_are_certified():
    run = mf.simulate(box(0.001, certify=7, duration=0.05))
    steps = np.rint(run.time / 1e-3).astype(int)
    assert len(run.impacts)
    expected = (steps % 7 == 0) | (run.n_impacts > 0)
    expected[0] = False
    np.testing.assert_array_equal(np.isfinite(run.certificate), expected)
    assert np.isfinite(run.impacts.certificate).all()
    assert Stepping().certify == 10


def test_a_record_has_the_worst_since_the_last_one():
    every, fifth = (mf.simulate(replace(box(duration=0.05), output=Output(every=n))) for n in (1, 5))
    worst = every.certificate[1:].reshape(-1, 5).max(axis=1)
    np.testing.assert_array_equal(fifth.certificate[1:], worst)


def test_certificates_change_no_bit_of_a_run():
    runs = [mf.simulate(box(0.001, certify=certify, duration=0.05)) for certify in ("all", 10, "none")]
    for other in runs[1:]:
        assert other.theta.tobytes() == runs[0].theta.tobytes()
        assert other.theta_dot.tobytes() == runs[0].theta_dot.tobytes()
        assert other.contacts.impulse.tobytes() == runs[0].contacts.impulse.tobytes()
    assert np.isnan(runs[2].certificate).all()
    assert np.isnan(runs[2].impacts.certificate).all()


def test_steps_of_four_stages_have_no_certificate_in_flight():
    run = mf.simulate(box(0.05, integrator="rk4", duration=0.01))
    assert np.isnan(run.certificate).all()


def test_certificates_go_to_disk_and_an_older_file_has_none(tmp_path):
    run = mf.simulate(box(0.001, duration=0.02), out=tmp_path)
    file = tmp_path / "trajectory.h5"
    assert Trajectory.load(file).certificate.tobytes() == run.certificate.tobytes()
    with h5py.File(file, "r+") as old:
        del old["steps/certificate"], old["impacts/certificate"]
    read = Trajectory.load(file)
    assert np.isnan(read.certificate).all()
    assert np.isnan(read.impacts.certificate).all()
    assert read.theta.tobytes() == run.theta.tobytes()


@pytest.mark.parametrize("value", [0, -3, "some", 1.5, True])
def test_a_certify_that_means_nothing_is_refused(value):
    with pytest.raises(mf.OptionError, match="certify"):
        mf.Stepping(certify=value)
