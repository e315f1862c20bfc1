"""Formulations: each turns a contact step into a mixed LCP (plugins of the group mcpframe.formulations)."""
