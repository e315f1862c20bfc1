"""Where the compliance kernels keep what: rows (linear forms on one body), integers `IR` and doubles `XR`.

A *row* is a wrench on one body, the half of a constraint. Rows of one body stand side by side in *lanes*,
four to a register. *Vertices* are the bodies of the compressed support tree: those that carry rows and
those where paths to them part. A *node* is a point of a body; its six rows are unit wrenches in world axes.
"""

# Head of IR: counts, then where things begin in IR.
N_ROWS, N_VERTICES, N_LANES, N_NODES, PLANNED = range(5)
ROW_BODY, ROW_LANE, NODE_BODY, MARK, ABOVE, VERTEX_AT, CHILDREN, VERTICES = range(5, 13)
# Where things begin in XR.
WRENCHES, NODES, UPSILON, PSI, LANE_WRENCH, CARRIED, REACH, LAMBDA, RESULT = range(13, 22)
ROW_HEAD = 24

# MARK: what a body is to the support tree.
OFF, PATH, VERTEX = range(3)

# Row of VERTICES: its body, the vertex above, its own lanes [V_START, V_OWN), of which the first V_ROWS carry
# rows, its subtree's [V_START, V_END).
V_BODY, V_ABOVE, V_START, V_OWN, V_END, V_JUNCTION, V_ROWS = range(7)
VERTEX_ROW = 7
# V_JUNCTION: several branches part here; some vertex above is such.
PARTS, BELOW_PART = 1, 2
