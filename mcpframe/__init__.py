"""Contact dynamics of articulated systems as mixed complementarity problems.

>>> import mcpframe as mf
>>> mf.solve(mf.MixedLCP([[1.0]], [-9.8]), "lemke").z
array([9.8])
"""

import importlib
from typing import TYPE_CHECKING, Any

from mcpframe import systems
from mcpframe.config.plugins import Config, load_config, load_contacts, load_solver
from mcpframe.contact import Contact, ContactSet, ContactStep, LawRows, Outcome, friction_rows
from mcpframe.contact.layers.layer import ContactLayer
from mcpframe.contact.layers.springs import SpringLayer
from mcpframe.exceptions import (
    FileFormatError,
    McpframeError,
    ModelError,
    ModelWarning,
    NotSolvedError,
    OptionError,
    PluginError,
    ProblemError,
)
from mcpframe.io.npz import load_problem, load_record, save_problem, save_solution
from mcpframe.multibody import Hinge, Link, Model, Node, closures, project_loops, project_rates
from mcpframe.multibody.model import shapes
from mcpframe.multibody.model.joining import Part, joined
from mcpframe.problem.cone import ConeLCP, Discs
from mcpframe.problem.friction import FrictionProblem
from mcpframe.problem.layout import ContactBlocks, Layout
from mcpframe.problem.problems import MCP, MixedLCP
from mcpframe.solving.batch import solve_many
from mcpframe.solving.plugin import (
    AbstractContactLaw,
    AbstractFormulation,
    AbstractSolver,
    FrictionDirections,
    Request,
)
from mcpframe.solving.registry import (
    available_contact_laws,
    available_formulations,
    available_solvers,
    contact_law,
    formulation,
    register_contact_law,
    register_formulation,
    register_solver,
    solver,
)
from mcpframe.solving.solution import Claim, Solution, Status
from mcpframe.solving.solve import solve
from mcpframe.spatial.transforms import Pose
from mcpframe.systems import register_system

if TYPE_CHECKING:
    from mcpframe.contact.acceleration_step import AccelerationStep
    from mcpframe.contact.certificate import StepCertificate, certify_step
    from mcpframe.contact.detection.materials import Material
    from mcpframe.diagnosis.diagnosis import Diagnosis, diagnose
    from mcpframe.diagnosis.layer import Layer
    from mcpframe.io.corpus import Corpus
    from mcpframe.io.fclib import load_fclib
    from mcpframe.io.mjcf import load_mjcf
    from mcpframe.io.urdf import load_urdf
    from mcpframe.modelling.model import MCPModel
    from mcpframe.modelling.nl import from_pyomo, load_nl
    from mcpframe.scene import controllers
    from mcpframe.scene.scene import Scene
    from mcpframe.scene.scene_file import load_scene
    from mcpframe.scene.settings import Adaptive, Stepping
    from mcpframe.simulation.recording.trajectory import Trajectory
    from mcpframe.simulation.simulate import simulate
    from mcpframe.studies.corpora.harvesting import harvest
    from mcpframe.studies.running.runner import run_study
    from mcpframe.studies.study.study_file import load_study
    from mcpframe.view.strip import save_gif, save_overlay, save_strip

__version__ = "0.1.0"

_LATER = {
    "AccelerationStep": "mcpframe.contact.acceleration_step",
    "Corpus": "mcpframe.io.corpus",
    "Diagnosis": "mcpframe.diagnosis.diagnosis",
    "Layer": "mcpframe.diagnosis.layer",
    "MCPModel": "mcpframe.modelling.model",
    "Material": "mcpframe.contact.detection.materials",
    "Scene": "mcpframe.scene.scene",
    "Adaptive": "mcpframe.scene.settings",
    "Stepping": "mcpframe.scene.settings",
    "Trajectory": "mcpframe.simulation.recording.trajectory",
    "StepCertificate": "mcpframe.contact.certificate",
    "certify_step": "mcpframe.contact.certificate",
    "controllers": "mcpframe.scene.controllers",
    "diagnose": "mcpframe.diagnosis.diagnosis",
    "from_pyomo": "mcpframe.modelling.nl",
    "harvest": "mcpframe.studies.corpora.harvesting",
    "load_fclib": "mcpframe.io.fclib",
    "load_mjcf": "mcpframe.io.mjcf",
    "load_nl": "mcpframe.modelling.nl",
    "load_scene": "mcpframe.scene.scene_file",
    "load_study": "mcpframe.studies.study.study_file",
    "load_urdf": "mcpframe.io.urdf",
    "run_study": "mcpframe.studies.running.runner",
    "save_gif": "mcpframe.view.strip",
    "save_overlay": "mcpframe.view.strip",
    "save_strip": "mcpframe.view.strip",
    "simulate": "mcpframe.simulation.simulate",
}
"""Names that bring kernels or readers of files with them: imported when first asked for."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'mcpframe' has no attribute {name!r}")
    module = importlib.import_module(_LATER[name])
    return getattr(module, name, module)  # controllers are a module, as shapes and closures are


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


__all__ = [
    "MCP",
    "AbstractContactLaw",
    "AbstractFormulation",
    "AbstractSolver",
    "AccelerationStep",
    "Adaptive",
    "Claim",
    "ConeLCP",
    "Config",
    "Contact",
    "ContactBlocks",
    "ContactLayer",
    "ContactSet",
    "ContactStep",
    "Corpus",
    "Diagnosis",
    "Discs",
    "FileFormatError",
    "FrictionDirections",
    "FrictionProblem",
    "Hinge",
    "LawRows",
    "Layer",
    "Layout",
    "Link",
    "MCPModel",
    "Material",
    "McpframeError",
    "MixedLCP",
    "Model",
    "ModelError",
    "ModelWarning",
    "Node",
    "NotSolvedError",
    "OptionError",
    "Outcome",
    "Part",
    "PluginError",
    "Pose",
    "ProblemError",
    "Request",
    "Scene",
    "Solution",
    "SpringLayer",
    "Status",
    "StepCertificate",
    "Stepping",
    "Trajectory",
    "available_contact_laws",
    "available_formulations",
    "available_solvers",
    "certify_step",
    "closures",
    "contact_law",
    "controllers",
    "diagnose",
    "formulation",
    "friction_rows",
    "from_pyomo",
    "harvest",
    "joined",
    "load_config",
    "load_contacts",
    "load_fclib",
    "load_mjcf",
    "load_nl",
    "load_problem",
    "load_record",
    "load_scene",
    "load_solver",
    "load_study",
    "load_urdf",
    "project_loops",
    "project_rates",
    "register_contact_law",
    "register_formulation",
    "register_solver",
    "register_system",
    "run_study",
    "save_gif",
    "save_overlay",
    "save_problem",
    "save_solution",
    "save_strip",
    "shapes",
    "simulate",
    "solve",
    "solve_many",
    "solver",
    "systems",
]
