"""``dir(mcpframe)`` is what a user completes: the public names, and nothing that they were made with."""

import re
import subprocess
import sys
from pathlib import Path

import mcpframe as mf
from mcpframe.papers import PAPERS, in_full


def test_dir_lists_all_public_names_and_no_others():
    assert {"simulate", "Scene", "Material", "run_study", "load_scene"} <= set(dir(mf))
    assert not {"Any", "TYPE_CHECKING", "importlib", "config", "contact", "exceptions", "io"} & set(dir(mf))
    assert all(hasattr(mf, name) for name in dir(mf))
    assert set(dir(mf)) == {*mf.__all__, "__version__"}


GUIDES = (
    "index",
    "models",
    "scenes",
    "viewing",
    "notebooks",
    "corpora",
    "studies",
    "reports",
    "files",
    "trust",
)


def test_guides_need_no_name_but_public_ones():
    for guide in GUIDES:
        text = (Path(__file__).parents[2] / "docs" / f"{guide}.md").read_text()
        assert not re.search(r"^ *(from|import) mcpframe\.", text, re.MULTILINE), guide


def test_listing_names_and_solvers_imports_nothing():
    """What brings kernels or cvxpy with it is imported when it is asked for, not when it is listed."""
    asks = "import sys, mcpframe as mf; dir(mf); assert mf.available_solvers()['qp'] == ''"
    later = "assert not {'mcpframe.simulation.simulate', 'cvxpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", f"{asks}; {later}"], check=True)


def test_a_paper_is_named_in_full_at_its_first_mention_only():
    first, second = in_full(["J14, Table 1; as in J14", "J12 and J14; AJ14"])
    assert first == f"J14 ({PAPERS['J14']}), Table 1; as in J14"
    assert second == f"J12 ({PAPERS['J12']}) and J14; AJ14"
    assert in_full(first.splitlines()) == [first]
