"""Layers between the surfaces of contacts: springs and dampers without inertia, and what they remember."""
