"""No impact adds energy, and none is lost where nothing rubs and all rebounds: random heaps of balls."""

import numpy as np
import pytest
from box_heaps import heap

from mcpframe.simulation.engine import Engine

SEEDS = range(30)
MU, RESTITUTION = (0.0, 0.3, 1.0), (0.0, 0.5, 1.0, None)
GAIN = 1e-12
"""Share of the energy before: rounding."""
LOSS = {"poisson": 1e-12, "newton": 2e-9}
"""Likewise where none may be lost; Newton's law may need the share to throw back, found by 30 halvings."""

every_law = pytest.mark.parametrize("restitution_model", ["poisson", "newton"])
every_order = pytest.mark.parametrize("impacts", ["simultaneous", "sequential"])


def first_impact(scene):
    """The energies of the impact at the start; None where nothing approaches."""
    block = Engine(scene).advance(scene.initial_state(), 0, 1)
    return block.impacts.rows(0, 1) if len(block.impacts) else None


def changes(seeds=SEEDS, **scene):
    """Relative changes of energy of all seeds that have an impact."""
    found = [first_impact(heap(seed, **scene)) for seed in seeds]
    hits = [impact for impact in found if impact is not None]
    assert len(hits) > len(seeds) // 2
    return np.array([(hit.energy_after[0] - hit.energy_before[0]) / hit.energy_before[0] for hit in hits])


@every_law
@every_order
@pytest.mark.parametrize("mu", MU)
@pytest.mark.parametrize("restitution", RESTITUTION)
def test_no_impact_adds_energy(restitution, mu, impacts, restitution_model):
    """Heaps in turn, a third each: every one meets each restitution and friction, order and law."""
    seeds = SEEDS[(MU.index(mu) + RESTITUTION.index(restitution)) % 3 :: 3]
    ways = {"impacts": impacts, "restitution_model": restitution_model}
    found = changes(seeds, restitution=restitution, mu=mu, **ways)
    assert found.max() <= GAIN


@every_law
@every_order
def test_none_is_lost_where_nothing_rubs_and_all_rebounds(impacts, restitution_model):
    found = changes(restitution=1.0, mu=0.0, impacts=impacts, restitution_model=restitution_model)
    assert np.abs(found).max() <= LOSS[restitution_model]


def test_j14_itself_loses_energy_where_decompression_closes_what_had_opened():
    """One decompression stops such a contact, plastic, as [J14, Eq. (58)] says; none adds energy."""
    found = changes(restitution=1.0, mu=0.0, decompression="j14")
    assert found.min() < -1e-3
    assert found.max() <= GAIN


@every_order
def test_nothing_approaches_after_an_impact(impacts):
    for seed in SEEDS:
        scene = heap(seed, restitution=0.5, mu=0.3, impacts=impacts, rest_speed=1e-4)
        block = Engine(scene).advance(scene.initial_state(), 0, 1)
        assert len(block.impacts) <= 1
        assert block.penetration[-1] < 1e-9
