"""Functions by name: packages, files, entry points, and mistakes in each that say what to do."""

import importlib.metadata
import math

import pytest

from mcpframe.exceptions import OptionError, PluginError
from mcpframe.scene import functions
from mcpframe.scene.functions import find_function, with_options


def test_a_function_of_a_package_is_found():
    assert find_function("math:sqrt") is math.sqrt
    assert find_function("collections:Counter.most_common").__name__ == "most_common"


def test_a_function_of_a_file_is_found_beside_the_scene(tmp_path):
    (tmp_path / "walk.py").write_text("def walk(state, time, gain=1.0):\n    return gain * time\n")
    function = find_function("walk.py:walk", tmp_path)
    assert function(None, 2.0) == 2.0
    assert with_options(function, {"gain": 3.0}, None, 0.0)(None, 2.0) == 6.0


def test_a_function_of_an_installed_package_is_found_by_its_entry_point(monkeypatch):
    point = importlib.metadata.EntryPoint("root", "math:sqrt", functions.GROUP)
    found = importlib.metadata.EntryPoints([point])
    monkeypatch.setattr(functions, "entry_points", lambda group: found.select(group=group))
    assert find_function("root") is math.sqrt
    with pytest.raises(PluginError, match="'rot'.*did you mean 'root'.*known: root"):
        find_function("rot")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("math:sqtr", "math has no 'sqtr'; did you mean 'sqrt'"),
        ("no_such_module:f", "cannot be imported: ModuleNotFoundError: No module named 'no_such_module'"),
        ("missing.py:f", "there is no file .*missing.py"),
        ("broken.py:f", "cannot be imported: ZeroDivisionError: division by zero"),
        ("syntax.py:f", "cannot be imported: SyntaxError"),
        ("math:pi", "it is 3.14.*which cannot be called"),
        ("walk", "no entry point of the group 'mcpframe.controllers'.*written 'package.module:function'"),
    ],
)
def test_what_is_not_there_is_refused_with_the_reason(tmp_path, name, message):
    (tmp_path / "broken.py").write_text("f = 1 / 0\n")
    (tmp_path / "syntax.py").write_text("def f(:\n")
    with pytest.raises(PluginError, match=message):
        find_function(name, tmp_path)


def test_options_that_a_function_does_not_take_are_refused():
    def walk(state, time, gain=1.0):
        return gain

    with pytest.raises(OptionError, match="walk' cannot be called as planned: .*'gian'"):
        with_options(walk, {"gian": 1.0}, None, 0.0)
    with pytest.raises(OptionError, match="too many positional"):
        with_options(lambda time: 0.0, {}, None, 0.0)
    assert with_options(walk, {}, None, 0.0) is walk
