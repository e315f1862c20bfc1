"""A detector's arrays for the broad phase of clusters; see `kernels.cluster_phase`."""

from __future__ import annotations

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.detection import cluster_records as at
from mcpframe.contact.detection import records as rec
from mcpframe.contact.detection.detector import Detector


def has_clusters(detector: Detector) -> bool:
    """Return whether the broad phase of clusters knows all shapes: half-spaces have to stand still."""
    shapes = rec.MEMORY.part(detector.ID, detector.XD, rec.SHAPES)
    return not ((shapes[:, rec.S_KIND] == rec.PLANE) & (shapes[:, rec.S_BODY] >= 0)).any()


def take_clusters(detector: Detector) -> None:
    """Give a detector the arrays of the broad phase of clusters, members and balls still to be gathered."""
    base = detector.memory
    detector.ID, detector.XD = at.MEMORY.longer(
        base, detector.ID, detector.XD, cluster=detector.tree.skeleton.n_bodies
    )
    detector.memory = at.MEMORY
    ID, XD = detector.ID, detector.XD
    shapes, order = (base.part(ID, XD, part) for part in (rec.SHAPES, rec.ORDER))
    still = [int(i) for i in order if shapes[i, rec.S_BODY] < 0]
    ID[at.N_STILL] = len(still)
    at.MEMORY.part(ID, XD, at.STILL)[: len(still)] = still
    boxes = at.MEMORY.part(ID, XD, at.BOXES)
    for k, i in enumerate(still):
        boxes[k, :, :3] = _box(detector, i)
    ID[at.MEET] = _meet(detector)


def _box(detector: Detector, i: int) -> Array:
    """Return the lowest and the highest corner of a shape of the world [2, 3]."""
    place = rec.MEMORY.part(detector.ID, detector.XD, rec.PLACES)[i]
    centre, solid = place[rec.P_POSITION : rec.P_POSITION + 3], detector.solid(i)
    if solid is None or detector.terrain(i) is not None:
        return np.array([centre - place[rec.P_RADIUS], centre + place[rec.P_RADIUS]])
    pose = detector.shapes[i].geometry.pose
    reach = np.array([[solid.reach(sign * pose.rotation.T @ e) for e in np.eye(3)] for sign in (-1.0, 1.0)])
    return np.array([pose.position - reach[0], pose.position + reach[1]])


def _meet(detector: Detector) -> bool:
    """Return whether two shapes that move may meet."""
    ID, XD = detector.ID, detector.XD
    shapes, rules = (rec.MEMORY.part(ID, XD, part) for part in (rec.SHAPES, rec.RULES))
    classes = np.unique(shapes[shapes[:, rec.S_BODY] >= 0, rec.S_CLASS])
    return bool((rules[np.ix_(classes, classes)] != rec.NEVER).any())
