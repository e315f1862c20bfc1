"""Where the broad phase of clusters keeps what, behind the memory of the detection; see `cluster_phase`.

A *cluster* is a body of the multibody kernels with all shapes on it. Balls around its shapes, halved and
halved again in their order, lie in its frame and stay as they are while it is rigid.
"""

from mcpframe.contact.detection.records import MEMORY as DETECTION
from mcpframe.jit.memory import VECTOR, Memory, columns

MEMORY = Memory(DETECTION)
N_BODIES, N_STILL, MEET = MEMORY.count("cluster"), MEMORY.count(), MEMORY.count()
"""Clusters that there is room for; bounded shapes of the world; whether shapes of clusters may meet."""
MEMBERS, FIRST = MEMORY.integers("shape"), MEMORY.integers("cluster + 1")
"""Shapes in the order of their clusters, and where those of each begin."""
BALLS = MEMORY.doubles("shape", VECTOR)
"""Of the shapes [a, b), at their middle (a + b) // 2: centre in the frame of the cluster, radius last."""
STALE, KEPT_FIRST, KEPT_LAST = MEMORY.integers("cluster"), MEMORY.integers("shape"), MEMORY.integers("shape")
"""Whether a cluster has shapes in new places; of its first shape the range of shapes that has its balls."""
PL_ROTATION, PL_POSITION, PLACED = columns(12, VECTOR)
FRAMES = MEMORY.doubles("cluster", PLACED)
"""Where the clusters are."""
STILL, BOXES = MEMORY.integers("shape"), MEMORY.doubles("shape", 2, VECTOR)
"""Bounded shapes of the world, and the lowest and highest corner of each."""
DEEPEST = 128
STACK = MEMORY.integers(DEEPEST, 4)
"""Two ranges of shapes for every pair that is left to look at; balanced trees are less deep."""
