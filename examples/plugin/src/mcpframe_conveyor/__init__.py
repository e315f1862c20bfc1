"""Plugins for mcpframe: the contact law `conveyor` and the solver `douglas_rachford`."""
