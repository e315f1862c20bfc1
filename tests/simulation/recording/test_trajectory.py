"""A trajectory holds a run in read-only arrays, and its file brings back every bit."""

import json
import pickle

import h5py
import numpy as np
import pytest
from runs import DT, assert_same_steps, header, one_step, steps, swing

import mcpframe as mf
from mcpframe import FileFormatError, ModelError, Node, ProblemError
from mcpframe.simulation.recording.steps import StepBlock
from mcpframe.simulation.recording.trajectory import Trajectory

N = 40
DIFFERENCE = 1e-6
"""Relative step of central differences: their error is about its square, far below the tolerance."""
VELOCITY_TOLERANCE = 1e-8


@pytest.fixture(scope="module")
def run():
    about = header(scene="[model]\nsystem = 'pendulum'\n", options={"dt": DT})
    return Trajectory(about, steps(about.model, N))


@pytest.fixture
def path(tmp_path, run):
    place = tmp_path / "run.h5"
    run.save(place)
    return place


def test_a_round_trip_changes_no_bit(run, path):
    again = Trajectory.load(path)
    assert_same_steps(again.steps, run.steps)
    assert again.header.texts() == run.header.texts()
    assert [entry.name for entry in path.parent.iterdir()] == ["run.h5"]


def test_a_file_that_calls_sticking_rolling_reads_back(run, path):
    """Files keep codes of modes; their names, which have changed once, stand beside them for readers."""
    with h5py.File(path, "r+") as file:
        file["contacts/mode"].attrs["names"] = json.dumps(["separating", "rolling", "sliding"])
    assert_same_steps(Trajectory.load(path).steps, run.steps)


def test_a_folder_stands_for_the_trajectory_in_it(run, tmp_path):
    run.save(tmp_path / "trajectory.h5")
    assert len(Trajectory.load(tmp_path)) == N


def test_arrays_are_read_only_copies(run):
    block = one_step(next(swing(run.model, 1)), 0)
    own = Trajectory(run.header, block)
    assert not np.shares_memory(own.theta, block.theta)
    assert Trajectory(run.header, own.steps).theta is own.theta  # read-only already: no need for another copy
    for array in (own.time, own.theta, own.contacts.impulse, own.impacts.time):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_columns_are_attributes(run):
    assert run.theta is run.steps.theta
    assert {"theta", "penetration", "solve_seconds"} <= set(dir(run))
    np.testing.assert_array_equal(run.total_energy, run.kinetic_energy + run.potential_energy)
    with pytest.raises(AttributeError, match="no attribute 'tau'"):
        _ = run.tau
    with pytest.raises(AttributeError, match="did you mean 'theta'"):
        _ = run.thetta
    assert repr(run.contacts_at(-1)).startswith(f"ContactTable(rows={run.n_contacts[-1]}, columns=body_a, ")
    assert_same_steps(pickle.loads(pickle.dumps(run.steps)), run.steps)


def test_a_column_that_is_not_there_is_told_with_the_one_that_may_be_meant(run):
    with pytest.raises(AttributeError, match=r"no attribute 'energy'; did you mean 'total_energy'\?"):
        _ = run.energy


def test_contacts_and_impacts_belong_to_their_steps(run):
    for k in range(N):
        contacts, impacts = run.contacts_at(k), run.impacts_at(k)
        assert (len(contacts), len(impacts)) == (run.n_contacts[k], run.n_impacts[k])
        assert (contacts.gap == -1e-9 * k).all()
        assert (impacts.time == run.time[k]).all()
    assert sum(len(run.contacts_at(k)) for k in range(N)) == len(run.contacts) > 0
    assert len(run.contacts_at(-1)) == run.n_contacts[-1]


def test_steps_out_of_range_are_refused(run):
    for k in (N, -N - 1):
        with pytest.raises(ProblemError, match=f"step {k}: the trajectory has {N} steps"):
            run.contacts_at(k)


def test_the_step_at_a_time_is_the_last_one_before(run):
    assert run.index_at(-1.0) == 0
    assert run.index_at(run.time[5]) == 5
    assert run.index_at(np.nextafter(run.time[5], 0.0)) == 4
    assert run.index_at(1e9) == N - 1


def test_poses_are_those_of_the_states(run):
    rotations, positions = run.link_poses([3, -1])
    for i, k in enumerate((3, N - 1)):
        expected = run.state(k).link_poses()
        np.testing.assert_array_equal(rotations[i], expected[0])
        np.testing.assert_array_equal(positions[i], expected[1])
    assert run.state(3).time == run.time[3]


def test_the_velocity_of_a_node_is_the_rate_of_its_position(run):
    k, h = 20, DIFFERENCE
    node = Node("link_2", (0.1, 0.2, 0.3))
    positions, velocities = run.motion_of(node, [k])
    at = [run.model.integrate(run.theta[k], run.theta_dot[k], side * h) for side in (-1.0, 1.0)]
    before, after = (run.model.state(theta).pose(node).position for theta in at)
    np.testing.assert_allclose(velocities[0, 3:], (after - before) / (2.0 * h), atol=VELOCITY_TOLERANCE)
    np.testing.assert_allclose(positions[0], (after + before) / 2.0, atol=VELOCITY_TOLERANCE)


def test_the_last_link_is_its_centre_of_mass(run):
    assert run.last_link.body == "link_3"
    assert run.last_link.position.tolist() == [0.0, 0.0, -2.0]
    empty = mf.Model(name="nothing")
    with pytest.raises(ModelError, match="'nothing' has no links"):
        _ = Trajectory(type(run.header)(empty), StepBlock.without_rows(empty)).last_link


def test_up_is_against_gravity():
    tilted = mf.Model([mf.Link("ball", mass=1.0, inertia=np.eye(3))], gravity=(3.0, 0.0, -4.0))
    about = type(header())(tilted)
    np.testing.assert_allclose(Trajectory(about, StepBlock.without_rows(tilted)).up, [-0.6, 0.0, 0.8])


def test_failed_steps_are_those_that_needed_a_solve_and_got_none(run):
    block = steps(run.model, 4)
    status = np.array([-1, 0, 3, 1], dtype=np.int8)
    changed = StepBlock(
        **{**dict(block.items()), "status": status}, contacts=block.contacts, impacts=block.impacts
    )
    assert Trajectory(run.header, changed).failed.tolist() == [2, 3]


def test_a_model_at_hand_may_take_the_place_of_the_header_s(path):
    model = mf.systems.pendulum(links=3)
    assert Trajectory.load(path, model).model is model
    with pytest.raises(ModelError, match="recorded with other links"):
        Trajectory.load(path, mf.systems.pendulum(links=4))


def test_steps_of_another_model_are_refused(run):
    with pytest.raises(ProblemError, match="have 2 and 2 columns, model 'pendulum' has 3 and 3"):
        Trajectory(run.header, steps(mf.systems.pendulum(links=2), 2))


def test_an_empty_run_is_a_run(run, tmp_path):
    Trajectory(run.header, StepBlock.without_rows(run.model)).save(tmp_path / "empty.h5")
    again = Trajectory.load(tmp_path / "empty.h5")
    assert len(again) == 0
    assert repr(again) == "Trajectory('pendulum', steps=0)"
    with pytest.raises(ProblemError, match="has 0 steps"):
        again.index_at(0.0)


def test_a_system_without_dofs_can_be_saved(tmp_path):
    model = mf.Model([mf.Link("post", hinge="locked", mass=1.0)])
    block = StepBlock(time=[0.0, 1.0], theta=np.zeros((2, 0)), theta_dot=np.zeros((2, 0)))
    Trajectory(type(header())(model), block).save(tmp_path / "post.h5")
    assert Trajectory.load(tmp_path / "post.h5").theta.shape == (2, 0)


def test_plain_h5py_reads_the_file(run, path):
    with h5py.File(path, "r") as file:
        assert file.attrs["format"] == "mcpframe-trajectory"
        assert file["header"].attrs["scene"] == run.header.scene
        assert json.loads(file["header"].attrs["link_names"]) == ["link_1", "link_2", "link_3"]
        np.testing.assert_array_equal(file["steps/theta"], run.theta)
        assert file["steps/penetration"].attrs["unit"] == "m"
        assert json.loads(file["contacts/mode"].attrs["names"])[2] == "sliding"


def test_files_of_another_kind_are_refused(tmp_path):
    place = tmp_path / "other.h5"
    for content in (b"", b"hello"):
        place.write_bytes(content)
        with pytest.raises(FileFormatError, match=r"other\.h5: is not a complete trajectory file"):
            Trajectory.load(place)
    with h5py.File(place, "w") as file:
        file["problems"] = 1.0
    with pytest.raises(FileFormatError, match="it holds problems"):
        Trajectory.load(place)
    with pytest.raises(FileFormatError, match="no such file"):
        Trajectory.load(tmp_path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_a_file_cut_off_is_refused_by_name(path, share):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(FileFormatError, match=r"run\.h5: is not a complete trajectory file"):
        Trajectory.load(path)


def test_a_newer_version_and_a_missing_column_are_refused(path):
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = 2
    with pytest.raises(FileFormatError, match="version 2 is newer"):
        Trajectory.load(path)
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = 1
        del file["contacts/impulse"]
    with pytest.raises(FileFormatError, match=r"run\.h5: /contacts/impulse: is missing"):
        Trajectory.load(path)


def test_a_save_that_fails_leaves_nothing_behind(run, tmp_path):
    with pytest.raises(FileFormatError, match="cannot be written"):
        run.save(tmp_path / "nowhere" / "run.h5")
    assert not list(tmp_path.iterdir())


def test_a_single_step_is_a_block_of_one():
    model = mf.systems.pendulum(links=3)
    block = one_step(next(swing(model, 1)), 0)
    assert len(block) == 1
    assert block.theta.shape == (1, 3)


def test_what_a_file_declares_without_having_it_and_links_to_other_files_are_refused(run, tmp_path):
    huge, linked = tmp_path / "huge.h5", tmp_path / "linked.h5"
    run.save(huge)
    run.save(linked)
    with h5py.File(huge, "r+") as file:
        del file["impacts/jam"]
        file.create_dataset("impacts/jam", shape=(2**40,), dtype="i8", chunks=True)
    with pytest.raises(FileFormatError, match=r"huge\.h5: /impacts/jam: declares"):
        Trajectory.load(huge)
    with h5py.File(linked, "r+") as file:
        del file["contacts"]
        file["contacts"] = h5py.ExternalLink("huge.h5", "/contacts")
    with pytest.raises(FileFormatError, match=r"linked\.h5: .*contacts: is a link to elsewhere"):
        Trajectory.load(linked)
