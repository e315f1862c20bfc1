import pytest

from mcpframe import OptionError
from mcpframe.io.folders import make_folder


def test_folders_are_made_and_the_new_ones_returned(tmp_path):
    inner = tmp_path / "a b" / "ü"
    assert make_folder(inner, "--out") == [inner, inner.parent]
    assert inner.is_dir()
    assert make_folder(inner, "--out") == []


def test_an_error_says_who_wanted_the_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OptionError, match=r"--out .*file.inner: cannot be made a folder"):
        make_folder(tmp_path / "file" / "inner", "--out")
