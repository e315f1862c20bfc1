"""The list of systems with known answers is complete: every row has a system, and every system a test.

| system | known answer | run by |
| --- | --- | --- |
| LCPs 1x1 and 4x4 | solutions on paper | test_truth_lcps, every solver |
| block sliding to rest | v0²/(2 mu g), no creep | test_truth_blocks |
| block on an incline | slips iff tan a > mu | test_truth_blocks |
| block, particle, ball on round cones | no heading is special | test_truth_cones |
| ball, coin, particle, ladder | roll and slide: closed forms, ODEs | test_truth_rolling |
| free ball, tumbling body, heavy top, gimbals | velocity, spin, energy kept; precession | test_truth_spins |
| bouncing ball | peaks e^(2k) h, time of rest | test_truth_balls |
| two spheres head on | ratio e, momentum | test_truth_balls |
| three equal balls | (-1/3, 2/3, 2/3) or (0, 0, 1) | test_truth_balls |
| oblique bounces, cradle in every numbering, jam | impulses on paper | test_truth_collisions |
| Painlevé rod | mu > 4/3; finite impulse | test_truth_rods |
| double pendulum, 12 links, rubbing tip, catenary | ODEs, tan p_k = k m g / H | test_truth_chains |
| four-bar, slider-cranks, bead on a hoop | ODEs of one coordinate | test_truth_mechanisms |
| PD of usual gains, damped robots, UR5 | exponentials, ODE, energy balance | test_truth_drives |
| towers, beam, rocking block, sunken box | statics, Housner's share | test_truth_supports |
| rods on hinges of all kinds, thrown, on ice | points at fixed distances: an ODE | test_truth_space_rods |
| rimless wheel, step, log, rods of every shape on ice | shares, ODEs | test_truth_passing |
| 14 motions at 1, 1/2, 1/4 ms; six in contact with rk4 | order 2 and its constant; 4 | test_truth_orders |
| fifteen motions in every formulation | as in os | test_truth_agreement |
| floating chain, stack | a minute | test_truth_drifts |
| free flight of a box, of a chain | order of the integrator | test_truth_flights |
| four-bar, closed chain | loop error, as in nmc | test_truth_loops |
| pendulum on pegs, links locked | as with links merged | test_truth_pendulums |
| box on a slope of 20 degrees; stacks up to 1000:1 | do not move | test_truth_standing |
| 12-link pendulum of J14; example scenes | every step certified | test_truth_endurance |
"""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from run_programs import outcome
from truths import MODULES, systems

from mcpframe.exceptions import ModelError

SCRIPT = Path(__file__).parents[2] / "examples" / "truth_table.py"

ROWS = {
    "lcps": {"one_row_is_solved", "four_rows_are_solved"},
    "spins": {
        *("spinning_ball_keeps_its_velocity", "tumbling_body_keeps_its_spin", "heavy_top_precesses"),
        *("tumbling_body_follows_euler", "gyroscope_turns_its_gimbals", "wheel_on_a_ball_precesses"),
    },
    "rolling": {
        *("rolling_ball_rolls_on", "sphere_rolls_down_an_incline", "sliding_ball_starts_to_roll"),
        *("coin_rolls_in_a_circle", "particle_slides_across_a_slope", "ladder_slides_with_friction"),
        *("ball_circles_on_a_turntable", "rattleback_turns_back", "uneven_ball_rocks"),
    },
    "blocks": {
        *("block_slides_to_rest", "block_sticks_inside_the_cone", "block_slips_outside_the_cone"),
        *("block_stands_below_the_tipping_angle", "block_tips_above_the_tipping_angle"),
        *("friction_answers_a_push", "plank_takes_the_block_along", "belt_takes_the_block_along"),
    },
    "cones": {
        *("block_slides_straight_to_rest", "block_on_an_incline_of_any_heading"),
        *("particle_turns_across_a_slope", "friction_answers_a_push_of_any_heading"),
        *("ball_slides_through_a_bounce", "spin_dies_on_a_torsional_cone"),
    },
    "balls": {
        *("ball_bounces_to_rest", "two_spheres_part_at_the_asked_share", "three_balls_share_one_impact"),
        *("three_balls_hand_on_the_speed", "cradle_hands_on_two_balls", "thrown_ball_slides_in_compression"),
        *("touching_cradle_hands_on_one_ball", "ball_in_a_groove_presses_on_both_walls"),
    },
    "collisions": {"bounce_grips", "bounce_slides", "cradle_in_every_numbering", "painleve_jam_is_an_impact"},
    "chains": {
        *("double_pendulum_swings", "twelve_links_swing", "rubbing_tip_slides", "chain_hangs_as_a_catenary"),
    },
    "mechanisms": {
        *("four_bar_turns", "slider_crank_rubs", "prescribed_crank_moves_its_slider", "bead_finds_its_angle"),
        *("shaken_pendulum_stands_upside_down", "trammel_turns_over"),
    },
    "drives": {
        *("pd_hinge_returns", "pd_arm_reaches_its_target", "damped_robots_fall", "ur5_stands_still"),
        "furuta_swings",
    },
    "space_rods": {"double_pendulum_swings_in_space", "thrown_rods_tumble", "rods_fall_on_ice"},
    "passing": {
        *("rimless_wheel_walks", "ball_climbs_a_step", "plank_rocks_on_a_log", "rod_falls_on_ice"),
    },
    "orders": {
        *("smooth_motion_is_of_second_order", "lasting_contact_is_of_second_order"),
        "rk4_is_of_fourth_order_in_contact",
    },
    "agreement": {"formulations_agree"},
    "supports": {
        *("harmonic_tower_stands_or_tips", "beam_rests_on_its_supports", "sunken_box_is_pushed_back"),
        "rocking_block_passes_to_its_other_edge",
    },
    "drifts": {"floating_chain_keeps_its_momentum", "stack_neither_sinks_nor_walks"},
    "rods": {
        *("painleve_rod_loses_uniqueness_above_four_thirds", "painleve_rod_gets_a_finite_impulse"),
        *("dropped_rod_gets_the_known_impulse", "ladder_slides_and_leaves_the_wall"),
    },
    "pendulums": {
        *("pendulum_rebounds_from_a_wall", "mass_on_a_spring_bounces_from_its_stop"),
        *("conical_pendulum_keeps_its_height", "locked_links_move_as_one_body", "elastic_pendulum_swings"),
    },
    "flights": {
        *("tumbling_box_keeps_momentum_and_energy", "free_chain_keeps_momentum_and_energy"),
        *("symmetric_top_precesses", "reaction_wheels_turn_a_body"),
    },
    "loops": {"four_bar_stays_closed", "closed_chain_stays_closed"},
    "standing": {
        *("box_on_a_slope_sticks", "stack_with_a_heavy_top_stands", "stack_of_light_and_heavy_stands"),
    },
    "endurance": {"every_solver_drives_the_pendulum", "no_step_of_an_example_fails"},
}


def test_every_module_of_systems_has_its_rows_and_its_test():
    assert set(MODULES) == set(ROWS)
    for module in MODULES:
        assert (Path(__file__).parent / f"test_truth_{module}.py").is_file()


@pytest.mark.parametrize("module", ROWS)
def test_the_systems_of_a_module_are_those_of_the_list_and_say_what_is_known(module):
    found = systems(module)
    assert {system.name for system in found} == ROWS[module]
    assert all(system.title and system.formula and system.ways and system.answers.__doc__ for system in found)


def test_the_command_prints_the_table_and_writes_it_as_markdown(tmp_path):
    out = tmp_path / "truth.md"
    done = outcome(str(SCRIPT), "--only", "four_rows", "--markdown", str(out))
    assert done["status"] == 0, done["error"]
    assert "1 systems, 8 runs, 32 answers, 0 off" in done["out"]
    assert out.read_text().count("| LCP 4x4: z = (2.8, 0, 0.8, 1.2) | z_") == 1


def test_the_command_runs_other_settings_and_tells_what_is_off():
    other = ("--details", "--integrator", "rk4", "--solver", "auto")
    done = outcome(str(SCRIPT), "--only", "two_spheres", *other)
    assert done["status"] == 0, done["error"]
    assert "3 runs, 9 answers, 0 off" in done["out"]
    assert "os-auto-rk4" in done["out"]
    assert "two-sphere head-on impact" in done["error"]
    assert outcome(str(SCRIPT), "--only", "unheard")["status"] == 1


def test_a_run_that_stops_is_an_answer_that_is_off():
    command = load_command()
    system = next(system for system in systems("balls"))
    stops = replace(system, answers=stopping)
    (line,) = command.lines_of(stops, system.ways[:1])
    assert not line.answer.holds
    assert "no way on" in line.answer.quantity
    assert command.worst([line, *command.lines_of(system, system.ways[:1])])[0] is line


def stopping(way):
    """Answers of a system whose run does not end."""
    raise ModelError("no way on")
    yield


def load_command():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("truth_table", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["truth_table"] = module
    spec.loader.exec_module(module)
    return module
