from typing import Literal

from pydantic import Field
from toys import Diagonal

from mcpframe.plugin import Option, describe_options


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
