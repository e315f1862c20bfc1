"""The list of systems with known answers is complete: every row has a system, and every system a test.

| system | known answer | run by |
| --- | --- | --- |
| LCPs 1x1 and 4x4 | solutions on paper | test_truth_lcps, every solver |
| block sliding to rest | v0²/(2 mu g), no creep | test_truth_blocks |
| block on an incline | slips iff tan a > mu | test_truth_blocks |
| sphere rolling down an incline | sqrt(10 g h/7), (2/7) m g sin a | test_truth_balls |
| bouncing ball | peaks e^(2k) h, time of rest | test_truth_balls |
| two spheres head on | ratio e, momentum | test_truth_balls |
| three equal balls | (-1/3, 2/3, 2/3) or (0, 0, 1) | test_truth_balls |
| Painlevé rod | mu > 4/3; finite impulse | test_truth_rods |
| free flight of a box, of a chain | order of the integrator | test_truth_flights |
| four-bar, closed chain | loop error, as in nmc | test_truth_loops |
| pendulum on pegs, links locked | as with links merged | test_truth_pendulums |
| box on a slope of 20 degrees; stacks up to 1000:1 | do not move | test_truth_standing |
| 12-link pendulum of J14; example scenes | every step certified | test_truth_endurance |
"""

import subprocess
import sys
from pathlib import Path

import pytest
from truths import MODULES, systems

ROWS = {
    "lcps": {"one_row_is_solved", "four_rows_are_solved"},
    "blocks": {
        *("block_slides_to_rest", "block_sticks_inside_the_cone", "block_slips_outside_the_cone"),
        *("block_stands_below_the_tipping_angle", "block_tips_above_the_tipping_angle"),
        "friction_answers_a_push",
    },
    "balls": {
        *("sphere_rolls_down_an_incline", "ball_bounces_to_rest", "two_spheres_part_at_the_asked_share"),
        *("three_balls_share_one_impact", "three_balls_hand_on_the_speed", "cradle_hands_on_two_balls"),
        *("billiard_ball_slides_then_rolls", "thrown_ball_grips", "thrown_ball_slides"),
        *("thrown_ball_slides_in_compression", "ball_in_a_groove_presses_on_both_walls"),
    },
    "rods": {
        *("painleve_rod_loses_uniqueness_above_four_thirds", "painleve_rod_gets_a_finite_impulse"),
        *("dropped_rod_gets_the_known_impulse", "ladder_slides_and_leaves_the_wall"),
    },
    "pendulums": {
        *("pendulum_rebounds_from_a_wall", "mass_on_a_spring_bounces_from_its_stop"),
        *("conical_pendulum_keeps_its_height", "locked_links_move_as_one_body"),
    },
    "flights": {
        *("tumbling_box_keeps_momentum_and_energy", "free_chain_keeps_momentum_and_energy"),
        "symmetric_top_precesses",
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
    script, out = Path(__file__).parents[2] / "examples" / "truth_table.py", tmp_path / "truth.md"
    words = [sys.executable, str(script), "--only", "four_rows", "--markdown", str(out)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "8 runs, 32 answers, 0 off" in done.stdout
    assert out.read_text().count("| LCP 4x4 | z_") == 4
