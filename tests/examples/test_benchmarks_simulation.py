"""The comparisons with other engines (examples/benchmarks): all run the same mechanisms; what is computed
from their episodes holds; the studies run and write what they say."""

import math

import numpy as np
import pytest
from benchmark_modules import is_picture, load, study

pytest.importorskip("matplotlib")

ROUNDING = 1e-12
"""Relative: a few operations on numbers of the size of one."""
SAME_ENERGY = 1e-9
"""Relative: sums over a few links of the same masses, lengths and rates."""
HALVES = 0.05
"""How far from 2 an error may fall when steps of 2 ms are halved: what is of second order."""
SLIDING = 0.02
"""Of the stop distance: soft contacts carry less, then more, than the weight until they have settled."""
RESTITUTION = 1e-6
"""Of ours, wanted."""


engines, mechanisms, own_engine = load("engines.engine"), load("subjects.mechanisms"), load("engines.own")
measure, cells = load("measuring.contact_models"), load("measuring.simulation")
tables, sheets, models = load("reporting.simulation"), load("reporting.sheets"), load("contact_models")
PEERS = {
    "MuJoCo": ("peers.mujoco", "mujoco"),
    "MuJoCo, stiff": ("peers.mujoco", "mujoco"),
    "MuJoCo, elliptic, tuned": ("peers.mujoco", "mujoco"),
    "Drake SAP": ("peers.drake", "pydrake"),
    "Drake TAMSI": ("peers.drake", "pydrake"),
    "DART": ("peers.dart", "dartpy"),
}


@pytest.fixture(params=["ours", *PEERS])
def engine(request):
    """Every engine, ours among them."""
    if request.param == "ours":
        return own_engine.OWN[0]
    module, package = PEERS[request.param]
    pytest.importorskip(package)
    found = {peer.name: peer for peer in load(module).peers()}
    if request.param not in found:
        pytest.skip(f"this version of {package} has no {request.param}")
    return found[request.param]


# the same mechanisms


@pytest.fixture(scope="module")
def exact_swing():
    """Position and velocity of the last link after 0.3 s, by steps of fourth order."""
    episode = own_engine.Own("rk4", {"integrator": "rk4"}).watch(mechanisms.papers_pendulum(5), 2e-3, 150)
    return np.concatenate([episode.position[-1], episode.velocity[-1]])


def test_every_engine_swings_the_same_pendulum(engine, exact_swing):
    """Without contacts all converge to one motion: ours of second order, the others of first."""
    errors = []
    for dt in (2e-3, 1e-3):
        episode = engine.watch(mechanisms.papers_pendulum(5), dt, round(0.3 / dt))
        assert episode.contacts.max() == 0, "neighbours meet"
        end = np.concatenate([episode.position[-1], episode.velocity[-1]])
        errors.append(np.linalg.norm(end - exact_swing))
    falls = 4.0 if engine is own_engine.OWN[0] else 2.0
    assert errors[0] / errors[1] == pytest.approx(falls, abs=2.0 * HALVES)


def test_every_engine_gives_the_pendulum_the_same_energy(engine):
    for pendulum in (mechanisms.papers_pendulum(7), mechanisms.lying_pendulum(12)):
        energy = engine.watch(pendulum, 1e-3, 1).energy[0]
        ours = own_engine.scene_of(pendulum, 1e-3, 1).initial_state()
        expected = ours.kinetic_energy() + ours.potential_energy()
        assert energy == pytest.approx(expected, rel=SAME_ENERGY)


def test_every_engine_has_the_wall_and_the_floor_where_they_belong(engine):
    near = mechanisms.Pendulum(4, height=13.5, angle=-0.2, rate=-2.0, wall=4.0)
    swing = engine.watch(near, 1e-3, 150)
    assert swing.impacts >= 1
    reach = near.wall - near.radius
    assert abs(swing.position[:, 0].max() - reach) < swing.depth.max() + travel(swing, 1e-3)
    low = mechanisms.Pendulum(4, height=4.0, angle=math.pi / 2.0, rate=0.0)
    fall = engine.watch(low, 1e-3, 800)
    assert fall.impacts >= 1
    assert abs(fall.position[:, 2].min() - low.radius) < fall.depth.max() + travel(fall, 1e-3)


def travel(episode, dt):
    """How far the last body goes in a step at most: the ends of steps are all that is seen."""
    return dt * np.linalg.norm(episode.velocity, axis=1).max()


def test_every_engine_lets_a_block_slide_to_rest_on_four_points(engine):
    block = mechanisms.Block(speed=0.5)
    episode = engine.watch(block, 1e-3, math.ceil(1.5 * block.stop_time / 1e-3))
    assert (episode.contacts[-20:] == 4).all()
    distance = (1.0 - block.mu * mechanisms.G * 1e-3 / block.speed) * block.stop_distance
    assert episode.position[-1, 0] - episode.position[0, 0] == pytest.approx(distance, rel=SLIDING)


# what is computed from episodes


def episode_of(position=None, velocity=None, impact_times=(), energy=(1.0,), depth=(0.0,), contacts=(0,)):
    zero = np.zeros((2, 3))
    return engines.Watched(
        position=zero if position is None else position,
        velocity=zero if velocity is None else velocity,
        energy=np.array(energy),
        contacts=np.array(contacts),
        depth=np.array(depth),
        impacts=len(impact_times),
        impact_times=np.array(impact_times),
    )


class Told:
    """An engine that answers what it was told to."""

    is_peer = False

    def __init__(self, name="told", episode=None, seconds=(), log=None):
        self.name, self.episode, self.times = name, episode, iter(seconds)
        self.log = [] if log is None else log

    def seconds(self, mechanism, dt, n_steps):
        self.log.append(self.name)
        return next(self.times)

    def watch(self, mechanism, dt, n_steps):
        return self.episode(mechanism, dt, n_steps)


@pytest.mark.parametrize("restitution", [0.0, 0.37, 1.0])
def test_a_rebound_is_exact_where_the_time_of_impact_is_known(restitution):
    dt, time, g = 1e-2, 0.0234, mechanisms.G
    t = dt * np.arange(6)
    hit = -1.0 - g * time
    down, up = -1.0 - g * t, -restitution * hit - g * (t - time)
    v = np.where(t < time, down, up)
    velocity = np.column_stack([0 * v, 0 * v, v])
    got = measure.speed_ratio(episode_of(velocity=velocity, impact_times=[time]), dt)
    assert got == pytest.approx(restitution, abs=ROUNDING)
    coarse = measure.speed_ratio(episode_of(velocity=velocity), dt)
    assert coarse == pytest.approx(restitution, abs=2 * g * dt / -hit)


def test_no_rebound_is_none():
    velocity = np.array([[0.0, 0.0, v] for v in (-1.0, -2.0, -0.1, -0.05)])
    assert measure.speed_ratio(episode_of(velocity=velocity), 1e-2) == 0.0


def test_stop_and_creep_of_known_motions():
    def slides(block, dt, n_steps):
        place = 1.25 * block.stop_distance * np.array([math.cos(block.heading), math.sin(block.heading), 0.0])
        return episode_of(position=np.array([np.ones(3), np.ones(3) + place]))

    assert measure.stop_ratio(Told(episode=slides), 0.3, 1e-3) == pytest.approx(1.25, rel=ROUNDING)

    def creeps(block, dt, n_steps):
        t = dt * np.arange(n_steps + 1)
        settled = np.where(t < 0.2, 5.0 * t, 1.0) + 3e-4 * t  # much at first, then slowly
        return episode_of(position=np.column_stack([settled, 0 * t, 0 * t]))

    assert measure.creep(Told(episode=creeps), 1e-2, 1.0) == pytest.approx(3e-4, rel=1e-9)


@pytest.mark.parametrize("n_f", [4, 8, 16, 64])
def test_the_polygons_bound_is_the_least_support_of_its_directions(n_f):
    """Braking is the support function of the polygon: max over directions of d . v, least midway."""
    directions = 2.0 * np.pi * np.arange(n_f) / n_f
    headings = np.linspace(0.0, 2.0 * np.pi, 64 * n_f + 1)
    braking = np.cos(headings[:, None] - directions).max(axis=1)
    assert measure.polygon_bound(n_f) == pytest.approx(1.0 / braking.min(), rel=ROUNDING)
    assert measure.polygon_bound(0) == 1.0


def test_the_ratio_of_euler_steps_is_that_of_their_sum():
    """A step that divides the stop time: the positions add up to what the formula says."""
    a = measure.MU * mechanisms.G
    dt = measure.SPEED / a / 500
    speeds = measure.SPEED - a * dt * np.arange(1, 501)
    expected = dt * speeds.sum() / (measure.SPEED**2 / (2.0 * a))
    assert measure.euler_ratio(dt) == pytest.approx(expected, rel=1e-10)


def test_the_damping_of_a_tuned_bounce():
    pytest.importorskip("mujoco")
    for e in (0.2, 0.5, 0.9):
        zeta = load("peers.mujoco").damping_ratio(e)
        assert math.exp(-math.pi * zeta / math.sqrt(1.0 - zeta**2)) == pytest.approx(e, rel=ROUNDING)


def test_engines_take_turns():
    log = []
    a, b = Told("a", seconds=[3.0, 1.0, 2.0], log=log), Told("b", seconds=[5.0, 6.0, 4.0], log=log)
    times = cells.in_turns([a, b], mechanisms.papers_pendulum(3), 1e-3, 10, seconds=0.0)
    assert times.tolist() == [[3.0, 5.0], [1.0, 6.0]]
    assert log == ["a", "b"] * cells.LEAST_ROUNDS


def test_the_figures_of_an_episode():
    episode = episode_of(energy=[10.0, 8.0, 8.5, 4.0], depth=[0.0, 2e-3, 1e-3, 0], contacts=[0, 1, 3, 0])
    cell = cells.cell_of(Told("x"), "papers", mechanisms.papers_pendulum(3), 1e-6, episode)
    assert (cell.contacts, cell.most_contacts, cell.depth) == (1.0, 3, 2e-3)
    assert cell.energy_change == pytest.approx(-0.6)
    assert cell.energy_gain == pytest.approx(0.05)


def test_pairs_that_begin_to_touch_count_as_impacts_of_a_peer():
    touching = [set(), {1}, {1, 2}, {2}, {1, 2}, {1, 2}]

    class Walk(engines.Run):
        def __init__(self, mechanism, dt):
            self.k = 0

        def advance(self, n_steps):
            self.k += n_steps

        def overlaps(self):
            return dict.fromkeys(touching[self.k], 1e-3 * self.k)

        def energy(self):
            return 1.0

        def motion(self):
            return np.full(3, self.k), np.zeros(3)

    episode = engines.Peer("walk", "", Walk).watch(mechanisms.Ball(0.5), 1e-3, 5)
    assert episode.impacts == 3
    assert episode.contacts.tolist() == [0, 1, 2, 1, 2, 2]
    assert episode.depth.tolist() == [0.0, 1e-3, 2e-3, 3e-3, 4e-3, 5e-3]
    assert episode.position[:, 0].tolist() == [0, 1, 2, 3, 4, 5]


def test_pythons_share_is_what_the_engine_does_not_take():
    share = own_engine.Share(step=10e-6, engine=8e-6, told=4e-6)
    assert share.outside_engine == pytest.approx(0.2)
    assert share.outside_told == pytest.approx(0.6)
    assert own_engine.Share(step=1.0, engine=1.1, told=1.2).outside_engine == 0.0


# tables


def cell(engine, seconds, depth, is_peer=True):
    return cells.Cell(engine, is_peer, "papers", 3, seconds, 1.5, 2, depth, 7, -0.1, 0.0)


def test_ratios_are_judged_by_the_target_of_each_peer():
    ours = cell("mcpframe", 4e-6, 1e-6, is_peer=False)
    both = [ours, cell("MuJoCo, stiff", 5e-6, 2e-3), cell("Drake SAP", 16e-6, 5e-4), cell("DART", 2e-6, 0.0)]
    rows = tables.ratio_sheet(both).rows
    assert [row[0] for row in rows] == ["mcpframe / MuJoCo, stiff", "mcpframe / Drake SAP", "mcpframe / DART"]
    assert rows[0][1] == "[green]0.80[/green]; [green]5e-04[/green]"
    assert rows[1][1] == "[yellow]0.25[/yellow]; [yellow]2e-03[/yellow]"
    assert rows[2][1] == "2.00; -"


def test_a_sheet_as_markdown_has_no_colours_and_no_stray_bars():
    sheet = sheets.Sheet("T", ["a", "b"], [["x | y", "[green]1[/green]"]], "Below.")
    expected = ["T:", "", "| a | b |", "| --- | --- |", "| x / y | 1 |", "", "Below.", ""]
    assert sheet.markdown() == "\n".join(expected)


def test_ours_is_judged_along_a_direction_by_theory_and_elsewhere_by_the_polygon():
    ours = measure.Model("ours", False, 4, {0.5: 0.5 + 2e-6}, {0.0: 1.2, 45.0: 1.414}, 1e-17)
    row = models.sheet_of([ours], 1e-4).rows[0]
    assert row[2:] == [
        "[yellow]0.5000020[/yellow]",
        "-",
        "[yellow]1.2000[/yellow]",
        "[green]1.4140[/green]",
        "1.4142",
        "[green]1e-17[/green]",
    ]


# ours, shortened


def test_our_ball_bounces_as_asked():
    assert measure.rebound(own_engine.OWN[0], 0.5, 1e-2) == pytest.approx(0.5, abs=RESTITUTION)


def test_our_block_stops_where_the_exact_cone_says_whatever_its_heading():
    for heading in (0.0, 0.3):
        got = measure.stop_ratio(own_engine.Own("exact cone", {"friction": "cone"}), heading, 1e-2)
        assert got == pytest.approx(1.0, abs=models.STOP)


# the studies


@pytest.mark.slow
def test_the_simulation_study(tmp_path):
    small = ("--links", "3", "--growth", "3,4", "--duration", "0.02", "--seconds", "0.01", "--markdown")
    record, printed = study("simulation", tmp_path, *small)
    assert is_picture(tmp_path / "simulation.png")
    assert {"mujoco", "drake", "dartpy"} <= set(record["header"])
    found, _ = engines.installed_peers()
    names = {own.name for own in own_engine.OWN} | {p.name for p in found if "tuned" not in p.name}
    assert {cell["engine"] for cell in record["cells"]} == names
    assert all(cell["seconds"] > 0.0 for cell in record["cells"])
    assert record["growth"]["sizes"] == [3, 4]
    assert record["shares"]["3"]["step"] > 0.0
    written = (tmp_path / "simulation.md").read_text()
    assert written.count("\n| --- ") == (5 if found else 4)
    assert written.splitlines()[0] in printed


@pytest.mark.slow
def test_the_study_of_contact_models(tmp_path):
    small = ("--directions", "4", "--dt-stop", "1e-2", "--rest", "0.02", "--no-peers", "--quick")
    record, printed = study("contact_models", tmp_path, *small)
    assert is_picture(tmp_path / "contact_models.png")
    ours, cone = record["models"]
    assert ours["rebound"] == pytest.approx({"0.2": 0.2, "0.5": 0.5, "0.8": 0.8}, abs=RESTITUTION)
    assert ours["stop"]["45.0"] == pytest.approx(measure.polygon_bound(4), rel=1e-3)
    assert cone["stop"]["45.0"] == pytest.approx(1.0, abs=models.STOP)
    assert max(ours["creep"], cone["creep"]) < models.CREEP
    assert [cost["scene"] for cost in record["costs"]] == [
        "block at 45°",
        "quadruped",
        "box_stack",
        "pendulum_j14",
    ]
    assert all(0.0 < cost["cone"] < 10.0 * cost["polygon"] for cost in record["costs"])
    assert "left out: all peers" in printed
