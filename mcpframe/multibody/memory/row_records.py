"""Where the compliance kernels keep what: rows (linear forms on one body), integers `IR` and doubles `XR`.

A *row* is a wrench on one body, the half of a constraint. Rows of one body stand side by side in *lanes*,
four to a register. *Vertices* are the bodies of the compressed support tree: those that carry rows and
those where paths to them part. A *node* is a point of a body; its six rows are unit wrenches in world axes.
"""

from mcpframe.jit.memory import VECTOR, Memory
from mcpframe.multibody.memory.records import BLOCK, PAIR

MEMORY = Memory()
N_ROWS, N_VERTICES, N_LANES, PLANNED = MEMORY.counts(4)
"""How many there are in the plan; whether there is one."""
ROW_BODY, ROW_LANE, ROW_ROOT = (MEMORY.integers("row") for _ in range(3))
"""ROW_ROOT: the first vertex of its tree; rows of different trees do not couple."""
MARK, ABOVE, VERTEX_AT, CHILDREN = (MEMORY.integers("body") for _ in range(4))
# MARK: what a body is to the support tree.
OFF, PATH, VERTEX = range(3)

# Row of VERTICES: its body, the vertex above, its own lanes [V_START, V_OWN), of which the first V_ROWS carry
# rows, its subtree's [V_START, V_END).
V_BODY, V_ABOVE, V_START, V_OWN, V_END, V_JUNCTION, V_ROWS, VERTEX_ROW = range(8)
VERTICES = MEMORY.integers("vertex", VERTEX_ROW)
# V_JUNCTION: several branches part here; some vertex above is such.
PARTS, BELOW_PART = 1, 2

WRENCHES = MEMORY.doubles("row", PAIR)
UPSILON, PSI = MEMORY.doubles("vertex", BLOCK), MEMORY.doubles("vertex", BLOCK)
LANE_WRENCH, CARRIED = MEMORY.doubles(6, "lane"), MEMORY.doubles(6, "lane")
REACH, LAMBDA = MEMORY.doubles("vertex", 6, "lane"), MEMORY.doubles("lane", "lane")

# The same, and nodes: their places, and what is asked about them.
NODE_MEMORY = Memory(MEMORY)
N_NODES, NODE_BODY = NODE_MEMORY.count("node"), NODE_MEMORY.integers("node")
NODES, RESULT = NODE_MEMORY.doubles("node", VECTOR), NODE_MEMORY.doubles("result")
