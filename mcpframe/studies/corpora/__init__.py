"""Corpora: recipes and harvests of problems, their labels, and their export."""
