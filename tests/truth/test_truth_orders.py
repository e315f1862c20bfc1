"""Order and constant; see examples/truth/orders.py for answers and bounds."""

from truths import assert_known, every_way


@every_way("orders")
def test_errors_fall_as_the_square_of_the_step_from_a_small_constant(system, way):
    assert_known(system, way)
