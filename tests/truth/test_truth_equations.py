"""What the truth table calls known, against a second derivation: ODEs, quadratures, and what is kept."""

import importlib

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from truths import PLACES, systems

systems("spins")  # puts examples/truth on the list of packages
chains, collisions, drives, eq, mechanisms, orders, rolling, spins, supports = (
    importlib.import_module(f"truth.{PLACES.get(name, name)}")
    for name in (
        *(
            "chains",
            "collisions",
            "drives",
            "equations",
            "mechanisms",
            "orders",
            "rolling",
            "spins",
            "supports",
        ),
    )
)

G = 9.81
TIGHT = 1e-9
"""Integration to 1e-12 over seconds, and roots to 1e-14."""


def test_the_steady_precession_of_the_top_solves_eulers_equations():
    top, scene = spins.TOP, spins.heavy_top().scene
    J = np.diag([top["A"], top["A"], top["C"]])
    weight = np.array([0, 0, -top["mass"] * G])
    moment = lambda R: np.cross([0, 0, top["arm"]], R.T @ weight)  # noqa: E731
    y = eq.integrated(eq.turning(J, moment), [*scene.theta, *scene.theta_dot], 0.1)
    np.testing.assert_allclose(eq.attitude(y), spins.precessed(0.1), atol=TIGHT)


def test_eulers_equations_keep_the_spin_in_space():
    J, start = np.diag([0.02, 0.05, 0.06]), np.array([0, 0, 0, 1, 0.03, 3.0, 0.02])
    y = eq.integrated(eq.turning(J), start, 5.0)
    np.testing.assert_allclose(eq.attitude(y).reshape(3, 3) @ J @ y[4:], J @ start[4:], atol=TIGHT)
    assert y[4:] @ J @ y[4:] == pytest.approx(start[4:] @ J @ start[4:], rel=TIGHT)


def rolling_disc(_, y):
    """Rates of (quaternion, spin in body axes, place of the centre) of a disc that rolls without slipping.

    J w' + w × J w = r × F,  m v' = F + m g,  v = -w × r: three equations for w', r being the way to the rim.
    """
    radius = rolling.COIN["radius"]
    R, w = eq.attitude(y).reshape(3, 3), y[4:7]
    J, z = np.diag([0.25, 0.25, 0.5]) * radius**2, np.array([0, 0, 1.0])
    w, J = R @ w, R @ J @ R.T
    e = R[:, 2]
    down, turned = -z + e * e[2], np.cross(w, e)
    down_dot = turned * e[2] + e * turned[2]
    size = np.linalg.norm(down)
    r = radius * down / size
    r_dot = radius * (down_dot / size - down * (down @ down_dot) / size**3)
    cross = lambda a: np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])  # noqa: E731
    # F = m (v' - g) with v' = r × w' - w × r_dot
    A = J - cross(r) @ cross(r)
    b = np.cross(r, -np.cross(w, r_dot) + G * z) - np.cross(w, J @ w)
    w_dot = np.linalg.solve(A, b)
    spin = eq.turning(np.eye(3))(0.0, np.concatenate([y[:4], R.T @ w]))[:4]
    return np.concatenate([spin, R.T @ w_dot, -np.cross(w, r)])


def test_the_coins_steady_circle_solves_the_equations_of_a_rolling_disc():
    motion = rolling.coin()
    place, quaternion = motion.scene.theta[:3], motion.scene.theta[3:]
    y = eq.integrated(rolling_disc, [*quaternion, *motion.scene.theta_dot[3:], *place], 2.0)
    np.testing.assert_allclose(y[7:9], motion.known(), atol=1e-7)  # a steady circle that is not stable


def test_a_ball_slides_until_its_slip_is_gone_and_then_rolls():
    mu, radius, motion = 0.2, rolling.RADIUS, rolling.slide_to_roll()
    v, spin = motion.scene.theta_dot[0], motion.scene.theta_dot[4]
    rates = lambda _, y: np.array([y[1], -mu * G, mu * G / (0.4 * radius)])  # noqa: E731
    time, (x, v, _) = eq.integrated_until(rates, [0.0, v, spin], lambda y: y[1] - radius * y[2])
    np.testing.assert_allclose([x + v * (1.0 - time), 0.0, v], motion.known(), atol=TIGHT)


def test_the_pyramid_of_friction_takes_the_particle_where_many_small_steps_take_it():
    slope, mu, n = 0.4, 0.5, 20_000
    dt, v, place = 0.5 / n, np.array([2.0, 0.0]), np.zeros(2)
    brake = mu * G * np.cos(slope) * dt
    for _ in range(n):  # v+ = free - f, f the nearest point of |f_x| + |f_y| <= brake: maximum dissipation
        free = v + dt * np.array([0.0, G * np.sin(slope)])
        excess = free.sum() - brake
        f = free - excess / 2 if abs(free[0] - free[1]) < brake else brake * (free == free.max())
        place, v = place + dt * (v + free - f) / 2, free - f
    np.testing.assert_allclose(place, rolling.across_a_slope().known(), atol=1e-5)


def test_a_smooth_ladder_keeps_its_energy():
    start, _ = np.pi / 2 - 0.3, 0.0
    a, rate = eq.integrated(rolling.ladder_rates(0.0), [start, 0.0], 0.3)
    assert rate**2 == pytest.approx(3 * G * (np.sin(start) - np.sin(a)), rel=TIGHT)


def test_a_rubbing_ladder_loses_what_friction_takes():
    mu, r, start = 0.1, rolling.THIN, np.pi / 2 - 0.3

    def with_work(_, y):
        rates = rolling.ladder_rates(mu)(0.0, y[:2])
        (a, rate), acceleration = y[:2], rates[1]
        x_ddot = -0.5 * (np.sin(a) * acceleration + np.cos(a) * rate**2)
        z_ddot = 0.5 * (np.cos(a) * acceleration - np.sin(a) * rate**2)
        N_1, N_2 = np.linalg.solve([[-mu, 1.0], [1.0, mu]], [x_ddot, z_ddot + G])
        slips = -rate * (np.sin(a) + r), -rate * (np.cos(a) + r)
        return np.array([*rates, mu * (N_1 * slips[0] + N_2 * slips[1])])

    a, rate, lost = eq.integrated(with_work, [start, 0.0, 0.0], 0.3)
    energy = lambda a, rate: rate**2 / 6 + G / 2 * np.sin(a)  # noqa: E731
    assert energy(start, 0.0) - energy(a, rate) == pytest.approx(lost, abs=TIGHT)


def test_a_chain_keeps_its_energy_and_one_link_is_a_pendulum():
    chain = eq.Chain.of_rods([0.5, 0.3, 0.2], [1.0, 0.5, 2.0])
    start = np.array([2.0, 1.0, -0.5, 0.3, -1.0, 2.0])
    y = eq.integrated(chain.free(), start, 1.0)
    assert chain.energy(y[:3], y[3:]) == pytest.approx(chain.energy(start[:3], start[3:]), abs=1e-8)
    rod = eq.Chain.of_rods([0.6], [2.0])
    rates = lambda _, y: np.array([y[1], -1.5 * G / 0.6 * np.sin(y[0])])  # noqa: E731
    np.testing.assert_allclose(
        eq.integrated(rod.free(), [1.0, 0.5], 1.0), eq.integrated(rates, [1.0, 0.5], 1.0), atol=TIGHT
    )


def test_the_four_bar_on_paper_stays_closed_and_keeps_its_energy():
    chain = eq.Chain.of_rods([0.3, 0.8, 0.6], [0.3, 0.8, 0.6])
    motion = mechanisms.four_bar()
    start = np.concatenate([np.cumsum(motion.scene.theta), np.cumsum(motion.scene.theta_dot)])
    y = eq.integrated(chain.held(lambda a: np.eye(2)), start, 1.0)
    np.testing.assert_allclose(chain.tip(y[:3]), [0.7, 0.0], atol=TIGHT)
    assert chain.energy(y[:3], y[3:]) == pytest.approx(chain.energy(start[:3], start[3:]), abs=TIGHT)


def test_the_rubbing_tip_loses_what_friction_takes_and_neither_lifts_nor_turns_round():
    chain, mu = eq.Chain.of_rods([0.5, 0.4], [1.0, 0.8]), 0.2
    motion = chains.rubbing_tip()
    start = np.concatenate([np.cumsum(motion.scene.theta), np.cumsum(motion.scene.theta_dot)])

    def with_work(_, y):
        a, rate = y[:2], y[2:4]
        J = chain.tip_jacobian(a)
        along = J[0] - [0.0, chains.RADIUS]
        (acceleration, (N,)), slip = (
            chain.push(a, rate, np.array([[0.0, 1.0]]), (J[1] - mu * along)[:, None]),
            along @ rate,
        )
        assert N > 0.0
        assert slip > 0.0
        return np.array([*rate, *acceleration, mu * N * slip])

    y = eq.integrated(with_work, [*start, 0.0], motion.duration)
    np.testing.assert_allclose(y[:2], motion.known(), atol=TIGHT)
    assert chain.energy(start[:2], start[2:]) - chain.energy(y[:2], y[2:4]) == pytest.approx(y[4], abs=TIGHT)
    assert chain.tip(y[:2])[1] == pytest.approx(chain.tip(start[:2])[1], abs=TIGHT)


def test_the_catenary_has_the_least_potential_energy():
    n, span = chains.LINKS, chains.SPAN
    chain = eq.Chain.of_rods([0.1] * n, [0.1] * n)
    ends = {"type": "eq", "fun": lambda a: chain.tip(a) - [span, 0.0]}
    start = np.repeat([0.7, -0.7], n // 2) - np.pi / 2
    least = minimize(lambda a: chain.energy(a, np.zeros(n)), start, constraints=ends, tol=1e-14)
    np.testing.assert_allclose(least.x, chains.catenary_angles(), atol=1e-4)
    assert chain.energy(chains.catenary_angles(), np.zeros(n)) == pytest.approx(least.fun, abs=1e-9)


def test_the_prescribed_crank_does_the_work_that_the_energy_shows():
    chain, rate, dt = mechanisms.SLIDER_CRANK, 6.0, 1e-5
    for time in (0.1, 0.3, 0.45):
        x, N = mechanisms.driven_slider(time)
        angles, rates = mechanisms.slider_crank(0.5 + rate * time, rate)
        assert x == pytest.approx(-0.2 * np.sin(angles[0]) + np.sqrt(0.5**2 - (0.2 * np.cos(angles[0])) ** 2))
        Jz, bias = chain.tip_jacobian(angles)[1], chain.tip_bias(angles, rates)[1]
        acceleration = np.array([0.0, -bias / Jz[1], 0.0])
        torque = (chain.mass_matrix(angles) @ acceleration + chain.bias(angles, rates))[0] - N * Jz[0]
        energies = [
            chain.energy(*mechanisms.slider_crank(0.5 + rate * t, rate)) for t in (time - dt, time + dt)
        ]
        assert torque * rate == pytest.approx((energies[1] - energies[0]) / (2 * dt), rel=1e-6)
        assert N > 0.0


def test_friction_that_turns_round_takes_a_mass_on_a_spring_closer_by_the_same_each_half_swing():
    w, drag = 2 * np.pi, 0.3  # half a second for a half swing, which ends 2 drag / w² closer
    rates = lambda sense: lambda _, y: np.array([y[1], -(w**2) * y[0] - drag * sense])  # noqa: E731
    y = eq.with_reversals(rates, [1.0, -1e-12], 1.25, lambda y: float(y[1]))
    start = 1.0 - 4 * drag / w**2  # after two half swings
    offset = drag / w**2
    np.testing.assert_allclose(y[0], offset + (start - offset) * np.cos(w * 0.25), atol=1e-9)


def test_the_bead_keeps_jacobis_integral_and_rests_at_the_steady_angle():
    W, R, motion = mechanisms.HOOP_RATE, mechanisms.HOOP, mechanisms.bead_on_a_hoop()
    potential = lambda a: -(G / R) * np.cos(a) - (W * np.sin(a)) ** 2 / 2  # noqa: E731
    end = motion.known()[0]
    assert potential(end) <= potential(0.4) + TIGHT  # the rate's square is not negative
    rates = lambda _, y: np.array([y[1], (W**2 * np.cos(y[0]) - G / R) * np.sin(y[0])])  # noqa: E731
    a, rate = eq.integrated(rates, [0.4, 0.0], 2.0)
    assert rate**2 / 2 + potential(a) == pytest.approx(potential(0.4), abs=TIGHT)
    assert a == pytest.approx(end, abs=TIGHT)
    np.testing.assert_allclose(rates(0.0, [np.arccos(G / (W**2 * R)), 0.0]), 0.0, atol=TIGHT)


def test_the_exponentials_of_the_pd_hinge_solve_its_equation():
    rates = lambda _, y: np.array([y[1], -(drives.KP * y[0] + drives.KD * y[1]) / drives.INERTIA])  # noqa: E731
    motion = drives.pd_hinge()
    assert eq.integrated(rates, [0.3, 0.0], motion.duration)[0] == pytest.approx(motion.known()[0], abs=TIGHT)


def test_the_rocking_block_falls_in_the_time_of_its_quadrature_and_keeps_spin_about_the_new_edge():
    b, h, start = 0.05, 0.15, supports.ROCKING["angle"]
    R, alpha = np.hypot(b, h), np.arctan2(b, h)
    square = lambda a: 1.5 * G / R * (np.cos(alpha - start) - np.cos(alpha - a))  # noqa: E731
    time, rate, share = supports.rocking()
    assert rate**2 == pytest.approx(square(0.0), rel=TIGHT)
    fallen, _ = quad(lambda s: 2 * s / np.sqrt(square(start - s**2)), 1e-9, np.sqrt(start), epsabs=1e-12)
    assert fallen == pytest.approx(time, abs=1e-7)
    inertia = (b**2 + h**2) / 3  # about the centre, of 1 kg
    about_new = inertia + h**2 - b**2  # centre moves across the line to the new edge: h² - b²
    assert about_new / (inertia + R**2) == pytest.approx(share, rel=TIGHT)


@pytest.mark.parametrize(("v", "spin", "mu", "grips"), [(1.0, -5.0, 0.5, True), (4.0, 10.0, 0.1, False)])
def test_a_bounce_keeps_the_spin_about_the_point_of_contact(v, spin, mu, grips):
    after, up, turned = collisions.bounced(v, spin, mu)
    assert after + 0.4 * collisions.R * turned == pytest.approx(v + 0.4 * collisions.R * spin, rel=TIGHT)
    assert up == collisions.RESTITUTION * collisions.V_N
    slip = after - collisions.R * turned
    assert abs(slip) < TIGHT if grips else slip > 0.0
    assert v - after <= mu * (1 + collisions.RESTITUTION) * collisions.V_N + TIGHT


def test_the_jammed_rod_turns_about_the_end_that_has_stopped():
    lean, (x, z) = 0.9, (-0.5 * np.cos(0.9), -0.5 * np.sin(0.9) - 0.01)
    about_end = 1 / 12 + x**2 + z**2
    rate = z / about_end  # spin about the end of a rod that moves at -1 m/s: r × v, r the way to the centre
    assert collisions.jammed(lean) == pytest.approx(about_end * rate**2 / 2, rel=TIGHT)


def test_every_brick_of_the_harmonic_tower_has_the_upper_ones_at_its_edge():
    places = np.array([link.pose.position[0] for link in supports.tower(1.0, 6).links])
    for i in range(1, 6):
        assert places[i:].mean() == pytest.approx(places[i - 1] + supports.LENGTH / 2, abs=TIGHT)


def test_the_order_is_looked_at_on_eight_systems_four_of_them_with_lasting_contact():
    assert len(orders.SMOOTH) + len(orders.LASTING) >= 8
    assert len(orders.LASTING) >= 4
    assert orders.ORDER - orders.SHORT >= 1.9


def test_a_rod_in_space_is_a_pendulum_in_its_plane():
    """J = m l² / 3: a'' = -(3 g / 2 l) sin a."""
    length, a = 0.7, 1.1
    start = np.array([[0, 0, 0], [length * np.sin(a), 0, -length * np.cos(a)], [0, 0, 0], [0, 0, 0]])
    end = eq.integrated(eq.Rods([0.4], (0, 1, 2)).rates, start.ravel(), 0.8).reshape(4, 3)[1]
    swing = lambda _, y: np.array([y[1], -1.5 * G / length * np.sin(y[0])])  # noqa: E731
    angle = eq.integrated(swing, [a, 0.0], 0.8)[0]
    np.testing.assert_allclose(end, [length * np.sin(angle), 0, -length * np.cos(angle)], atol=TIGHT)


def test_rods_in_space_keep_lengths_momentum_and_energy(rng):
    rods = eq.Rods([0.5, 1.0, 0.3])
    p = np.cumsum([[0, 0, 0], *rng.standard_normal((3, 3))], axis=0)
    d, v = np.diff(p, axis=0), [rng.standard_normal(3)]
    for arm in d:  # ends that keep their distance
        v.append(v[-1] + np.cross(rng.standard_normal(3), arm))
    end = eq.integrated(rods.rates, np.concatenate([p, v]).ravel(), 0.5).reshape(2, 4, 3)
    M = rods.mass_matrix()
    energy = [np.sum(v * (M @ v)) / 2 + G * (M.sum(axis=0) @ p)[2] for p, v in ([p, np.array(v)], end)]
    np.testing.assert_allclose(np.linalg.norm(np.diff(end[0], axis=0), axis=1), np.linalg.norm(d, axis=1))
    np.testing.assert_allclose(energy[1], energy[0], rtol=TIGHT)
    moved = M.sum(axis=0) @ (end[1] - v) - 0.5 * M.sum() * np.array([0, 0, -G])
    np.testing.assert_allclose(moved, 0.0, atol=TIGHT)
