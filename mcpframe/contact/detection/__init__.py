"""Collision detection: contacts of all shapes of a model, with signed distances, in a stable order.

`kernels.detect` does it in compiled code on flat arrays; `Detector` packs them and is the door for
Python.
"""

from mcpframe.contact.detection.detector import Detector
from mcpframe.contact.detection.materials import Material

__all__ = ["Detector", "Material"]
