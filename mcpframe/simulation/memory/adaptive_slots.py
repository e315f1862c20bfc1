"""What of a run is written anew when other joints become active, as it is of the whole."""

from mcpframe.contact.detection.records import FRAME
from mcpframe.jit.memory import Memory
from mcpframe.multibody.adaptive import piece_records
from mcpframe.multibody.memory.loop_records import NODE_ROW, TERM_ROW
from mcpframe.simulation.memory.slots import LIMIT_ROW

WHOLE = Memory(piece_records.MEMORY)
INTERVAL, AT_CONTACTS, REDONE, BY_CLUSTERS = WHOLE.counts(4)
"""Choose every so many steps; what new contacts do; whether the step under way is taken a second time;
whether shapes are found by the balls of clusters."""
# AT_CONTACTS
NOTHING, EVENT, TWICE = range(3)
"""No choice; one after the step; one before it, with the impulses that it had, and the step once more."""
FLOATING = WHOLE.integers("body")
"""See `slots`."""
N_SHAPES, N_LIMITS = WHOLE.count("shape"), WHOLE.count("limit")
SHAPE_BODY, SHAPE_FRAMES = WHOLE.integers("shape"), WHOLE.doubles("shape", FRAME)
FIRST_SHAPE = WHOLE.integers("body + 1")
"""Where the shapes of a body of the whole begin; before the first are those of the world."""
SHAPE_RADIUS, SHAPE_PLACE = WHOLE.doubles("shape"), WHOLE.doubles("shape", 4)
"""Of a shape how far its points are from its own origin, and where that is on its body."""
LIMITS, LIMIT_VALUES = WHOLE.integers("limit", LIMIT_ROW), WHOLE.doubles("limit", 4)
CONSTANT, DAMPING, STIFFNESS, AWAY, PUSHED = (WHOLE.doubles("dof") for _ in range(5))
REST = WHOLE.doubles("theta")
DRIVE_NUMBERS = WHOLE.doubles("number")
"""NUMBERS of `drive_slots`."""
LOOP_BODIES, LOOP_NODES = WHOLE.integers("loop", 2), WHOLE.doubles("loop", NODE_ROW)
HALF_BODIES, TERMS = WHOLE.integers("half"), WHOLE.integers("term", TERM_ROW)
"""Forces at the hinges; PUSHED: those of contacts and limits."""

# What a call of `adapt` is asked: to choose; to write the clusters of the joints that are active; to write
# the pieces of a whole that stands elsewhere first.
CHOOSE, INSTALL, BUILD = range(3)
