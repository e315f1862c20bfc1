"""Harvests: every problem of a run once, in any formulation, told where it comes from and what it is like."""

from dataclasses import replace

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.detection.materials import Material
from mcpframe.exceptions import OptionError, PluginError
from mcpframe.scene.scene import Scene
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.engine import Engine
from mcpframe.studies.corpora.harvesting import harvest, harvested

SAME = 1e-7
"""N s; impulses of one step found in two formulations, each certified to 1e-9 relative."""
ROUNDING = 1e-10


def falling_quadruped(**stepping):
    model = mf.systems.quadruped()
    options = {"dt": 2e-3, "duration": 0.06, **stepping}
    rates = {"trunk": [0.3, 0.0, -0.5, 0.0, 0.0, 0.0]}
    material = Material(mu=0.4, restitution=0.2)
    return Scene(model, theta_dot=rates, materials=material, stepping=Stepping(**options), name="landing")


def observed(scene):
    """What the engine tells, without a harvest."""
    seen, n_steps = [], round(scene.stepping.duration / scene.stepping.dt)
    Engine(scene, seen.append).advance(scene.initial_state(), 0, n_steps)
    return seen


@pytest.mark.parametrize("scheme", ["event_driven", "time_stepping"])
def test_a_harvest_has_every_problem_of_the_run_bit_by_bit(tmp_path, scheme):
    scene = falling_quadruped(scheme=scheme)
    told = observed(scene)
    with harvest(scene, tmp_path / "a.h5") as corpus:
        records = list(corpus)
    assert len(records) == len(told) > 20
    for record, seen in zip(records, told, strict=True):
        assert (record.problem.M == seen.problem.M).all()
        assert (record.problem.q == seen.problem.q).all()
        about = record.provenance
        assert (about["kind"], about["time"], about["dt"]) == (seen.kind, seen.time, seen.dt)
        assert (about["scene"], about["system"], about["formulation"]) == ("landing", "quadruped", "os")
        assert about["labels"]["n"] == seen.problem.n
        assert about["labels"]["n_contacts"] == about["n_contacts"] == len(seen.step.contacts)
        impact = seen.kind != "step"
        assert (about["labels"]["motion"] == "impact") == impact
        assert record.labels == (seen.kind, about["labels"]["motion"], about["labels"]["hardness"])
    assert {"step", "compression", "decompression"} == {record.provenance["kind"] for record in records}


@pytest.mark.parametrize("scheme", ["event_driven", "time_stepping"])
@pytest.mark.parametrize("restitution_model", ["poisson", "newton"])
def test_another_formulation_writes_the_same_steps(tmp_path, scheme, restitution_model):
    scene = falling_quadruped(scheme=scheme, restitution_model=restitution_model)
    with (
        harvest(scene, tmp_path / "os.h5") as first,
        harvest(scene, tmp_path / "dca.h5", formulation="dca") as other,
    ):
        pairs = list(zip(first, other, strict=True))
    for ours, theirs in pairs:
        assert theirs.provenance["formulation"] == "dca"
        assert theirs.provenance["options"] == ours.provenance["options"]
        assert theirs.provenance["asks"] == ours.provenance["asks"]
        np.testing.assert_allclose(theirs.problem.M, ours.problem.M, atol=ROUNDING)
        np.testing.assert_allclose(theirs.problem.q, ours.problem.q, atol=ROUNDING)


def test_a_harvest_in_link_velocities_solves_to_the_same_impulses(tmp_path):
    scene = falling_quadruped()
    with harvest(scene, tmp_path / "os.h5", every=5) as first:
        pairs = zip(list(first), harvest(scene, tmp_path / "nmc.h5", every=5, formulation="nmc"), strict=True)
        for ours, theirs in pairs:
            z, Z = (mf.solve(record.problem, "auto").z for record in (ours, theirs))
            beta, Beta = z[ours.problem.layout["beta"]], Z[theirs.problem.layout["beta"]]
            np.testing.assert_allclose(net(Beta), net(beta), atol=SAME)
            assert theirs.provenance["labels"]["n"] > ours.provenance["labels"]["n"]
            ratios = [record.provenance["labels"].get("rank_ratio") for record in (theirs, ours)]
            assert ratios[0] == ratios[1]
            assert ratios[0] is not None or ours.provenance["kind"] == "decompression"


def net(beta):
    """Normal and tangential impulses of four directions: opposites may both be loaded."""
    normal, *d = beta.reshape(-1, 5).T
    return np.array([normal, d[0] - d[2], d[1] - d[3]])


def test_every_thins_steps_and_keeps_impacts(tmp_path):
    scene = falling_quadruped()
    told = observed(scene)
    with harvest(scene, tmp_path / "a.h5", every=10) as corpus:
        kinds = [record.provenance["kind"] for record in corpus]
        steps = [record.provenance["step"] for record in corpus if record.provenance["kind"] == "step"]
    assert {step % 10 for step in steps} == {0}
    assert sum(kind != "step" for kind in kinds) == sum(seen.kind != "step" for seen in told)


def test_a_limit_ends_the_run_and_a_second_harvest_is_appended(tmp_path):
    path = tmp_path / "a.h5"
    harvest(falling_quadruped(), path, limit=7).close()
    with harvest(falling_quadruped(), path, limit=5) as corpus:
        assert len(corpus) == 12
        assert corpus.names[:5] == corpus.names[7:]


def test_options_of_the_scenes_formulation_are_taken_over(tmp_path):
    scene = falling_quadruped(formulation={"name": "mc", "friction_directions": 8})
    with harvest(scene, tmp_path / "a.h5", limit=3) as corpus:
        assert all(record.problem.contacts.n_f == 8 for record in corpus)
        assert {record.provenance["formulation"] for record in corpus} == {"os"}
    own = mf.formulation("os", friction_directions=6)
    with harvest(scene, tmp_path / "b.h5", limit=3, formulation=own) as corpus:
        assert all(record.problem.contacts.n_f == 6 for record in corpus)


def test_steps_come_one_by_one_with_their_records():
    scene = falling_quadruped()
    found = list(harvested(scene, wanted=lambda seen, number: number == 1))
    assert [number for number, _ in found] == list(range(1, 31))
    assert [number for number, records in found if records] == [1]


def test_what_was_found_before_a_run_fails_is_kept(tmp_path):
    def breaks(state, time):
        if time > 0.05:
            raise ZeroDivisionError
        return np.zeros(18)

    scene = falling_quadruped()
    broken = replace(scene, controllers=[breaks])
    with pytest.raises(ZeroDivisionError):
        harvest(broken, tmp_path / "a.h5")
    with mf.Corpus(tmp_path / "a.h5") as corpus:
        assert len(corpus) == sum(seen.time <= 0.05 for seen in observed(scene))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"formulation": "so"}, PluginError, "so"),
        ({"every": 0}, OptionError, "every = 0"),
        ({"limit": 0}, OptionError, "limit = 0"),
        ({"limit": True}, OptionError, "limit = True"),
    ],
)
def test_bad_input_makes_no_file(tmp_path, options, error, words):
    with pytest.raises(error, match=words):
        harvest(falling_quadruped(), tmp_path / "a.h5", **options)
    assert not (tmp_path / "a.h5").exists()
