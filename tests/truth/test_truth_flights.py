"""Free flight; see examples/truth/articulated/flights.py for answers and tolerances."""

from truths import assert_known, every_way


@every_way("flights")
def test_free_flight_keeps_what_it_should_to_the_order_of_the_integrator(system, way):
    assert_known(system, way)
