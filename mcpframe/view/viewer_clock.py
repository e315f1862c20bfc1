"""The clock of a player: which moment of a run is shown while time goes by."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Clock:
    """Time of a run that is played.

    Attributes:
        start, end: of the run, s.
        time: that is shown, s.
        speed: seconds of the run per second.
        loop: begin again at the end, instead of stopping there.
        playing: whether time goes on.
    """

    start: float
    end: float
    time: float
    speed: float = 1.0
    loop: bool = True
    playing: bool = True

    def advance(self, seconds: float) -> None:
        """Let some time go by in front of the screen."""
        if not self.playing:
            return
        span, passed = self.end - self.start, self.time - self.start + self.speed * seconds
        if passed <= span:
            self.time = self.start + passed
        elif self.loop and span > 0.0:
            self.time = self.start + passed % span
        else:
            self.time, self.playing = self.end, False

    def toggle(self) -> None:
        """Play or pause; at the end, play from the start."""
        self.playing = not self.playing
        if self.playing and self.time >= self.end:
            self.time = self.start

    def seek(self, time: float) -> None:
        """Show another moment, within the run."""
        self.time = min(max(time, self.start), self.end)
