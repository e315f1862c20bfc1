"""Studies: problems times formulations times solvers, one row each, and the report of them."""
