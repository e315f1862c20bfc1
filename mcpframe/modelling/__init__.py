"""Complementarity problems as people write them: named variables with bounds, `expression.perp(variable)`."""
