"""Scenes: a model in its surroundings, what acts on it, how it is stepped; and their files."""
