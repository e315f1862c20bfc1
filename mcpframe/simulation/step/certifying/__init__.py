"""Certificates of steps and impacts: physics that shares nothing with formulation and plan."""
