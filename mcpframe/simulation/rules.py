"""Numbers that say how steps are taken."""

CORRECTIONS = 3
"""How often a step is solved again for contacts that would sink in; each time leaves a power of dt less."""
SINKING = 0.1
"""Share of the penetration tolerance by which a contact may sink in before the step is solved again."""
SHORTEST = 2.0**-10
"""Share of dt below which a part of a step is not halved any more."""
SECTIONS = 60
"""Most trials in the search for a time of impact; halving alone takes 40 from a second to a picosecond."""
MOST_LOOKS = 1000
"""Looks within one step: a body that travels further than a thousand times its thickness may be missed."""
HALVINGS = 30
"""Steps of the search for the share of the stored impulses that an impact can give back."""
ROUNDING = 1e-12
"""Share of the kinetic energy by which it may seem to grow."""
