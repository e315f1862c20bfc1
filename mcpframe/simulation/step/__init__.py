"""The steps: compiled code that reads as a list of stages (`step`), many steps in one call (`advance`)."""
