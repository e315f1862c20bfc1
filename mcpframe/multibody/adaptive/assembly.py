"""The assembly tree: parts of the body joined two by two, balanced; branches raked onto paths [G06; own].

A body is cut into heavy paths. On each a link takes up the light branches that hang on it, one after the
other (*rake*), and the links of a path are joined in halves of about equal weight (*compress*). So a node
has one link that carries it and at most one to which more is joined, and any link lies O(log² n) below the
root, O(log n) in a chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
LEAF = -1


@dataclass(eq=False)
class Assembly:
    """Nodes, each before those that it joins.

    Attributes:
        joint: the link whose hinge carries B on A, -1 for a node that is a single link.
        a, b: the nodes that are joined, -1 for none.
        link: of a node the link that carries it, nearest to the base.
        rake: whether B is a branch: what comes next is joined to A, not to B.
        roots: the nodes that hold a whole tree each.
    """

    joint: list[int] = field(default_factory=list)
    a: list[int] = field(default_factory=list)
    b: list[int] = field(default_factory=list)
    link: list[int] = field(default_factory=list)
    rake: list[bool] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.joint)

    @staticmethod
    def of(parents: Indices) -> Assembly:
        """Return the assembly tree of links in depth-first order."""
        whole, children = Assembly(), _children(parents)
        weight = _weights(parents)
        for root in np.flatnonzero(parents < 0):
            whole.roots.append(len(whole))
            whole._add_path(int(root), children, weight)
        return whole

    def table(self) -> Indices:
        """Return a row for every node, as `records.NODES` has them."""
        n, joint = len(self), np.array(self.joint)
        up, tip = np.full(n, LEAF), np.array(self.link)
        for node in range(n - 1, -1, -1):
            a, b = self.a[node], self.b[node]
            if joint[node] != LEAF:
                up[[a, b]] = node
                tip[node] = tip[a] if self.rake[node] else tip[b]
        form = np.where(joint != LEAF, np.cumsum(joint != LEAF) - 1, LEAF)
        return np.column_stack([joint, self.a, self.b, up, self.link, tip, self.rake, form])

    def _new(self, joint: int, link: int, rake: bool) -> int:
        self.joint.append(joint)
        self.a.append(LEAF)
        self.b.append(LEAF)
        self.link.append(link)
        self.rake.append(rake)
        return len(self.joint) - 1

    def _add_path(self, top: int, children: Sequence[Sequence[int]], weight: Indices) -> int:
        """Add the heavy path that begins with a link, and all that hangs on it."""
        path = [top]
        while children[path[-1]]:
            path.append(max(children[path[-1]], key=lambda child: int(weight[child])))
        below = np.append(weight[path], 0)
        return self._halves(path, below[:-1] - below[1:], children, weight)

    def _halves(
        self, path: list[int], load: Indices, children: Sequence[Sequence[int]], weight: Indices
    ) -> int:
        """Join a stretch of a path, cut where both halves weigh about the same."""
        if len(path) == 1:
            return self._raked(path[0], children, weight)
        ends = np.cumsum(load)
        cut = 1 + int(np.argmin(np.abs(2 * ends[:-1] - ends[-1])))
        node = self._new(path[cut], path[0], False)
        self.a[node] = self._halves(path[:cut], load[:cut], children, weight)
        self.b[node] = self._halves(path[cut:], load[cut:], children, weight)
        return node

    def _raked(self, link: int, children: Sequence[Sequence[int]], weight: Indices) -> int:
        """Join a link with its light branches, the lightest first."""
        heavy = max(children[link], key=lambda child: int(weight[child]), default=LEAF)
        light = sorted((c for c in children[link] if c != heavy), key=lambda child: int(weight[child]))
        above: int | None = None
        top = LEAF
        for branch in reversed(light):
            node = self._new(branch, link, True)
            if above is None:
                top = node
            else:
                self.a[above] = node
            above = node
        leaf = self._new(LEAF, link, False)
        if above is None:
            return leaf
        self.a[above] = leaf
        node = top
        for branch in reversed(light):
            self.b[node] = self._add_path(branch, children, weight)
            node = self.a[node]
        return top


def _children(parents: Indices) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in parents]
    for k, parent in enumerate(parents.tolist()):
        if parent >= 0:
            children[parent].append(k)
    return children


def _weights(parents: Indices) -> Indices:
    """Return how many links each carries, itself included."""
    weight = np.ones(parents.size, dtype=np.int64)
    for k in range(parents.size - 1, -1, -1):
        if parents[k] >= 0:
            weight[parents[k]] += weight[k]
    return weight
