"""Friction on the exact cone."""
