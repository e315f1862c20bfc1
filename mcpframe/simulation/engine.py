"""Engines: what moves a run, block by block, and tells of every block what is to be recorded.

`simulate` drives an engine and knows nothing of what a step is. The engine of this file takes its steps one
by one with a `Stepper`; others may take many at once. However a run is cut into blocks, its bits are the
same: a block begins where the one before it ended, with a step that was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from mcpframe.arrays import Array
from mcpframe.exceptions import NotSolvedError
from mcpframe.multibody.state import State
from mcpframe.scene.scene import Scene
from mcpframe.simulation.recording.steps import StepBlock
from mcpframe.simulation.step_rows import StepRows
from mcpframe.simulation.stepping import Observer, Stepper


class Engine(Protocol):
    """What takes the steps of one run; step k ends at ``scene.time + k * scene.stepping.dt``."""

    def advance(self, state: State, first: int, count: int) -> StepBlock:
        """Take steps first + 1 to first + count of the scene.

        Args:
            state: after step `first`; on return, after the last step taken.
            first: steps taken before, in this process or by the run that is resumed.
            count: how many to take.

        Returns:
            the steps to record: every `scene.output.every`-th, those with impacts, and the last of the block.
            Each has the impulses that its contacts took in the steps left out before it. The arrays are the
            caller's: the engine keeps none of them.

        Raises:
            StoppedError: a solve failed and the scene says to stop. The state and the engine are as after the
                step before; the error brings the block up to there.
        """
        ...

    def checkpoint(self) -> dict[str, Array]:
        """Return arrays that, with the state and the step's number, lead to the same bits after `restore`."""
        ...

    def restore(self, checkpoint: Mapping[str, Array]) -> None:
        """Go on as the engine that made the checkpoint would."""
        ...


class StoppedError(NotSolvedError):
    """A solve failed within a block, and the scene's `on_failure` is not to go on.

    Attributes:
        solution, problem: what the solver returned, and what it was asked.
        step: number of the step that could not be taken.
        block: the steps of the block that were taken before.
    """

    def __init__(self, error: NotSolvedError, step: int, block: StepBlock) -> None:
        super().__init__(error.solution, error.problem)
        self.step, self.block = step, block

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (NotSolvedError(self.solution, self.problem), self.step, self.block)


def engine_of(scene: Scene, observe: Observer | None = None) -> Engine:
    """Return what moves a scene.

    Args:
        scene: the scene.
        observe: is called with every problem that was solved for good.
    """
    if observe is None:
        from mcpframe.simulation.step.loop import compiled_engine  # its kernels take a while to load

        engine = compiled_engine(scene)
        if engine is not None:
            return engine
    return StepperEngine(Stepper(scene, observe))


class StepperEngine:
    """Takes steps one by one.

    Args:
        stepper: of the scene.
    """

    def __init__(self, stepper: Stepper) -> None:
        self.stepper, self.scene = stepper, stepper.scene

    def advance(self, state: State, first: int, count: int) -> StepBlock:
        """Take steps first + 1 to first + count; see `Engine`."""
        rows, last = StepRows(), first + count
        for k in range(first + 1, last + 1):
            before = state.theta, state.theta_dot, state.time, self.stepper.checkpoint()
            try:
                step = self.stepper.step(state)
            except NotSolvedError as error:
                state.update(*before[:3])
                self.stepper.restore(before[3])
                raise StoppedError(error, k, rows.block(state)) from None
            state.update(time=self.scene.time + k * self.scene.stepping.dt)  # no sum of rounding errors
            if k % self.scene.output.every == 0 or step.impacts or k == last:
                rows.record(state, step)
            else:
                rows.leave_out(step)
        return rows.block(state)

    def checkpoint(self) -> dict[str, Array]:
        """Return what the stepper remembers."""
        return self.stepper.checkpoint()

    def restore(self, checkpoint: Mapping[str, Array]) -> None:
        """Let the stepper remember it."""
        self.stepper.restore(checkpoint)
