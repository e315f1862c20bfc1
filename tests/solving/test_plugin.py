from typing import Literal

import pytest
from pydantic import Field
from toys import Diagonal

import mcpframe as mf
from mcpframe.solving.plugin import AbstractContactLaw, FrictionDirections, Option, describe_options


class Chooser(Diagonal):
    name = "chooser"
    rule: Literal["fast", "safe"] = Field("safe", description="which way")
    limit: float | None = Field(None, gt=0.0, le=2.5)


def test_options_are_described_in_order_with_type_default_and_range():
    sweeps, damping, rule, limit = describe_options(Chooser)
    assert sweeps == Option("sweeps", "int", "1", ">= 1, <= 100", "how many times to do the same")
    assert (damping.kind, damping.default, damping.range) == ("float", "0.0", ">= 0.0, < 1.0")
    assert (rule.kind, rule.default, rule.description) == ("'fast' | 'safe'", "'safe'", "which way")
    assert (limit.kind, limit.default, limit.range) == ("float | None", "None", "> 0.0, <= 2.5")


def test_a_plugin_says_in_words_what_it_takes():
    assert Diagonal().why_unsupported("a text") == "diagonal takes MixedLCP, not str"


class Facets(AbstractContactLaw):
    """A law with directions and another option."""

    name = "facets"
    friction_directions: FrictionDirections = None
    radius: float = Field(1.0, gt=0.0)

    def rows(self, contact, dt): ...


def test_a_law_changes_options_by_making_another_law():
    law = Facets(radius=2.0)
    assert law.with_options({"friction_directions": 6}) == Facets(radius=2.0, friction_directions=6)
    assert law == Facets(radius=2.0)
    with pytest.raises(mf.OptionError, match="facets: option radius = -1"):
        law.with_options({"radius": -1})


def test_directions_are_taken_only_where_the_law_leaves_them_open():
    assert Facets().with_friction_directions(8).friction_directions == 8
    assert Facets(friction_directions=6).with_friction_directions(8).friction_directions == 6


def test_the_option_of_directions_says_that_they_come_in_pairs():
    directions, _ = describe_options(Facets)
    assert directions.range == ">= 0, multiple of 2"
    assert "opposites included" in directions.description
    with pytest.raises(mf.OptionError, match="facets: option friction_directions = 3"):
        Facets().with_options({"friction_directions": 3})
