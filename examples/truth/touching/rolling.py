"""Bodies that roll and slide with lasting contact: balls, a coin, a particle, a ladder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.multibody.model.shapes import Cylinder, Ellipsoid, Geometry, Plane, Sphere
from truth.answers import BOTH_SCHEMES, SLOW_WAYS, Answers, Way, certified, system, ways, zero
from truth.bodies import FLOOR, G, ball, leaning, rod
from truth.equations import integrated
from truth.motions import Motion, energy_kept, samples

RADIUS = 0.1
FULL_WAYS = (*SLOW_WAYS, *ways(("os",), ("newton", "ipm", "pgs")))
GAP = 1e-9
"""Metres by which a body that rolls may leave the floor or sink into it."""


@system("ball rolling on a level floor, v = 1, 60 s", "v, E and height kept", BOTH_SCHEMES, SLOW_WAYS)
def rolling_ball_rolls_on(way: Way) -> Answers:
    """It spins about the vertical too; nothing slides, nothing is lost."""
    scene = mf.Scene(ball(RADIUS), theta_dot=[1, 0, 0, 0, 10, 3], materials=mf.Material(mu=0.5))
    duration = 60.0 if way.quick else 0.1
    run = mf.simulate(scene, dt=1e-3, duration=duration, **way.stepping)
    yield certified(run)
    yield energy_kept(run, 1e-9)
    speed = [state.link_velocities()[0, 3:] - [1, 0, 0] for state in samples(run)]
    yield zero("velocity, m/s", speed, 1e-8, "half of the energy's, and rounding")
    yield zero("height, m", run.theta[:, 2], GAP, "rounding")


def ball_down_a_slope() -> Motion:
    """A ball that rolls down 20 degrees from rest: (5/7) g sin(a) t² / 2."""
    slope, end = np.radians(20.0), 0.5
    scene = mf.Scene(ball(RADIUS, slope=slope), materials=mf.Material(mu=0.3))
    pull = 5 / 7 * G * np.sin(slope)
    known = np.array([pull * end**2 / 2, 0.0, pull * end])
    got = lambda run: np.array([*run.theta[-1, :2], run.state(-1).link_velocities()[0, 3]])  # noqa: E731
    return Motion(scene, end, "place and speed, m and m/s", lambda: known, got, 1e-6)


@system(
    "sphere rolling down an incline", "a = (5/7) g sin a; friction (2/7) m g sin a", BOTH_SCHEMES, SLOW_WAYS
)
def sphere_rolls_down_an_incline(way: Way) -> Answers:
    """Friction is below its limit; on a slope turned about y the floor stays z = 0."""
    motion = ball_down_a_slope()
    run = motion.run(way)
    yield certified(run)
    yield zero(f"{motion.quantity} after {motion.duration:g} s", motion.error(run), motion.bound, "at 1 ms")
    known = 2 / 7 * G * np.sin(np.radians(20.0))
    forces = -run.contacts.impulse[:, 0] / 1e-3
    yield zero("friction, N", forces - known, 1e-6, "certified residual / dt")


def slide_to_roll() -> Motion:
    """A ball at 2 m/s with backspin and spin about the vertical: it slides for 2 u / (7 mu g), u its slip.

    The slip is along x, a direction of every friction cone: the angle of a polyhedral cone does not enter.
    """
    mu, end = 0.2, 1.0
    v, spin = 2.0, np.array([0.0, -5.0, 30.0])
    slip = v - RADIUS * spin[1]
    stop = 2 * slip / (7 * mu * G)
    rolled = v - mu * G * stop
    place = v * stop - mu * G * stop**2 / 2 + rolled * (end - stop)
    scene = mf.Scene(ball(RADIUS), theta_dot=[v, 0, 0, *spin], materials=mf.Material(mu=mu))
    known = np.array([place, 0.0, rolled])
    got = lambda run: np.array([*run.theta[-1, :2], run.state(-1).link_velocities()[0, 3]])  # noqa: E731
    return Motion(scene, end, "place and speed, m and m/s", lambda: known, got, 1e-6)


@system(
    "ball that slides, then rolls", "rolls at v - (2/7) u from 2 u / (7 mu g) on", BOTH_SCHEMES, FULL_WAYS
)
def sliding_ball_starts_to_roll(way: Way) -> Answers:
    """The step in which it starts to roll is taken whole: second order in dt all the same."""
    yield from slide_to_roll().answers(way)


COIN = {"radius": 0.1, "lean": 0.3, "circle": 0.5}


def coin_rates() -> tuple[float, Array]:
    """Return the rate W at which a leaning disc goes round a circle, and its angular velocity.

    The centre runs at the distance b from the middle, the axis e leans by a from the horizontal, outwards;
    the disc rolls: w = W z + s e, s = -W (b + r sin a) / r. The moment of the floor's force (-m b W², 0, m g)
    at the contact turns the spin: W z × L = r_c × F, linear in W².
    """
    r, a, b = COIN["radius"], COIN["lean"], COIN["circle"]
    z, e = np.array([0, 0, 1.0]), np.array([np.cos(a), 0, np.sin(a)])
    across, along = r**2 / 4, r**2 / 2

    def spin(W: float) -> Array:
        return W * z - W * (b + r * np.sin(a)) / r * e

    def moment_left(square: float) -> float:
        W = np.sqrt(square)
        w = spin(W)
        L = across * w + (along - across) * (w @ e) * e
        arm = r * np.array([np.sin(a), 0, -np.cos(a)])
        return float((np.cross(W * z, L) - np.cross(arm, [-b * square, 0, G]))[1])

    W = float(np.sqrt(brentq(moment_left, 1e-6, 1e3, xtol=1e-15, rtol=1e-14)))
    return W, spin(W)


def coin() -> Motion:
    """A disc that rolls in a steady circle; its rim is the lower edge of a flat cylinder."""
    r, a, b = COIN["radius"], COIN["lean"], COIN["circle"]
    W, spin = coin_rates()
    edge = Geometry(Cylinder(r, 1e-3), mf.Pose((0, 0, 5e-4)))
    link = mf.Link("coin", mass=1.0, inertia=np.diag([0.25, 0.25, 0.5]) * r**2, geometry=edge)
    start = mf.Pose.from_rpy((b, 0, r * np.cos(a)), (0, np.pi / 2 - a, 0))
    turn = start.rotation
    scene = mf.Scene(
        mf.Model([link], gravity=(0, 0, -G), geometry=[FLOOR]),
        theta={"coin": start},
        theta_dot=np.concatenate([turn.T @ [0, W * b, 0], turn.T @ spin]),
        materials=mf.Material(mu=0.8),
    )
    known = b * np.array([np.cos(2 * W), np.sin(2 * W)])
    return Motion(scene, 2.0, "place, m", lambda: known, lambda run: run.theta[-1, :2], 1e-4)


@system(
    "coin rolling in a steady circle",
    "W z × L = r × F; place after 2 s, E and rim kept",
    BOTH_SCHEMES,
    SLOW_WAYS,
)
def coin_rolls_in_a_circle(way: Way) -> Answers:
    """The contact runs round the rim and the rows turn with it."""
    motion = coin()
    run = motion.run(way, duration=motion.duration if way.quick else 0.1)
    yield certified(run)
    if way.quick:
        yield zero("place after 2 s, m", motion.error(run), motion.bound, "asked for, at 1 ms")
    yield energy_kept(run, 1e-7)
    yield zero("gap of the rim, m", run.contacts.gap, 1e-8, "h delta / 4 keeps it at ends of steps")


TURN = 2.0
"""Rate of the turntable, rad/s."""


def ball_on_a_turntable() -> Motion:
    """A ball that rolls on a table turned by a motor: v' = (2/7) W z × v, a circle whatever the radius."""
    place, v, end = 0.5, 0.3, 5.0
    table = Geometry(Cylinder(2.0, 0.1), mf.Pose((0, 0, -0.05)))
    model = mf.Model(gravity=(0, 0, -G), name="turntable")
    model.add_link("table", "world", mf.Hinge("pin", (0, 0, 1)), mass=1.0, inertia=np.eye(3), geometry=table)
    model.add_link(
        "ball",
        "world",
        pose=mf.Pose((place, 0, RADIUS)),
        mass=1.0,
        inertia=0.4 * RADIUS**2 * np.eye(3),
        geometry=Geometry(Sphere(RADIUS)),
    )
    model.add_closure(mf.closures.Gear({"table": 1.0}, motion=lambda t: (TURN, 0.0)))
    rolling = [v, 0, 0, TURN * place / RADIUS, v / RADIUS, 0]
    scene = mf.Scene(model, theta_dot=[TURN, *rolling], materials=mf.Material(mu=0.8))
    rate = 2 / 7 * TURN
    known = np.array([place + v / rate * np.sin(rate * end), v / rate * (1 - np.cos(rate * end))])
    got = lambda run: run.state(-1).pose("ball").position[:2]  # noqa: E731
    return Motion(scene, end, "place, m", lambda: known, got, 1e-6)


@system(
    "ball rolling on a turntable", "v' = (2/7) W z × v: a circle, W the table's rate", BOTH_SCHEMES, SLOW_WAYS
)
def ball_circles_on_a_turntable(way: Way) -> Answers:
    """What it rolls on is moved by a closure."""
    motion = ball_on_a_turntable()
    run = motion.run(way, duration=motion.duration if way.quick else 0.1)
    yield certified(run)
    if way.quick:
        yield zero("place after 5 s, m", motion.error(run), motion.bound, "at 1 ms")
    yield zero("height, m", run.contacts.gap, GAP, "rounding")


EGG = np.array([0.2, 0.1, 0.06])
"""Half axes of a rattleback, m."""


def egg_inertia() -> Array:
    """Return its inertia, whose axes are turned from those of the shape by 0.3 rad about the vertical."""
    turn = mf.Pose.from_rpy(rpy=(0, 0, 0.3)).rotation
    return np.asarray(turn @ np.diag([2e-3, 8e-3, 9e-3]) @ turn.T)


def egg_rates(_: float, y: Array) -> Array:
    """Return the rates of attitude R [9], angular velocity w, in the body, and place of an egg that rolls.

    With the vertical u = R* z and D the half axes, it touches at r = -D² u / sqrt(u . D² u); v = -w × r, and

        (I - m r× r×) w' = -w × I w + m r × (w × v - w × r' + g u),    u' = u × w.
    """
    R, w, inertia, squares = y[:9].reshape(3, 3), y[9:12], egg_inertia(), EGG**2
    u = R[2]
    u_dot = np.cross(u, w)
    size = np.sqrt(u @ (squares * u))
    r = -squares * u / size
    r_dot = -squares * u_dot / size + squares * u * (u @ (squares * u_dot)) / size**3
    v = -np.cross(w, r)
    turned = -np.cross(w, inertia @ w) + np.cross(r, np.cross(w, v) - np.cross(w, r_dot) + G * u)
    w_dot = np.linalg.solve(inertia - _cross(r) @ _cross(r), turned)
    return np.concatenate([(R @ _cross(w)).ravel(), w_dot, R @ v])


def _cross(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rattleback() -> Motion:
    """An egg that spins against its sense: it rocks, stops and turns the other way."""
    link = mf.Link(
        "egg",
        pose=mf.Pose((0, 0, EGG[2])),
        mass=1.0,
        inertia=egg_inertia(),
        geometry=Geometry(Ellipsoid(EGG)),
    )
    model = mf.Model([link], gravity=(0, 0, -G), geometry=[FLOOR], name="rattleback")
    spin = np.array([0.2, 1.0, -3.0])
    v = np.cross(spin, [0, 0, EGG[2]])
    scene = mf.Scene(model, theta_dot=[*v, *spin], materials=mf.Material(mu=5.0))
    start = np.concatenate([np.eye(3).ravel(), spin, [0, 0, EGG[2]]])

    def got(run: mf.Trajectory) -> Array:
        pose = run.state(-1).pose("egg")
        return np.concatenate([pose.rotation.ravel(), pose.position])

    def known() -> Array:
        return np.delete(integrated(egg_rates, start, 2.0), slice(9, 12))

    return Motion(scene, 2.0, "attitude and place, rad and m", known, got, 3e-3)


@system(
    "rattleback, an ellipsoid that rolls and turns back",
    "(I - m r× r×) w' = ...: spin -3 becomes +2 rad/s in 2 s",
    BOTH_SCHEMES,
    SLOW_WAYS,
)
def rattleback_turns_back(way: Way) -> Answers:
    """The point of contact runs over the ellipsoid; curvature, not friction, turns the spin."""
    motion = rattleback()
    run = motion.run(way, duration=motion.duration if way.quick else 0.1)
    yield certified(run)
    if way.quick:
        yield zero(f"{motion.quantity} after 2 s", motion.error(run), motion.bound, "at 1 ms")
        spin = run.state(-1).link_velocities()[0, 2]
        yield zero("sense of the spin", spin - abs(spin), 0.0, "it has turned back")
    yield energy_kept(run, 1e-3)
    yield zero("gap, m", run.contacts.gap, 1e-6, "second order, at 1 ms")


def uneven_ball() -> Motion:
    """A ball whose centre of mass is a below its middle, rocking on the floor by the angle p.

    (I + m (r² + a² - 2 r a cos p)) p'' = -m a (g + r p'²) sin p.
    """
    m, a, start, end = 1.0, 0.04, 1.2, 2.0
    inertia = 0.4 * m * RADIUS**2
    link = mf.Link(
        "ball", mass=m, com=(0, 0, -a), inertia=inertia * np.eye(3), geometry=Geometry(Sphere(RADIUS))
    )
    model = mf.Model([link], gravity=(0, 0, -G), geometry=[FLOOR])

    def rates(_: float, y: Array) -> Array:
        about_contact = inertia + m * (RADIUS**2 + a**2 - 2 * RADIUS * a * np.cos(y[0]))
        return np.array([y[1], -m * a * (G + RADIUS * y[1] ** 2) * np.sin(y[0]) / about_contact])

    pose = mf.Pose.from_rpy((0, 0, RADIUS), (0, start, 0))
    scene = mf.Scene(model, theta={"ball": pose}, materials=mf.Material(mu=0.9))
    known = lambda: RADIUS * (integrated(rates, [start, 0.0], end)[:1] - start)  # noqa: E731
    return Motion(scene, end, "place, m", known, lambda run: run.theta[-1, :1], 2e-6)


@system(
    "ball with its weight off the middle, rocking",
    "(I + m (r² + a² - 2 r a cos p)) p'' = -m a (g + r p'²) sin p",
    BOTH_SCHEMES,
    FULL_WAYS,
)
def uneven_ball_rocks(way: Way) -> Answers:
    """It rolls to and fro through more than a radian; nothing slides, energy stays."""
    motion = uneven_ball()
    run = motion.run(way)
    yield certified(run)
    yield zero(f"{motion.quantity} after {motion.duration:g} s", motion.error(run), motion.bound, "at 1 ms")
    yield energy_kept(run, 1e-5, scale=G * 0.04)


def particle(gravity: Array) -> mf.Model:
    """A ball of 1 kg that does not turn, on three slides."""
    model = mf.Model(gravity=gravity, geometry=[FLOOR])
    model.add_link("x", "world", mf.Hinge("prismatic", (1, 0, 0)), mf.Pose((0, 0, RADIUS)))
    model.add_link("y", "x", mf.Hinge("prismatic", (0, 1, 0)))
    shape = [Geometry(Sphere(RADIUS))]
    model.add_link("particle", "y", mf.Hinge("prismatic", (0, 0, 1)), mass=1.0, geometry=shape)
    return model


def across_a_slope(end: float = 0.5) -> Motion:
    """A particle that slides across a slope, friction from four directions: along x, then both.

    Coulomb's pyramid brakes along x while |v_x| > |v_y|; then friction shares itself so that both stay
    equal: (v_x + v_y)' = g sin a - mu g cos a in all.
    """
    slope, mu, v = 0.4, 0.5, 2.0
    pull, brake = G * np.sin(slope), mu * G * np.cos(slope)
    meet = min(v / (pull + brake), end)
    first = np.array([v * meet - brake * meet**2 / 2, pull * meet**2 / 2])
    rest, slowing = end - meet, (brake - pull) / 2
    known = first + (v - brake * meet) * rest - slowing * rest**2 / 2
    scene = mf.Scene(
        particle(np.array(leaning(slope))[[1, 0, 2]]), theta_dot=[v, 0, 0], materials=mf.Material(mu=mu)
    )
    return Motion(scene, end, "place, m", lambda: known, lambda run: run.theta[-1, :2], 5e-6)


@system(
    "particle across a slope",
    "pyramid of 4 directions: |v_x| = |v_y| from v / (g sin a + mu g cos a) on",
    BOTH_SCHEMES,
    SLOW_WAYS,
)
def particle_slides_across_a_slope(way: Way) -> Answers:
    """The direction of friction changes on the way; the law that is solved has four, so the truth has."""
    yield from across_a_slope().answers(way)


LADDER, THIN = 1.0, 0.01


def ladder(mu: float) -> Motion:
    """A ladder of 1 m with ends of 1 cm, 1.27 rad steep, sliding along wall and floor."""
    start, end = np.pi / 2 - 0.3, 0.3
    wall = Geometry(Plane(), mf.Pose.from_rpy(rpy=(0, np.pi / 2, 0)), "wall")
    place = (LADDER / 2 * np.cos(start) + THIN, 0, LADDER / 2 * np.sin(start) + THIN)
    model = rod(LADDER, np.pi - start, place, (FLOOR, wall), THIN)
    scene = mf.Scene(model, materials=mf.Material(mu=mu))
    return Motion(
        scene,
        end,
        "angle, rad",
        lambda: integrated(ladder_rates(mu), [start, 0.0], end)[:1],
        lambda run: start - np.abs(run.theta[-1, 2:3]),
        2e-6,
    )


def ladder_rates(mu: float) -> Callable[[float, Array], Array]:
    """Return the rates of (a, a'), a the angle with the floor, while both ends slide, round ends included.

    m x'' = N_2 - mu N_1,   m z'' = N_1 + mu N_2 - m g,   x = l/2 cos a + r,   z = l/2 sin a + r,
    -I a'' = N_1 (l/2 cos a - mu (l/2 sin a + r)) - N_2 (l/2 sin a + mu (l/2 cos a + r))
    """

    def rates(_: float, y: Array) -> Array:
        a, rate = y
        c, s = LADDER / 2 * np.cos(a), LADDER / 2 * np.sin(a)
        A = np.array(
            [
                [-s, mu, -1.0],
                [c, -1.0, -mu],
                [LADDER**2 / 12, c - mu * (s + THIN), -s - mu * (c + THIN)],
            ]
        )
        return np.array([rate, np.linalg.solve(A, [c * rate**2, s * rate**2 - G, 0.0])[0]])

    return rates


@system(
    "ladder sliding along wall and floor, mu = 0 and 0.1",
    "Newton's equations, 0.3 s",
    BOTH_SCHEMES,
    SLOW_WAYS,
)
def ladder_slides_with_friction(way: Way) -> Answers:
    """Two contacts at once, both with friction."""
    for mu in (0.0, 0.1):
        for answer in ladder(mu).answers(way):
            yield replace(answer, quantity=f"mu = {mu:g}: {answer.quantity}")
