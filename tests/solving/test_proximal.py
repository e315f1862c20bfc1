"""How ε of proximal steps falls and rises."""

from mcpframe.solving.proximal import EASY, HARD, HELD, MOST_EPS, eps_after

LEAST = 1e-6


def test_eps_falls_after_easy_steps_and_less_after_others():
    easy, other = eps_after(1e-2, 0, EASY, True, LEAST)[0], eps_after(1e-2, 0, HARD - 1, True, LEAST)[0]
    assert LEAST < easy < other < 1e-2
    assert eps_after(1e-2, 0, HARD, True, LEAST)[0] == 1e-2
    assert eps_after(LEAST, 0, 1, True, LEAST)[0] == LEAST


def test_eps_rises_after_a_step_that_was_not_found_and_is_held():
    eps, held = eps_after(1e-2, 0, 5, False, LEAST)
    seen = [eps]
    for _ in range(HELD):
        eps, held = eps_after(eps, held, 1, True, LEAST)
        seen.append(eps)
    assert seen[0] > 1e-2
    assert seen[:HELD] == [seen[0]] * HELD
    assert seen[HELD] < seen[0]
    assert eps_after(MOST_EPS, 0, 5, False, LEAST)[0] == MOST_EPS
