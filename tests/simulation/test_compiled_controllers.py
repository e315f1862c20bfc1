"""Controllers that Numba has compiled: the same motion as by a Python function, called by their address."""

import numba
import numpy as np
import pytest

import mcpframe as mf
from mcpframe.exceptions import ModelError, OptionError
from mcpframe.scene.compiled_function import SIGNATURE, CompiledFunction
from mcpframe.scene.controllers import Function, Push
from mcpframe.scene.fingerprint import digest
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.memory import slots as at

LINKS = 3


@numba.njit
def pull(theta, theta_dot, time, tau):
    for d in range(tau.size):
        tau[d] = -40.0 * theta[d] - 2.0 * theta_dot[d] + np.sin(5.0 * time)


@numba.cfunc(SIGNATURE)
def pull_in_c(theta, theta_dot, time, tau):
    pull(numba.carray(theta, LINKS), numba.carray(theta_dot, LINKS), time, numba.carray(tau, LINKS))


@numba.cfunc("void(float64, CPointer(float64))")
def of_another_kind(time, tau):
    tau[0] = time


def pulled(state, time):
    tau = np.zeros(LINKS)
    pull.py_func(state.theta, state.theta_dot, time, tau)
    return tau


def scene(function, more=lambda model: [], **stepping):
    model = mf.systems.pendulum(links=LINKS)
    start = {"theta": {"link_1": 0.8}, "theta_dot": {"link_1": 1.0}}
    controllers = [function, *more(model)]
    return mf.Scene(model, **start, controllers=controllers, stepping=mf.Stepping(duration=0.3, **stepping))


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
@pytest.mark.parametrize("function", [pull, pull_in_c], ids=["njit", "cfunc"])
def test_a_compiled_function_moves_the_model_as_the_same_in_python_does(function, integrator):
    runs = [mf.simulate(scene(each, integrator=integrator)) for each in (function, pulled)]
    np.testing.assert_allclose(runs[0].theta, runs[1].theta, rtol=0, atol=1e-9)
    assert np.ptp(runs[0].theta[:, 1]) > 0.05  # it pulls


def test_compiled_steps_call_it_without_python():
    made = scene(pull)
    assert isinstance(made.controllers[0], CompiledFunction)
    assert Engine(made)._work.IS[at.HOST_FORCES] == 0
    assert isinstance(scene(pulled).controllers[0], Function)
    assert Engine(scene(pulled))._work.IS[at.HOST_FORCES] == 1


def test_it_adds_up_with_other_controllers():
    def push(model):
        return [Push(model, "link_3", force=(0.0, 0.0, 3.0))]

    runs = [mf.simulate(scene(each, push)) for each in (pull, pulled)]
    np.testing.assert_allclose(runs[0].theta, runs[1].theta, rtol=0, atol=1e-9)


def test_its_force_is_that_of_the_function():
    state = scene(pull).initial_state()
    controller = CompiledFunction(state.model, pull)
    np.testing.assert_array_equal(controller.force(state, 0.3), pulled(state, 0.3))


def test_a_run_with_it_is_known_again_in_another_process():
    """What its digest is made of has no address in it."""
    for function in (pull, pull_in_c):
        assert digest(scene(function).controllers) == digest(scene(function).controllers)
    assert digest(scene(pull).controllers) != digest(scene(of_another(pull)).controllers)


def of_another(function):
    """Return a function that does half as much."""

    @numba.njit
    def half(theta, theta_dot, time, tau):
        function(theta, theta_dot, time, tau)
        tau *= 0.5

    return half


def test_a_function_in_c_of_another_kind_is_refused_with_its_signature():
    with pytest.raises(ModelError, match=r"of_another_kind.*signature is"):
        scene(of_another_kind)


def test_a_scene_file_takes_one_and_refuses_options_for_it(tmp_path):
    law = (
        "import numba\n@numba.njit\ndef brake(theta, theta_dot, time, tau):\n    tau[:] = -0.1 * theta_dot\n"
    )
    (tmp_path / "law.py").write_text(law)
    text = '[[model]]\nsystem = "pendulum"\n[[controller]]\nkind = "function"\nfunction = "law.py:brake"\n'
    (tmp_path / "scene.toml").write_text(text)
    assert isinstance(mf.load_scene(tmp_path / "scene.toml").controllers[0], CompiledFunction)
    (tmp_path / "scene.toml").write_text(text + "options = { gain = 2.0 }\n")
    with pytest.raises(OptionError, match="takes no options"):
        mf.load_scene(tmp_path / "scene.toml")
