"""Numbers that say how steps are taken."""

CORRECTIONS = 3
"""How often a step is solved again for contacts that would sink in; each time leaves a power of dt less."""
SINKING = 0.1
"""Share of the penetration tolerance by which a contact may sink in before the step is solved again."""
RISING = 0.2
"""Share of its depth by which what has sunk in rises in a step: what rises by all of it leaves the surface at
that speed, and hops."""
SHORTEST = 2.0**-10
"""Share of dt below which a part of a step is not halved any more."""
SECTIONS = 60
"""Most trials in the search for a time of impact; halving alone takes 40 from a second to a picosecond."""
HALVINGS = 30
"""Steps of the search for the share that an impact can throw back without adding energy."""
DECOMPRESSIONS = 20
"""Most decompressions of an impact: the first, and those that give back what others have added."""
STORED_FROM = 1e-9
"""Share of the largest normal impulse below which what a decompression adds is rounding."""
ROUNDS = 50
"""Most approaches that are resolved one after the other, for each contact that touches; then all at once."""
TIE = 1e-9
"""Approaches that differ by no more than this share are as fast as each other, and resolved together."""
ROUGH = 1e-2
"""Share of the penetration tolerance by which ways may differ within a step for what piles are solved to in
trials. What is taken is solved to the tolerance of the scene."""
MEETINGS = 8
"""How often parties with clocks of their own that have met take a step anew; then all have one clock."""
JAM_PARTS, JAM_SHARE = 16, 0.25
"""A jam: in a step so many times shorter the normal impulse is still this share of what it was."""
ROUNDING = 1e-12
"""Share of the kinetic energy by which it may seem to grow."""
