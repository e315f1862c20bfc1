"""The way back from impulses to hinge rates, for formulations that keep all impulses and no velocity."""

from __future__ import annotations

from typing import final

import numpy as np

from mcpframe.formulations.base import Blocks, Motion, Recovery


@final
class OperationalRecovery(Recovery):
    """Hinge rates follow from the impulses in O(N)."""

    def motion(self, blocks: Blocks) -> Motion:
        """Return the velocity that belongs to the blocks of a solution."""
        impulses = np.concatenate([blocks["p_b"], blocks["p_l"], blocks["beta"]])
        return Motion(self.terms.velocity(impulses), blocks["p_b"])
