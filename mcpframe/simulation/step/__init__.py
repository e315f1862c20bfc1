"""Many steps in one compiled call: detection, formulation, solver, impacts and recording.

The same steps as `mcpframe.simulation.stepping` takes in Python, for scenes whose formulation and solver have
kernels (`mcpframe.solving.stages`); a step that needs more is handed back to Python.
"""
