"""Systems of spinning bodies, pendulums, chains and linkages."""
