"""A minute: what a floating chain keeps, and a stack that neither sinks nor walks."""

from __future__ import annotations

import numpy as np

import mcpframe as mf
from truth.answers import BOTH_SCHEMES, Answers, Way, certified, simulated, system, zero
from truth.articulated.flights import free_chain, momenta
from truth.motions import DT, change, energy_kept, samples
from truth.touching.standing import stack

KEPT = 1e-11
RATES = [0.5, 0.0, 2.0, 1.0, 2.0, 3.0] + [2.0, -1.0] * 3


@system("floating chain of four links, 60 s", "momentum, spin and energy kept")
def floating_chain_keeps_its_momentum(way: Way) -> Answers:
    """No gravity; hinges bend and the whole tumbles."""
    model = mf.Model(free_chain().links, gravity=(0, 0, 0))
    run = simulated(way, model, theta_dot=RATES, dt=DT, duration=60.0)
    spins, moved = zip(*(momenta(state) for state in samples(run)), strict=True)
    yield zero("momentum in 60 s, share", change(moved), KEPT, "rounding of 60,000 steps")
    yield zero("spin in 60 s, share", change(spins), KEPT, "rounding of 60,000 steps")
    yield energy_kept(run, 1e-5)


@system("stack of four boxes, 60 s", "does not sink, walk or speed up", BOTH_SCHEMES, BOTH_SCHEMES)
def stack_neither_sinks_nor_walks(way: Way) -> Answers:
    """Short: five seconds. Let go a hundredth of a millimetre above each other, so that it first settles."""
    duration, boxes, settled = 60.0 if way.full else 5.0, 4, 1.0
    theta = np.array([(0, 0, 1e-5 * (i + 1), 0, 0, 0, 1) for i in range(boxes)]).ravel()
    run = simulated(way, stack([1.0] * boxes), mf.Material(mu=0.6), theta=theta, dt=DT, duration=duration)
    yield certified(run)
    later = run.time >= settled
    places = run.theta.reshape(len(run), boxes, 7)[later, :, :3]
    yield zero(f"way from {settled:g} to {duration:g} s, m", places - places[0], 1e-9, "rounding of rates")
    yield zero("overlap at the end, m", run.penetration[-1], 1e-6, "penetration tolerance")
    yield zero("speed at the end, m/s", run.theta_dot[-1], 1e-9, "rounding")
    yield zero("energy gained, J", np.maximum(run.total_energy - run.total_energy[0], 0.0), 1e-9, "rounding")
