"""Tests of physics certify every step, unless a scene says how many or none."""

from mcpframe.scene.settings import Stepping

USUAL = Stepping.model_fields["certify"].default


def certify_all(monkeypatch):
    """Have scenes that do not say how many steps to certify certify all of them."""
    asked = Stepping.certify_every.fget
    every = property(lambda way: 1 if way.certify == USUAL else asked(way))
    monkeypatch.setattr(Stepping, "certify_every", every)
